package shell

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Flags of one byte of a word that is being built.
const (
	quoted    = 1 << iota // not a metacharacter
	splitting             // came out of an unquoted expansion: IFS cuts here
	boundary              // an argument ends here (between the elements of "$@")
)

// builder collects the bytes of one word before it is split into fields.
type builder struct {
	b     []byte
	f     []uint8
	holes []Hole
	from  []int
	kept  bool // something quoted was seen: the word stays even when empty
}

func (b *builder) str(s string, flags uint8) {
	b.b = append(b.b, s...)
	for range len(s) {
		b.f = append(b.f, flags)
	}
}

func (b *builder) frag(f fragment, flags uint8) {
	f = f.sound()
	if len(b.b)+len(f.s) > maxValue {
		f = hole(Computed, "")
	}
	b.str(f.s, flags)
	for _, h := range f.holes {
		h.Quoted = h.Quoted || flags&quoted != 0
		b.holes = append(b.holes, h)
	}
	if b.from == nil {
		b.from = slices.Clip(f.from)
	} else if len(f.from) > 0 {
		b.from = addAll(b.from, f.from) // in place: the builder has made the list, and words only see its front
	}
}

// fields expands words as a shell does for arguments.
func (e *eval) fields(sc *scope, words []*syntax.Word) []Word {
	out := make([]Word, 0, len(words))
	for _, w := range words {
		out = e.appendFields(sc, out, w)
	}
	return out
}

func (e *eval) appendFields(sc *scope, out []Word, w *syntax.Word) []Word {
	e.steps++
	lo, hi := e.span(w)
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if simpleLit(p.Value) {
				return append(out, Word{Text: p.Value, Raw: p.Value, Start: lo, End: hi})
			}
		case *syntax.SglQuoted:
			if !p.Dollar {
				return append(out, Word{Text: p.Value, Raw: e.raw(w), Quoted: true, Start: lo, End: hi})
			}
		}
	}
	if e.dialect != POSIX && hasBrace(w) {
		parts, ok := braces(w)
		if !ok {
			e.note(TooMuch, "", -1, lo, hi)
		}
		e.steps += len(parts)
		if len(parts) > 1 || parts[0] != w {
			for _, p := range parts {
				out = e.split(sc, out, p, e.raw(w), lo, hi)
			}
			return out
		}
	}
	return e.split(sc, out, w, e.raw(w), lo, hi)
}

func (e *eval) raw(n syntax.Node) string {
	lo, hi := int(n.Pos().Offset()), int(n.End().Offset())
	if lo > hi || hi > len(e.cur.text) {
		return ""
	}
	return e.cur.text[lo:hi]
}

// simpleLit tells whether a literal expands to itself.
func simpleLit(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '\\', '*', '?', '[', '{', '~', 0:
			return false
		}
	}
	return true
}

func (e *eval) split(sc *scope, out []Word, w *syntax.Word, raw string, lo, hi int) []Word {
	var b builder
	e.parts(sc, &b, w.Parts, true)
	e.steps += len(b.b) / 16
	if bytesFlag(b.f, splitting|boundary) == 0 {
		if len(b.b) == 0 && !b.kept {
			return out
		}
		return append(out, b.word(0, len(b.b), 0, raw, lo, hi))
	}
	ifs := e.ifs(sc)
	start, holes := -1, 0
	element := false // what comes next is an element of a quoted list, which stays a word when it is empty
	flush := func(i int) {
		if start < 0 && element {
			start = i
		}
		if start >= 0 {
			out = append(out, b.word(start, i, holes, raw, lo, hi))
			for _, c := range b.b[start:i] {
				if c == 0 {
					holes++
				}
			}
			start = -1
		}
	}
	for i := 0; i < len(b.b); i++ {
		switch {
		case b.f[i]&boundary != 0:
			element = element || b.f[i]&quoted != 0
			flush(i)
			element = b.f[i]&quoted != 0
		case b.f[i]&splitting != 0 && b.f[i]&quoted == 0 && strings.IndexByte(ifs, b.b[i]) >= 0:
			flush(i)
		case start < 0:
			start = i
		}
	}
	flush(len(b.b))
	return out
}

func bytesFlag(f []uint8, mask uint8) uint8 {
	var all uint8
	for _, x := range f {
		all |= x
	}
	return all & mask
}

func (e *eval) ifs(sc *scope) string {
	v := e.variable(sc, "IFS")
	if v == nil {
		return " \t\n"
	}
	x := e.pick(v)
	if x.unset || len(x.holes) > 0 {
		return " \t\n"
	}
	return x.s
}

