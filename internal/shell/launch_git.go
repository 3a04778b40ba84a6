package shell

import "strings"

// git reads the places where git hands text to a shell: aliases, settings that name a program, and a few subcommands.
func git(c *Command) ([]handoff, bool) {
	args := c.Args[1:]
	if len(args) > 0 && gitQuiet(args[0].Text) {
		return nil, false
	}
	g := gitLine{c: c}
	s := optScan{args: args, stop: true, exact: true, short: "pPvhC:c:",
		long: "git-dir= work-tree= namespace= exec-path=? super-prefix= config-env= attr-source= list-cmds= paginate no-pager bare html-path man-path info-path help version"}
	for s.next() {
		switch s.key {
		case "h", "v", "help", "version", "html-path", "man-path", "info-path", "list-cmds":
			return nil, true
		case "C":
			if s.has {
				w := s.val
				g.dir = &w
			}
		case "c":
			g.configs = append(g.configs, s.val)
		case "config-env":
			w := s.val
			if name := optionName(w.Text); gitRuns(name) {
				g.configs = append(g.configs, glued([]Word{w.Lit(name + "="), unknownLike(w, Variable, w.behind(len(name)+1).Text)}, ""))
			}
		}
	}
	rest := s.rest()
	if len(rest) == 0 {
		return nil, false
	}
	g.verb, g.args = rest[0], rest[1:]
	g.settings()
	g.subcommand()
	return g.hs, false
}

// gitQuiet lists the everyday subcommands that hand nothing on.
func gitQuiet(verb string) bool {
	switch verb {
	case "status", "diff", "log", "show", "add", "commit", "checkout", "switch", "branch", "stash", "merge", "reset", "restore", "tag",
		"rev-parse", "blame", "cherry-pick", "rm", "mv", "init", "clean", "worktree", "describe", "reflog", "shortlog", "ls-files":
		return true
	}
	return false
}

type gitLine struct {
	c       *Command
	dir     *Word
	verb    Word
	args    []Word
	configs []Word // of -c, as name=value
	hs      []handoff
}

func (g *gitLine) say(how string, w Word) {
	g.hs = append(g.hs, handoff{how: how, text: &w, dialect: systemShell, dir: g.dir, feeds: true})
}

// settings reads git -c name=value: the ones that name a program, and the alias that is used.
func (g *gitLine) settings() {
	for _, w := range g.configs {
		name := optionName(w.Text)
		value := w.behind(len(name) + 1)
		low := strings.ToLower(name)
		if alias, ok := strings.CutPrefix(low, "alias."); ok {
			if g.verb.Is(name[len("alias."):]) || strings.EqualFold(alias, g.verb.Text) || strings.Contains(alias, Unknown) {
				g.alias(value)
			}
			continue
		}
		if len(name) < len(w.Text) {
			g.setting(low, value, false)
		}
	}
}

// alias runs what git -c alias.x=… stands for.
func (g *gitLine) alias(value Word) {
	if strings.HasPrefix(value.Text, "!") {
		w := value.behind(1)
		h := handoff{how: "alias." + g.verb.Text, text: &w, dialect: systemShell, dir: g.dir, feeds: true}
		if len(g.args) > 0 {
			w.Text += ` "$@"`
			h.args = append([]Word{g.verb}, g.args...)
		}
		g.hs = append(g.hs, h)
		return
	}
	if strings.HasPrefix(value.Text, Unknown) {
		g.say("alias."+g.verb.Text, value)
		return
	}
	x := itemReader{}
	if words, ok := x.split(value); ok && len(words) > 0 && !words[0].Is(g.verb.Text) {
		argv := append([]Word{g.c.Args[0]}, words...)
		g.hs = run(g.hs, handoff{how: "alias." + g.verb.Text, dir: g.dir, feeds: true}, append(argv, g.args...))
	}
}

