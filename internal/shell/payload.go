package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// payload records program text of another language and runs the commands it would start.
func (e *eval) payload(sc *scope, i int, lang code.Lang, f fragment, start, end int, how, path string) {
	if strings.TrimSpace(f.s) == "" {
		return
	}
	key := scanned{lang, f.s}
	report, ok := e.scan[key]
	if !ok {
		if !e.spend(1 + len(f.s)/16) {
			return
		}
		report = code.ScanGiven(lang, f.s, e.opt.Given)
		if e.scan == nil {
			e.scan = map[scanned]code.Report{}
		}
		e.scan[key] = report
	}
	if !f.known() {
		e.note(DynamicCode, f.holes[0].show(), i, start, end)
		report.Effects |= code.Unknown
	}
	e.prog.Payloads = append(e.prog.Payloads, Payload{
		Command: i, Lang: lang, Text: f.word(start, end), Report: report, How: how, File: path,
	})
	at := e.verbatim(f.s, start, end)
	place := func(fr code.Fragment) (int, int) {
		if at < 0 {
			return start, end
		}
		return at + fr.Start, at + fr.End
	}
	saved, dialect := e.how, e.dialect
	e.dialect = POSIX
	if lang == code.Vim || lang == code.Make {
		e.dialect = Bash
	}
	for _, s := range report.Shell {
		lo, hi := place(s)
		e.how = lang.String()
		e.inject(sc.fork(), piece(s), lo, hi, frameIO{}, i)
	}
	for _, argv := range report.Exec {
		if len(argv) == 0 {
			continue
		}
		c := Command{Parent: i}
		for _, s := range argv {
			lo, hi := place(s)
			c.Args = append(c.Args, piece(s).word(lo, hi))
		}
		c.Start, c.End = c.Args[0].Start, c.Args[len(c.Args)-1].End
		e.how = lang.String()
		e.run(sc.fork(), c, frameIO{})
	}
	e.how, e.dialect = saved, dialect
}

// piece turns a fragment of program text into one of ours.
func piece(s code.Fragment) fragment {
	f := fragment{s: s.Text}
	for range strings.Count(s.Text, Unknown) {
		f.holes = append(f.holes, Hole{Kind: Computed})
	}
	if !s.Known && len(f.holes) == 0 {
		f = f.join(hole(Computed, ""))
	}
	return f
}

// shebang returns the language a script asks for in its first line; zero is a shell.
func shebang(text string) (code.Lang, bool) {
	line, _, _ := strings.Cut(text, "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return 0, false
	}
	for f := range strings.FieldsSeq(rest) {
		name := programName(f)
		if name == "env" || strings.HasPrefix(f, "-") || strings.Contains(f, "=") {
			continue
		}
		lang, ok := code.LangOf(name)
		if !ok {
			return 0, true
		}
		return lang, true
	}
	return 0, true
}
