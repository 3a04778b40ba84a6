package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// A gateway that a supervisor restarts must not be stopped by what runs in it: it would come back, run the same text
// and stop again.
func lifecycle() table {
	own := &Facts{Supervised: true, Profile: "zeus", File: func(path string) (string, bool) {
		switch path {
		case "/srv/stop.sh":
			return "#!/bin/bash\nhermes gateway stop\n", true
		case "/srv/tool":
			return "\x7fELF\x02\x00hermes gateway stop\n", true
		}
		return "", false
	}}
	const remedy = "ask the owner to do it from outside: `hermes gateway status`"
	row := func(key, why string, m match, hits, passes []string) Rule {
		return Rule{
			Key: key, Tier: guard.Lifecycle, Harms: guard.Host, Match: all(supervised(m.on), m), Why: why, Remedy: remedy, Hits: hits, Passes: passes, Facts: own,
		}
	}
	return table{
		row("stop/restart of the supervised gateway", "stops the gateway this command runs in",
			all(runs(hermesNames()...), when(ownGateway)),
			[]string{
				"hermes gateway restart", "hermes gateway uninstall", `hermes gateway re"start"`, "hermes -p zeus gateway restart", "HERMES GATEWAY RESTART",
				"echo $(hermes gateway stop)", "sh -c 'hermes gateway stop'", "bash <<EOF\nhermes gateway restart\nEOF",
			},
			[]string{"hermes gateway start", "hermes -p venus gateway restart", "hermes cron list", "cat 'hermes gateway restart-notes.md'"}),
		row("launchd change of the supervised gateway", "stops the gateway this command runs in, or registers a job with KeepAlive that does",
			all(runs("launchctl"), when(launchdGateway)),
			[]string{
				"launchctl bootout gui/501/ai.hermes.gateway", "launchctl submit -l com.example.x -- /bin/sh y.sh", "launchctl bootstrap gui/501 /tmp/x.plist",
				"L=ai.hermes.gateway; launchctl kickstart -k gui/501/$L", "launchctl dis\\able gui/501/ai.hermes.gateway",
			},
			[]string{"launchctl print gui/501/ai.hermes.gateway", "launchctl unload ai.hermes.update-checker.plist", "launchctl bootout gui/501/com.example.x"}),
		row("systemd change of the supervised gateway", "stops the gateway this command runs in",
			all(runs("systemctl"), sub("restart|stop|start|kill|disable|mask|try-restart|reload-or-restart|condrestart"), when(gatewayUnit)),
			[]string{"systemctl --user restart hermes-gateway", "systemctl stop hermes-gateway.service", "systemctl re'start' hermes-gateway"},
			[]string{"systemctl restart hermes-meta.service", "systemctl status hermes-gateway", "systemctl restart nginx"}),
		row("kill of the supervised gateway", "kills the gateway this command runs in",
			all(runs("pkill", "killall", "taskkill", "stop-process", "kill", "spps", "skill", "xargs"), when(killsGateway)),
			[]string{
				"pkill -f hermes.*gateway", "pkill python", "killall hermes", "kill $(pidof python3)", "pgrep python | xargs kill", "pkill -f gateway",
				"taskkill /IM python.exe", `taskkill /FI "IMAGENAME eq python.exe"`, "Stop-Process -Name python", "pkill py", "taskkill /F /IM pyth*", "Stop-Process -Name a,hermes",
			},
			[]string{
				"kill 4242", "pkill -u root chrome", "pkill -f 'python mt_add.py'", "taskkill /F /IM agent-browser.exe", "killall firefox", "pgrep python", "ls | xargs kill",
			}),
		row("text that may stop the supervised gateway", "cannot be read as shell, and names the gateway's verbs",
			match{on: onNote, test: looseGateway},
			[]string{"echo \"unbalanced\nhermes gateway restart"},
			[]string{"echo \"unbalanced\nls", "this restarts the payment gateway"}),
		row("script that stops the supervised gateway", "runs a referenced script that stops the gateway",
			when(runsScript),
			[]string{"/srv/stop.sh", "cd /srv && ./stop.sh --now"},
			[]string{"/srv/tool list", "ls /srv/stop.sh"}),
		{
			Key: "script that cannot be read, in a supervised gateway", Tier: guard.Lifecycle, Harms: guard.Host,
			Match: all(supervised(onNote), noted(shell.UnreadScript)), Why: "runs a referenced script that cannot be scanned for commands that stop the gateway",
			Remedy: "run the commands themselves: `make test`",
			Hits:   []string{"bash ./missing.sh"},
			Passes: []string{"make test", "ls ./missing.sh"},
			Facts:  own,
		},
	}
}