// word makes a Word of the builder's bytes from i to j, whose first hole is number n.
func (b *builder) word(i, j, n int, raw string, lo, hi int) Word {
	w := Word{Text: string(b.b[i:j]), Raw: raw, From: b.from, Quoted: b.kept, Start: lo, End: hi}
	if len(b.holes) > 0 {
		c := strings.Count(w.Text, Unknown)
		w.Holes = b.holes[min(n, len(b.holes)):min(n+c, len(b.holes))]
	}
	closes := -1 // where the last bracket closes, looked for at the first that opens
	for k := i; k < j; k++ {
		if b.b[k] == '[' && closes < 0 {
			closes = i + 1 + bytes.LastIndexByte(b.b[i:j], ']')
		}
		if b.f[k]&quoted == 0 && (b.b[k] == '*' || b.b[k] == '?' || b.b[k] == '[' && k+1 < closes) {
			w.Pattern = b.pattern(i, j)
			break
		}
	}
	return w
}

func (b *builder) pattern(i, j int) string {
	var p strings.Builder
	for k := i; k < j; k++ {
		if c := b.b[k]; c == '\\' || b.f[k]&quoted != 0 && (c == '*' || c == '?' || c == '[' || c == ']') {
			p.WriteByte('\\')
		}
		p.WriteByte(b.b[k])
	}
	return p.String()
}

// one expands a word that is never split or globbed: a redirection target, the word of case, an assigned value.
func (e *eval) one(sc *scope, w *syntax.Word) Word {
	if w == nil {
		return Word{}
	}
	e.steps++
	lo, hi := e.span(w)
	if len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.Lit); ok && simpleLit(p.Value) {
			return Word{Text: p.Value, Raw: p.Value, Start: lo, End: hi}
		}
	}
	var b builder
	e.parts(sc, &b, w.Parts, true)
	e.steps += len(b.b) / 16
	for i := range b.f {
		if b.f[i]&boundary != 0 {
			b.b[i] = ' '
		}
		b.f[i] &^= splitting | boundary
	}
	return b.word(0, len(b.b), 0, e.raw(w), lo, hi)
}

// parts appends the expansion of a word's parts. first tells whether a tilde may lead.
func (e *eval) parts(sc *scope, b *builder, parts []syntax.WordPart, first bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.lit(sc, b, p.Value, first && i == 0)
		case *syntax.SglQuoted:
			b.kept = true
			s := p.Value
			if p.Dollar {
				s = ansiC(s)
			}
			b.str(s, quoted)
		case *syntax.DblQuoted:
			// "$@" with no arguments is no word at all.
			b.kept = b.kept || !onlyList(p)
			e.dquoted(sc, b, p.Parts)
		case *syntax.ParamExp:
			e.param(sc, b, p, false)
		case *syntax.CmdSubst:
			b.frag(e.subst(sc, p), splitting)
		case *syntax.ArithmExp:
			b.frag(e.arithm(sc, p.X), splitting)
		case *syntax.ProcSubst:
			b.frag(e.procSubst(sc, p), quoted)
		case *syntax.ExtGlob:
			// Which names it matches is unknown; it matches at least what its alternatives spell.
			b.str("*", 0)
		case *syntax.BraceExp:
			b.frag(hole(Computed, ""), 0)
		}
	}
}

