package shell

import "strings"

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "rbash", "dash", "ash", "hush", "ksh", "ksh93", "pdksh", "mksh", "oksh", "lksh", "rksh", "zsh", "rzsh",
		"fish", "csh", "tcsh", "yash", "posh", "osh", "ysh", "nu", "elvish", "xonsh":
		return true
	}
	return false
}

// dialectOf returns the language of a shell. Shells of another family are read as Bash: quotes, separators and command
// words are the same there for what a command line needs.
func dialectOf(name string) Dialect {
	switch name {
	case "sh":
		return systemShell
	case "dash", "ash", "hush", "yash", "posh":
		return POSIX
	case "ksh", "ksh93", "pdksh", "mksh", "oksh", "lksh", "rksh":
		return Mksh
	case "zsh", "rzsh":
		return Zsh
	}
	return Bash
}

// shellArgs is what a shell's own arguments say.
type shellArgs struct {
	command bool // -c
	stdin   bool // -s
	dry     bool // -n
	inter   bool // -i
	holed   bool // a bundle of options has an unknown piece
	query   bool
	rcfile  *Word
	rest    []Word
}

// shell reads the command line of a shell: sh [options] [-c] [text | file] [$0 or $1 …].
func shell(c *Command, name string) ([]handoff, bool) {
	if name == "fish" || name == "nu" || name == "elvish" || name == "xonsh" {
		return longShell(c)
	}
	a := readShellArgs(c.Args[1:], name)
	if a.query || a.dry && !a.inter {
		return nil, true
	}
	var hs []handoff
	d := dialectOf(name)
	if a.rcfile != nil && !a.command {
		hs = append(hs, handoff{how: "--rcfile", file: a.rcfile, dialect: d})
	}
	rest := a.rest
	switch {
	case a.command:
		h := handoff{how: "-c", dialect: d, feeds: true}
		if len(rest) == 0 {
			w := unknownLike(c.Args[0], Computed, "missing -c text")
			h.text = &w
		} else {
			text := rest[0]
			h.text, h.args = &text, rest[1:]
		}
		hs = append(hs, h)
		if a.stdin && d != Bash && d != Zsh { // dash goes on with its input
			hs = append(hs, handoff{how: "stdin", stdin: true, dialect: d})
		}
	case len(rest) == 0:
		return append(hs, handoff{how: "stdin", stdin: true, dialect: d}), false
	case a.stdin:
		args := append([]Word{c.Args[0]}, rest...)
		return append(hs, handoff{how: "stdin", stdin: true, dialect: d, args: args}), false
	default:
		file := rest[0]
		hs = append(hs, handoff{how: "file", file: &file, dialect: d, args: rest, feeds: true})
		if len(rest) > 1 && (rest[0].isAll() || a.holed) { // the unknown piece may hold a -c
			text := rest[0]
			if rest[0].isAll() {
				text = rest[1]
			}
			hs = append(hs, handoff{how: "-c", text: &text, dialect: d, guess: true, feeds: true})
		}
		return hs, false
	}
	if len(rest) > 1 && rest[0].isAll() {
		text := rest[1]
		hs = append(hs, handoff{how: "-c", text: &text, dialect: d, guess: true, feeds: true})
	}
	return hs, false
}

// readShellArgs follows the shells' own loop: long options (bash: with one or two dashes) only in front, bundles after - or
// +, of which o and O own the next word, once for each letter.
func readShellArgs(args []Word, name string) (a shellArgs) {
	bash := dialectOf(name) == Bash || name == "sh"
	i, front := 0, true
	for ; i < len(args); i++ {
		t := args[i].Text
		if t == "-" || t == "--" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' && t[0] != '+' {
			break
		}
		if strings.HasPrefix(t, "--") || front && bash && bashLong(t[1:]) {
			word := strings.TrimLeft(t, "-")
			switch optionName(word) {
			case "help", "version":
				a.query = true
			case "rcfile", "init-file":
				if i+1 < len(args) {
					i++
					a.rcfile = &args[i]
				}
			case "dump-strings", "dump-po-strings", "pretty-print":
				a.dry = true
			case "emulate":
				i++
			}
			continue
		}
		front = false
		owed := 0
		for j := 1; j < len(t); j++ {
			switch t[j] {
			case 'c':
				a.command = true
			case 's':
				a.stdin = true
			case 'i':
				a.inter = true
			case 'n':
				a.dry = t[0] == '-'
			case 'D':
				a.dry = a.dry || bash
			case 'o', 'O':
				owed++
			case 0:
				a.holed = true
			}
		}
		for ; owed > 0 && i+1 < len(args); owed-- {
			if n := args[i+1].Text; n != "" && (n[0] == '-' || n[0] == '+') {
				break // the list of options is asked for
			}
			i++
			if args[i].Is("noexec") {
				a.dry = t[0] == '-'
			}
		}
	}
	a.rest = args[min(i, len(args)):]
	return a
}

func bashLong(name string) bool {
	switch name {
	case "debug", "debugger", "dump-po-strings", "dump-strings", "help", "init-file", "login", "noediting", "noprofile", "norc",
		"posix", "pretty-print", "protected", "rcfile", "restricted", "verbose", "version", "wordexp":
		return true
	}
	return false
}

// longShell reads the shells whose options go by getopt_long: -c may be attached or spelled out, and be given twice.
func longShell(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "c:C:d:o:f:D:NhilnPpvse:m:",
		long: "command= commands= init-command= debug= debug-output= features= profile= profile-startup= config= env-config= " +
			"execute= table-mode= rcfile= no-config no-execute interactive login private version help"}
	var hs []handoff
	ran := false
	for s.next() {
		switch s.key {
		case "h", "v", "help", "version", "n", "no-execute":
			return nil, true
		case "c", "C", "e", "command", "commands", "init-command", "execute":
			if !s.has {
				s.val = unknownLike(c.Args[0], Computed, "missing -c text")
			}
			w := s.val
			hs = append(hs, handoff{how: "-c", text: &w, feeds: true})
			ran = ran || s.key != "C" && s.key != "init-command"
		}
	}
	rest := s.rest()
	if ran {
		for i := range hs {
			hs[i].args = rest
		}
		return hs, false
	}
	if len(rest) == 0 {
		return append(hs, handoff{how: "stdin", stdin: true}), false
	}
	file := rest[0]
	return append(hs, handoff{how: "file", file: &file, args: rest, feeds: true}), false
}
