package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A fragment is a piece of computed text: what is known of it, and where it came from.
type fragment struct {
	s     string
	holes []Hole // one for each Unknown byte in s
	from  []int  // commands whose output it holds
}

func known(s string) fragment { return fragment{s: s} }

func unknownOutput(name string) fragment {
	return fragment{s: Unknown, holes: []Hole{{Kind: Output, Name: name}}}
}

func hole(kind HoleKind, name string) fragment {
	return fragment{s: Unknown, holes: []Hole{{Kind: kind, Name: name}}}
}

func (f fragment) known() bool { return len(f.holes) == 0 }

// join appends another fragment.
func (f fragment) join(g fragment) fragment {
	if g.s == "" && len(g.from) == 0 {
		return f
	}
	if f.s == "" && len(f.from) == 0 {
		return g
	}
	if len(f.s)+len(g.s) > maxValue {
		return hole(Computed, "")
	}
	return fragment{
		s:     f.s + g.s,
		holes: append(slices.Clip(f.holes), g.holes...),
		from:  union(f.from, g.from),
	}
}

func union(a, b []int) []int {
	if len(b) == 0 {
		return a
	}
	return addAll(slices.Clip(a), b)
}

// addAll appends to a, in place, what b holds beyond it. Indices mostly come in rising order, which needs no search.
func addAll(a, b []int) []int {
	top := -1
	for _, i := range a {
		top = max(top, i)
	}
	for _, i := range b {
		if i > top {
			a, top = append(a, i), i
		} else if !slices.Contains(a, i) {
			a = append(a, i)
		}
	}
	return a
}

// cut returns the part of the fragment between two byte offsets.
func (f fragment) cut(i, j int) fragment {
	out := fragment{s: f.s[i:j], from: f.from}
	if len(f.holes) > 0 {
		n := strings.Count(f.s[:i], Unknown)
		out.holes = f.holes[n : n+strings.Count(out.s, Unknown)]
	}
	return out
}

