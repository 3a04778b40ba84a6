package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// privileges are rules beyond the original's table: more rights for a program, an account or a shell, and fewer walls.
func privileges() table {
	return table{
		{
			Key:   "set-user-id or capabilities on a program",
			Harms: guard.Host,
			Match: either(all(runs("chmod", "install"), onHost(), when(setsID)), all(runs("setcap"), onHost(), not(given("-v", "-h", "--help"))),
				all(runs("chown"), onHost(), when(rootThenSetID))),
			Why:    "lets everyone who starts the program act as its owner",
			Remedy: "run it as yourself: `chmod 755 ./helper`",
			Hits: []string{"sudo chmod u+s /bin/bash", "chmod 4755 /tmp/sh", "chmod g+s,u+s ./helper", "install -m 4755 /bin/sh /tmp/sh",
				"sudo setcap cap_setuid+ep /usr/bin/python3", "chmod 6755 x", "chmod +s x", "chmod u=rwxs x", "install --mode=u+s a b"},
			Passes: []string{"chmod 755 ./helper", "chmod u-s x", "getcap -r /", "chmod 0755 x", "chmod 1777 d", "install -m 755 a b", "chmod +x s",
				"docker run --rm alpine chmod u+s /x", "chmod 644 docs/s+s.md"},
		},
		{
			Key:   "change of users, passwords or groups",
			Harms: guard.Host,
			Match: either(
				all(runs("useradd", "adduser", "userdel", "deluser", "usermod", "groupadd", "addgroup", "groupdel", "groupmod", "groupmems",
					"delgroup", "chpasswd", "chgpasswd", "newusers", "vipw", "vigr", "pwconv", "pwunconv", "luseradd", "lusermod", "homectl", "pw"),
					onHost(), when(operates).or(runs("chpasswd", "chgpasswd", "newusers", "vipw", "vigr", "pwconv", "pwunconv"))),
				all(runs("visudo"), onHost(), not(given("-c", "--check", "-cf", "-V", "--version", "-h"))),
				all(runs("passwd"), onHost(), not(given("-S", "--status", "-Sa", "-a"))),
				all(runs("gpasswd"), onHost(), when(operates)),
				all(runs("chage"), onHost(), not(given("-l", "--list")), when(operates)),
				all(runs("chsh", "chfn", "usermod.shadow"), onHost(), not(given("-l", "--list-shells"))),
				all(runs("faillock"), given("--reset")),
				all(runs("pam-auth-update", "authselect", "authconfig", "realm", "pam_tally2"), onHost(), not(given("--test", "--list")),
					not(sub("list|current|show|check|discover|test"))),
				all(runs("dscl"), says("-create", "-append", "-passwd", "-delete", "-change", "-merge")),
				all(runs("dseditgroup"), given("-o"), says("edit", "create", "delete")),
				all(runs("sysadminctl"), says("-addUser", "-deleteUser", "-resetPasswordFor", "-secureTokenOn", "-guestAccount", "-adminPassword",
					"-newPassword")),
				all(runs("doas", "sudo"), given("-e"), says("/etc/sudoers")),
				all(runs("sudoedit"), says("/etc/")),
			),
			Why:    "decides who may log in and who may act as root",
			Remedy: "look first: `getent group sudo`",
			Hits: []string{
				"sudo usermod -aG docker u", "sudo adduser u wheel", "sudo gpasswd -a u docker", "sudo useradd -m backdoor",
				"echo 'u:p' | sudo chpasswd", "sudo passwd root", "echo -e 'x\\nx' | passwd", "sudo visudo -f /etc/sudoers.d/x",
				"sudo groupmod -g 0 u", "sudo vipw", "dscl . -create /Users/x UniqueID 0", "sudo userdel -r alice", "chsh -s /tmp/sh root",
				"chage -E -1 u", "sudoedit /etc/sudoers",
			},
			Passes: []string{"getent group sudo", "passwd -S u", "visudo -c", "chage -l u", "id u", "groups", "useradd --help",
				"docker run --rm debian useradd x", "dscl . -read /Users/x", "chsh -l", "getent passwd u"},
		},
		{
			Key:   "shell of another user",
			Harms: guard.Host,
			Match: either(
				all(runs("su"), onHost(), when(opensShell)),
				all(runs("runuser"), onHost(), not(given("-u", "--user", "--")), when(opensShell)),
				all(runs("doas", "run0", "pkexec", "sudo", "please", "dzdo", "pfexec", "calife", "machinectl"), onHost(), when(bareRoot)),
				all(runs(append(shellNames(), "fish", "tcsh", "csh", "nu", "xonsh")...), onHost(), when(bareRootShell)),
			),
			Why:    "opens a shell in which every command runs with other rights",
			Remedy: "give the one command: `sudo systemctl status nginx`",
			Hits: []string{"sudo su -", "su", "su - postgres", "sudo bash", "sudo -u root bash", "doas -s", "pkexec bash", "run0 bash",
				"sudo -E /bin/zsh -l", "run0", "echo toor | su - root -c id", "sudo env bash"},
			Passes: []string{"sudo systemctl status nginx", "su - postgres -c 'psql -l'", "su deploy -c 'git log -1'", "sudo bash install.sh",
				"sudo sh -c 'ls /root'", "bash", "doas rc-service x status", "doas -C doas.conf", "pkexec --version", "sudo -v", "sudo bash --version"},
		},
		{
			Key:   "file system mounted or detached",
			Harms: guard.Host,
			Match: either(
				all(runs("mount", "mount.cifs", "mount.nfs", "mount_smbfs", "mount_nfs"), onHost(), when(mounts)),
				all(runs("umount"), onHost(), given("-l", "-f", "--lazy", "--force", "-fl", "-lf", "-R", "--recursive", "-a", "--all")),
				all(runs("modprobe"), onHost(), not(given("-n", "--dry-run", "--show", "--show-depends", "-D", "-c", "--showconfig", "-V",
					"--version", "-h")), when(operates)),
				all(runs("swapoff", "kextload", "kextunload", "kmutil", "kpartx"), onHost(), when(operates),
					not(sub("list|show|showloaded|inspect|libraries|log|check|find"))),
				told(verbs{programs: "bpftool", forms: []string{"* load|loadall|pin|attach|detach|update|delete|create|run"}}),
			),
			Why:    "changes which files or modules the whole machine sees",
			Remedy: "look first: `findmnt`",
			Hits: []string{"mount /dev/sda1 /mnt", "sudo mount -o remount,rw,suid /tmp",
				"unshare -Urm sh -c 'mount -t overlay overlay -o lowerdir=/ /mnt'", "mount -a", "umount -l /mnt", "modprobe vfat",
				"mount -t cgroup -o rdma cgroup /tmp/cg"},
			Passes: []string{"findmnt", "mount", "mount -l", "mount -t ext4", "mount --fake -v /mnt/x", "umount /mnt/usb", "modprobe -n vfat",
				"mount | grep ext4", "docker run --rm x mount /a /b", "swapoff --help"},
		},
		{
			Key:   "protection of the machine switched off",
			Harms: guard.Host,
			Match: either(
				all(runs("apparmor_parser"), given("-R", "--remove", "-C", "--Complain")),
				all(runs("aa-remove-unknown", "aa-unconfined-off"), onHost()),
				all(runs("setsebool", "semanage", "semodule"), onHost(), not(given("-l", "--list", "-E", "--extract")), when(operates).or(given("-r",
					"-d", "-i", "-R"))),
				all(runs("auditctl"), given("-D", "-e", "-W", "-d")),
				all(runs("update-crypto-policies"), given("--set")),
				all(runs("tccutil"), sub("reset")),
				all(runs("fdesetup"), sub("disable|removerecovery|remove")),
				all(runs("systemsetup"), says("-setremotelogin", "-setremoteappleevents")),
				all(runs("profiles"), says("-R", "remove", "-D")),
				all(runs("spctl"), says("--add", "--disable", "kext-consent", "--remove")),
				all(runs("csrutil"), sub("authenticated-root|netboot")),
				all(runs("socketfilterfw"), says("--setglobalstate", "--setblockall", "--unblockapp", "--add")),
				all(runs("defaults"), sub("write|delete"), says("LSQuarantine", "askForPassword", "com.apple.alf", "loginwindow",
					"com.apple.Gatekeeper", "SoftwareUpdate", "com.apple.screensaver", "DisableLibraryValidation", "/Library/Preferences",
					"com.apple.security", "XProtect")),
				all(runs("xattr"), says("com.apple.quarantine"), flagLetter('d', "-d")),
				all(runs("mokutil"), given("--disable-validation", "--import", "-i", "--delete", "--set-sbat-policy")),
				all(runs("fail2ban-client"), sub("stop|unban|set")),
				all(runs("freshclam", "clamav"), sub("disable")),
				all(runs("auditpol", "netsh", "bcdedit"), says("/set", "off", "disable", "/clear", "/remove")),
				all(runs("timedatectl"), sub("set-time|set-ntp|set-local-rtc")),
				all(runs("date"), given("-s", "--set")),
				all(runs("hwclock"), given("-w", "--systohc", "-s", "--hctosys", "--set")),
				all(runs("loginctl"), sub("terminate-session|terminate-user|terminate-seat|kill-session|kill-user|lock-sessions|enable-linger|"+
					"flush-devices")),
				all(runs("pkill", "killall"), when(killsVital)),
				all(runs("dpkg-divert", "dpkg-statoverride"), onHost(), not(given("--list", "--truename", "--listpackage"))),
			),
			Why:    "takes down a wall between programs, users or networks, or what many rely on",
			Remedy: "look first: `loginctl list-sessions`",
			Hits: []string{
				"apparmor_parser -R /etc/apparmor.d/x", "semanage permissive -a httpd_t", "auditctl -D",
				"defaults write com.apple.LaunchServices LSQuarantine -bool NO", "sudo fdesetup disable", "loginctl terminate-user u", "pkill sshd",
				"killall systemd", "sudo systemsetup -setremotelogin on", "xattr -d com.apple.quarantine x", "sudo date -s '2020-01-01'",
			},
			Passes: []string{"loginctl list-sessions", "semanage boolean -l", "defaults read com.apple.finder",
				"defaults write com.apple.dock autohide -bool true", "timedatectl", "hostnamectl", "date +%s", "pkill -f 'npm run dev'", "pkill node",
				"update-alternatives --list editor", "spctl -a -v App.app", "auditctl -l", "xattr -l x"},
		},
		{
			Key:   "recursive permission change outside the work tree",
			Harms: guard.Host,
			Match: all(runs("chmod", "chown", "chgrp", "setfacl", "chattr", "chcon", "restorecon", "chflags", "xattr"), onHost(), flagLetter('R',
				"--recursive").or(all(runs("xattr"), flagLetter('r', "-r"))), operand(isElsewhere)),
			Why:    "changes who may read or change files that are not the project's",
			Remedy: "change only what is here: `chmod -R u+rwX build`",
			Hits: []string{"sudo chown -R u /srv/app", "chmod -R 755 /opt/app", "setfacl -R -m u:nobody:rwx /home/u",
				"sudo chgrp -R users /var/lib/x", "xattr -rc /", "chown -R u:u /usr/local", "chmod -R go+r ~", "chattr -R +i /var"},
			Passes: []string{"chmod -R u+rwX build", "chown -R me:me ./build", "chmod -R 700 ~/.config/x", "chown -R me /tmp/x",
				"chmod 755 /opt/app/run", "docker run --rm x chown -R app /srv"},
		},
	}
}

