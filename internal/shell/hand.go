package shell

import (
	"slices"
	"strings"
)

// external runs a program: what it launches, what it would do with program text, what it prints.
func (e *eval) external(sc *scope, i int, io frameIO, own bool) fragment {
	c := &e.prog.Commands[i]
	e.filed(sc, i, io)
	hs, query := handoffs(c)
	if !query {
		hs = append(hs, e.projectFiles(sc, c)...)
	}
	if len(hs) == 0 || query {
		return e.print(sc, i, io)
	}
	if e.depth >= maxDepth {
		e.note(TooDeep, "", i, c.Start, c.End)
		return unknownOutput("")
	}
	e.depth++
	out, transparent := fragment{}, len(hs) == 1
	for k := range hs {
		f := e.hand(sc, i, &hs[k], io, own)
		if transparent {
			out = f
		}
	}
	e.depth--
	if !transparent {
		return unknownOutput(e.prog.Line(i))
	}
	return out
}

// hand runs one handoff of command i. With own it is this shell that runs what is handed on, and what that changes lasts.
func (e *eval) hand(sc *scope, i int, h *handoff, io frameIO, own bool) fragment {
	saved := struct {
		how     string
		dialect Dialect
		place   Place
		looped  bool
		later   bool
		guess   bool
		env     []Assign
	}{e.how, e.dialect, e.place, e.looped, e.later_, e.guess, e.env}
	defer func() {
		e.how, e.dialect, e.place, e.looped, e.later_, e.guess, e.env =
			saved.how, saved.dialect, saved.place, saved.looped, saved.later, saved.guess, saved.env
	}()
	e.how = h.how
	e.place = max(e.place, h.place)
	e.looped = e.looped || h.looped
	e.later_ = e.later_ || h.defer_
	e.guess = e.guess || h.guess
	inner := sc
	if own = own && len(h.argv) > 0; !own {
		inner = sc.fork()
		if h.text != nil || h.stdin || h.file != nil {
			e.inherit(sc, inner, i)
		}
	}
	if h.dir != nil {
		d := *h.dir
		if d.Known() {
			d = Word{Text: Clean(e.dir(sc).Text, d.Text), Holes: e.dir(sc).Holes}
		}
		inner.set(dirKey, scalar(fromWord(d)))
	}
	if h.place >= Container && e.prog.Commands[i].Place < h.place {
		// Another file system: where it starts and what its home is are not known here.
		if h.dir == nil {
			inner.set(dirKey, scalar(hole(Computed, "")))
		}
	}
	sub := frameIO{want: io.want}
	if h.feeds || h.stdin {
		sub.in = io.in
	}
	switch {
	case len(h.argv) > 0:
		e.env = append(slices.Clip(e.env), h.assigns...)
		lo, hi := h.argv[0].Start, h.argv[len(h.argv)-1].End
		if hi < lo {
			lo, hi = e.prog.Commands[i].Start, e.prog.Commands[i].End
		}
		c := Command{Args: h.argv, Parent: i, Start: lo, End: hi}
		if e.opt.Tails {
			c.Tail = tailOf(h.argv)
		}
		e.started = !own
		return e.run(inner, c, sub)
	case h.text != nil:
		e.env = append(slices.Clip(e.env), h.assigns...)
		e.dialect = h.dialect
		e.positional(inner, h.args)
		return e.inject(inner, fromWord(*h.text), h.text.Start, h.text.End, sub, i)
	case h.code != nil:
		e.payload(inner, i, h.lang, fromWord(*h.code), h.code.Start, h.code.End, h.how, "")
	case h.file != nil:
		return e.script(inner, i, h, sub)
	case h.stdin:
		return e.fromStdin(inner, i, h, io)
	}
	return unknownOutput(e.prog.Line(i))
}

// inherit puts into the scope of another shell what its variables are there: those of this shell that are not exported are unset,
// or what the environment says. Which ones were exported before the text began is not known, so both count.
func (e *eval) inherit(sc, inner *scope, i int) {
	seen := map[string]bool{}
	for t := sc; t != nil; t = t.below {
		for name, v := range t.vars {
			if seen[name] || name == "" || name[0] == 0 {
				continue
			}
			seen[name] = true
			if v.ref == "" && !e.passes(name, i) {
				inner.put(name, &variable{alts: alternatives(v.alts, []value{{unset: true}})})
			}
		}
	}
}

// passes tells whether command i finds a variable of this shell in its environment.
func (e *eval) passes(name string, i int) bool {
	if e.exported[name] || e.exported["*"] || environmental(name) {
		return true
	}
	if _, ok := e.opt.Env[name]; ok {
		return true
	}
	given := func(a Assign) bool { return a.Name == name }
	return slices.ContainsFunc(e.env, given) || slices.ContainsFunc(e.prog.Commands[i].Assigns, given)
}

