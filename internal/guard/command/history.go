package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// history: what a machine remembers of what was done on it.
func history() table {
	const keep = "leave it: `history | tail`"
	return table{
		{
			Key:    "erase or switch off shell history",
			Harms:  guard.Host,
			Match:  all(runs("history", "unset", "export", "declare", "typeset", "readonly", "set", "shopt", "fc"), when(forgets)),
			Why:    "hides what was done",
			Remedy: keep,
			Hits:   []string{"history -c", "history -cw", "history -d 3", "unset HISTFILE", "export HISTFILE=/dev/null", "set +o history", "export HISTSIZE=0", "shopt -uo history", "history clear"},
			Passes: []string{"history | tail", "history 20", "export HISTSIZE=10000", "unset FOO", "set -o pipefail", "export HISTFILE=~/.zsh_history", "export HISTCONTROL=ignoreboth", "history -a"},
		},
		{
			Key:    "switch off shell history by assignment",
			Harms:  guard.Host,
			Match:  match{on: onAssign, test: assignsForget},
			Why:    "hides what was done",
			Remedy: keep,
			Hits:   []string{"HISTFILE=/dev/null", "HISTFILE= bash", "HISTSIZE=0", "HISTIGNORE='*'"},
			Passes: []string{"HISTSIZE=5000", "HISTCONTROL=ignoredups", "HISTFILE=~/.h zsh", "history | tail"},
		},
		{
			Key:    "overwrite history or logs",
			Harms:  guard.Host,
			Match:  match{on: onWrite, test: overwritesTraces},
			Why:    "removes traces of what was done",
			Remedy: "read it, or copy it to the work tree: `tail -n 100 /var/log/syslog`",
			Hits: []string{
				"> ~/.zsh_history", "cat /dev/null > ~/.bash_history", "ln -sf /dev/null ~/.bash_history", "shred -u ~/.python_history", "truncate -s0 ~/.local/share/fish/fish_history", "sed -i '/curl/d' ~/.bash_history",
				": > /var/log/auth.log", "echo | sudo tee /var/log/syslog", "sudo truncate -s 0 /var/log/nginx/access.log", "sudo sed -i '/x/d' /var/log/auth.log", "> /var/log/wtmp", "sudo cp /dev/null /var/log/btmp",
			},
			Passes: []string{"tail -n 100 /var/log/syslog", "./server > /var/log/server.log 2>&1", "echo done >> /var/log/deploy.log", "cp /var/log/syslog ./x", "history > h.txt", "echo x | tee -a /var/log/app.log", "cp ~/.bash_history ./h"},
		},
		{
			Key:    "delete history or logs",
			Harms:  guard.Host,
			Match:  all(runs("rm", "unlink", "mv", "find", "srm", "wipe", "chattr", "trash", "gio"), when(deletesTraces)),
			Why:    "removes traces of what was done",
			Remedy: "read it, or copy it to the work tree: `tail -n 100 /var/log/syslog`",
			Hits:   []string{"rm -f ~/.bash_history", "sudo rm -rf /var/log/*", "sudo rm /var/log/auth.log", "sudo find /var/log -type f -delete", "chattr +i ~/.bash_history", "rm -rf ~/.hermes/logs", "mv ~/.bash_history /tmp/x"},
			Passes: []string{"ls /var/log", "rm -f app.log", "find /var/log -name '*.gz'", "tail -n 100 /var/log/syslog", "find /var/log -mtime -1 -exec ls {} +"},
		},
		{
			Key:    "clear the system's records",
			Harms:  guard.Host,
			Match:  all(runs("journalctl", "auditctl", "dmesg", "lastlog", "utmpdump", "log", "service", "systemctl", "logrotate", "wevtutil", "rc-service", "xargs", "augenrules", "faillog"), when(clearsRecords)),
			Why:    "removes or stops the system's record of what was done",
			Remedy: "read it: `journalctl -n 100`",
			Hits: []string{
				"sudo journalctl --vacuum-time=1s", "journalctl --rotate", "sudo auditctl -D", "sudo auditctl -e 0", "sudo dmesg -C", "sudo lastlog --clear --user root", "utmpdump -r -o /var/log/wtmp", "log erase --all",
				"sudo service rsyslog stop", "sudo systemctl stop auditd", "dmesg -c",
			},
			Passes: []string{"journalctl -n 100", "auditctl -l", "dmesg -T", "lastlog", "service rsyslog status", "log show --last 1h", "systemctl status auditd"},
		},
		{
			Key:    "stop or delete a cloud's audit trail",
			Harms:  guard.Remote,
			Match:  all(runs("aws", "gcloud", "az", "kubectl"), when(clearsTrail)),
			Why:    "removes or stops the record of what was done",
			Remedy: "read it: `aws logs describe-log-groups`",
			Hits: []string{"aws cloudtrail stop-logging --name main", "aws logs delete-log-group --log-group-name /prod", "gcloud logging logs delete syslog", "az monitor diagnostic-settings delete --name d",
				"kubectl delete events --all -A", "aws guardduty delete-detector --detector-id 1"},
			Passes: []string{"aws cloudtrail describe-trails", "aws logs describe-log-groups", "gcloud logging read x", "kubectl get events"},
		},
		{
			Key:    "forge a file's time",
			Harms:  guard.Host,
			Match:  all(runs("touch"), flag("-r", "-d", "-t", "--reference", "--date"), operand(isSystemFile)),
			Why:    "hides when a file of the system was changed",
			Remedy: "touch a file of the work tree: `touch x`",
			Hits:   []string{"touch -r /bin/ls /usr/bin/backdoor", "sudo touch -d 2020-01-01 /etc/passwd"},
			Passes: []string{"touch x", "touch -r a b", "touch -d yesterday build/stamp", "touch -t 202401010000 /tmp/x"},
		},
	}
}