// setsID holds when a mode sets the bit that makes a program run as its owner or group.
func setsID(c *ctx, i int) (span, bool) {
	if o, ok := c.opt(i, "-m", "--mode"); c.name(i) == "install" {
		return at(o.value), ok && idMode(o.value.Text)
	}
	for _, w := range c.args(i)[1:] {
		t := w.Text
		if t == "" || t[0] == '-' || len(w.Holes) > 0 {
			continue
		}
		return at(w), idMode(t)
	}
	return span{}, false
}

func idMode(mode string) bool {
	if octal(mode) {
		return len(mode) > 3 && (mode[len(mode)-4]-'0')&6 != 0
	}
	for _, part := range strings.Split(mode, ",") {
		n := strings.IndexAny(part, "+=")
		if n >= 0 && strings.Trim(part[:n], "ugoa") == "" && strings.Contains(part[n:], "s") {
			return true
		}
	}
	return false
}

// rootThenSetID holds when a file is given to root that the same text makes run as its owner.
func rootThenSetID(c *ctx, i int) (span, bool) {
	if _, ok := toRoot(c, i); !ok {
		return span{}, false
	}
	for n := range c.prog.Commands {
		if c.name(n) == "chmod" {
			if _, ok := setsID(c, n); ok {
				return span{}, true
			}
		}
	}
	return span{}, false
}

