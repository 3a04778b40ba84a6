package shell

import "strings"

const sshShort = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:"

// ssh joins the words behind the destination to a text for the login shell of the other machine.
func ssh(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, exact: true, short: sshShort}
	if c.Name == "autossh" {
		s.short = strings.Replace(sshShort, "M", "M:", 1)
	}
	var o sshOptions
	host, none := false, false
	for {
		for s.next() {
			switch s.key {
			case "G", "Q", "V", "O":
				return nil, true
			case "N", "s", "W":
				none = true
			case "o":
				o.read(s.val)
			}
		}
		if host {
			break
		}
		if _, ok := s.take(); !ok {
			return o.handoffs(nil), false
		}
		host = true
		if s.end {
			break
		}
	}
	var hs []handoff
	switch rest := s.rest(); {
	case none:
	case len(rest) > 0:
		w := glued(rest, " ")
		hs = append(hs, handoff{how: "text", text: &w, place: Elsewhere, feeds: true})
	case o.remote != nil:
		hs = append(hs, handoff{how: "RemoteCommand", text: o.remote, place: Elsewhere, feeds: true})
	case c.Stdin != nil:
		hs = append(hs, handoff{how: "stdin", stdin: true, place: Elsewhere})
	}
	return o.handoffs(hs), false
}

// sshOptions are the -o settings that run a command on this machine.
type sshOptions struct {
	texts  []handoff
	local  *Word
	permit bool
	remote *Word
}

func (o *sshOptions) read(w Word) {
	i := strings.IndexAny(w.Text, "= \t")
	if i < 0 {
		return
	}
	name := strings.ToLower(w.Text[:i])
	v := w.behind(i)
	v = v.behind(len(v.Text) - len(strings.TrimLeft(v.Text, "= \t")))
	switch name {
	case "proxycommand", "knownhostscommand":
		if !strings.EqualFold(v.Text, "none") {
			o.texts = append(o.texts, handoff{how: w.Text[:i], text: &v, dialect: systemShell})
		}
	case "localcommand":
		o.local = &v
	case "permitlocalcommand":
		o.permit = !strings.EqualFold(v.Text, "no")
	case "remotecommand":
		if !strings.EqualFold(v.Text, "none") {
			o.remote = &v
		}
	}
}

func (o *sshOptions) handoffs(hs []handoff) []handoff {
	if o.local != nil && o.permit {
		o.texts = append(o.texts, handoff{how: "LocalCommand", text: o.local, dialect: systemShell})
	}
	return append(hs, o.texts...)
}

// mosh runs an argv on the other machine; --ssh names a program here.
func mosh(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, short: "a46np:", long: "client= server= predict= family= port= bind-server= ssh= experimental-remote-ip= no-ssh-pty no-init local help version"}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version":
			return nil, true
		case "ssh", "client":
			if s.has {
				hs = say(hs, dashed(s.key), s.val, systemShell)
			}
		case "server":
			if s.has {
				w := s.val
				hs = append(hs, handoff{how: "--server", text: &w, place: Elsewhere})
			}
		}
	}
	rest := s.rest()
	if len(rest) < 2 {
		return hs, false
	}
	rest = rest[1:]
	if rest[0].Is("--") {
		rest = rest[1:]
	}
	return run(hs, handoff{place: Elsewhere, feeds: true}, rest), false
}

// copies reads scp and sftp: the transport program, ssh settings, and the ! lines of an sftp script.
func copies(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], exact: true, short: "346ABCOpqRrsTvNafc:D:F:i:J:l:o:P:S:X:b:"}
	if c.Name == "sftp" {
		s.short = "46AaCfNpqrvB:b:c:D:F:i:J:l:o:P:R:s:S:X:"
	}
	var o sshOptions
	var hs []handoff
	for s.next() {
		switch {
		case s.key == "o":
			o.read(s.val)
		case s.key == "S" && s.has:
			hs = say(hs, "-S", s.val, systemShell)
		}
	}
	if c.Name == "sftp" {
		hs = bangs(hs, c, "!")
	}
	return o.handoffs(hs), false
}

// bangs adds the lines on standard input that begin with mark.
func bangs(hs []handoff, c *Command, mark string) []handoff {
	for _, line := range stdinLines(c) {
		t := strings.TrimLeft(line.Text, " \t")
		if strings.HasPrefix(t, mark) {
			hs = say(hs, mark, line.behind(len(line.Text)-len(t)+len(mark)), systemShell)
		}
	}
	return hs
}

// kubectl reads exec, run and debug: what stands behind "--" runs in the container.
func kubectl(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], exact: true, valued: true, short: "n:s:c:f:l:v:itqkA",
		long: "stdin tty quiet command rm attach expose help all-namespaces insecure-skip-tls-verify match-server-version warnings-as-errors disable-compression " +
			"leave-stdin-open privileged share-processes replace arguments-only keep-labels keep-annotations keep-liveness keep-readiness keep-startup keep-init-containers same-node wait no-tty"}
	var operands []Word
	for s.next() {
		switch s.key {
		case "help", "h":
			return nil, true
		case "":
			if len(operands) == 0 {
				switch s.val.Text {
				case "exec", "run", "debug", "rsh":
				default:
					return nil, false
				}
			}
			if s.end { // behind "--"
				s.i = s.at
				return run(nil, handoff{place: Container, feeds: true}, s.rest()), false
			}
			operands = append(operands, s.val)
			if operands[0].Is("rsh") && len(operands) == 2 {
				return run(nil, handoff{place: Container, feeds: true}, s.rest()), false
			}
		}
	}
	if len(operands) > 2 && operands[0].Is("exec") { // the old form without "--"
		return run(nil, handoff{place: Container, feeds: true}, operands[2:]), false
	}
	return nil, false
}

