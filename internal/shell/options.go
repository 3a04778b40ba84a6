package shell

import "strings"

// optScan walks arguments by the rules of getopt. It allocates nothing.
//
// short is a getopt string with one extension: "x" is a flag, "x:" takes a value, "x::" an optional attached value, "x#"
// optional attached digits. long lists names separated by blanks: "name", "name=" (takes a value), "name=?" (optional
// value after the equals sign). Options that are not listed are flags, or carry what follows their equals sign.
type optScan struct {
	args  []Word // without the program
	short string
	long  string

	stop   bool // the first operand ends the options
	exact  bool // long options may not be abbreviated
	single bool // long options may have one dash
	valued bool // long options that are not listed take a value

	key string // option without dashes, in full when it was abbreviated; empty for an operand
	val Word   // its value, or the operand
	has bool   // a value is there
	at  int    // index in args of the word the option or operand stands in
	end bool   // "--" was seen

	i   int // next word
	pos int // next byte of a bundle, 0 outside of one
}

// next advances to the next option or operand. With stop it ends in front of the first operand.
func (s *optScan) next() bool {
	s.val, s.has = Word{}, false
	for {
		if s.pos > 0 {
			s.bundled()
			return true
		}
		if s.i >= len(s.args) {
			return false
		}
		t := s.args[s.i].Text
		switch {
		case s.end || len(t) < 2 || t[0] != '-':
			if s.stop {
				return false
			}
			s.key, s.val, s.has, s.at = "", s.args[s.i], true, s.i
			s.i++
			return true
		case t == "--":
			s.i++
			s.end = true
			if s.stop {
				return false
			}
			continue
		case t[1] == '-':
			s.longer(2)
			return true
		case s.single:
			if _, _, ok := s.lookup(optionName(t[1:])); ok || s.short == "" {
				s.longer(1)
				return true
			}
		}
		s.pos = 1
	}
}

// rest returns the words that were not read yet.
func (s *optScan) rest() []Word { return s.args[min(s.i, len(s.args)):] }

// from returns the option's value and all words behind it.
func (s *optScan) from() []Word {
	if s.pos > 0 || s.i == s.at+1 { // attached
		return append([]Word{s.val}, s.rest()...)
	}
	return s.args[s.i-1:]
}

// take reads the next word, whatever it looks like.
func (s *optScan) take() (Word, bool) {
	if s.i >= len(s.args) {
		return Word{}, false
	}
	w := s.args[s.i]
	s.i++
	return w, true
}

// bundled reads one letter of a bundle of short options.
func (s *optScan) bundled() {
	w := s.args[s.i]
	p := s.pos
	s.key, s.at = w.Text[p:p+1], s.i
	s.pos++
	kind := s.letter(w.Text[p])
	switch {
	case w.Text[p] == 0: // nobody knows what a hole leaves of the bundle
		s.pos = len(w.Text)
	case kind == "#":
		for s.pos < len(w.Text) && digit(w.Text[s.pos]) {
			s.pos++
		}
	case kind == "::" && s.pos < len(w.Text), kind == ":" && s.pos < len(w.Text):
		s.val, s.has, s.pos = w.behind(s.pos), true, len(w.Text)
	case kind == ":":
		s.i++
		s.pos = 0
		s.val, s.has = s.take()
		return
	}
	if s.pos >= len(w.Text) {
		s.i++
		s.pos = 0
	}
}

// letter returns what follows a letter in short: "", ":", "::" or "#".
func (s *optScan) letter(b byte) string {
	i := strings.IndexByte(s.short, b)
	if i < 0 || b == ':' || b == '#' {
		return ""
	}
	switch t := s.short[i+1:]; {
	case strings.HasPrefix(t, "::"):
		return "::"
	case strings.HasPrefix(t, ":"):
		return ":"
	case strings.HasPrefix(t, "#"):
		return "#"
	}
	return ""
}

// longer reads a long option whose name starts at byte n.
func (s *optScan) longer(n int) {
	w := s.args[s.i]
	s.at = s.i
	s.i++
	name := optionName(w.Text[n:])
	full, kind, ok := s.lookup(name)
	s.key = full
	attached := n+len(name) < len(w.Text)
	switch {
	case attached:
		s.val, s.has = w.behind(n+len(name)+1), true
	case kind == "=" || !ok && s.valued:
		s.val, s.has = s.take()
	}
}

func optionName(t string) string {
	if i := strings.IndexByte(t, '='); i >= 0 {
		return t[:i]
	}
	return t
}

// lookup finds a long option by its name or by an unambiguous beginning of it.
func (s *optScan) lookup(name string) (full, kind string, ok bool) {
	found := 0
	for list := s.long; list != ""; {
		var word string
		word, list, _ = strings.Cut(list, " ")
		n, k := word, ""
		if i := strings.IndexByte(word, '='); i >= 0 {
			n, k = word[:i], word[i:]
		}
		if n == name {
			return n, k, true
		}
		if !s.exact && name != "" && strings.HasPrefix(n, name) {
			if found == 0 || k != kind {
				found++
			}
			full, kind = n, k
		}
	}
	if found == 1 {
		return full, kind, true
	}
	return name, "", false
}

// listed tells whether key is one of the words of list.
func listed(list, key string) bool {
	for key != "" && list != "" {
		var word string
		word, list, _ = strings.Cut(list, " ")
		if word == key {
			return true
		}
	}
	return false
}

func digit(b byte) bool { return '0' <= b && b <= '9' }