func isSystemFile(_ *ctx, t target) bool {
	for _, d := range [...]string{"/usr", "/bin", "/sbin", "/etc", "/lib", "/lib64", "/boot"} {
		if inside(t.path, d) {
			return true
		}
	}
	return false
}

// forgets holds when the shell is told to drop its history or to keep none.
func forgets(c *ctx, i int) (span, bool) {
	args := c.args(i)
	switch c.name(i) {
	case "history":
		for _, w := range args[1:] {
			if w.Text == "clear" || w.Text == "delete" || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "cdw") || w.Text == "--clear" {
				return at(w), true
			}
		}
	case "unset":
		for _, w := range args[1:] {
			switch w.Text {
			case "HISTFILE", "HISTSIZE", "HISTFILESIZE", "SAVEHIST":
				return at(w), true
			}
		}
	case "set":
		for k, w := range args[1:] {
			if w.Text == "history" && args[k].Text == "+o" {
				return at(w), true
			}
		}
	case "shopt":
		return span{}, hasArg(args, "history", "histappend") && startsWord(args, "-u") && hasArg(args, "history")
	case "fc":
		return span{}, false
	default:
		for _, w := range args[1:] {
			if name, value, ok := cut(w.Text, '='); ok && historyOff(name, value) {
				return at(w), true
			}
		}
	}
	return span{}, false
}

func assignsForget(c *ctx, i int) (span, bool) {
	for _, a := range c.cmd(i).Assigns {
		if historyOff(a.Name, a.Value.Text) {
			return at(a.Value), true
		}
	}
	return span{}, false
}

// historyOff tells whether a variable with that value keeps the shell from remembering.
func historyOff(name, value string) bool {
	switch name {
	case "HISTFILE", "LESSHISTFILE", "MYSQL_HISTFILE", "PYTHON_HISTORY":
		return name == "HISTFILE" && (value == "" || value == "/dev/null")
	case "HISTSIZE", "HISTFILESIZE", "SAVEHIST":
		return value == "0"
	case "HISTIGNORE":
		return value == "*"
	}
	return false
}

