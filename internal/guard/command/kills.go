package command

import (
	"strings"

	"hermes/internal/guard"
)

// Ways to stop the machine, its sessions or what runs on it beyond the floor and the tables of services.
func kills() table {
	return table{
		{
			Key:    "shutdown/reboot over D-Bus",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  by(busPower, "dbus-send", "busctl", "gdbus", "qdbus", "qdbus6"),
			Why:    "stops this machine",
			Remedy: outside,
			Hits: []string{
				"dbus-send --system --print-reply --dest=org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager.PowerOff boolean:true",
				"busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager Reboot b false",
				"gdbus call --system --dest org.freedesktop.systemd1 --object-path /org/freedesktop/systemd1 --method org.freedesktop.systemd1.Manager.Halt",
			},
			Passes: []string{"busctl list", "busctl tree org.freedesktop.login1", "busctl introspect org.freedesktop.login1 /org/freedesktop/login1", "dbus-send --session --dest=org.x /x org.x.Ping"},
		},
		{
			Key:   "kernel restart or sleep",
			Tier:  guard.Hardline,
			Harms: guard.Host,
			Match: either(
				by(anyOption("-e", "--exec"), "kexec"),
				by(wakesLater, "rtcwake"),
			),
			Why:    "stops what runs on this machine",
			Remedy: outside,
			Hits:   []string{"kexec -l /boot/vmlinuz --reuse-cmdline && kexec -e", "rtcwake -m off -s 60"},
			Passes: []string{"kexec --help", "rtcwake -m show", "rtcwake -m no -s 60"},
		},
		{
			Key:   "end of a session, a machine or all that is supervised",
			Harms: guard.Host,
			Match: either(
				by(pmStops, "pm2"),
				by(verbIs("shutdown", "stop", "remove", "reload"), "supervisorctl"),
				by(verbIs("stopall"), "forever"),
				by(verbIs("kill-server"), "tmux"),
				by(quitsScreens, "screen"),
				by(verbIs("terminate-user", "kill-user", "terminate-session", "kill-session", "terminate-seat", "disable-linger"), "loginctl"),
				by(hasArgs, "gnome-session-quit", "xfce4-session-logout", "cinnamon-session-quit", "mate-session-save", "lxsession-logout", "slay", "skill", "snice"),
				by(verbIs("sleepnow", "displaysleepnow", "restoredefaults"), "pmset"),
				by(fuserKills, "fuser"),
				by(verbIs("destroy", "undefine", "shutdown", "reboot", "reset", "managedsave", "vol-delete", "pool-destroy", "pool-delete", "snapshot-delete", "snapshot-revert", "net-destroy", "net-undefine"), "virsh"),
				by(boxStops, "vboxmanage"),
				by(verbIs("stop", "destroy", "shutdown", "reset", "reboot", "rollback", "delsnapshot"), "qm", "pct"),
				by(verbIs("destroy", "shutdown", "reboot"), "xl", "xm"),
				by(machineVerb, "vmrun", "prlctl", "utmctl", "multipass", "limactl", "colima", "orb", "lxc", "incus"),
				by(remotePower, "ipmitool", "ipmipower", "ipmi-chassis", "racadm", "redfishtool"),
			),
			Why:    "stops what others may be using",
			Remedy: "look first: `pm2 list`",
			Hits: []string{
				"pm2 kill", "pm2 delete all", "supervisorctl stop all", "tmux kill-server", "loginctl terminate-user me", "virsh destroy vm1", "VBoxManage controlvm x poweroff", "qm stop 100", "fuser -km /home",
				"ipmitool -I lanplus -H 10.0.0.5 -U admin chassis power off", "multipass delete --all", "lxc delete -f web", "screen -X quit", "skill -KILL -u me", "racadm serveraction powercycle",
			},
			Passes: []string{"pm2 list", "pm2 logs api", "pm2 restart api", "supervisorctl status", "tmux kill-session -t dev", "tmux ls", "virsh list --all", "VBoxManage list vms", "qm list", "fuser -v /home", "fuser -k 3000/tcp",
				"ipmitool sensor", "ipmitool chassis power status", "multipass list", "lxc list", "screen -ls", "screen -X -S dev quit", "loginctl list-sessions"},
		},
		{
			Key:   "network taken down",
			Harms: guard.Host,
			Match: either(
				by(verbIs("device", "dev", "d", "connection", "con", "c", "radio", "networking"), "nmcli").and(by(hasWordIn("disconnect", "off", "down", "delete"), "nmcli")),
				by(hasArgs, "ifdown"),
				by(verbIs("block"), "rfkill"),
				by(verbIs("down"), "wg-quick", "tailscale", "netbird", "zerotier-cli", "netctl"),
				by(verbIs("disconnect", "terminate", "disable_network", "logout"), "wpa_cli", "nordvpn", "mullvad", "warp-cli", "protonvpn-cli"),
				by(hasWordIn("discard", "reset"), "chronyc"),
			),
			Why:    "may cut this machine off",
			Remedy: "look first: `nmcli device status`",
			Hits:   []string{"nmcli device disconnect eth0", "ifdown eth0", "rfkill block all", "wg-quick down wg0", "tailscale down", "nmcli con down vpn"},
			Passes: []string{"nmcli device status", "rfkill list", "wg show", "tailscale status", "nmcli con show"},
		},
		{
			Key:    "kill of processes that a pattern names",
			Harms:  guard.Host,
			Match:  by(killsPattern, "kill"),
			Why:    "signals every process in the list",
			Remedy: "name the process: `kill 12345`",
			Hits:   []string{`for p in /proc/[0-9]*; do kill -9 "${p#/proc/}"; done`, "kill -9 {2..9999}", "kill $(pgrep -f gunicorn)", "kill -9 `pidof mysqld`", "pgrep java | xargs kill -9"},
			Passes: []string{"kill 12345", "kill -9 $PID", "kill $(lsof -t -i:8080)", `kill "$(cat server.pid)"`, "kill -l", "kill %1", "kill -TERM 11 12 13"},
		},
		{
			Key:    "script that starts itself",
			Harms:  guard.Host,
			Match:  when(startsItself),
			Why:    "starts copies of itself until the machine stands still",
			Remedy: outside,
			Hits:   []string{"printf '#!/bin/sh\\n\"$0\" | \"$0\" &\\n' > b && sh b", "echo './b & ./b &' > b; bash b"},
			Passes: []string{"echo 'echo hi' > b && sh b", "echo 'ls; ls' > b && sh b"},
		},
	}
}