// lit appends an unquoted literal: backslashes quote, and a leading tilde is a home directory.
func (e *eval) lit(sc *scope, b *builder, s string, tilde bool) {
	if tilde && strings.HasPrefix(s, "~") {
		name := s[1:]
		if i := strings.IndexAny(name, "/:"); i >= 0 {
			name = name[:i]
		}
		if f, ok := e.tilde(sc, name); ok {
			b.frag(f, quoted)
			s = s[1+len(name):]
		}
	}
	// bash expands a tilde behind the = of any word that looks like an assignment.
	if k := strings.Index(s, "=~"); tilde && k > 0 && e.dialect == Bash && syntax.ValidName(s[:k]) {
		b.str(s[:k+1], 0)
		e.lit(sc, b, s[k+1:], true)
		return
	}
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.str(s, 0)
			return
		}
		b.str(s[:i], 0)
		switch rest := s[i+1:]; {
		case rest == "":
			b.str(`\`, quoted)
			return
		case rest[0] == '\n':
			s = rest[1:]
		case strings.HasPrefix(rest, "\r\n"):
			s = rest[2:]
		default:
			b.kept = true
			b.str(rest[:1], quoted)
			s = rest[1:]
		}
	}
}

// tilde returns the directory that ~name stands for.
func (e *eval) tilde(sc *scope, name string) (fragment, bool) {
	switch name {
	case "":
		if v := e.variable(sc, "HOME"); v != nil {
			if x := e.pick(v); !x.unset {
				return x.fragment(), true
			}
		}
		return known(e.home), true
	case "+":
		return fromWord(e.dir(sc)), true
	case "-":
		if v := sc.lookup(oldDirKey); v != nil {
			return e.pick(v).fragment(), true
		}
		return hole(Variable, "OLDPWD"), true
	case "root":
		return known("/root"), true
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || !(c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z') {
			return fragment{}, false
		}
	}
	return known("/home/" + name), true
}

// onlyList tells whether a quoted part is nothing but "$@" or "${a[@]}".
func onlyList(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && !p.Length && p.Exp == nil && (p.Param.Value == "@" || p.Index != nil && indexText(p.Index) == "@")
}

func (e *eval) dquoted(sc *scope, b *builder, parts []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.str(unescapeDouble(p.Value, true), quoted)
		case *syntax.ParamExp:
			e.param(sc, b, p, true)
		case *syntax.CmdSubst:
			b.frag(e.subst(sc, p), quoted)
		case *syntax.ArithmExp:
			b.frag(e.arithm(sc, p.X), quoted)
		default:
			e.parts(sc, b, []syntax.WordPart{p}, false)
		}
	}
}

// subst runs a command substitution and returns its output.
func (e *eval) subst(sc *scope, c *syntax.CmdSubst) fragment {
	if e.nested >= maxNested {
		lo, hi := e.span(c)
		e.note(TooDeep, "", -1, lo, hi)
		return unknownOutput("")
	}
	e.nested++
	defer func() { e.nested-- }()
	first := len(e.prog.Commands)
	how, env, looped := e.how, e.env, e.looped
	e.how, e.env = "", nil
	// $(<file) reads a file.
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil && len(c.Stmts[0].Redirs) == 1 {
		_, in, _ := e.redirections(sc, c.Stmts[0].Redirs)
		e.how, e.env = how, env
		if in != nil {
			return in.fragment.trimNewlines()
		}
		return unknownOutput(e.raw(c))
	}
	out := e.stmts(sc.fork(), c.Stmts, frameIO{want: true}, -1)
	e.how, e.env, e.looped = how, env, looped
	out = out.trimNewlines()
	out.from = e.unread(out.from, first)
	if !out.known() {
		name := strings.TrimSuffix(strings.TrimPrefix(e.raw(c), "$("), ")")
		name = strings.Trim(name, "`")
		holes := slices.Clone(out.holes)
		for i := range holes {
			if holes[i].Kind == Output && holes[i].Name == "" {
				holes[i].Name = name
			}
		}
		out.holes = holes
	}
	return out
}

// unread appends the commands from index first on whose output nothing in the text reads.
func (e *eval) unread(from []int, first int) []int {
	from = slices.Clip(from)
	for i := first; i < len(e.prog.Commands); i++ {
		if e.prog.Commands[i].Reader < 0 {
			from = append(from, i)
		}
	}
	return from
}

// procSubst runs a process substitution and returns the name of the pipe that stands for it.
func (e *eval) procSubst(sc *scope, p *syntax.ProcSubst) fragment {
	if e.nested >= maxNested {
		lo, hi := e.span(p)
		e.note(TooDeep, "", -1, lo, hi)
		return unknownOutput("")
	}
	e.nested++
	defer func() { e.nested-- }()
	name := "/dev/fd/" + string(rune('a'+len(e.made.files)%26)) + hex(uint32(len(e.made.files)))
	if p.Op == syntax.CmdOut {
		e.stmts(sc.fork(), p.Stmts, frameIO{in: &input{fragment: unknownOutput("")}}, -1)
		return known(name)
	}
	first := len(e.prog.Commands)
	out := e.stmts(sc.fork(), p.Stmts, frameIO{want: true}, -1)
	out.from = e.unread(out.from, first)
	e.write(name, out, false)
	return fragment{s: name, from: out.from}
}

// substitutions runs the command substitutions in a node whose value does not matter.
func (e *eval) substitutions(sc *scope, n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			e.subst(sc, n)
			return false
		case *syntax.ProcSubst:
			e.procSubst(sc, n)
			return false
		}
		return true
	})
}