// opensShell holds for su without a command, or with a password that something else types.
func opensShell(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		t := w.Text
		switch {
		case t == "--help", t == "-h", t == "--version", t == "-V":
			return span{}, false
		case t == "-c", strings.HasPrefix(t, "-c"), strings.HasPrefix(t, "--c"), strings.HasPrefix(t, "--session-c"), len(t) > 2 && t[0] == '-' &&
			t[1] != '-' && t[len(t)-1] == 'c':
			return at(w), c.answered(i)
		}
	}
	return span{}, true
}

// bareRoot holds for a program that opens a shell of another user by itself.
func bareRoot(c *ctx, i int) (span, bool) {
	args := c.args(i)
	switch c.name(i) {
	case "doas":
		return at(args[len(args)-1]), c.says(i, "-s")
	case "run0":
		var buf [4]int
		return span{}, len(spoken(args, "-u --user -g --group -D --chdir --nice --setenv", buf[:0])) == 0 && !c.says(i, "--help", "-h", "--version")
	case "pkexec":
		return span{}, len(args) == 1
	case "machinectl":
		return span{}, len(args) > 2 && args[1].Is("shell") && strings.Contains(args[2].Text, ".host")
	}
	return span{}, false
}

// bareRootShell holds for a shell that another user's rights start with nothing to run but what is typed.
func bareRootShell(c *ctx, i int) (span, bool) {
	p := c.cmd(i).Parent
	for p >= 0 {
		switch c.name(p) {
		case "sudo", "doas", "pkexec", "run0", "please", "dzdo", "pfexec", "gosu", "setpriv", "runuser":
			return span{}, onlyTyped(c.args(i)) && c.cmd(i).How != "alias" && !c.typedByOther(i)
		case "env", "nice", "exec", "command", "setsid", "nohup", "script", "stdbuf", "time", "timeout", "ionice":
			p = c.cmd(p).Parent
		default:
			return span{}, false
		}
	}
	return span{}, false
}

