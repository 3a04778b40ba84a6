package shell

import "strings"

// at reads at and batch: the text comes from standard input or a file, and runs later.
func at(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "q:f:t:lrdcbmMvVo:", exact: true, long: "help version"}
	for s.next() {
		switch s.key {
		case "l", "r", "d", "c", "V", "help", "version":
			return nil, true
		case "f":
			if s.has {
				w := s.val
				return []handoff{{how: "file", file: &w, dialect: systemShell, defer_: true}}, false
			}
		}
	}
	return []handoff{{how: "stdin", stdin: true, dialect: systemShell, defer_: true}}, false
}

// crontab installs a table that is a file or standard input; each line of it is a text that runs later.
func crontab(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "u:lreinsT:"}
	for s.next() {
		switch s.key {
		case "l", "T":
			return nil, true
		case "r", "e":
			return nil, false
		case "":
			if !s.val.Is("-") {
				w := unknownLike(s.val, Output, s.val.Show())
				return []handoff{{how: "file", text: &w, dialect: systemShell, defer_: true}}, false
			}
		}
	}
	if c.Stdin == nil {
		w := unknownLike(c.Args[0], Item, "standard input")
		return []handoff{{how: "stdin", text: &w, dialect: systemShell, defer_: true}}, false
	}
	var hs []handoff
	for _, line := range stdinLines(c) {
		if w, ok := cronJob(line); ok {
			hs = append(hs, handoff{how: "stdin", text: &w, dialect: systemShell, defer_: true})
		}
	}
	return hs, false
}

// cronJob returns the command of a line of a crontab.
func cronJob(line Word) (Word, bool) {
	skip := func(w Word) Word { return w.behind(len(w.Text) - len(strings.TrimLeft(w.Text, " \t"))) }
	w := skip(line)
	if w.Text == "" || w.Text[0] == '#' {
		return w, false
	}
	if _, ok := w.assignment(); ok {
		return w, false
	}
	if w.isAll() {
		return w, true // whole lines may be in it
	}
	fields := 5
	if w.Text[0] == '@' {
		fields = 1
	}
	for range fields {
		i := strings.IndexAny(w.Text, " \t")
		if i < 0 {
			return w, len(w.Holes) > 0
		}
		w = skip(w.behind(i))
	}
	if i := percent(w.Text); i >= 0 { // the rest is its standard input
		n := strings.Count(w.Text[:i], Unknown)
		w.Text, w.Holes = w.Text[:i], w.Holes[:n:n]
	}
	return w, w.Text != ""
}

// percent finds the first % that no backslash escapes.
func percent(t string) int {
	for i := range len(t) {
		if t[i] == '%' && (i == 0 || t[i-1] != '\\') {
			return i
		}
	}
	return -1
}

// stdinLines returns the known standard input line by line.
func stdinLines(c *Command) (lines []Word) {
	if c.Stdin == nil {
		return nil
	}
	w := Word{Text: c.Stdin.Text, Holes: c.Stdin.Holes, Start: c.Args[0].Start, End: c.Args[0].End}
	return linesOf(w)
}

func linesOf(w Word) (lines []Word) {
	for w.Text != "" {
		i := strings.IndexByte(w.Text, '\n')
		if i < 0 {
			return append(lines, w)
		}
		line := w
		n := min(strings.Count(w.Text[:i], Unknown), len(w.Holes))
		line.Text, line.Holes = w.Text[:i], w.Holes[:n:n]
		lines = append(lines, line)
		w = w.behind(i + 1)
	}
	return lines
}

// screen starts a command in a window, or types into one (-X stuff).
func screen(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "S:c:e:h:p:s:t:T:", long: "help version", exact: true}
	started := false // -m: what follows is a command, never a session to join
	for s.next() {
		switch {
		case s.key == "m":
			started = true
		case s.key == "d" || s.key == "D" || s.key == "r" || s.key == "R" || s.key == "x":
			n := s.rest()
			if s.pos == 0 && !started && len(n) > 0 && !strings.HasPrefix(n[0].Text, "-") {
				s.i++ // the session
			}
		case s.key == "v" || s.key == "help" || s.key == "version":
			return nil, true
		case s.key == "l" && strings.HasPrefix(s.args[s.at].Text, "-ls") || s.key == "l" && s.args[s.at].Is("-list"):
			return nil, true
		case s.key == "X":
			return screenCommand(s.rest()), false
		}
	}
	rest := s.rest()
	if len(rest) > 0 && strings.HasPrefix(rest[0].Text, "//") { // a session or a host, not a command
		return nil, false
	}
	return run(nil, handoff{}, rest), false
}

