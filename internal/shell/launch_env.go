package shell

import "strings"

// env reads NAME=value words, options and a command; -S puts the words of a string in its own place.
func env(c *Command) ([]handoff, bool) {
	h := handoff{how: "argv", feeds: true}
	args := c.Args[1:]
	for range 8 { // a string may hold another -S
		s := optScan{args: args, stop: true, short: "0a:C:ivu:S:P:",
			long: "ignore-environment null unset= chdir= split-string= block-signal=? default-signal=? ignore-signal=? " +
				"list-signal-handling debug argv0= help version"}
		again := false
		for !again && s.next() {
			switch s.key {
			case "help", "version":
				return nil, true
			case "C", "chdir":
				if s.has {
					h.in(s.val)
				}
			case "S", "split-string":
				if !s.has {
					return nil, false
				}
				words, ok := splitString(s.val)
				if !ok {
					words = []Word{unknownLike(s.val, Computed, s.val.Show())}
				}
				args = append(words, s.rest()...)
				h.how, again = "-S", true
			}
		}
		if again {
			continue
		}
		rest := s.rest()
		if len(rest) > 0 && rest[0].Is("-") { // an old spelling of -i
			rest = rest[1:]
		}
		for len(rest) > 0 && strings.IndexByte(rest[0].Text, '=') > 0 { // env takes any name
			w := rest[0]
			i := strings.IndexByte(w.Text, '=')
			h.assigns = append(h.assigns, Assign{Name: w.Text[:i], Value: w.behind(i + 1)})
			rest = rest[1:]
		}
		return run(nil, h, rest), false
	}
	return run(nil, h, []Word{unknownLike(c.Args[0], Computed, "env -S")}), false
}

// splitString splits the argument of env -S by the rules of GNU env. ok is false when env itself would refuse it.
func splitString(in Word) (words []Word, ok bool) {
	sp := splitter{in: in}
	for i := 0; i < len(in.Text); i++ {
		b := in.Text[i]
		switch {
		case b == '\'' && sp.quote != '"', b == '"' && sp.quote != '\'':
			if sp.quote == b {
				sp.quote = 0
			} else {
				sp.quote = b
			}
			sp.open = true
		case b == '\\':
			i++
			if i >= len(in.Text) {
				return nil, false
			}
			done, ok := sp.escape(in.Text[i])
			if !ok {
				return nil, false
			}
			if done {
				return sp.finish(), true
			}
		case sp.quote == 0 && strings.IndexByte(" \t\n\v\f\r", b) >= 0:
			sp.cut()
		case sp.quote == 0 && !sp.open && b == '#':
			return sp.finish(), true
		case b == '$' && sp.quote != '\'':
			name, ok := bracedName(in.Text[i:])
			if !ok {
				return nil, false
			}
			sp.hole(Hole{Kind: Variable, Name: name, Quoted: true})
			i += len(name) + 2
		case b == 0:
			sp.hole(sp.nextHole())
		default:
			sp.put(b)
		}
	}
	if sp.quote != 0 {
		return nil, false
	}
	return sp.finish(), true
}

// bracedName reads ${NAME}, the only expansion env knows.
func bracedName(t string) (string, bool) {
	if !strings.HasPrefix(t, "${") {
		return "", false
	}
	name, _, ok := strings.Cut(t[2:], "}")
	if !ok {
		return "", false
	}
	if _, ok := (Word{Text: name + "="}).assignment(); !ok {
		return "", false
	}
	return name, true
}

// splitter collects the words of env -S.
type splitter struct {
	in    Word
	used  int // holes of in that were passed
	quote byte
	open  bool // a word has begun
	text  []byte
	holes []Hole
	words []Word
}

func (sp *splitter) put(b byte) { sp.text, sp.open = append(sp.text, b), true }

func (sp *splitter) hole(h Hole) {
	sp.holes = append(sp.holes, h)
	sp.put(0)
}

func (sp *splitter) nextHole() Hole {
	if sp.used >= len(sp.in.Holes) {
		return Hole{Kind: Computed}
	}
	h := sp.in.Holes[sp.used]
	h.Quoted = h.Quoted && sp.quote != 0 // a blank in it would end the word
	sp.used++
	return h
}

func (sp *splitter) cut() {
	if sp.open {
		sp.words = append(sp.words, Word{Text: string(sp.text), Holes: sp.holes, From: sp.in.From, Start: sp.in.Start, End: sp.in.End})
	}
	sp.text, sp.holes, sp.open = nil, nil, false
}

func (sp *splitter) finish() []Word {
	sp.cut()
	return sp.words
}

// escape handles what follows a backslash; done means that the string ends here.
func (sp *splitter) escape(b byte) (done, ok bool) {
	if sp.quote == '\'' {
		if b != '\'' && b != '\\' {
			sp.put('\\')
		}
		sp.put(b)
		return false, true
	}
	switch b {
	case 'f':
		sp.put('\f')
	case 'n':
		sp.put('\n')
	case 'r':
		sp.put('\r')
	case 't':
		sp.put('\t')
	case 'v':
		sp.put('\v')
	case '#', '$', '"', '\'', '\\':
		sp.put(b)
	case '_':
		if sp.quote == '"' {
			sp.put(' ')
		} else {
			sp.cut()
		}
	case 'c':
		return true, sp.quote == 0
	default:
		return false, false
	}
	return false, true
}
