package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Services and processes: rows 42 to 48.
func services() table {
	return table{
		{
			Key:    "stop/restart system service",
			Harms:  guard.Host,
			Match:  all(runs("systemctl"), sub("stop|restart|disable|mask|kill|isolate|try-restart|reload-or-restart")),
			Why:    "stops a service that others may use",
			Remedy: "look first: `systemctl status nginx`",
			Hits:   []string{"systemctl stop nginx", "sudo systemctl --now disable ssh", "systemctl --user restart x", "systemctl mask x"},
			Passes: []string{"systemctl status nginx", "systemctl start nginx", "systemctl list-units --state=failed", "systemctl show nginx -p restart"},
		},
		{
			Key:    "kill all processes",
			Harms:  guard.Host,
			Match:  all(runs("kill"), when(signalsAll)),
			Why:    "signals every process there is",
			Remedy: "name the process: `kill 12345`",
			Hits:   []string{"kill -9 -1"},
			Passes: []string{"kill 12345", "kill -9 12345"},
		},
		{
			Key:    "force kill processes",
			Harms:  guard.Host,
			Match:  all(runs("pkill"), when(killSignal(true))),
			Why:    "kills by name, without letting the processes save anything",
			Remedy: "name the process: `kill 12345`",
			Hits:   []string{"pkill -9 python", "pkill -KILL -f x", "pkill --signal 9 x", "sudo pkill -SIGKILL x"},
			Passes: []string{"pkill -f nginx", "pgrep -f x", "pkill -u me x"},
		},
		{
			Key:    "force kill processes (killall -KILL)",
			Harms:  guard.Host,
			Match:  all(runs("killall"), when(killSignal(false))),
			Why:    "kills by name, without letting the processes save anything",
			Remedy: "name the process: `kill 12345`",
			Hits:   []string{"killall -9 firefox", "killall -KILL x", "killall -SIGKILL x", "killall -9 -r 'herm.*'"},
			Passes: []string{"killall -V", "killall firefox", "killall -l"},
		},
		{
			Key:    "force kill processes (killall -s KILL)",
			Harms:  guard.Host,
			Match:  all(runs("killall"), when(killOption)),
			Why:    "kills by name, without letting the processes save anything",
			Remedy: "name the process: `kill 12345`",
			Hits:   []string{"killall -s KILL nginx", "killall -s 9 x", "killall --signal SIGKILL x"},
			Passes: []string{"killall -s TERM x", "killall x"},
		},
		{
			Key:    "kill processes by regex (killall -r)",
			Harms:  guard.Host,
			Match:  all(runs("killall"), flag("-r", "--regexp")),
			Why:    "kills whatever the pattern reaches",
			Remedy: "look first: `pgrep -l 'fire.*'`",
			Hits:   []string{"killall -r 'fire.*'", "killall --regexp x"},
			Passes: []string{"killall firefox", "pgrep -l 'fire.*'"},
		},
		{
			Key:    "fork bomb",
			Harms:  guard.Host,
			Match:  noted(shell.ForkBomb),
			Why:    "starts copies of itself until the machine stands still",
			Remedy: outside,
			Hits:   []string{":(){ :|:& };:"},
			Passes: []string{`echo ":(){ :|:& };:"`},
		},
	}
}

func isKill(s string) bool {
	switch strings.ToUpper(strings.TrimPrefix(s, "-")) {
	case "9", "KILL", "SIGKILL":
		return true
	}
	return false
}

// killSignal holds when the signal given as an option of its own, or through --signal, is KILL.
func killSignal(options bool) test {
	return func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[1:] {
			if len(w.Text) > 1 && w.Text[0] == '-' && isKill(w.Text) {
				return at(w), true
			}
		}
		if options {
			if o, ok := c.opt(i, "--signal"); ok && isKill(o.value.Text) {
				return at(c.args(i)[o.arg]), true
			}
		}
		return span{}, false
	}
}

func killOption(c *ctx, i int) (span, bool) {
	o, ok := c.opt(i, "-s", "--signal")
	if !ok || !isKill(o.value.Text) {
		return span{}, false
	}
	return at(c.args(i)[o.arg]), true
}