func screenCommand(words []Word) []handoff {
	if len(words) < 2 {
		return nil
	}
	switch words[0].Text {
	case "stuff":
		return say(nil, "-X stuff", typed(words[1]), Bash)
	case "exec", "screen":
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0].Text, "-") || strings.Trim(words[0].Text, ".!:|") == "") {
			if words[0].Is("-t") && len(words) > 1 {
				words = words[1:]
			}
			words = words[1:]
		}
		return run(nil, handoff{how: "-X"}, words)
	case "eval":
		var hs []handoff
		for _, w := range words[1:] {
			x := itemReader{}
			if inner, ok := x.split(w); ok {
				hs = append(hs, screenCommand(inner)...)
			}
		}
		return hs
	}
	return nil
}

// typed turns the spellings of the return key into newlines.
func typed(w Word) Word {
	for _, key := range [...]string{"\r", "^M", `\015`, `\n`, `\r`} {
		w, _ = w.replaced(key, Word{Text: "\n"})
	}
	return w
}

// tmux takes commands of its own, several of them with a ";" between them; some carry shell commands.
func tmux(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "2CDlNuvVhc:f:L:S:T:"}
	for s.next() {
		switch s.key {
		case "V", "h":
			return nil, true
		case "c":
			if s.has {
				return say(nil, "-c", s.val, systemShell), false
			}
		}
	}
	var hs []handoff
	for words := s.rest(); len(words) > 0; {
		n := 0
		for n < len(words) && !words[n].Is(";") && !strings.HasSuffix(words[n].Text, ";") {
			n++
		}
		one := words[:n]
		if n < len(words) && !words[n].Is(";") { // a word may end in the separator
			w := words[n]
			w.Text = strings.TrimSuffix(strings.TrimSuffix(w.Text, ";"), `\`)
			one = append(append([]Word{}, one...), w)
		}
		if len(one) > 0 {
			hs = tmuxCommand(hs, one)
		}
		words = words[min(n+1, len(words)):]
	}
	return hs, false
}

// tmuxCommand reads one command of tmux.
func tmuxCommand(hs []handoff, words []Word) []handoff {
	short := ""
	switch words[0].Text {
	case "new-session", "new":
		short = "AdDEPXc:e:F:f:n:s:t:x:y:"
	case "new-window", "neww":
		short = "abdkPSc:e:F:n:t:"
	case "split-window", "splitw":
		short = "bdfhIvPZc:e:F:l:p:t:"
	case "respawn-pane", "respawnp", "respawn-window", "respawnw":
		short = "kc:e:t:"
	case "display-popup", "popup":
		short = "BCEb:c:d:e:h:s:S:t:T:w:x:y:"
	case "run-shell", "run":
		short = "bCd:t:c:"
	case "pipe-pane", "pipep":
		short = "IOot:"
	case "if-shell", "if":
		short = "bFt:"
	case "send-keys", "send":
		return typeKeys(hs, words)
	default:
		return hs
	}
	s := optScan{args: words[1:], stop: true, short: short}
	h := handoff{how: words[0].Text}
	format := false
	for s.next() {
		switch s.key {
		case "c", "d":
			if s.has {
				h.in(s.val)
			}
		case "e":
			h.sets(s.val)
		case "F", "C":
			format = true
		}
	}
	rest := s.rest()
	if len(rest) == 0 {
		return hs
	}
	switch words[0].Text {
	case "if-shell", "if":
		if !format {
			hs = say(hs, h.how, rest[0], systemShell)
		}
		return tmuxTexts(hs, rest[1:])
	case "run-shell", "run":
		if format {
			return tmuxTexts(hs, rest)
		}
	}
	if len(rest) > 1 {
		return run(hs, h, rest)
	}
	w := rest[0]
	h.text, h.dialect = &w, Bash
	return append(hs, h)
}

// tmuxTexts reads words that hold whole tmux commands.
func tmuxTexts(hs []handoff, texts []Word) []handoff {
	for _, w := range texts {
		x := itemReader{}
		if words, ok := x.split(w); ok && len(words) > 0 {
			hs = tmuxCommand(hs, words)
		}
	}
	return hs
}

// typeKeys joins the keys of send-keys to the text they type.
func typeKeys(hs []handoff, words []Word) []handoff {
	s := optScan{args: words[1:], stop: true, short: "FHKlMRXc:N:t:"}
	literal := false
	for s.next() {
		switch s.key {
		case "X", "H", "M", "R":
			return hs
		case "l":
			literal = true
		}
	}
	var keys []Word
	for _, w := range s.rest() {
		if !literal {
			switch w.Text {
			case "Enter", "C-m", "KPEnter", "C-j":
				w = w.Lit("\n")
			case "Space":
				w = w.Lit(" ")
			case "Tab", "BTab", "Escape", "C-c", "C-d", "C-u", "C-l", "C-z", "C-a", "C-e", "C-k", "Up", "Down", "Left", "Right", "q":
				continue
			}
		}
		keys = append(keys, w)
	}
	if len(keys) == 0 {
		return hs
	}
	return say(hs, "send-keys", glued(keys, ""), Bash)
}