// setting adds the program that a setting names.
func (g *gitLine) setting(name string, value Word, later bool) {
	if value.Text == "" || !gitRuns(name) {
		return
	}
	switch {
	case strings.HasPrefix(name, "alias."), strings.HasPrefix(name, "submodule."):
		if !strings.HasPrefix(value.Text, "!") && !strings.HasPrefix(value.Text, Unknown) {
			return
		}
		value = value.behind(strings.IndexByte("!", value.Text[0]) + 1)
	case strings.HasPrefix(name, "credential"):
		switch t := value.Text; {
		case t[0] == '!':
			value = value.behind(1)
		case t[0] != '/' && t[0] != 0 && t[0] != '~':
			return // a helper of git's own
		}
	case strings.HasPrefix(name, "pager."), name == "core.fsmonitor":
		switch strings.ToLower(value.Text) {
		case "true", "false", "yes", "no", "on", "off", "1", "0":
			return
		}
	case strings.HasSuffix(name, ".url"), strings.HasSuffix(name, "insteadof"), strings.HasSuffix(name, ".pushurl"):
		g.hs = external(g.hs, value, later)
		return
	}
	g.hs = append(g.hs, handoff{how: name, text: &value, dialect: systemShell, dir: g.dir, defer_: later})
}

// gitRuns tells whether a setting, in lower case, names something that git runs.
func gitRuns(name string) bool {
	switch name {
	case "core.pager", "core.editor", "sequence.editor", "core.sshcommand", "core.askpass", "core.fsmonitor", "core.gitproxy",
		"core.alternaterefscommand", "diff.external", "gpg.program", "gpg.ssh.defaultkeycommand", "uploadpack.packobjectshook",
		"interactive.difffilter", "credential.helper", "sendemail.tocmd", "sendemail.cccmd", "sendemail.headercmd", "sendemail.sendmailcmd":
		return true
	}
	section, rest, _ := strings.Cut(name, ".")
	last := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "alias", "pager":
		return rest != ""
	case "diff":
		return last == "command" || last == "textconv"
	case "difftool", "mergetool", "man", "browser", "trailer", "guitool":
		return last == "cmd" || last == "command"
	case "merge":
		return last == "driver"
	case "filter":
		return last == "clean" || last == "smudge" || last == "process"
	case "credential":
		return last == "helper"
	case "gpg":
		return last == "program"
	case "tar", "hook":
		return last == "command"
	case "remote":
		return last == "uploadpack" || last == "receivepack" || last == "url" || last == "pushurl" || last == "vcs"
	case "url":
		return last == "insteadof" || strings.HasPrefix(rest, "ext::")
	case "submodule":
		return last == "update"
	}
	return false
}

// subcommand reads the subcommands that run something.
func (g *gitLine) subcommand() {
	switch g.verb.Text {
	case "config":
		g.config()
	case "rebase":
		g.texts(g.args, "x:s:X:C:S::qvnifmr", "exec= onto= strategy= strategy-option= whitespace= gpg-sign=? rebase-merges=? empty= keep-base root interactive "+
			"autostash autosquash", "x exec")
	case "bisect":
		if len(g.args) > 0 && g.args[0].Is("run") {
			g.hs = run(g.hs, handoff{how: "bisect run", dir: g.dir}, g.args[1:])
		}
	case "submodule":
		g.foreach()
		g.urls()
	case "filter-branch":
		g.texts(g.args, "d:f", "setup= subdirectory-filter= env-filter= tree-filter= index-filter= parent-filter= msg-filter= commit-filter= tag-name-filter= "+
			"original= prune-empty force state-branch=", "setup env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter")
	case "grep":
		g.texts(g.args, "O::e:f:A:B:C:m:", "open-files-in-pager=? max-depth= threads= max-count= after-context= before-context= context=", "O open-files-in-pager")
	case "difftool":
		g.texts(g.args, "x:t:dgyOU:", "extcmd= tool= gui no-prompt dir-diff", "x extcmd")
	case "clone":
		g.texts(g.args, "u:c:o:b:j:qvnls", "upload-pack= config= origin= branch= depth= jobs= reference= reference-if-able= shallow-since= shallow-exclude= "+
			"separate-git-dir= template= filter= server-option= bundle-uri= recurse-submodules=?", "u upload-pack")
		g.cloneConfig()
		g.urls()
	case "fetch", "pull", "ls-remote", "push", "archive", "fetch-pack", "send-pack", "remote":
		g.texts(g.args, "o:j:", "upload-pack= receive-pack= exec= remote= depth= jobs= server-option= push-option= repo= refmap= filter=", "upload-pack receive-pack exec")
		g.urls()
	case "send-email":
		g.texts(g.args, "", "to-cmd= cc-cmd= header-cmd= sendmail-cmd= from= to= cc= subject= smtp-server=", "to-cmd cc-cmd header-cmd sendmail-cmd")
	case "for-each-repo":
		s := optScan{args: g.args, stop: true, long: "config= keep-going"}
		for s.next() {
		}
		if rest := s.rest(); len(rest) > 0 {
			g.hs = run(g.hs, handoff{how: "for-each-repo", looped: true}, append([]Word{g.c.Args[0]}, rest...))
		}
	}
}

