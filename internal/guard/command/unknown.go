package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// What cannot be known where it matters. None of this is ever on the floor.
func unknowns() table {
	everything := func(c *ctx, t target) bool { return c.isRoot(t) || c.isSystemDir(t) }
	return table{
		{
			Key:    "command word cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work,
			Match:  match{on: onNote, test: dynamicWord(true)},
			Sticky: true,
			Why:    "the program is not known, and it is given a path that must not be lost",
			Remedy: "write the program's name",
			Hits:   []string{"$(cat f) -rf /", "$CMD -rf /etc", "$X ~"},
			Passes: []string{"$CMD x", "ls /"},
		},
		{
			Key:    "command word cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work,
			Match:  match{on: onNote, test: dynamicWord(false)},
			Why:    "the program to run is not known",
			Remedy: "write the program's name",
			Hits:   []string{"$CMD x", "$(cat f) x", `"$X" --all`},
			Passes: []string{"C=ls; $C x", "$(echo ls) x", "ls $X"},
		},
		{
			Key:    "unset variable may expand to /",
			Say:    sayEmpty,
			Tier:   guard.Unknown,
			Harms:  guard.Host,
			Match:  either(all(runs("rm"), maybe(everything)), all(runs("chmod", "chown", "chgrp"), flag("-R", "--recursive"), maybe(everything))),
			Why:    "a variable that is not set in this line would make it the root or a system directory",
			Remedy: "set it in the same command, or write \"${DIR:?}\"/*",
			Hits:   []string{"rm $DIR/*", "rm -rf $DIR/*", `rm -rf "$A/"`, `ssh host "rm -rf $SNAP/*"`, "rm -rf $X/etc", "rm $DIR/* -rf", "chmod -R 755 $D/"},
			Passes: []string{"DIR=x; rm -rf $DIR/*", "rm -rf $TMPDIR/x", `rm -rf "$DIR"`, "rm -rf ./*"},
		},
		{
			Key:    "code that is run cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work,
			Match:  match{on: onNote, test: dynamicCode},
			Why:    "text with unknown pieces is run as code",
			Remedy: "write what it runs in full: `bash -c 'ls -l'`",
			Hits:   []string{`eval "$X"`, `bash -c "rm -r $X/y; $Y"`, "sh <<E\n$X\nE"},
			Passes: []string{"eval 'ls -l'", "bash -c 'ls -l'", `eval "$(ssh-agent -s)"`, `eval "$(direnv hook bash)"`, `bash -c "echo $USER"`, "source <(kubectl completion bash)"},
		},
		{
			Key:    "script may be another one by then",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work,
			Match:  match{on: onNote, test: comesLater},
			Why:    "it waits, and then runs a script that is not there to be read now: whatever it holds by then runs unjudged",
			Remedy: "write the script first, or run it in a command of its own",
			Hits:   []string{"sleep 5; bash later.sh", "until sh ./later.sh; do sleep 1; done", "inotifywait . && . ./later.sh", "sleep 60 && python3 later.py"},
			Passes: []string{"bash later.sh", "ssh host 'sleep 5; bash later.sh'", "docker exec web sh -c 'sleep 5; python3 app.py'", "sleep 5; echo done", "sleep 5; bash -c 'ls'", "echo ls > later.sh; sleep 1; sh later.sh", "sleep 3; curl -s localhost:8080/health"},
		},
		{
			Key:    "subcommand cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work | guard.Remote,
			Match:  all(runs("git", "systemctl", "kubectl", "oc", "docker", "podman", "terraform", "tofu", "helm", "launchctl", "redis-cli", "gcloud", "az", "pulumi"), when(blindVerb)),
			Why:    "what the program is told to do is not known",
			Remedy: "write the subcommand",
			Hits:   []string{"git $SUB", "systemctl $VERB sshd", "kubectl $VERB ns prod", "terraform $ACTION -auto-approve"},
			Passes: []string{"git log $REF", "kubectl get $KIND", "docker run $IMAGE", "systemctl status $UNIT", "V=status; git $V"},
		},
		{
			Key:   "option cannot be known",
			Tier:  guard.Unknown,
			Harms: guard.Host | guard.Work,
			Match: either(all(runs("rm"), when(looseRm)), all(runs("git"), sub("push"), when(looseArgs(2))), all(runs("git"), sub("reset|clean|branch|checkout"), when(looseArgs(1))), all(runs("git"), when(blindSetting)),
				all(runs("docker", "podman"), sub("run|create|exec"), when(looseArgs(99)))),
			Why:    "a word that is not known may be an option that forces or recurses",
			Remedy: "quote the variable, or put -- in front of it",
			Hits:   []string{"rm $FLAGS mydir/", "git push $OPTS origin main", "git clean $X", "git reset $MODE HEAD~1", "git reset $MODE", `git -c "$KV" status`, "docker run $OPTS alpine sh"},
			Passes: []string{"rm $FILE", `rm "$F" x`, "git push $REMOTE $BRANCH", `git push origin "$B"`, "git checkout $BRANCH", "git branch -d $B"},
		},
	}
}

