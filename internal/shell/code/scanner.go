package code

import "strings"

// scanner is the state of one scan. Programs are read as one pass over tokens by a tolerant evaluator: whatever the
// grammar says, every name in the text meets the allow-list once.
type scanner struct {
	lang   Lang
	src    string
	rep    Report
	toks   []token
	parts  []part
	pos    int // next token
	end    int // end of the tokens being read
	depth  int
	nest   int // how many built programs deep
	budget int
	flow   bool // control flow: a name assigned twice has no known value
	names  map[string]binding
	stars  []string // modules imported whole
	given  []string // names that do nothing by themselves, as module.name
	buf    [48]token
}

// binding is what is known of a name the text itself defines.
type binding struct {
	val   value
	alias bool // val is an import and wins over everything
	sets  int
}

func (s *scanner) eff(e Effect) { s.rep.Effects |= e }

func (s *scanner) span(a, b int) (int, int) {
	a = min(max(a, 0), len(s.src))
	return a, max(a, min(b, len(s.src)))
}

// frag describes v as a fragment; what is no known string becomes one unknown piece.
func (s *scanner) frag(v value) Fragment {
	a, b := s.span(v.a, v.b)
	switch v.k {
	case kStr, kNum:
		return Fragment{Text: v.s, Known: strings.IndexByte(v.s, 0) < 0, Start: a, End: b}
	}
	return Fragment{Text: unknown, Start: a, End: b}
}

func (s *scanner) addShell(v value) {
	s.eff(Spawn)
	s.rep.Shell = append(s.rep.Shell, s.frag(v))
}

func (s *scanner) addExec(argv []value) {
	s.eff(Spawn)
	fs := make([]Fragment, 0, len(argv))
	for _, v := range argv {
		fs = append(fs, s.frag(v))
	}
	if len(fs) == 0 {
		s.eff(Unknown)
		return
	}
	s.rep.Exec = append(s.rep.Exec, fs)
}

// paths adds each of vs, lists flattened, to the right list of the report.
func (s *scanner) paths(e Effect, vs ...value) {
	s.eff(e)
	for _, v := range vs {
		if v.k == kList {
			s.paths(e, v.list...)
			continue
		}
		f := s.frag(v)
		switch e {
		case Write:
			s.rep.Writes = append(s.rep.Writes, f)
		case Delete:
			s.rep.Deletes = append(s.rep.Deletes, f)
		case Read:
			s.rep.Reads = append(s.rep.Reads, f)
		case Connect:
			s.rep.Hosts = append(s.rep.Hosts, f)
		}
	}
}