// texts adds the values of the options in list.
func (g *gitLine) texts(args []Word, short, long, list string) {
	s := optScan{args: args, short: short, long: long}
	for s.next() {
		if s.has && listed(list, s.key) && s.val.Text != "" {
			g.say(dashed(s.key), s.val)
		}
	}
}

// foreach reads git submodule foreach: one word is a text, several are an argv.
func (g *gitLine) foreach() {
	s := optScan{args: g.args, stop: true, long: "quiet cached"}
	for s.next() {
	}
	if verb, ok := s.take(); !ok || !verb.Is("foreach") {
		return
	}
	s = optScan{args: s.rest(), stop: true, long: "recursive quiet"}
	for s.next() {
	}
	switch rest := s.rest(); len(rest) {
	case 0:
	case 1:
		g.say("foreach", rest[0])
	default:
		g.hs = run(g.hs, handoff{how: "foreach", looped: true}, rest)
	}
}

// config reads git config [set] name value: what is stored runs at a later command.
func (g *gitLine) config() {
	s := optScan{args: g.args, short: "f:t:zleh", long: "global system local worktree file= blob= add replace-all get get-all get-regexp get-urlmatch unset unset-all " +
		"rename-section remove-section list edit type= bool int bool-or-int path expiry-date null name-only show-origin show-scope includes no-includes " +
		"default= fixed-value comment= all append value="}
	var words []Word
	for s.next() {
		switch s.key {
		case "get", "get-all", "get-regexp", "get-urlmatch", "unset", "unset-all", "list", "l", "rename-section", "remove-section", "edit", "e":
			return
		case "":
			words = append(words, s.val)
		}
	}
	if len(words) > 0 && words[0].Is("set") {
		words = words[1:]
	}
	if len(words) >= 2 {
		g.setting(strings.ToLower(words[0].Text), words[1], true)
	}
}

func (g *gitLine) cloneConfig() {
	s := optScan{args: g.args, short: "u:c:o:b:j:", long: "config= upload-pack= origin= branch="}
	for s.next() {
		if (s.key == "c" || s.key == "config") && s.has {
			name := optionName(s.val.Text)
			g.setting(strings.ToLower(name), s.val.behind(len(name)+1), false)
		}
	}
}

func (g *gitLine) urls() {
	for _, w := range g.args {
		g.hs = external(g.hs, w, false)
	}
}

// external reads an ext:: address, which holds a command: blanks split it, % escapes.
func external(hs []handoff, w Word, later bool) []handoff {
	at := strings.Index(w.Text, "ext::")
	if at != 0 && (at < 0 || !strings.HasSuffix(w.Text[:at], "=")) {
		return hs
	}
	w = w.behind(at + len("ext::"))
	sp := splitter{in: w}
	for i := 0; i < len(w.Text); i++ {
		switch b := w.Text[i]; {
		case b == 0:
			sp.hole(sp.nextHole())
		case b == ' ':
			sp.cut()
		case b == '%' && i+1 < len(w.Text):
			i++
			switch w.Text[i] {
			case ' ', '%':
				sp.put(w.Text[i])
			default: // %S, %s, %G, %V stand for names of services
				sp.put('%')
				sp.put(w.Text[i])
			}
		default:
			sp.put(b)
		}
	}
	return run(hs, handoff{how: "ext::", defer_: later}, sp.finish())
}