// sayEmpty says which variable is not set, and what would run then.
func sayEmpty(c *ctx, i int) string {
	args := make([]shell.Word, 0, len(c.args(i)))
	name := ""
	for _, w := range c.args(i) {
		if len(w.Holes) > 0 {
			if name == "" && w.Holes[0].Name != "" {
				name = shell.Word{Text: shell.Unknown, Holes: w.Holes[:1]}.Show()
			}
			empty := w.Empty()
			if empty == "" && !w.Holes[0].Quoted {
				continue
			}
			w = shell.Word{Text: empty, Pattern: w.Pattern}
		}
		args = append(args, w)
	}
	if name == "" {
		name = "a value"
	}
	state := " is not known; empty, this is: "
	if strings.HasPrefix(name, "$") && !strings.HasPrefix(name, "$(") {
		state = " is not set in this line; empty, this is: "
	}
	return name + state + shell.Line(args)
}

// dynamicWord holds for a note about a program that is not known, given a path of the floor or not.
func dynamicWord(floor bool) test {
	return func(c *ctx, k int) (span, bool) {
		n := &c.prog.Notes[k]
		if n.Kind != shell.DynamicWord {
			return span{}, false
		}
		where := span{n.Start, n.End}
		if n.Command < 0 || n.Command >= len(c.prog.Commands) {
			return where, !floor
		}
		if !floor && (plainName(c.name(n.Command)) || c.placedProgram(n.Command)) {
			return where, false
		}
		_, on := c.find(c.operandTargets(n.Command), func(c *ctx, t target) bool { return c.isRoot(t) || c.isSystemDir(t) || c.isHome(t) })
		return where, on == floor
	}
}

// placedProgram tells whether only the folder of a program is unknown, and it is one that a tool's own variable names.
func (c *ctx) placedProgram(i int) bool {
	args := c.args(i)
	if len(args) == 0 || len(args[0].Holes) != 1 {
		return false
	}
	text, hole := args[0].Text, args[0].Holes[0]
	n := strings.IndexByte(text, 0)
	if n != 0 || len(text) < 3 || text[1] != '/' {
		return false
	}
	switch hole.Kind {
	case shell.Variable:
		if h := hole.Name; !strings.HasSuffix(h, "_HOME") && !strings.HasSuffix(h, "_ROOT") && !strings.HasSuffix(h, "_PREFIX") && h != "VIRTUAL_ENV" && h != "GOPATH" && h != "PWD" {
			return false
		}
	case shell.Output:
		switch hole.Name {
		case "go env GOPATH", "go env GOROOT", "npm bin", "yarn bin", "pnpm bin", "brew --prefix", "git rev-parse --show-toplevel", "pwd", "npm prefix -g", "npm root -g":
		default:
			return false
		}
	default:
		return false
	}
	name := family(base(text))
	return plainName(base(text)) && len(c.index.byName[name]) == 0
}