// isHistory tells whether the target is a shell's or an interpreter's history.
func (c *ctx) isHistory(t target) bool {
	p, ok := c.below(t)
	if !ok {
		return false
	}
	switch p {
	case ".history", ".sh_history", ".zhistory", ".histfile", ".local/share/fish/fish_history", ".local/share/atuin/history.db", ".viminfo", ".lesshst":
		return p != ".viminfo" && p != ".lesshst"
	}
	return strings.HasPrefix(p, ".") && strings.HasSuffix(p, "_history") && !strings.Contains(p, "/")
}

// isLog tells whether the target is a log of the system, or the folder they are in.
func (c *ctx) isLog(t target) bool {
	p := t.path
	return under(p, "/var/log") || under(p, "/run/log/journal") || p == "/var/run/utmp" || p == "/run/utmp" || under(p, "/var/adm") || under(p, "/var/audit") || c.isOwnTrace(t)
}

// isOwnTrace tells whether the target is Hermes' own record of what it did.
func (c *ctx) isOwnTrace(t target) bool {
	for _, h := range [...]string{c.hermesHome(), "~/.hermes"} {
		if rest, ok := strings.CutPrefix(t.path, h+"/"); ok {
			return under(rest, "logs") || under(rest, "audit") || strings.HasPrefix(rest, "state.db") || strings.HasPrefix(rest, "audit.")
		}
	}
	return false
}

// recordLog tells whether a log is one that the system itself writes about logins and privileges.
func recordLog(p string) bool {
	switch base(p) {
	case "auth.log", "syslog", "secure", "messages", "kern.log", "wtmp", "btmp", "utmp", "lastlog", "faillog", "audit.log", "system.log", "dpkg.log", "cron", "cron.log", "sudo.log", "maillog", "boot.log", "daemon.log", "user.log":
		return true
	}
	return under(p, "/var/log/audit") || under(p, "/var/log/journal") || under(p, "/run/log/journal")
}

// overwritesTraces holds when a history or a log loses what it held.
func overwritesTraces(c *ctx, i int) (span, bool) {
	traces := func(c *ctx, t target) bool { return c.isHistory(t) || c.isLog(t) }
	for _, r := range c.cmd(i).Redirs {
		if !r.Writes() || r.Op == ">>" || r.Op == "&>>" {
			continue
		}
		for _, t := range c.targets(r.Target, c.cmd(i).Dir) {
			if !t.maybe && traces(c, t) && (c.isHistory(t) || recordLog(t.path) || c.isOwnTrace(t) || printsNothing(c, i)) {
				return span{r.Start, r.End}, true
			}
		}
	}
	switch name := c.name(i); name {
	case "tee":
		if _, ok := c.opt(i, "-a", "--append"); ok {
			return span{}, false
		}
	case "truncate", "shred", "sed", "perl", "dd":
	case "ln", "cp", "mv", "install":
		if !hasArg(c.args(i), "/dev/null") && name != "ln" {
			return span{}, false
		}
	default:
		return span{}, false
	}
	return c.find(c.written(i), traces)
}

// printsNothing tells whether a command only empties what its output is sent to.
func printsNothing(c *ctx, i int) bool {
	args := c.args(i)
	switch c.name(i) {
	case "", ":", "true":
		return true
	case "echo", "printf":
		return len(args) < 2 || len(args) == 2 && len(args[1].Text) < 3 && len(args[1].Holes) == 0
	case "cat":
		return len(args) == 2 && args[1].Text == "/dev/null"
	}
	return false
}

// deletesTraces holds when a history or a log is deleted, moved away or frozen.
func deletesTraces(c *ctx, i int) (span, bool) {
	traces := func(c *ctx, t target) bool { return c.isHistory(t) || c.isLog(t) }
	switch c.name(i) {
	case "find":
		args := c.args(i)
		acts := hasArg(args, "-delete")
		for k, w := range args {
			if (w.Text == "-exec" || w.Text == "-execdir") && k+1 < len(args) {
				acts = acts || has([]string{"rm", "truncate", "shred", "sh", "bash", "dd", "tee", "cp", "mv"}, base(args[k+1].Text))
			}
		}
		if !acts {
			return span{}, false
		}
	case "chattr":
		if !startsWord(c.args(i), "+i", "-a") {
			return span{}, false
		}
	}
	return c.find(c.operandTargets(i), traces)
}

