package shell

import "strings"

// launcher is a row of the table of plain launchers: options, operands of its own, then a command.
//
// The lists hold option keys separated by blanks.
type launcher struct {
	short string // as in optScan
	long  string

	skip    int    // operands in front of the command
	number  bool   // of those, one that is not a number is not there
	assigns bool   // NAME=value words in front of the command are its environment
	under   string // subcommands that launch; all others do not
	drop    string // a first word that is not part of the command
	from    string // options whose value begins the command: everything behind it belongs to it
	dashes  bool   // only what follows "--" is the command
	joined  bool   // the words are one shell text, joined by blanks
	split   string // options that make joined words an argv after all
	lone    bool   // a single word is a shell text, several are an argv
	apart   bool   // the command does not read the launcher's input

	query string // options that make it a question
	text  string // options whose value is shell text
	dir   string // options whose value is the working directory
	env   string // options whose value is NAME=value
	shell string // options that start a shell
	bare  bool   // with nothing to run it starts a shell
	later string // options that put the command off

	exact  bool // see optScan
	single bool
	loose  bool // options may stand between and behind the operands; the command needs "--"
	place  Place
}

func (p *launcher) handoffs(c *Command) ([]handoff, bool) {
	args := c.Args[1:]
	if p.under != "" {
		var ok bool
		if args, ok = p.sub(args); !ok {
			return nil, false
		}
	}
	s := optScan{args: args, short: p.short, long: p.long, stop: !p.loose, exact: p.exact, single: p.single}
	h := handoff{place: p.place, feeds: !p.apart}
	var hs []handoff
	bare, joined, own := p.bare, p.joined, 0
options:
	for s.next() {
		switch k := s.key; {
		case k == "" && s.end: // behind "--"
			s.i = s.at
			break options
		case k == "":
			own++
		case k == "help" && !s.has, k == "version" && !s.has, listed(p.query, k):
			return nil, true
		case listed(p.split, k):
			joined = false
		case !s.has:
			bare = bare || listed(p.shell, k)
		case listed(p.text, k):
			w := s.val
			hs = append(hs, handoff{how: dashed(k), text: &w, dialect: systemShell, place: p.place, feeds: !p.apart})
		case listed(p.from, k):
			h.how = dashed(k)
			return run(hs, h, s.from()), false
		case listed(p.dir, k):
			h.in(s.val)
		case listed(p.env, k):
			h.sets(s.val)
		case listed(p.later, k):
			h.defer_ = true
		}
	}
	rest := s.rest()
	if len(rest) > 0 && listed(p.drop, rest[0].Text) {
		rest = rest[1:]
	}
	for own = p.skip - own; own > 0 && len(rest) > 0; own-- {
		if p.number && !numeric(rest[0].Text) {
			break
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0].Is("--") && !s.end {
		rest, s.end = rest[1:], true
	}
	if p.dashes && !s.end {
		return hs, false
	}
	for p.assigns && len(rest) > 0 {
		a, ok := rest[0].assignment()
		if !ok {
			break
		}
		h.assigns = append(h.assigns, a)
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0 && bare && len(hs) == 0:
		h.how, h.stdin = "stdin", true
		return append(hs, h), false
	case len(rest) == 0:
		return hs, false
	case joined, p.lone && len(rest) == 1:
		w := glued(rest, " ")
		h.how, h.text = "text", &w
		h.dialect = systemShell
		return append(hs, h), false
	}
	return run(hs, h, rest), false
}

// sub finds the launching subcommand behind global options and returns what follows it.
func (p *launcher) sub(args []Word) ([]Word, bool) {
	s := optScan{args: args, short: p.short, long: p.long, stop: true, exact: p.exact, single: p.single}
	for s.next() {
	}
	rest := s.rest()
	for list := p.under; list != "" && len(rest) > 0; {
		var one string
		one, list, _ = strings.Cut(list, "|")
		n, ok := 0, true
		for word := range strings.SplitSeq(one, " ") {
			if n >= len(rest) || !rest[n].Is(word) {
				ok = false
				break
			}
			n++
		}
		if ok {
			return rest[n:], true
		}
	}
	return nil, false
}

// dashed spells an option key as it is written.
func dashed(key string) string {
	if len(key) == 1 {
		return "-" + key
	}
	return "--" + key
}

// numeric tells whether t could be a number: signs, digits and unknown pieces.
func numeric(t string) bool {
	if t == "" {
		return false
	}
	for i := range len(t) {
		if b := t[i]; !digit(b) && b != '-' && b != '+' && b != '.' && b != ',' && b != 0 && (b|0x20 < 'a' || b|0x20 > 'f' && b|0x20 != 'x') {
			return false
		}
	}
	return digit(t[0]) || t[0] == 0 || t[0] == '-' || t[0] == '+'
}

// launcherOf returns the row of a plain launcher, nil for other programs.
func launcherOf(name string) *launcher {
	for _, table := range [...]func(string) *launcher{
		processLauncher, rootLauncher, sessionLauncher, devLauncher, containerLauncher,
	} {
		if p := table(name); p != nil {
			return p
		}
	}
	return nil
}