// split cuts the fragment at each byte that sep accepts, dropping empty pieces.
func (f fragment) split(sep func(byte) bool) []fragment {
	var out []fragment
	start := -1
	for i := 0; i <= len(f.s); i++ {
		if i < len(f.s) && !sep(f.s[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			out = append(out, f.cut(start, i))
			start = -1
		}
	}
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// trimNewlines drops trailing newlines, as command substitution does.
func (f fragment) trimNewlines() fragment {
	s := strings.TrimRight(f.s, "\n")
	return fragment{s: s, holes: f.holes, from: f.from}
}

// sound drops NUL bytes that are no holes: a program may print them, and no word can hold them.
func (f fragment) sound() fragment {
	if strings.IndexByte(f.s, 0) < 0 || strings.Count(f.s, Unknown) == len(f.holes) {
		return f
	}
	if len(f.holes) > 0 {
		return fragment{s: Unknown, holes: f.holes[:1], from: f.from} // which of them are holes is not known any more
	}
	f.s = strings.ReplaceAll(f.s, Unknown, "")
	return f
}

// word makes a word of the fragment.
func (f fragment) word(start, end int) Word {
	f = f.sound()
	return Word{Text: f.s, Holes: f.holes, From: f.from, Start: start, End: end}
}

func fromWord(w Word) fragment { return fragment{s: w.Text, holes: w.Holes, from: w.From} }

// A value is what a variable may hold.
type value struct {
	s     string
	holes []Hole
	from  []int
	arr   []fragment // elements when it is an array
	keys  []string   // keys of arr when it is associative
	isArr bool
	used  *int // how many elements stand behind arr's first, counting those of values that extend this one
	unset bool // known to be unset
	fn    *function
}

// grow appends an element. Values are never changed, but the elements may be shared: copying them each time would make
// an array that is filled one by one cost the square of its length.
func (v *value) grow(f fragment) {
	if v.used == nil || *v.used != len(v.arr) {
		v.arr, v.keys, v.used = slices.Clone(v.arr), slices.Clone(v.keys), new(int)
	}
	v.arr = append(v.arr, f)
	*v.used = len(v.arr)
}

func (v value) fragment() fragment {
	if v.isArr {
		if len(v.arr) == 0 {
			return fragment{}
		}
		return v.arr[0]
	}
	return fragment{s: v.s, holes: v.holes, from: v.from}
}

func scalar(f fragment) value { return value{s: f.s, holes: f.holes, from: f.from} }

func (v value) equal(w value) bool {
	return v.s == w.s && v.isArr == w.isArr && v.unset == w.unset && v.fn == w.fn && len(v.holes) == len(w.holes) &&
		slices.EqualFunc(v.arr, w.arr, func(a, b fragment) bool { return a.s == b.s }) && slices.Equal(v.keys, w.keys)
}

// A function is a shell function or an alias.
type function struct {
	body  *syntax.Stmt
	alias string
	// where the body is written
	text   string
	src    source
	called bool
}

// A variable has one value, or several when branches disagree.
type variable struct {
	alts []value
	ref  string // name it refers to (declare -n)
}

// Keys that no variable name can be.
const (
	dirKey    = "\x00dir"    // the working directory
	oldDirKey = "\x00olddir" // the one before
	argsKey   = "\x00args"   // positional parameters
	argZero   = "\x000"      // $0
	stackKey  = "\x00stack"  // pushd's stack
)

func fdKey(fd string) string      { return "\x00d" + fd }
func funcKey(name string) string  { return "\x00f" + name }
func aliasKey(name string) string { return "\x00a" + name }

// A scope holds what is known of the variables, functions and working directory at one point. Writes never reach the
// scope below: subshells and branches start a new one on top and are thrown away or merged.
type scope struct {
	below *scope
	start string // of the lowest one: the working directory nothing has changed yet
	local bool   // a function's scope: only its locals are kept here
	vars  map[string]*variable
}

// fork returns a scope on top of this one. Nothing may be written below a fork while it is in use.
func (s *scope) fork() *scope {
	for len(s.vars) == 0 && !s.local && s.below != nil {
		s = s.below // it holds nothing: a long chain of empty scopes would make each look-up slow
	}
	return &scope{below: s}
}

func (s *scope) lookup(name string) *variable {
	for range 8 {
		var v *variable
		for t := s; t != nil && v == nil; t = t.below {
			v = t.vars[name]
		}
		if v == nil || v.ref == "" {
			return v
		}
		name = v.ref
	}
	return nil
}

// home returns the scope that a plain assignment to name writes to.
func (s *scope) home(name string) *scope {
	for s.local && s.vars[name] == nil && s.below != nil {
		s = s.below
	}
	return s
}

func (s *scope) put(name string, v *variable) {
	if s.vars == nil {
		s.vars = map[string]*variable{}
	}
	s.vars[name] = v
}

func (s *scope) set(name string, alts ...value) {
	if v := s.lookup(name); v != nil && v.ref != "" {
		name = v.ref
	}
	s.home(name).put(name, &variable{alts: alts})
}

// add makes v one of the values that name may have, beside those it has.
func (s *scope) add(name string, v value) {
	old := s.lookup(name)
	if old == nil {
		s.set(name, v)
		return
	}
	s.set(name, alternatives(old.alts, []value{v})...)
}

func alternatives(a, b []value) []value {
	out := slices.Clip(a)
	for _, v := range b {
		if !slices.ContainsFunc(out, v.equal) {
			out = append(out, v)
		}
	}
	if len(out) > maxAlts {
		return []value{{s: Unknown, holes: []Hole{{Kind: Computed}}}}
	}
	return out
}

// merge takes over what a branch that may or may not have run has set. The working directory is that of the branch when
// keepDir is not set: a cd that fails ends most lines that hold one.
func (s *scope) merge(branch *scope, keepDir bool) {
	for name, v := range branch.vars {
		if name == dirKey {
			if keepDir && s.lookup(dirKey) == nil {
				root := s
				for root.below != nil {
					root = root.below
				}
				s.set(name, value{s: root.start})
			} else if !keepDir {
				s.set(name, v.alts...)
				continue
			}
		}
		if v.ref != "" {
			s.put(name, v)
			continue
		}
		old := s.lookup(name)
		switch {
		case old != nil:
			s.set(name, alternatives(old.alts, v.alts)...)
		case name == argsKey:
			s.set(name, alternatives([]value{scalar(hole(Variable, "@"))}, v.alts)...)
		case strings.HasPrefix(name, "\x00f"), strings.HasPrefix(name, "\x00a"):
			s.set(name, alternatives([]value{{unset: true}}, v.alts)...)
		case strings.HasPrefix(name, "\x00"):
			s.set(name, v.alts...)
		default:
			s.set(name, alternatives([]value{{s: Unknown, holes: []Hole{{Kind: Variable, Name: name}}}}, v.alts)...)
		}
	}
}

// mergeAll takes over what several branches have set. total tells that one of them ran: what all of them set replaces
// what was there.
func (s *scope) mergeAll(branches []*scope, total bool) {
	if total && len(branches) > 0 {
		for name, v := range branches[0].vars {
			alts := v.alts
			all := v.ref == ""
			for _, b := range branches[1:] {
				w := b.vars[name]
				if all = all && w != nil && w.ref == ""; !all {
					break
				}
				alts = alternatives(alts, w.alts)
			}
			if !all {
				continue
			}
			s.set(name, alts...)
			for _, b := range branches {
				delete(b.vars, name)
			}
		}
	}
	for _, b := range branches {
		s.merge(b, true)
	}
}

// variable returns the values that name may have, from the text or from the environment. nil means that nothing is known.
func (e *eval) variable(sc *scope, name string) *variable {
	if v := sc.lookup(name); v != nil {
		return v
	}
	if s, ok := e.opt.Env[name]; ok {
		return &variable{alts: []value{{s: s}}}
	}
	switch name {
	case "HOME":
		return &variable{alts: []value{{s: e.home}}}
	case "PWD":
		if v := sc.lookup(dirKey); v != nil {
			return v
		}
		return &variable{alts: []value{{s: or(e.opt.Dir, ".")}}}
	case "OLDPWD":
		return sc.lookup(oldDirKey)
	case "IFS":
		return &variable{alts: []value{{s: " \t\n"}}}
	case "OSTYPE":
		return &variable{alts: []value{{s: "linux-gnu"}}}
	}
	return nil
}

// dir returns the working directory.
func (e *eval) dir(sc *scope) Word {
	v := sc.lookup(dirKey)
	if v == nil || len(v.alts) == 0 {
		return Word{Text: or(e.opt.Dir, ".")} // nothing has changed it
	}
	return e.pick(v).fragment().word(0, 0)
}

// arguments returns the positional parameters from $1 on; known is false when nothing is known of them.
func (e *eval) arguments(sc *scope) (args []fragment, known bool) {
	v := sc.lookup(argsKey)
	if v == nil {
		return nil, false // whoever runs the text may pass some
	}
	x := e.pick(v)
	if x.isArr {
		return x.arr, true
	}
	return nil, false
}

func setArguments(sc *scope, args []fragment) {
	sc.put(argsKey, &variable{alts: []value{{isArr: true, arr: args}}})
}

func parseIndex(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}
