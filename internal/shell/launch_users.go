package shell

import "strings"

// su reads su and runuser: -c takes a text, the words behind the user go to the user's shell, and runuser -u runs an argv.
func su(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "c:fg:G:hlmpPs:Tu:Vw:",
		long: "command= session-command= fast group= supp-group= login preserve-environment pty no-pty shell= user= whitelist-environment= help version"}
	shellName := c.Args[0].Lit("sh")
	var text *Word
	var operands []Word
	user := false
	for s.next() {
		switch s.key {
		case "h", "V", "help", "version":
			return nil, true
		case "c", "command", "session-command":
			w := s.val
			if !s.has {
				w = unknownLike(c.Args[0], Computed, "missing -c text")
			}
			text = &w
		case "s", "shell":
			if s.has {
				shellName = s.val
			}
		case "u", "user":
			user = true
			s.stop = true
		case "":
			if s.val.Is("-") && len(operands) == 0 {
				continue
			}
			operands = append(operands, s.val)
		}
	}
	if user && text == nil {
		return run(nil, handoff{place: Root, feeds: true}, append(operands, s.rest()...)), false
	}
	if len(operands) > 0 {
		operands = operands[1:]
	}
	if text != nil {
		d := Bash // nobody knows which shell the user has
		if n := shellName.base(); n != "sh" {
			d = dialectOf(n)
		}
		return []handoff{{how: "-c", text: text, dialect: d, place: Root, feeds: true, args: operands}}, false
	}
	if len(operands) > 0 {
		return run(nil, handoff{place: Root, feeds: true}, append([]Word{shellName}, operands...)), false
	}
	return []handoff{{how: "stdin", stdin: true, place: Root}}, false
}

// flock reads flock and sg: one operand, then a command or -c and a text.
func flock(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "sxeounw:E:c:FvhV",
		long: "shared exclusive unlock nonblocking nonblock nb timeout= wait= conflict-exit-code= close command= no-fork fcntl verbose help version"}
	place := Here
	if c.Name == "sg" {
		s.short, s.long, place = "", "", Root
		if len(s.args) > 0 && s.args[0].Is("-") {
			s.args = s.args[1:]
		}
	}
	for s.next() {
		switch s.key {
		case "h", "V", "help", "version":
			return nil, true
		case "c", "command":
			if s.has {
				return say(nil, "-c", s.val, systemShell), false
			}
		}
	}
	rest := s.rest()
	if len(rest) < 2 {
		return nil, false
	}
	rest = rest[1:]
	text := rest[0].Is("-c") || rest[0].Is("--command")
	if text || rest[0].Is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return nil, false
	}
	if text || c.Name == "sg" {
		w := rest[0]
		return []handoff{{how: "-c", text: &w, dialect: systemShell, place: place, feeds: true}}, false
	}
	return run(nil, handoff{feeds: true}, rest), false
}

// capsh runs a shell with what stands behind "--".
func capsh(c *Command) ([]handoff, bool) {
	name := c.Args[0].Lit("bash")
	for i, w := range c.Args[1:] {
		rest := c.Args[i+2:]
		switch {
		case strings.HasPrefix(w.Text, "--shell="):
			name = w.behind(len("--shell="))
		case w.Is("--"), w.Is("-+"):
			return run(nil, handoff{place: Inside, feeds: true}, append([]Word{name}, rest...)), false
		case w.Is("=="), w.Is("=+"):
			return run(nil, handoff{feeds: true}, append([]Word{c.Args[0]}, rest...)), false
		case w.Is("--help"), w.Is("-h"):
			return nil, true
		}
	}
	return nil, false
}

// bwrap has options of none, one, two or three values.
func bwrap(c *Command) ([]handoff, bool) {
	h := handoff{place: Inside, feeds: true}
	args := c.Args[1:]
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if t == "--" {
			return run(nil, h, args[i+1:]), false
		}
		if !strings.HasPrefix(t, "--") {
			return run(nil, h, args[i:]), false
		}
		switch t {
		case "--help", "--version":
			return nil, true
		case "--setenv":
			if i+2 < len(args) {
				h.assigns = append(h.assigns, Assign{Name: args[i+1].Text, Value: args[i+2]})
			}
		case "--chdir":
			if i+1 < len(args) {
				h.dir = &args[i+1]
			}
		}
		i += bwrapValues(t)
	}
	return nil, false
}

func bwrapValues(t string) int {
	switch t {
	case "--new-session", "--die-with-parent", "--clearenv", "--as-pid-1", "--disable-userns", "--assert-userns-disabled",
		"--share-net", "--level-prefix":
		return 0
	case "--bind", "--dev-bind", "--ro-bind", "--bind-try", "--dev-bind-try", "--ro-bind-try", "--symlink", "--setenv", "--file",
		"--bind-data", "--ro-bind-data", "--chmod", "--bind-fd", "--ro-bind-fd":
		return 2
	case "--overlay":
		return 3
	}
	if strings.HasPrefix(t, "--unshare-") || strings.Contains(t, "=") {
		return 0
	}
	return 1
}

// startStopDaemon runs what --exec or --startas names, with the words behind "--".
func startStopDaemon(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "a:c:d:g:I:k:K:n:N:p:P:r:R:s:u:x:O:SKHTVbmoqtv",
		long: "start stop status help version startas= exec= name= user= group= pidfile= pid= ppid= chuid= chroot= chdir= nicelevel= procsched= iosched= umask= " +
			"signal= retry= background no-close notify-await notify-timeout= output= make-pidfile remove-pidfile oknodo quiet test verbose"}
	var h handoff
	var program []Word
	for s.next() {
		switch s.key {
		case "help", "version", "H", "V", "K", "stop", "T", "status", "t", "test":
			return nil, true
		case "x", "exec":
			if program == nil && s.has {
				program = []Word{s.val}
			}
		case "a", "startas":
			if s.has {
				program = []Word{s.val}
			}
		case "d", "chdir":
			if s.has {
				h.in(s.val)
			}
		case "r", "chroot":
			h.place = Inside
		case "c", "chuid":
			h.place = Root
		}
		if s.end {
			break
		}
	}
	if program == nil {
		return nil, false
	}
	for i, w := range c.Args {
		if w.Is("--") {
			program = append(program, c.Args[i+1:]...)
			break
		}
	}
	return run(nil, h, program), false
}

// runParts runs every file of a directory; supervise runs the file "run" in it.
func runParts(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "a:u:vh", long: "test list verbose debug report reverse exit-on-error stdin new-session lsbsysinit regex= arg= umask= help version"}
	var extra []Word
	for s.next() {
		switch s.key {
		case "test", "list", "help", "version", "h":
			return nil, true
		case "a", "arg":
			if s.has {
				extra = append(extra, s.val)
			}
		case "":
			if c.Name == "supervise" {
				w := glued([]Word{s.val, s.val.Lit("run")}, "/")
				return run(nil, handoff{}, []Word{w}), false
			}
			return run(nil, handoff{looped: true}, append(entriesOf(c, []Word{s.val}), extra...)), false
		}
	}
	return nil, false
}