// supervised holds in a process that a supervisor restarts.
func supervised(on trigger) match {
	return match{on: on, test: func(c *ctx, _ int) (span, bool) { return span{}, c.facts.Supervised }}
}

// runsScript holds when the command is a script, by its path, whose text would be refused here.
func runsScript(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.facts.File == nil || len(args) == 0 || len(args[0].Holes) > 0 || !strings.Contains(args[0].Text, "/") {
		return span{}, false
	}
	path := c.resolve(args[0].Text, args[0], c.cmd(i).Dir).path
	text, ok := c.facts.File(path)
	if !ok || strings.IndexByte(text, 0) >= 0 {
		return span{}, false
	}
	inner := *c.facts
	inner.File = nil
	p := shell.Parse(text, shell.Options{Home: inner.Home, Dir: inner.Dir, Env: inner.Env})
	for _, h := range c.judge(&p, &inner) {
		if h.Tier == guard.Lifecycle {
			return at(args[0]), true
		}
	}
	return span{}, false
}

// ownGateway holds when hermes is told to stop the gateway of this process's own profile.
func ownGateway(c *ctx, i int) (span, bool) {
	if _, ok := gatewayVerb("restart", "stop", "uninstall")(c, i); !ok {
		return span{}, false
	}
	name, given := c.profileOf(i)
	if !given {
		return span{}, true
	}
	own := c.facts.Profile
	if own == "" {
		own = c.facts.Env["HERMES_PROFILE"]
	}
	return span{}, own != "" && (name == own || strings.Contains(name, shell.Unknown))
}

// profileOf returns the profile a hermes command names.
func (c *ctx) profileOf(i int) (string, bool) {
	args := c.args(i)
	for k, w := range args {
		switch t := w.Text; {
		case (t == "-p" || t == "--profile") && k+1 < len(args):
			return args[k+1].Text, true
		case strings.HasPrefix(t, "--profile="):
			return t[len("--profile="):], true
		case len(t) > 2 && strings.HasPrefix(t, "-p") && t[2] != '-':
			return strings.TrimPrefix(t[2:], "="), true
		}
	}
	return "", false
}

func launchdGateway(c *ctx, i int) (span, bool) {
	verb, ok := c.operand(i, 0)
	if !ok {
		return span{}, false
	}
	switch strings.ToLower(verb.Text) {
	case "submit", "bootstrap":
		return at(verb), true
	case "kickstart", "unload", "load", "stop", "restart", "bootout", "remove", "disable", "kill":
	default:
		return span{}, false
	}
	for _, w := range c.args(i)[1:] {
		if gatewayLabel(w.Text) || len(w.Holes) > 0 && c.speaksOfHermes() {
			return at(w), true
		}
	}
	return span{}, false
}

// gatewayLabel tells whether a service's label is the gateway's.
func gatewayLabel(s string) bool {
	s = strings.ToLower(s)
	for {
		n := strings.Index(s, "hermes")
		if n < 0 {
			return false
		}
		s = s[n+len("hermes"):]
		if len(s) > len("gateway") && strings.IndexByte(".-_/", s[0]) >= 0 && strings.HasPrefix(s[1:], "gateway") {
			return true
		}
	}
}