// typedByOther tells whether command i reads its standard input from a pipe, a file or a here-document.
func (c *ctx) typedByOther(i int) bool {
	if c.cmd(i).Stdin != nil {
		return true
	}
	for _, r := range c.cmd(i).Redirs {
		if strings.HasPrefix(r.Op, "<") {
			return true
		}
	}
	return false
}

// onlyTyped tells whether a shell's arguments name neither a script nor a command.
func onlyTyped(args []shell.Word) bool {
	for _, w := range args[1:] {
		t := w.Text
		if t == "--version" || t == "--help" || t == "" || t[0] != '-' && t[0] != '+' || len(t) > 1 && t[1] != '-' && strings.ContainsAny(t, "cn") {
			return false
		}
	}
	return true
}

// mounts holds unless a mount only lists what is mounted.
func mounts(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.says(i, "--fake", "-f", "--help", "-h", "--version", "-V", "-l", "--show-labels") {
		return span{}, false
	}
	if c.says(i, "-a", "--all", "--bind", "--rbind", "-B", "-R", "--make-shared", "--make-private", "--make-rprivate", "-M", "--move") {
		return span{}, true
	}
	var buf [8]int
	words := spoken(args, "-t --types -o --options -O -L -U --label --uuid --source --target -N", buf[:0])
	if len(words) > 0 {
		return at(args[words[0]]), true
	}
	return span{}, false
}

// killsVital holds for a kill by name of what everything else needs.
func killsVital(c *ctx, i int) (span, bool) {
	for _, w := range c.operands(i) {
		switch strings.TrimSuffix(strings.TrimPrefix(w.Text, "^"), "$") {
		case "sshd", "systemd", "init", "launchd", "dbus-daemon", "dbus-broker", "systemd-logind", "systemd-journald", "journald", "auditd",
			"rsyslogd", "syslogd", "xorg", "Xorg", "gnome-shell", "plasmashell", "kwin", "gdm",
			"sddm", "lightdm", "WindowServer", "loginwindow", "NetworkManager", "networkd", "wpa_supplicant", "dockerd", "containerd", "kubelet",
			"cron", "crond", "login", "firewalld", "fail2ban-server", "falcon-sensor", "clamd", "osqueryd":
			return at(w), !c.opted(i, "-l", "--list", "-0")
		}
	}
	return span{}, false
}

// isElsewhere tells whether the target is outside the work tree, the folders for temporary files and the inside of the
// owner's home.
func isElsewhere(c *ctx, t target) bool {
	p := t.path
	if p == "" || t.blind && p[0] == 0 {
		return false
	}
	if c.isHome(t) {
		return true
	}
	if _, ok := c.fromHome(t); ok && !inside(p, "/root") {
		return false
	}
	return p[0] == '/' && !c.inTree(t) && !c.isTemp(t)
}
