package command

import (
	"strings"

	"hermes/internal/guard"
)

// Hermes' own gateway, for processes that are not supervised: rows 66 and 67.
func hermesVerbs() table {
	return table{
		{
			Key:    "stop/restart hermes gateway (kills running agents)",
			Harms:  guard.Host,
			Match:  all(runs(hermesNames()...), when(gatewayVerb("stop", "restart"))),
			Why:    "kills the agents that run in the gateway",
			Remedy: "look first: `hermes gateway status`",
			Hits:   []string{"hermes gateway restart", "hermes --config  x.yaml gateway restart", `hermes gateway re"start"`, "python -m hermes_cli.main gateway stop", "hermes -p zeus gateway stop"},
			Passes: []string{"hermes gateway status", `echo "restart the gateway"`, "hermes send 'gateway restart'"},
		},
		{
			Key:    "hermes update (restarts gateway, kills running agents)",
			Harms:  guard.Host,
			Match:  all(runs(hermesNames()...), when(hermesVerb("update"))),
			Why:    "restarts the gateway and kills the agents in it",
			Remedy: "look first: `hermes version`",
			Hits:   []string{"hermes update", "hermes --yes update"},
			Passes: []string{"hermes version", "hermes send update", "apt update"},
		},
	}
}

// Rows 76 to 81.
func gateway() table {
	const unit = "start gateway outside systemd (use 'systemctl --user restart hermes-gateway')"
	return table{
		{
			Key:    unit,
			Harms:  guard.Host,
			Match:  all(runs(append(hermesNames(), "gateway")...), when(gatewayVerb("run")), when(leftRunning)),
			Why:    "runs a second gateway that nothing supervises",
			Remedy: "look first: `systemctl --user status hermes-gateway`",
			Hits: []string{
				"gateway run &", "nohup hermes gateway run", "python -m hermes_cli.main gateway run --replace &", "setsid hermes gateway run", "hermes gateway run & disown",
				"hermes_cli.main gateway run --replace &disown",
			},
			Passes: []string{"systemctl --user status hermes-gateway", "hermes gateway run", "hermes gateway status &"},
		},
		{
			Key:    "kill hermes/gateway process (self-termination)",
			Harms:  guard.Host,
			Match:  all(runs("pkill", "killall", "killall5"), when(namesGateway)),
			Why:    "kills the agent itself",
			Remedy: "look first: `pgrep -fl hermes`",
			Hits:   []string{"pkill -f hermes", "killall hermes", `pkill -f "cli.py --gateway"`, "pkill -9 hermes", "pkill -f gateway"},
			Passes: []string{"pgrep -fl hermes", "pkill -f nginx", "killall firefox"},
		},
		{
			Key:    "kill process via pgrep/pidof expansion (self-termination)",
			Harms:  guard.Host,
			Match:  all(runs("kill"), when(killsFound("$("))),
			Why:    "may kill the agent itself",
			Remedy: "look first: `pgrep -fl hermes`",
			Hits:   []string{"kill -TERM $(pgrep -f hermes)", `kill -9 $(pgrep -f "hermes.*gateway")`, "kill $(pidof hermes)", "kill $(pgrep -f $NAME)", "kill $(pgrep nginx)"},
			Passes: []string{"kill 12345", "kill $(cat app.pid)", "kill $(lsof -t -i:3000)"},
		},
		{
			Key:    "kill process via backtick pgrep/pidof expansion (self-termination)",
			Harms:  guard.Host,
			Match:  all(runs("kill"), when(killsFound("`"))),
			Why:    "may kill the agent itself",
			Remedy: "look first: `pgrep -fl hermes`",
			Hits:   []string{"kill -TERM `pgrep -f hermes`", "kill -9 `pidof hermes`"},
			Passes: []string{"kill 12345", "kill `cat app.pid`"},
		},
		{
			Key:    "stop/restart hermes launchd service (kills running agents)",
			Harms:  guard.Host,
			Match:  all(runs("launchctl"), sub("stop|kickstart|bootout|unload|kill|disable|remove|restart"), when(mentionsHermes)),
			Why:    "kills the agents that run in the service",
			Remedy: "look first: `launchctl list`",
			Hits: []string{
				"launchctl stop ai.hermes.gateway", "launchctl kick'start' -k gui/501/ai.hermes.gateway", "L=ai.hermes.gateway; launchctl bootout gui/501/$L",
				"launchctl unload ~/Library/LaunchAgents/ai.hermes.gateway.plist",
			},
			Passes: []string{"launchctl list", "launchctl stop com.example.x", "launchctl print gui/501/ai.hermes.gateway"},
		},
	}
}

