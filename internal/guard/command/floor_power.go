package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Stopping every process, or the machine.
func floorPower() table {
	return table{
		{
			Key:    "kill all processes",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("kill"), when(signalsAll)),
			Why:    "signals every process there is",
			Remedy: "name the process: `kill 12345`",
			Hits:   []string{"kill -9 -1", "kill -1", "sudo kill -HUP -1", "kill -s KILL -- -1", "kill -KILL -- -1", "/bin/kill -9 -1"},
			Passes: []string{"kill 12345", "kill -1 12345", "kill -9 12345", "kill -l", `echo "kill -1"`},
		},
		{
			Key:    "system shutdown/reboot",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("shutdown", "reboot", "halt", "poweroff"), not(when(onFleet)), not(flag("-c", "-k", "--wtmp-only"))),
			Why:    "stops this machine",
			Remedy: outside,
			Hits:   []string{"reboot", "FOO=1 reboot", "timeout 5 reboot", "nice reboot", "command reboot", "sudo -u root reboot", "env -i reboot", "shutdown -h now", "(reboot)"},
			Passes: []string{"echo reboot", "./reboot-helper.sh", "shutdown --help", "shutdown -c", "grep 'shutdown' x", "which reboot"},
		},
		{
			Key:    "init 0/6 (shutdown/reboot)",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("init"), sub("0|6"), not(when(onFleet))),
			Why:    "stops this machine",
			Remedy: outside,
			Hits:   []string{"init 0", "sudo init 6"},
			Passes: []string{"init 3", "git init", "npm init 0"},
		},
		{
			Key:    "telinit 0/6 (shutdown/reboot)",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("telinit"), sub("0|6"), not(when(onFleet))),
			Why:    "stops this machine",
			Remedy: outside,
			Hits:   []string{"telinit 0", "telinit 6"},
			Passes: []string{"telinit 3"},
		},
		{
			Key:    "systemctl poweroff/reboot",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("systemctl", "loginctl"), when(powersOff), not(when(onFleet))),
			Why:    "stops this machine",
			Remedy: "restart the service: `systemctl status nginx`",
			Hits:   []string{"systemctl reboot", "sudo systemctl --force poweroff", "systemctl isolate reboot.target", "systemctl start poweroff.target", "systemctl kexec"},
			Passes: []string{"systemctl status nginx", "systemctl is-enabled reboot.target", "systemctl --version", "systemctl list-units"},
		},
		{
			Key:    "system shutdown/reboot through a message",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  either(all(runs("dbus-send", "busctl", "gdbus", "osascript"), when(asksPowerOff)), all(runs("kexec"), flag("-e", "--exec"))),
			Why:    "stops this machine",
			Remedy: outside,
			Hits: []string{
				"busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager Reboot b false", "kexec -e",
				"dbus-send --system --dest=org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager.PowerOff boolean:true",
				`osascript -e 'tell application "System Events" to shut down'`,
			},
			Passes: []string{"busctl list", "dbus-send --session --dest=x / x.y.Ping", `osascript -e 'return 1'`, "kexec --version"},
		},
		{
			Key:    "kernel reset through sysrq",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  wrote(func(_ *ctx, t target) bool { return t.path == "/proc/sysrq-trigger" }),
			Why:    "makes the kernel reboot or crash at once",
			Remedy: outside,
			Hits:   []string{"echo b > /proc/sysrq-trigger", "echo c | sudo tee /proc/sysrq-trigger"},
			Passes: []string{"cat /proc/sys/kernel/sysrq", "echo b > sysrq-trigger"},
		},
	}
}

// signalsAll holds when kill's target is every process.
func signalsAll(c *ctx, i int) (span, bool) {
	args := c.args(i)[1:]
	signalled := false
	for k := 0; k < len(args); k++ {
		w := args[k]
		switch t := w.Text; {
		case len(w.Holes) > 0:
		case t == "-1" && (signalled || len(args) == 1):
			return at(w), true
		case t == "--":
			signalled = true
		case t == "-s" || t == "-n" || t == "--signal":
			signalled = true
			k++
		case t == "-l" || t == "-L" || t == "--list" || t == "--table":
			return span{}, false
		case strings.HasPrefix(t, "-"):
			signalled = true
		}
	}
	return span{}, false
}

// asksPowerOff holds for a message that asks the system's manager to stop the machine.
func asksPowerOff(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		t := w.Text
		for _, verb := range [...]string{"PowerOff", "Reboot", "Halt", "KExec", "SoftReboot"} {
			if t == verb || strings.HasSuffix(t, "Manager."+verb) || strings.HasSuffix(t, ".ConsoleKit.Manager."+verb) {
				return at(w), true
			}
		}
		if c.name(i) == "osascript" && (strings.Contains(t, "to shut down") || strings.Contains(t, "to restart")) {
			return at(w), true
		}
	}
	return span{}, false
}

// powersOff holds for the verbs and targets that stop the machine.
func powersOff(c *ctx, i int) (span, bool) {
	verb, ok := c.operand(i, 0)
	if !ok {
		return span{}, false
	}
	switch verb.Text {
	case "poweroff", "reboot", "halt", "kexec", "soft-reboot":
		return at(verb), true
	case "isolate", "start":
		for _, w := range c.operands(i)[1:] {
			switch strings.TrimSuffix(w.Text, ".target") {
			case "poweroff", "reboot", "halt", "kexec", "shutdown", "runlevel0", "runlevel6", "soft-reboot":
				return at(w), true
			}
		}
	}
	return span{}, false
}

// onFleet tells whether command i is run by a tool that runs it on whichever other machines its inventory names.
func onFleet(c *ctx, i int) (span, bool) {
	for p := c.cmd(i).Parent; p >= 0; p = c.cmd(p).Parent {
		switch c.name(p) {
		case "ansible", "salt", "pssh", "pdsh", "clush", "parallel-ssh", "mussh", "dsh", "fab", "knife", "bolt":
			return span{}, c.cmd(i).Place == shell.Elsewhere
		}
	}
	return span{}, false
}