// lookedUp returns the name by which the text looks up a program that it then runs: "$(which nc) …"; empty for none.
func lookedUp(args []shell.Word) string {
	if len(args) == 0 || len(args[0].Holes) != 1 || args[0].Text != shell.Unknown || args[0].Holes[0].Kind != shell.Output {
		return ""
	}
	f := strings.Fields(args[0].Holes[0].Name)
	switch {
	case len(f) == 2 && (f[0] == "which" || f[0] == "whence"), len(f) == 3 && f[0] == "command" && f[1] == "-v":
		return strings.ToLower(strings.Trim(f[len(f)-1], `"'`))
	}
	return ""
}

func plainName(s string) bool {
	for k := range len(s) {
		if !nameByte(s[k]) {
			return false
		}
	}
	return s != "" && grammarOf(s).short == "" && !carries(s) && s != "rm"
}

// dynamicCode holds for a note about code that is not known, unless all of it comes from programs that print set-up code.
func dynamicCode(c *ctx, k int) (span, bool) {
	n := &c.prog.Notes[k]
	if n.Kind != shell.DynamicCode {
		return span{}, false
	}
	where := span{n.Start, n.End}
	if tame(n) {
		return where, false
	}
	if n.Command >= 0 && n.Command < len(c.prog.Commands) {
		switch c.name(n.Command) {
		case "psql", "mysql", "mariadb", "sqlite3":
			if c.readsSQL(n.Command) {
				return where, false // what is loaded is data: see datastores
			}
		case "eval", "source", ".":
			return where, !printsSetup(c, n.Command)
		}
		if strings.HasPrefix(n.Text, "$(cat ") && fromFile(c, n.Command) {
			return where, false
		}
	}
	return where, true
}

// comesLater holds for a note about a script whose text is not known, in a text that waits: what a tool or another command writes meanwhile
// is judged then, but not what programs write that are not followed.
func comesLater(c *ctx, k int) (span, bool) {
	n := &c.prog.Notes[k]
	if n.Kind != shell.UnreadScript || c.facts.Unread || n.Command < 0 || n.Command >= len(c.prog.Commands) || c.cmd(n.Command).Place >= shell.Container {
		return span{}, false
	}
	for i := 0; i < len(c.prog.Commands) && c.step(i); i++ {
		switch c.name(i) {
		case "sleep", "usleep", "inotifywait", "fswatch":
			return span{n.Start, n.End}, true
		}
	}
	return span{}, false
}

// tame tells whether what is unknown in a piece of code is a value that holds no code by convention.
func tame(n *shell.Note) bool {
	name, ok := strings.CutPrefix(n.Text, "$")
	if !ok {
		return false
	}
	switch name {
	case "USER", "LOGNAME", "HOME", "PWD", "OLDPWD", "HOSTNAME", "SHELL", "LANG", "TERM", "UID", "EUID", "PPID", "$", "?", "RANDOM", "SECONDS", "TMPDIR", "PATH",
		"(mktemp)", "(mktemp -d)", "(pwd)", "(nproc)", "(whoami)", "(hostname)", "(date)", "(uname -s)", "(uname -m)", "(id -u)", "(id -g)":
		return true
	}
	return strings.HasPrefix(name, "(date +") || strings.HasPrefix(name, "(mktemp ")
}

// fromFile holds when what command i runs comes from a file that is named: that is running a script.
func fromFile(c *ctx, i int) bool {
	for ; i >= 0; i = c.cmd(i).Parent {
		for _, r := range c.cmd(i).Redirs {
			if r.Op == "<" && len(r.Target.Holes) == 0 {
				return true
			}
		}
	}
	return false
}

// printsSetup tells whether the words of an eval or source are made only of the output of programs that print set-up code.
func printsSetup(c *ctx, i int) bool {
	cmd := c.cmd(i)
	any := false
	for n := range c.prog.Commands {
		in := &c.prog.Commands[n]
		if n == i || in.Start < cmd.Start || in.End > cmd.End || in.Parent == i && in.How == "eval" {
			continue
		}
		if !setup(in) {
			return false
		}
		any = true
	}
	if !any {
		return false
	}
	for _, w := range c.args(i)[1:] {
		for _, h := range w.Holes {
			if h.Kind != shell.Output {
				return false
			}
		}
	}
	return true
}

