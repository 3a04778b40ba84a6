package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/redact"
	"hermes/internal/shell"
)

// Typed is what has been typed into one command while it runs. The zero value is one into which nothing was typed.
type Typed struct {
	mu      sync.Mutex // held while something is judged: one thing is typed after the other
	text    string     // the end of it
	settled int        // so much of text was asked about and approved
}

// maxTyped is how much of what was typed is judged together, in bytes.
const maxTyped = 32 << 10

// Type decides whether text may be typed into a command that was started with a call. A shell or an interpreter runs what it
// reads, so it is judged as the command with the text on its standard input, together with what was typed before; and, unless it is
// known to be handled as data, as if a shell read it, since one program starts another. Nothing is written: that is the caller's, if
// the decision allows it.
func (d *Door) Type(ctx context.Context, c Call, t *Typed, text string) (Result, error) {
	what, err := c.text()
	switch {
	case err != nil:
		return Result{}, err
	case text == "" || strings.ContainsRune(text, 0):
		return Result{}, errors.New("type: a text without NUL bytes is needed")
	case len(text) > maxTyped:
		return Result{}, fmt.Errorf("type: %d bytes are more than the %d that are judged at once: write a file instead", len(text), maxTyped)
	}
	p, err := d.o.Policy()
	if err != nil {
		return Result{}, fmt.Errorf("type: %w", err)
	}
	if p.Redact == nil {
		p.Redact = redact.New(redact.Options{})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &keys{j: &journey{d: d, c: c, p: p, text: what}, what: what, settled: t.settled, typed: text, known: true}
	k.from = len(t.text) - len(lastLine(t.text))
	k.text = t.text + text
	if c.Terminal != nil {
		text, k.known = edited(t.text[k.from:] + text)
		k.text = t.text[:k.from] + text
	}
	if err := k.decide(ctx); err != nil || k.j.r.Refused() {
		return k.j.r, err
	}
	t.text = k.text
	if k.j.r.Decision.Outcome != approval.Clean {
		t.settled = len(t.text)
	}
	if cut := len(t.text) - maxTyped; cut > 0 {
		if i := strings.IndexByte(t.text[cut:], '\n'); i >= 0 {
			cut += i + 1
		}
		t.text, t.settled = t.text[cut:], max(0, t.settled-cut)
	}
	return k.j.r, nil
}

// keys is a text on its way into a command.
type keys struct {
	j       *journey
	what    string // the command
	typed   string // what is typed now, as it is typed
	text    string // all that was typed: what came of it, where a line was edited
	from    int    // where in text the line begins that is typed on
	settled int    // so much of text was approved
	known   bool   // what comes of it can be told
	group   bool   // the command is judged as a group
	facts   command.Facts
}

// decide judges, asks and writes down.
func (k *keys) decide(ctx context.Context) error {
	j := k.j
	j.r = Result{ID: newID(), Backend: j.c.Place.Backend(), Dir: j.c.Dir}
	j.env, j.r.Notes = j.p.Environ.Build(j.c.request())
	k.facts = j.facts()
	code := k.reads()
	prog, body := k.read(k.text)
	j.text, j.r.Command = prog.Text, j.p.Redact.With(redact.Strict).String(prog.Text)
	if err := j.open(ctx); err != nil {
		return err
	}
	found := k.news(&prog, body)
	if j.c.Terminal != nil || !takesData(&prog) {
		found = k.asShell(found, body)
	}
	if !k.known && code {
		found = append(found, guard.Finding{Tier: guard.Unknown, Rule: "keys that change a line", Harms: guard.Host | guard.Work,
			Reason: "what they make of it cannot be known: history, completion, editing", Start: body + k.from, End: body + len(k.text),
			Remedy: "type the whole line as it shall run, without such keys"})
	}
	j.r.Verdict = guard.Judge(found)
	j.r.Decision = j.d.o.Desk.Decide(ctx, approval.Request{
		Session: j.c.Session, Command: prog.Text, Dir: j.r.Dir, Backend: j.r.Backend, Program: &prog, Verdict: j.r.Verdict,
		Exposure: j.r.Exposure, Presence: j.c.Presence, Platform: j.c.Platform, Prompter: j.c.Prompter, Covers: &approval.Covers{},
	})
	if err := j.record(); err != nil {
		j.r.Decision = approval.Decision{Outcome: approval.Refused, Verdict: j.r.Verdict, By: "policy",
			Message: "BLOCKED: the decision could not be written to the audit log, and what is not written down is not typed.",
			Remedy:  "make room on the disk, or see `hermes audit verify`"}
		return err
	}
	if !j.r.Refused() {
		j.r.Ran = true
		if lost := j.d.o.Log.Finish(j.ref(), audit.Result{Backend: j.r.Backend, Exposure: j.r.Exposure.Summary()}); lost != nil {
			j.r.Warnings = append(j.r.Warnings, "it is typed, but that is missing in the audit log: "+lost.Error())
		}
	}
	return nil
}

const endOfInput = "END_OF_INPUT"

// read parses the command with a text on its standard input, and tells where the text begins.
func (k *keys) read(text string) (prog shell.Program, body int) {
	head := k.what
	if k.group {
		head = "{\n" + head + "\n}"
	}
	head += " <<'" + endOfInput + "'\n"
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return k.j.p.Rules.Parse(head+text+endOfInput+"\n", k.facts, k.j.c.given()...), len(head)
}

// reads tells whether the command runs what it reads. Where a text behind it would not be its input, as after a pipe or a
// comment, it is judged as a group from now on.
func (k *keys) reads() bool {
	direct, _ := k.read("true\n")
	k.group = true
	group, _ := k.read("true\n")
	k.group = readers(&direct) != readers(&group) || slices.ContainsFunc(direct.Notes, func(n shell.Note) bool { return n.Kind == shell.Unparsed })
	return readers(&group) > 0
}

// readers counts what runs its standard input.
func readers(p *shell.Program) (n int) {
	for _, c := range p.Commands {
		if c.How == "stdin" {
			n++
		}
	}
	for _, p := range p.Payloads {
		if p.How == "stdin" {
			n++
		}
	}
	return n
}

// news returns what speaks against the text and is new: neither about the command alone, which runs already, nor about what was
// approved since.
func (k *keys) news(prog *shell.Program, body int) (out []guard.Finding) {
	bare, _ := k.read("")
	known := k.judge(&bare)
	for _, f := range k.judge(prog) {
		old := f.Start >= body && f.End <= body+k.settled || f.Start < body && k.settled > 0
		if !old && !slices.Contains(known, f) {
			out = append(out, f)
		}
	}
	if k.settled == 0 {
		return out
	}
	// A rule is told of once, where it first matches, and what is told of the command may be about what was approved: what came since
	// is judged on its own, too.
	from := k.settled - len(lastLine(k.text[:k.settled]))
	late, body := k.read(k.text[from:])
	for _, f := range k.judge(&late) {
		if slices.Contains(known, f) || slices.ContainsFunc(out, sameRule(f)) {
			continue
		}
		if f.Start >= body {
			f.Start, f.End = f.Start+from, f.End+from
		}
		out = append(out, f)
	}
	return out
}

// sameRule tells whether another finding is by the same rule.
func sameRule(f guard.Finding) func(guard.Finding) bool {
	return func(g guard.Finding) bool { return g.Tier == f.Tier && g.Rule == f.Rule }
}

func (k *keys) judge(prog *shell.Program) []guard.Finding {
	return k.j.d.judge(k.j.p.Rules, prog, k.facts).Findings
}

// asShell judges the text as shell text too, without what programs want in front of it, and so what follows each "!". Only what
// is known to harm counts, and stands in the new lines: that something is no shell text means nothing here.
func (k *keys) asShell(found []guard.Finding, body int) []guard.Finding {
	f := k.facts
	f.Dir, f.Tracked, f.Ignored = "", nil, nil
	var all strings.Builder
	texts, at := []string{"", ""}, []int{0, k.from}
	start := 0
	for line := range strings.Lines(k.text) {
		rest := strings.TrimLeft(line, ":!\\ \t")
		all.WriteString(strings.Repeat(" ", len(line)-len(rest)) + rest)
		for from := len(line) - len(rest); start >= k.from && len(texts) <= maxBangs; {
			i := strings.IndexByte(line[from:], '!')
			if i < 0 {
				break
			}
			from += i + 1
			texts, at = append(texts, line[from:]), append(at, start+from)
		}
		start += len(line)
	}
	texts[0] = all.String()
	texts[1] = texts[0][k.from:]
	for i, text := range texts {
		prog := k.j.p.Rules.Parse(text, f)
		for _, hit := range k.j.d.judge(k.j.p.Rules, &prog, f).Findings {
			switch hit.Tier {
			case guard.Limit, guard.Unknown, guard.Content:
				continue
			}
			if hit.Start, hit.End = hit.Start+at[i], hit.End+at[i]; hit.End > k.from && !slices.ContainsFunc(found, sameRule(hit)) {
				hit.Start, hit.End = hit.Start+body, hit.End+body
				found = append(found, hit)
			}
		}
	}
	return found
}

// maxBangs is how many places of a text are looked at on their own.
const maxBangs = 16

// takesData tells whether all that reads the text only handles it, whatever it says.
func takesData(p *shell.Program) bool {
	const readers = " cat tee grep egrep fgrep rg sort uniq wc head tail tr cut fold nl rev tac sha256sum md5sum base64 xxd od jq gzip xz patch read "
	return !slices.ContainsFunc(p.Commands, func(c shell.Command) bool {
		return c.Name == "" && len(c.Args) > 0 || c.Name != "" && !strings.Contains(readers, " "+c.Name+" ")
	})
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// edited returns what a terminal's line editing makes of keys, and whether that is known: keys that fetch or complete something
// make it unknown. A line that was given up stays, as one of its own: not every program gives it up.
func edited(typed string) (text string, known bool) {
	var out []byte
	known = true
	for _, c := range []byte(typed) {
		switch {
		case c == '\n', c == '\r', c == 3, c == 0x15:
			out = append(out, '\n')
		case c == 4: // it ends the input
		case c == 8 || c == 0x7f:
			if len(lastLine(string(out))) > 0 {
				_, n := utf8.DecodeLastRune(out)
				out = out[:len(out)-n]
			}
		case c < 0x20 && c != '\t':
			out, known = append(out, '\n'), false
		case c == '\t':
			out, known = append(out, ' '), false
		default:
			out = append(out, c)
		}
	}
	return string(out), known && !recalls(string(out))
}

// recalls tells whether a text has what an interactive shell replaces by a line of its history.
func recalls(text string) bool {
	for i := range len(text) - 1 {
		if text[i] != '!' || i > 0 && strings.IndexByte(`\[$`, text[i-1]) >= 0 {
			continue
		}
		if next := text[i+1]; strings.IndexByte("!-?$^*#", next) >= 0 || next >= '0' && next <= '9' || next|0x20 >= 'a' && next|0x20 <= 'z' {
			return true
		}
	}
	return strings.HasPrefix(text, "^") || strings.Contains(text, "\n^")
}