// environmental tells the variables that every environment has: what is assigned to them stays exported.
func environmental(name string) bool {
	switch name {
	case "PATH", "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "EDITOR", "PAGER", "DISPLAY", "HOSTNAME", "SHLVL", "MAIL":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// export notes that a variable is in the environment of what is run from now on; "*" stands for all.
func (e *eval) export(name string) {
	if e.exported == nil {
		e.exported = map[string]bool{}
	}
	e.exported[name] = true
}

// tailOf rebuilds the source behind the first word of an argv from how its words are spelled.
func tailOf(args []Word) string {
	var b strings.Builder
	for _, w := range args[1:] {
		b.WriteByte(' ')
		if w.Raw != "" {
			b.WriteString(w.Raw)
		} else {
			b.WriteString(w.Show())
		}
	}
	return b.String()
}

func (e *eval) positional(sc *scope, args []Word) {
	var pos []fragment
	for k, a := range args {
		if k == 0 {
			sc.put(argZero, &variable{alts: []value{scalar(fromWord(a))}})
			continue
		}
		pos = append(pos, asItem(a))
	}
	setArguments(sc, pos)
}

const holePrefix = "__hole_"

// inject runs computed text as shell code. Unknown pieces in it become variables that stay unknown, and are noted: they
// could be anything, a separator and another command included.
func (e *eval) inject(sc *scope, f fragment, start, end int, io frameIO, parent int) fragment {
	f = f.sound()
	if strings.TrimSpace(f.s) == "" {
		return fragment{}
	}
	if !f.known() {
		name := ""
		for _, h := range f.holes {
			if name == "" {
				name = h.show()
			}
		}
		e.note(DynamicCode, name, parent, start, end)
		if strings.Trim(f.s, Unknown+" \n\t") == "" {
			return unknownOutput("")
		}
	}
	if e.seen == nil {
		e.seen = map[string]int{}
	}
	if e.seen[f.s]++; e.seen[f.s] > 64 {
		return unknownOutput("")
	}
	text := f.s
	if len(f.holes) > 0 {
		var b strings.Builder
		n := 0
		for k := range len(text) {
			if text[k] != 0 {
				b.WriteByte(text[k])
				continue
			}
			h := Hole{Kind: Computed}
			if n < len(f.holes) {
				h = f.holes[n]
			}
			n++
			// In code, quotes around the variable that held it do not protect it any more.
			h.Quoted = false
			b.WriteString("${" + holePrefix)
			b.WriteString(itoa(len(e.holes)))
			b.WriteString("}")
			e.holes = append(e.holes, h)
		}
		text = b.String()
	}
	src := pinned(start, end)
	if at := e.verbatim(text, start, end); at >= 0 {
		src = source{base: at}
	}
	first := len(e.prog.Commands)
	how := e.how
	e.how = ""
	out := e.text(sc, text, src, io, parent)
	e.how = how
	for k := first; k < len(e.prog.Commands); k++ {
		c := &e.prog.Commands[k]
		if c.Parent == parent && c.How == "" {
			c.How = how
		}
	}
	return out
}

// verbatim returns where a text stands in the judged text within a span, or -1.
func (e *eval) verbatim(text string, start, end int) int {
	if start < 0 || end > len(e.prog.Text) || start > end || len(text) > end-start {
		return -1
	}
	if k := strings.Index(e.prog.Text[start:end], text); k >= 0 {
		return start + k
	}
	return -1
}

// script runs a script file whose text is known: because the line wrote it, or as a fact.
func (e *eval) script(sc *scope, i int, h *handoff, io frameIO) fragment {
	f := e.read(sc, fromWord(*h.file))
	if !f.known() && strings.Trim(f.s, Unknown) == "" {
		if len(f.from) > 0 || slices.ContainsFunc(h.file.Holes, func(h Hole) bool { return h.Kind != Entry }) {
			e.note(DynamicCode, h.file.Show(), i, h.file.Start, h.file.End)
		} else {
			e.note(UnreadScript, h.file.Show(), i, h.file.Start, h.file.End)
		}
		return unknownOutput("")
	}
	if h.lang != 0 {
		e.payload(sc, i, h.lang, f, h.file.Start, h.file.End, "file", h.file.Text)
		return unknownOutput("")
	}
	if binary(f.s) {
		return unknownOutput("") // a program, not a script
	}
	e.dialect = h.dialect
	if lang, ok := shebang(f.s); ok {
		if lang != 0 {
			e.payload(sc, i, lang, f, h.file.Start, h.file.End, "file", h.file.Text)
			return unknownOutput("")
		}
	}
	e.positional(sc, h.args)
	path := e.resolve(sc, h.file.Text)
	for k := range e.scripts {
		if c := &e.scripts[k]; c.path == path {
			if e.forks > c.forks || e.pipes > c.pipes {
				e.note(ForkBomb, h.file.Text, i, h.file.Start, h.file.End)
			}
			return unknownOutput("")
		}
	}
	e.scripts = append(e.scripts, running{path, e.forks, e.pipes})
	out := e.inject(sc, f, h.file.Start, h.file.End, io, i)
	e.scripts = e.scripts[:len(e.scripts)-1]
	return out
}

func binary(s string) bool {
	return strings.HasPrefix(s, "\x7fELF") || strings.HasPrefix(s, "\xcf\xfa\xed\xfe") || strings.HasPrefix(s, "MZ") ||
		strings.IndexByte(s[:min(len(s), 512)], 0) >= 0
}

// fromStdin runs what an interpreter reads from its standard input.
func (e *eval) fromStdin(sc *scope, i int, h *handoff, io frameIO) fragment {
	c := &e.prog.Commands[i]
	if io.in == nil {
		return unknownOutput("") // a terminal: nothing comes out of the text
	}
	f := io.in.cut(min(io.in.pos, len(io.in.s)), len(io.in.s))
	io.in.pos = len(io.in.s)
	lo, hi := c.Start, c.End
	if h.lang != 0 {
		e.payload(sc, i, h.lang, f, lo, hi, "stdin", "")
		return unknownOutput("")
	}
	e.dialect = h.dialect
	e.positional(sc, h.args)
	e.how = "stdin"
	return e.inject(sc, f, lo, hi, frameIO{want: io.want}, i)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