// setup tells whether a command prints shell code for the session that asks for it.
func setup(cmd *shell.Command) bool {
	sub := ""
	for _, w := range cmd.Args[min(1, len(cmd.Args)):] {
		if len(w.Holes) == 0 && w.Text != "" && w.Text[0] != '-' {
			sub = w.Text
			break
		}
	}
	switch cmd.Name {
	case "ssh-agent", "dircolors", "lesspipe", "lesspipe.sh", "resize", "register-python-argcomplete", "gpg-agent", "keychain", "brew":
		return cmd.Name != "brew" || sub == "shellenv"
	case "direnv", "starship", "zoxide", "mise", "atuin", "rtx", "fnm", "pyenv", "rbenv", "nodenv", "jenv", "goenv", "plenv", "oh-my-posh", "mcfly", "thefuck", "luarocks",
		"opam", "conda", "mamba", "micromamba", "fzf", "asdf", "pixi", "devbox":
		return sub == "" || has([]string{"hook", "init", "activate", "env", "export", "shell.bash", "shell.zsh", "shell", "path", "shellenv", "print-path"}, sub)
	case "docker-machine", "minikube", "podman":
		return has([]string{"env", "docker-env", "podman-env"}, sub)
	case "kubectl", "helm", "gh", "glab", "docker", "npm", "pip", "pip3", "rustup", "kind", "k3d", "argocd", "flux", "yq", "hugo", "cobra", "stern", "oc", "hermes", "just", "uv", "deno", "poetry":
		return has([]string{"completion", "completions", "generate-shell-completion"}, sub)
	}
	return false
}

// looseRm holds when an unknown word in front of a folder may be an option.
func looseRm(c *ctx, i int) (span, bool) {
	l := c.line(i)
	if !l.unsure || len(l.operands) < 2 {
		return span{}, false
	}
	for n, k := range l.operands {
		w := c.args(i)[k]
		if !couldBeOption(w) || w.Text != shell.Unknown {
			continue
		}
		for _, m := range l.operands[n+1:] {
			folder := c.args(i)[m]
			if strings.HasSuffix(folder.Text, "/") || !strings.Contains(base(folder.Text), ".") {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// blindVerb holds when the first word of a program that does what its first word says is not known at all.
func blindVerb(c *ctx, i int) (span, bool) {
	w, ok := c.operand(i, 0)
	if !ok || len(w.Holes) == 0 || strings.Trim(w.Text, shell.Unknown) != "" {
		return span{}, false
	}
	for _, h := range w.Holes {
		if h.Kind == shell.Entry {
			return span{}, false
		}
	}
	return at(w), true
}

// blindSetting holds for git given a setting whose name is not known.
func blindSetting(c *ctx, i int) (span, bool) {
	l := c.line(i)
	for _, o := range l.opts {
		if o.name == "-c" && len(l.operands) > 0 && o.arg < l.operands[0] && strings.HasPrefix(o.value.Text, shell.Unknown) {
			return at(o.value), true
		}
	}
	return span{}, false
}

// looseArgs holds when one of git's words may be an option: it speaks of options, comes from a command, or is one too many.
func looseArgs(most int) test {
	return func(c *ctx, i int) (span, bool) {
		l := c.line(i)
		if !l.unsure || len(l.operands) < 2 {
			return span{}, false
		}
		words := l.operands[1:]
		for _, k := range words {
			w := c.args(i)[k]
			if !couldBeOption(w) || w.Text != shell.Unknown {
				continue
			}
			name := strings.ToUpper(w.Holes[0].Name)
			if len(words) > most || strings.Contains(name, "OPT") || strings.Contains(name, "FLAG") || strings.Contains(name, "ARG") || strings.Contains(name, "MODE") ||
				c.args(i)[l.operands[0]].Text == "clean" {
				return at(w), true
			}
		}
		return span{}, false
	}
}
