package shell

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// param appends the expansion of a parameter. dq tells whether it stands inside double quotes.
func (e *eval) param(sc *scope, b *builder, p *syntax.ParamExp, dq bool) {
	flags := uint8(splitting)
	if dq {
		flags = quoted
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if h, ok := e.holeNamed(name); ok {
		b.frag(fragment{s: Unknown, holes: []Hole{h}}, flags)
		return
	}
	switch {
	case p.NestedParam != nil || p.Flags != nil || len(p.Modifiers) > 0 || p.IsSet || p.Width || p.Names != 0:
		if p.NestedParam != nil {
			e.substitutions(sc, p.NestedParam)
		}
		b.frag(hole(Computed, e.raw(p)), flags)
		return
	case p.Excl:
		v := e.variable(sc, name)
		if v == nil {
			b.frag(hole(Computed, e.raw(p)), flags)
			return
		}
		x := e.pick(v)
		target, _, _ := strings.Cut(x.s, "[")
		if len(x.holes) > 0 || !syntax.ValidName(target) {
			b.frag(hole(Computed, e.raw(p)), flags)
			return
		}
		name = target
	}
	if name == "@" || name == "*" {
		args, ok := e.arguments(sc)
		if !ok {
			b.frag(hole(Variable, name), flags)
			if name == "@" {
				b.holes[len(b.holes)-1].Quoted = false // "$@" may be any number of words
			}
			return
		}
		if p.Slice != nil {
			args = sliceOf(e, sc, args, p.Slice, 1)
		}
		e.list(sc, b, args, name == "@", dq, p)
		return
	}
	x, isList, all := e.value(sc, name, p)
	if isList {
		e.list(sc, b, x.arr, all == "@", dq, p)
		return
	}
	f := e.operate(sc, x, name, p)
	b.frag(f, flags)
}

// holeNamed returns the unknown piece that a name made by inject stands for.
func (e *eval) holeNamed(name string) (Hole, bool) {
	if rest, ok := strings.CutPrefix(name, holePrefix); ok {
		if n, err := strconv.Atoi(rest); err == nil && n < len(e.holes) {
			return e.holes[n], true
		}
	}
	return Hole{}, false
}

// value returns what ${name} or ${name[index]} holds. isList is set for ${name[@]} and ${name[*]}, with all saying which.
func (e *eval) value(sc *scope, name string, p *syntax.ParamExp) (x value, isList bool, all string) {
	switch {
	case name == "#":
		args, ok := e.arguments(sc)
		if !ok {
			return scalar(hole(Computed, name)), false, ""
		}
		return value{s: strconv.Itoa(len(args))}, false, ""
	case name == "0":
		if v := sc.lookup(argZero); v != nil {
			return e.pick(v), false, ""
		}
		return scalar(hole(Variable, name)), false, ""
	case name != "" && name[0] >= '1' && name[0] <= '9':
		args, ok := e.arguments(sc)
		if !ok {
			return scalar(hole(Variable, name)), false, ""
		}
		if n, _ := strconv.Atoi(name); n <= len(args) {
			return scalar(args[n-1]), false, ""
		}
		return value{unset: true}, false, ""
	case len(name) == 1 && !syntax.ValidName(name) || name == "RANDOM" || name == "SECONDS" || name == "LINENO" || name == "BASHPID":
		f := hole(Computed, name)
		f.holes[0].Set = true
		return scalar(f), false, ""
	}
	if p.Index != nil {
		e.substitutions(sc, p.Index)
	}
	v := e.variable(sc, name)
	if v == nil {
		f := hole(Variable, name)
		// The shell itself always sets these.
		switch name {
		case "UID", "EUID", "PPID", "SHLVL", "HOSTNAME", "BASH_VERSION", "BASH", "SHELL", "USER", "LOGNAME":
			f.holes[0].Set = true
		}
		return scalar(f), false, ""
	}
	x = e.pick(v)
	if p.Index == nil {
		return x, false, ""
	}
	idx := indexText(p.Index)
	if idx == "@" || idx == "*" {
		if !x.isArr {
			if x.unset {
				return value{isArr: true}, true, idx
			}
			x = value{isArr: true, arr: []fragment{x.fragment()}}
		}
		return x, true, idx
	}
	if f, ok := e.element(sc, x, p.Index); ok {
		return scalar(f), false, ""
	}
	return scalar(hole(Computed, name)), false, ""
}

func indexText(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// element returns one element of an array.
func (e *eval) element(sc *scope, x value, index syntax.ArithmExpr) (fragment, bool) {
	w, isWord := index.(*syntax.Word)
	if len(x.keys) > 0 && isWord {
		key := e.one(sc, w)
		for i := len(x.keys) - 1; i >= 0; i-- {
			if x.keys[i] == key.Text && key.Known() {
				return x.arr[i], true
			}
		}
		return fragment{}, false
	}
	n, ok := e.number(sc, index)
	if !ok {
		return fragment{}, false
	}
	if !x.isArr {
		if n == 0 {
			return x.fragment(), true
		}
		return fragment{}, true
	}
	if n < 0 {
		n += len(x.arr)
	}
	if n < 0 || n >= len(x.arr) {
		return fragment{}, true
	}
	return x.arr[n], true
}

// list appends the elements of "$@", "${a[*]}" and the like.
func (e *eval) list(sc *scope, b *builder, items []fragment, at, dq bool, p *syntax.ParamExp) {
	if p.Length {
		b.str(strconv.Itoa(len(items)), quoted)
		return
	}
	if p.Slice != nil && p.Param != nil && p.Param.Value != "@" && p.Param.Value != "*" {
		items = sliceOf(e, sc, items, p.Slice, 0)
	}
	if len(items) == 0 {
		if p.Exp != nil {
			b.frag(e.operate(sc, value{unset: true}, "@", p), map[bool]uint8{true: quoted, false: splitting}[dq])
		}
		return
	}
	flags := uint8(splitting)
	if dq {
		flags = quoted
	}
	for i, it := range items {
		if i > 0 {
			switch {
			case at || !dq:
				b.str("\x01", boundary|flags&quoted)
			default:
				sep := e.ifs(sc)
				b.str(sep[:min(1, len(sep))], flags)
			}
		}
		if p.Exp != nil || p.Repl != nil {
			q := *p
			q.Index = nil
			it = e.operate(sc, scalar(it), "", &q)
		}
		if dq {
			b.kept = true
		}
		b.frag(it, flags)
		// An element that stood unquoted where the list was made may be several words, or none.
		for k, h := range it.holes {
			b.holes[len(b.holes)-len(it.holes)+k].Quoted = dq && h.Quoted
		}
	}
}

func sliceOf(e *eval, sc *scope, items []fragment, s *syntax.Slice, base int) []fragment {
	off, ok := e.number(sc, s.Offset)
	if !ok {
		return []fragment{hole(Computed, "")}
	}
	off -= base
	if off < 0 && base == 0 {
		off += len(items)
	}
	off = max(0, min(off, len(items)))
	end := len(items)
	if s.Length != nil {
		n, ok := e.number(sc, s.Length)
		if !ok {
			return []fragment{hole(Computed, "")}
		}
		if n >= 0 {
			end = min(off+n, end)
		}
	}
	return items[off:max(off, end)]
}

// operate applies the operator of a parameter expansion to a value.
func (e *eval) operate(sc *scope, x value, name string, p *syntax.ParamExp) fragment {
	f := x.fragment()
	switch {
	case p.Length:
		if !f.known() {
			return hole(Computed, "#"+name)
		}
		return known(strconv.Itoa(len(f.s)))
	case p.Slice != nil:
		return e.substring(sc, f, name, p.Slice)
	case p.Repl != nil:
		return e.replace(sc, f, name, p.Repl)
	case p.Exp != nil:
		return e.expansion(sc, x, f, name, p.Exp)
	}
	return f
}

func (e *eval) substring(sc *scope, f fragment, name string, s *syntax.Slice) fragment {
	off, ok := e.number(sc, s.Offset)
	if !f.known() || !ok {
		return hole(Computed, name)
	}
	r := []rune(f.s)
	if off < 0 {
		off += len(r)
	}
	if off < 0 || off > len(r) {
		return fragment{from: f.from}
	}
	end := len(r)
	if s.Length != nil {
		n, ok := e.number(sc, s.Length)
		if !ok {
			return hole(Computed, name)
		}
		if n < 0 {
			end += n
		} else {
			end = min(off+n, end)
		}
	}
	return fragment{s: string(r[off:max(off, end)]), from: f.from}
}

func (e *eval) replace(sc *scope, f fragment, name string, r *syntax.Replace) fragment {
	orig, with := e.one(sc, r.Orig), Word{}
	if r.With != nil {
		with = e.one(sc, r.With)
	}
	if !f.known() || len(orig.Holes) > 0 {
		// Unknown text in which something was replaced: it may now be nothing but the replacement.
		if e.choose(2) == 1 && with.Text != "" {
			return fromWord(with)
		}
		return hole(Computed, name)
	}
	pat := orig.Pattern
	if pat == "" {
		pat = pattern.QuoteMeta(orig.Text, 0)
	}
	anchor := ""
	if !r.All && pat != "" && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[:1], pat[1:]
	}
	re := e.regexp(pat, anchor == "#", anchor == "%")
	if re == nil {
		return hole(Computed, name)
	}
	e.steps += len(f.s) / 16
	text, from := fromWord(with), union(f.from, with.From)
	var b strings.Builder
	var holes []Hole
	rest := f.s
	for {
		loc := re.FindStringIndex(rest)
		if loc == nil || loc[1] == 0 && anchor == "" {
			break
		}
		b.WriteString(rest[:loc[0]])
		b.WriteString(text.s)
		holes = append(holes, text.holes...)
		rest = rest[loc[1]:]
		if !r.All || anchor != "" {
			break
		}
		if b.Len() > maxValue {
			return hole(Computed, name)
		}
	}
	b.WriteString(rest)
	return fragment{s: b.String(), holes: holes, from: from}
}

// regexp compiles a shell pattern, anchored at either end.
func (e *eval) regexp(pat string, start, end bool) *regexp.Regexp {
	e.steps += 50
	if len(pat) > 1024 {
		return nil
	}
	expr, err := pattern.Regexp(pat, 0)
	if err != nil {
		return nil
	}
	if start {
		expr = "^(?:" + expr + ")"
	}
	if end {
		expr = "(?:" + expr + ")$"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	return re
}

func (e *eval) expansion(sc *scope, x value, f fragment, name string, x2 *syntax.Expansion) fragment {
	null := x.unset || f.s == ""
	unknown := !x.unset && !f.known() && strings.Trim(f.s, Unknown) == "" && !f.holes[0].Set
	alternative := func() fragment { return fromWord(e.word(sc, x2.Word)) }
	switch x2.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		orNull := x2.Op == syntax.DefaultUnsetOrNull || x2.Op == syntax.AssignUnsetOrNull
		if x.unset || null && orNull || unknown && e.choose(2) == 1 {
			d := alternative()
			if x2.Op == syntax.AssignUnset || x2.Op == syntax.AssignUnsetOrNull {
				sc.add(name, scalar(d))
			}
			return d
		}
		if unknown && orNull {
			return set(f)
		}
		return f
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if x.unset || null && x2.Op == syntax.AlternateUnsetOrNull || unknown && e.choose(2) == 1 {
			return fragment{}
		}
		return alternative()
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if x2.Word != nil {
			e.substitutions(sc, x2.Word)
		}
		if x2.Op == syntax.ErrorUnsetOrNull {
			return set(f)
		}
		return f
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return e.trim(sc, f, name, x2)
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if !f.known() {
			return hole(Computed, name)
		}
		return fragment{s: recase(f.s, x2.Op), from: f.from}
	}
	// ${x@Q} and its relatives
	if x2.Word != nil && f.known() {
		switch x2.Word.Lit() {
		case "U":
			return fragment{s: strings.ToUpper(f.s), from: f.from}
		case "L":
			return fragment{s: strings.ToLower(f.s), from: f.from}
		case "E":
			return fragment{s: ansiC(f.s), from: f.from}
		}
	}
	return hole(Computed, name)
}

// set marks the holes of a value as not empty.
func set(f fragment) fragment {
	holes := append([]Hole(nil), f.holes...)
	for i := range holes {
		holes[i].Set = true
	}
	f.holes = holes
	return f
}

func recase(s string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerAll:
		return strings.ToLower(s)
	}
	if s == "" {
		return s
	}
	if op == syntax.UpperFirst {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// word expands the word of an expansion, in which quotes count but nothing is split.
func (e *eval) word(sc *scope, w *syntax.Word) Word {
	if w == nil {
		return Word{}
	}
	return e.one(sc, w)
}

func (e *eval) trim(sc *scope, f fragment, name string, x *syntax.Expansion) fragment {
	w := e.word(sc, x.Word)
	if len(w.Holes) > 0 {
		return hole(Computed, name)
	}
	prefix := x.Op == syntax.RemSmallPrefix || x.Op == syntax.RemLargePrefix
	if w.Pattern == "" {
		// A literal: also right when an unknown piece stands elsewhere.
		if prefix && strings.HasPrefix(f.s, w.Text) {
			return f.cut(len(w.Text), len(f.s))
		}
		if !prefix && strings.HasSuffix(f.s, w.Text) {
			return f.cut(0, len(f.s)-len(w.Text))
		}
		if f.known() {
			return f
		}
		return hole(Computed, name)
	}
	if !f.known() {
		// "${f%/*}" of an unknown path is another unknown path, most likely in the same place.
		return hole(Computed, name)
	}
	re := e.regexp(w.Pattern, true, true)
	if re == nil {
		return hole(Computed, name)
	}
	large := x.Op == syntax.RemLargePrefix || x.Op == syntax.RemLargeSuffix
	s := f.s
	e.steps += len(s)
	if len(s) > 4096 {
		return hole(Computed, name)
	}
	for k := range len(s) + 1 {
		n := k
		if large {
			n = len(s) - k
		}
		if prefix && re.MatchString(s[:n]) {
			return fragment{s: s[n:], from: f.from}
		}
		if !prefix && re.MatchString(s[len(s)-n:]) {
			return fragment{s: s[:len(s)-n], from: f.from}
		}
	}
	return f
}