func hermesNames() []string {
	return []string{"hermes", "python", "hermes_cli.main", "hermes_cli", "uv", "uvx"}
}

// verbs returns the words of a hermes command behind its options, or nil when command i does not run hermes.
func (c *ctx) verbs(i int) []string {
	args := c.args(i)
	if len(args) == 0 {
		return nil
	}
	k := 1
	switch name := c.name(i); name {
	case "python":
		for k < len(args) && !strings.HasPrefix(args[k].Text, "hermes_cli") {
			k++
		}
		k++
	case "uv", "uvx":
		for k < len(args) && args[k].Text != "hermes" && !strings.HasPrefix(args[k].Text, "hermes_cli") {
			k++
		}
		k++
	case "gateway":
		k = 0
	}
	var words []string
	for ; k < len(args); k++ {
		t := args[k].Text
		if len(args[k].Holes) > 0 {
			words = append(words, "\x00")
			continue
		}
		if strings.HasPrefix(t, "-") {
			continue
		}
		words = append(words, strings.ToLower(base(t)))
	}
	return words
}

// gatewayVerb holds when hermes is told to do that with its gateway. Options may take values, so the two words are
// looked for side by side anywhere.
func gatewayVerb(verbs ...string) test {
	return func(c *ctx, i int) (span, bool) {
		words := c.verbs(i)
		for k := 0; k+1 < len(words); k++ {
			if words[k] == "gateway" && has(verbs, words[k+1]) {
				return span{}, true
			}
		}
		return span{}, false
	}
}

// hermesVerb holds when the first word that is no option's value is the verb.
func hermesVerb(verbs ...string) test {
	return func(c *ctx, i int) (span, bool) {
		args := c.args(i)
		if c.name(i) != "hermes" {
			words := c.verbs(i)
			return span{}, len(words) > 0 && has(verbs, words[0])
		}
		w, ok := c.operand(i, 0)
		if !ok || len(args) < 2 {
			return span{}, false
		}
		return at(w), len(w.Holes) == 0 && has(verbs, strings.ToLower(w.Text))
	}
}

// leftRunning holds when the command goes on after the text ends.
func leftRunning(c *ctx, i int) (span, bool) {
	if c.cmd(i).Detached {
		return span{}, true
	}
	for p := c.cmd(i).Parent; p >= 0; p = c.cmd(p).Parent {
		switch c.name(p) {
		case "nohup", "setsid", "disown", "daemonize", "systemd-run":
			return span{}, true
		}
		if c.cmd(p).Detached {
			return span{}, true
		}
	}
	for k := i + 1; k < len(c.prog.Commands) && c.steps <= maxSteps; k++ {
		c.steps++
		if c.name(k) == "disown" {
			return span{}, true
		}
	}
	return span{}, false
}

func namesGateway(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		t := strings.ToLower(w.Text)
		if strings.Contains(t, "hermes") || strings.Contains(t, "cli.py") || strings.Contains(t, "gateway") {
			return at(w), true
		}
	}
	return span{}, false
}

// killsFound holds for kill of what pgrep or pidof finds, when that may be the agent itself.
func killsFound(form string) test {
	return func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[1:] {
			back := strings.Contains(w.Raw, "`")
			if back == (form == "`") && c.made(w, findsAny, "$(", "`") {
				return at(w), true
			}
		}
		return span{}, false
	}
}

// findsAny tells whether command i prints the ids of processes found by name.
func findsAny(c *ctx, i int) bool {
	switch c.name(i) {
	case "pgrep", "pidof":
		return true
	}
	return false
}

// findsGateway tells whether command i prints process ids that may be the gateway's.
func findsGateway(c *ctx, i int) bool { return findsAny(c, i) && c.reaches(i) }

// mentionsHermes holds when the text speaks of hermes anywhere: labels are built and passed around.
func mentionsHermes(c *ctx, i int) (span, bool) {
	return span{}, c.speaksOfHermes() || foldIndex(joined(c.args(i)), "hermes") >= 0
}

// speaksOfHermes tells whether the text has the word anywhere.
func (c *ctx) speaksOfHermes() bool {
	if c.hermes == 0 {
		c.hermes = -1
		if foldIndex(c.prog.Text, "hermes") >= 0 {
			c.hermes = 1
		}
	}
	return c.hermes > 0
}