func gatewayUnit(c *ctx, i int) (span, bool) {
	for _, w := range c.operands(i)[1:] {
		if strings.HasPrefix(strings.ToLower(w.Text), "hermes-gateway") {
			return at(w), true
		}
		if w.Pattern != "" && (fnmatch(w.Text, "hermes-gateway") || fnmatch(w.Text, "hermes-gateway.service")) {
			return at(w), true
		}
	}
	return span{}, false
}

// killsGateway holds when what a kill reaches can be the gateway.
func killsGateway(c *ctx, i int) (span, bool) {
	args := c.args(i)
	all := strings.ToLower(joined(args))
	if strings.Contains(all, "hermes") && strings.Contains(all, "gateway") && c.name(i) != "xargs" {
		return span{}, true
	}
	switch c.name(i) {
	case "pkill", "killall":
		return span{}, c.reaches(i)
	case "kill", "skill":
		for _, w := range args[1:] {
			if c.made(w, findsGateway, "$(", "`") {
				return at(w), true
			}
		}
		if p := c.cmd(i).Parent; p >= 0 && c.name(p) == "xargs" {
			_, ok := c.upstream(p, findsGateway, 24)
			return span{}, ok
		}
	case "taskkill":
		return span{}, taskkillReaches(all)
	case "stop-process", "spps":
		return span{}, stopProcessReaches(c, i, args)
	}
	return span{}, false
}

func taskkillReaches(all string) bool {
	if strings.Contains(all, "imagename") {
		return imageReaches(strings.TrimSpace(all[strings.LastIndex(all, " eq ")+1:]))
	}
	_, after, ok := strings.Cut(all, "/im ")
	return ok && imageReaches(after)
}

func stopProcessReaches(c *ctx, i int, args []shell.Word) bool {
	named := false
	for _, w := range args[1:] {
		t := strings.ToLower(w.Text)
		if strings.HasPrefix(t, "-n") {
			named = true
			continue
		}
		if (named || len(t) > 0 && t[0] != '-') && imageReaches(t) {
			return true
		}
	}
	_, ok := c.upstream(i, func(c *ctx, n int) bool {
		switch c.name(n) {
		case "get-process", "gps", "ps":
			return imageReaches(strings.ToLower(joined(c.args(n)[1:])))
		}
		return false
	}, 8)
	return ok
}

// imageReaches tells whether one of the image names is the gateway's program.
func imageReaches(list string) bool {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" ,\"'", r) }) {
		name = strings.TrimSuffix(name, ".exe")
		for _, own := range ownImages() {
			if name == own || strings.ContainsAny(name, "*?") && fnmatch(name, own) {
				return true
			}
		}
	}
	return false
}

// looseGateway looks for the gateway's verbs line by line in a text that cannot be read as shell.
func looseGateway(c *ctx, i int) (span, bool) {
	if n := &c.prog.Notes[i]; n.Kind != shell.Unparsed {
		return span{}, false
	}
	from := 0
	for line := range strings.Lines(c.prog.Text) {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|()`{}\n", r) }) {
			words := strings.Fields(strings.ToLower(strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(part)))
			if looseVerb(words) {
				return span{from, from + len(line)}, true
			}
		}
		from += len(line)
	}
	return span{}, false
}

// looseVerb tells whether a line's words, behind any launchers, stop the gateway.
func looseVerb(words []string) bool {
	for len(words) > 0 && (has([]string{"sudo", "env", "exec", "nohup", "then", "do", "else", "!"}, words[0]) || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	switch base(words[0]) {
	case "hermes", "hermes.exe", "hermes_cli.main":
		for n := 1; n+1 < len(words); n++ {
			if words[n] == "gateway" && has([]string{"restart", "stop", "uninstall"}, words[n+1]) {
				return true
			}
		}
	case "launchctl", "systemctl":
		return gatewayLabel(strings.Join(words, " ")+" ") && !has(words, "print") && !has(words, "status")
	}
	return false
}