// clearsRecords holds when a tool of the system is told to drop or stop its records.
func clearsRecords(c *ctx, i int) (span, bool) {
	args := c.args(i)
	yes := false
	switch c.name(i) {
	case "journalctl":
		yes = startsWord(args, "--vacuum", "--rotate")
	case "auditctl":
		yes = hasArg(args, "-D", "-d", "-W") || hasArg(args, "-e") && hasArg(args, "0") || hasArg(args, "-e0")
	case "dmesg":
		yes = startsWord(args, "-C", "-c", "--clear", "--read-clear") && !startsWord(args, "-color")
	case "faillog":
		yes = startsWord(args, "-r", "--reset")
	case "lastlog":
		yes = startsWord(args, "-C", "--clear", "-S", "--set")
	case "utmpdump":
		yes = startsWord(args, "-r", "--reverse")
	case "log":
		yes = len(args) > 1 && args[1].Text == "erase"
	case "service", "rc-service":
		yes = hasArg(args, "rsyslog", "syslog", "auditd", "syslog-ng", "fail2ban", "sysmon", "falcon-sensor", "osqueryd") && hasArg(args, "stop")
	case "systemctl":
		yes = startsWord(args, "rsyslog", "syslog", "auditd", "systemd-journald", "fail2ban", "osqueryd", "falcon-sensor") && hasArg(args, "stop", "disable", "mask", "kill")
	case "wevtutil":
		yes = hasArg(args, "cl", "clear-log")
	case "xargs":
		yes = hasArg(args, "truncate") && feedsLogPath(c, i)
	}
	return span{}, yes
}

// feedsLogPath tells whether xargs is fed the path of a container's log.
func feedsLogPath(c *ctx, i int) bool {
	_, ok := c.upstream(i, func(c *ctx, n int) bool {
		for _, w := range c.args(n)[min(1, len(c.args(n))):] {
			if strings.Contains(w.Text, "LogPath") || strings.HasPrefix(w.Text, "/var/log") {
				return true
			}
		}
		return false
	}, 8)
	return ok
}

// clearsTrail holds when a cloud's or a cluster's record is stopped or deleted.
func clearsTrail(c *ctx, i int) (span, bool) {
	args := c.args(i)
	at1 := func(words ...string) bool { return wordsAt(args, words...) }
	switch c.name(i) {
	case "aws":
		return span{}, hasArg(args, "cloudtrail") && hasArg(args, "stop-logging", "delete-trail", "put-event-selectors", "delete-event-data-store") ||
			hasArg(args, "logs") && hasArg(args, "delete-log-group", "delete-log-stream", "delete-retention-policy") ||
			hasArg(args, "guardduty") && hasArg(args, "delete-detector", "disable-organization-admin-account") || hasArg(args, "configservice") && hasArg(args, "stop-configuration-recorder", "delete-configuration-recorder") ||
			hasArg(args, "delete-flow-logs")
	case "gcloud":
		return span{}, at1("logging", "logs", "delete") || at1("logging", "sinks", "delete") || at1("logging", "buckets", "delete")
	case "az":
		return span{}, at1("monitor", "diagnostic-settings", "delete") || at1("monitor", "activity-log") && hasArg(args, "delete") || at1("monitor", "log-profiles", "delete")
	case "kubectl":
		return span{}, hasArg(args, "delete") && hasArg(args, "events", "event", "ev")
	}
	return span{}, false
}

// wordsAt tells whether the words stand in args one behind the other, options aside.
func wordsAt(args []shell.Word, words ...string) bool {
	var plain []string
	for _, a := range args[min(1, len(args)):] {
		if a.Text != "" && a.Text[0] != '-' {
			plain = append(plain, a.Text)
		}
	}
	return contains(plain, words)
}