// remote reads tools that send a text to other machines.
func remote(c *Command) ([]handoff, bool) {
	far := func(how string, w Word) []handoff { return []handoff{{how: how, text: &w, place: Elsewhere}} }
	s := optScan{args: c.Args[1:], exact: true}
	switch c.Name {
	case "ansible":
		return ansible(c)
	case "flatpak":
		return flatpak(c)
	case "vagrant", "gcloud", "fly", "flyctl":
		s.short, s.long = "c:C:a:", "command= plain tty no-tty zone= project= app= region= config= console= tunnel-through-iap= ssh-flag= host="
		for s.next() {
			switch {
			case s.key == "help" || s.key == "h":
				return nil, true
			case s.key == "" && s.end && c.Name == "vagrant":
				s.i = s.at
				return far("--", glued(s.rest(), " ")), false
			case s.has && (s.key == "command" || s.key == "c" && c.Name == "vagrant" || s.key == "C" && c.Name != "vagrant"):
				for _, w := range c.Args {
					if w.Is("ssh") {
						return far(dashed(s.key), s.val), false
					}
				}
			}
		}
	case "salt", "salt-ssh":
		s.short, s.long = "t:c:E:G:L:N:C:", "timeout= config-dir= out="
		var words []Word
		for s.next() {
			if s.key == "" {
				words = append(words, s.val)
			}
		}
		if len(words) > 2 && strings.HasPrefix(words[1].Text, "cmd.") {
			return far(words[1].Text, words[2]), false
		}
	case "adb":
		s.stop, s.short = true, "s:t:H:P:L:ade"
		for s.next() {
		}
		if rest := s.rest(); len(rest) > 1 && (rest[0].Is("shell") || rest[0].Is("exec-out")) {
			rest = rest[1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") && len(rest[0].Text) == 2 {
				rest = rest[1:]
			}
			if len(rest) > 0 {
				return far("shell", glued(rest, " ")), false
			}
		}
	case "heroku":
		return heroku(c)
	case "wsl":
		return wsl(c)
	}
	return nil, false
}

// ansible runs the argument of a module that takes a command.
func ansible(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "m:a:i:u:l:f:e:t:T:c:M:P:B:bKkoCDv", long: "module-name= args= inventory= user= limit= forks= extra-vars= tree= timeout= connection= " +
		"private-key= become-user= become-method= list-hosts check help version"}
	module := "command"
	var text *Word
	for s.next() {
		switch s.key {
		case "help", "version", "list-hosts":
			return nil, true
		case "m", "module-name":
			module = s.val.Text[strings.LastIndexByte(s.val.Text, '.')+1:]
		case "a", "args":
			if s.has {
				w := s.val
				text = &w
			}
		}
	}
	switch module {
	case "command", "shell", "raw", "script", Unknown:
		if text != nil {
			return []handoff{{how: "-a", text: text, place: Elsewhere}}, false
		}
	}
	return nil, false
}

// flatpak runs an application; --command replaces its program.
func flatpak(c *Command) ([]handoff, bool) {
	if len(c.Args) < 2 || !c.Args[1].Is("run") {
		return nil, false
	}
	s := optScan{args: c.Args[2:], stop: true, exact: true, short: "dpu", long: "command= branch= arch= cwd= help version"}
	var words []Word
	for s.next() {
		switch s.key {
		case "help", "version":
			return nil, true
		case "command":
			words = []Word{s.val}
		}
	}
	if rest := s.rest(); words != nil && len(rest) > 0 {
		return run(nil, handoff{how: "--command", place: Inside, feeds: true}, append(words, rest[1:]...)), false
	}
	return nil, false
}

// heroku joins the words behind run.
func heroku(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], stop: true, exact: true, short: "a:r:s:e:x", long: "app= remote= size= env= type= exit-code no-tty no-notify"}
	if len(s.args) == 0 || !s.args[0].Is("run") && !s.args[0].Is("run:detached") && !s.args[0].Is("local:run") {
		return nil, false
	}
	s.args = s.args[1:]
	for s.next() {
	}
	if rest := s.rest(); len(rest) > 0 {
		w := glued(rest, " ")
		return []handoff{{how: "run", text: &w, place: Elsewhere}}, false
	}
	return nil, false
}

// wsl runs a text in the default shell of the distribution, or with -e an argv.
func wsl(c *Command) ([]handoff, bool) {
	args := c.Args[1:]
	for i := 0; i < len(args); i++ {
		switch t := args[i].Text; {
		case t == "-d" || t == "--distribution" || t == "-u" || t == "--user" || t == "--cd" || t == "--shell-type" || t == "--distribution-id":
			i++
		case t == "-e" || t == "--exec":
			return run(nil, handoff{how: "-e", place: Container, feeds: true}, args[i+1:]), false
		case t == "--system" || t == "~":
		case t == "--" || !strings.HasPrefix(t, "-"):
			if t == "--" {
				i++
			}
			if i < len(args) {
				w := glued(args[i:], " ")
				return []handoff{{how: "text", text: &w, place: Container, feeds: true}}, false
			}
		default: // --list, --shutdown and other requests to wsl itself
			return nil, false
		}
	}
	return nil, false
}