// busPower holds for a call of logind or systemd that stops the machine.
func busPower(c *ctx, i int) (span, bool) {
	manager := false
	for _, w := range c.args(i)[1:] {
		t := w.Text
		manager = manager || strings.Contains(t, "login1.Manager") || strings.Contains(t, "systemd1.Manager") || strings.Contains(t, "ConsoleKit.Manager") || strings.Contains(t, "ksmserver")
		if n := strings.LastIndexByte(t, '.'); n >= 0 {
			t = t[n+1:]
		}
		switch t {
		case "PowerOff", "Reboot", "Halt", "Suspend", "Hibernate", "HybridSleep", "SuspendThenHibernate", "KExec", "Exit", "Stop", "Restart", "PowerOffWithFlags", "RebootWithFlags", "HaltWithFlags", "ScheduleShutdown", "SoftReboot":
			if manager {
				return at(w), true
			}
		}
	}
	return span{}, false
}

func wakesLater(c *ctx, i int) (span, bool) {
	for _, w := range c.values(i, "-m --mode") {
		switch w.Text {
		case "off", "mem", "disk", "standby", "freeze":
			return at(w), true
		}
	}
	return span{}, false
}

func hasArgs(c *ctx, i int) (span, bool) { return span{}, len(c.args(i)) > 1 }

func pmStops(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for _, w := range args[1:] {
		if w.Text == "kill" {
			return at(w), true
		}
	}
	if anyWord(args, "stop", "delete", "del") && (anyWord(args, "all") || len(args) > 2 && len(args[len(args)-1].Holes) > 0) {
		return span{}, true
	}
	return span{}, false
}

func quitsScreens(c *ctx, i int) (span, bool) {
	return span{}, c.given(i, "-X") && anyWord(c.args(i), "quit", "kill") && !c.given(i, "-S")
}

// fuserKills holds for a kill of all that uses a file system or a folder. A port is one server.
func fuserKills(c *ctx, i int) (span, bool) {
	if !c.given(i, "-k --kill") {
		return span{}, false
	}
	for _, w := range rawOperands(c.args(i)) {
		if !strings.HasSuffix(w.Text, "/tcp") && !strings.HasSuffix(w.Text, "/udp") && !c.given(i, "-n --namespace") {
			return at(w), true
		}
	}
	return span{}, false
}

func boxStops(c *ctx, i int) (span, bool) {
	args := c.args(i)
	return span{}, anyWord(args, "poweroff", "reset", "acpipowerbutton", "unregistervm", "closemedium", "savestate") || anyWord(args, "snapshot") && anyWord(args, "delete", "restore")
}

func machineVerb(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k, w := range args[1:] {
		switch w.Text {
		case "delete", "purge", "destroy", "rm", "rebuild":
			return at(w), true
		case "stop", "reset", "kill":
			return at(w), anyWord(args, "--all", "hard", "--force", "-f", "--kill")
		case "exec", "shell", "run", "--":
			return span{}, false
		}
		if k > 3 {
			break
		}
	}
	return span{}, false
}

func remotePower(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		switch strings.ToLower(w.Text) {
		case "off", "cycle", "reset", "soft", "--off", "--cycle", "--reset", "powerdown", "powercycle", "hardreset", "graceshutdown", "racreset", "racresetcfg", "forceoff", "forcerestart", "gracefulshutdown", "sel", "user":
			if t := strings.ToLower(w.Text); t == "sel" && !anyWord(c.args(i), "clear") || t == "user" && !anyWord(c.args(i), "set", "disable", "priv") {
				continue
			}
			return at(w), true
		}
	}
	return span{}, false
}

// killsPattern holds for kill of processes that are found by a name or a pattern of numbers.
func killsPattern(c *ctx, i int) (span, bool) {
	finds := func(c *ctx, n int) bool {
		name := c.name(n)
		return name == "pgrep" || name == "pidof"
	}
	for k, w := range c.args(i)[1:] {
		if strings.ContainsAny(w.Text, "*?[{") || len(w.Holes) > 0 && strings.ContainsAny(w.Holes[0].Name, "*?[") || strings.Contains(w.Raw, "..") {
			return at(w), true
		}
		for _, n := range w.From {
			if finds(c, n) {
				return at(w), true
			}
			if _, ok := c.upstream(n, finds, 8); ok {
				return at(w), true
			}
		}
		if k > 500 {
			return at(w), true
		}
	}
	if p := c.cmd(i).Parent; p >= 0 && (c.name(p) == "xargs" || c.name(p) == "parallel") {
		if _, ok := c.upstream(p, finds, 8); ok {
			return c.whole(i), true
		}
	}
	return span{}, false
}

// startsItself holds for a command in a script that runs the script again, twice or in the background.
func startsItself(c *ctx, i int) (span, bool) {
	cmd := c.cmd(i)
	if cmd.Parent < 0 || cmd.How != "file" || cmd.Name == "" {
		return span{}, false
	}
	args := c.args(cmd.Parent)
	if len(args) < 2 || base(args[len(args)-1].Text) != cmd.Name && (len(args) < 3 || base(args[1].Text) != cmd.Name) {
		return span{}, false
	}
	if cmd.Detached {
		return c.whole(i), true
	}
	for n := range i {
		if o := c.cmd(n); o.Parent == cmd.Parent && o.Name == cmd.Name {
			return c.whole(i), true
		}
	}
	return span{}, false
}

// hasWordIn holds when one of the arguments is one of the words.
func hasWordIn(words ...string) test {
	return func(c *ctx, i int) (span, bool) { return span{}, anyWord(c.args(i), words...) }
}

// and holds when both do.
func (m match) and(other match) match { return all(m, other) }
