package command

import (
	"strings"

	"hermes/internal/guard"
)

// Rules beyond the original's table about this machine as a whole: permissions, network, processes, boot, file systems, packages.
func system() table {
	return append(append(append(permissionsBeyond(), network()...), boot()...), systemPackages()...)
}

func permissionsBeyond() table {
	return table{
		{
			Key:   "permission change of a system path",
			Harms: guard.Host,
			Match: either(
				all(runs("chmod", "chown", "chgrp", "setfacl", "chattr", "chcon", "restorecon", "chflags"), operand(isGoverned)),
				all(runs("setfacl"), flag("-R", "--recursive"), operand(isForeign)),
				all(runs("install"), when(openInstall)),
			),
			Why:    "changes who may read or change what the system runs on",
			Remedy: "look first: `ls -l /etc/hosts`",
			Hits: []string{
				"chmod 000 /etc/sudoers", "chmod 644 /etc/shadow", "setfacl -m other::rwx /etc/cron.d", "chmod --reference=/tmp /etc", "install -d -m 0777 /etc/cron.d",
				"chmod -R a-rwx /home", "restorecon -RF /", "chflags -R nouchg /System", "chown me /etc/hosts",
			},
			Passes: []string{"ls -l /etc/hosts", "chmod 755 /usr/local/bin/x", "chmod +x script.sh", "chown me:me ./x", "install -d -m 755 ./out", "chmod 600 ~/.ssh/id_rsa"},
		},
	}
}

// isGoverned tells whether a path's permissions decide over the machine.
func isGoverned(c *ctx, t target) bool {
	return c.isVital(t) || c.isSystemConfig(t) || t.path == "/home"
}

func openInstall(c *ctx, i int) (span, bool) {
	o, ok := c.opt(i, "-m", "--mode")
	return at(o.value), ok && o.has && len(o.value.Holes) == 0 && writableByAll(o.value.Text)
}

func network() table {
	return table{
		{
			Key:   "change of network or firewall",
			Harms: guard.Host,
			Match: either(
				all(runs("iptables", "ip6tables", "ebtables"), flag("-F", "--flush", "-X", "-P", "--policy", "-D", "--delete", "-Z", "-A", "-I", "--append", "--insert", "-R")),
				runs("iptables-restore", "ip6tables-restore"),
				all(runs("nft"), sub("flush|delete|add|insert|replace|destroy")),
				all(runs("nft"), flag("-f", "--file")),
				all(runs("ufw"), sub("disable|reset|delete|allow|deny|default|enable|insert|limit|reject")),
				all(runs("firewall-cmd"), flag("--remove-service", "--remove-port", "--add-service", "--add-port", "--panic-on", "--permanent", "--add-rich-rule", "--reload")),
				all(runs("ip"), when(changesLink)),
				all(runs("ifconfig"), word("down")),
				all(runs("nmcli"), word("off", "down", "delete")),
				all(runs("route"), word("del", "delete", "flush")),
				all(runs("pfctl"), flag("-F", "-d", "-f")),
				all(runs("resolvectl", "systemd-resolve"), either(sub("dns|domain|revert|default-route"), given("--set-dns")), when(func(c *ctx, i int) (span, bool) { return span{}, len(c.args(i)) > 3 })),
				all(runs("networksetup"), when(setsNetwork)),
			),
			Why:    "may cut this machine off, or open it to others",
			Remedy: "look first: `ip addr`",
			Hits: []string{
				"iptables -F", "sudo iptables -P INPUT DROP", "nft flush ruleset", "ufw --force reset", "ip link set eth0 down", "ifconfig en0 down", "nmcli networking off",
				"ip route flush table main", "ip addr del 10.0.0.2/24 dev eth0",
			},
			Passes: []string{"ip addr", "sudo iptables -L -n -v", "iptables-save", "nft list ruleset", "ufw status", "ip route show", "nmcli device status", "ifconfig", "iptables -S"},
		},
		{
			Key:   "stop/restart system service (service, launchd, runit)",
			Harms: guard.Host,
			Match: either(
				all(runs("service", "rc-service", "invoke-rc.d"), when(stopsService)),
				all(runs("launchctl"), sub("bootout|unload|stop|kill|disable|remove|kickstart")),
				all(runs("systemctl"), sub("set-default|emergency|rescue|default|suspend|hibernate|edit|revert|link")),
				all(runs("sv"), sub("down|stop|restart|exit|kill|force-stop")),
				all(runs("update-rc.d"), word("remove", "disable")),
				all(runs("chkconfig"), word("off", "--del")),
			),
			Why:    "stops a service that others may use",
			Remedy: "look first: `service nginx status`",
			Hits:   []string{"service nginx stop", "sudo launchctl bootout system/com.apple.sshd", "systemctl set-default rescue.target", "systemctl emergency", "sv down nginx"},
			Passes: []string{"service nginx status", "launchctl list", "systemctl get-default", "service --status-all", "sv status nginx"},
		},
		{
			Key:   "kill of processes that nobody named",
			Harms: guard.Host,
			Match: either(all(runs("kill"), when(killsListed)), runs("killall5", "xkill"), all(runs("kill"), when(killsInit)), all(runs("kill"), when(killsGroup)),
				all(runs("pkill", "killall"), when(killsEverything))),
			Why:    "ends whatever is in the list, also what others need",
			Remedy: "name the process: `kill 12345`",
			Hits: []string{
				"kill -9 1", "killall5 -9", "kill -9 $(ps -e -o pid=)", "ps aux | awk '{print $2}' | xargs kill -9", "kill -9 -$X",
				"pkill -u me", "killall -u me", "pkill .",
			},
			Passes: []string{"kill 12345", "kill -9 $PID", "ps aux | grep node | awk '{print $2}' | xargs kill", "kill %1", "lsof -ti:3000 | xargs kill -9", "pkill -f nginx"},
		},
	}
}

// changesLink holds for ip's verbs that take something away.
func changesLink(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	if len(words) < 2 {
		return span{}, false
	}
	switch verb := words[1].Text; verb {
	case "flush", "del", "delete":
		return at(words[1]), words[0].Text != "netns"
	case "set":
		for _, w := range words[2:] {
			if w.Text == "down" {
				return at(w), true
			}
		}
	}
	return span{}, false
}

func setsNetwork(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if strings.HasPrefix(strings.ToLower(w.Text), "-set") {
			return at(w), true
		}
	}
	return span{}, false
}

func stopsService(c *ctx, i int) (span, bool) {
	w, ok := c.operand(i, 1)
	if !ok || len(w.Holes) > 0 {
		return span{}, false
	}
	return at(w), has([]string{"stop", "restart", "force-stop", "try-restart", "condrestart"}, w.Text)
}

// killsListed holds for kill of all that ps lists, with nothing between that picks some.
func killsListed(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if c.made(w, listsAll, "$(", "`") {
			return at(w), true
		}
	}
	if p := c.cmd(i).Parent; p >= 0 && c.name(p) == "xargs" {
		if _, ok := c.upstream(p, picks, 16); ok {
			return span{}, false
		}
		_, ok := c.upstream(p, listsAll, 16)
		return span{}, ok
	}
	return span{}, false
}

func listsAll(c *ctx, i int) bool { return c.name(i) == "ps" && !c.narrowPs(i) }

// narrowPs tells whether ps is told which processes to list.
func (c *ctx) narrowPs(i int) bool {
	_, ok := c.opt(i, "-C", "-p", "--pid", "--ppid", "-t")
	return ok
}

// picks tells whether command i lets only some lines through.
func picks(c *ctx, i int) bool {
	switch c.name(i) {
	case "grep", "egrep", "fgrep", "rg", "ag", "head", "tail", "fzf", "sed":
		return true
	case "awk", "gawk", "mawk":
		for _, w := range c.args(i)[1:] {
			if strings.Contains(w.Text, "/") || strings.Contains(w.Text, "==") || strings.Contains(w.Text, "~") {
				return true
			}
		}
	}
	return false
}

func killsInit(c *ctx, i int) (span, bool) {
	args := c.args(i)[1:]
	for k, w := range args {
		if w.Is("1") && (k == 0 || args[k-1].Text != "-s" && args[k-1].Text != "-n") {
			return at(w), true
		}
	}
	return span{}, false
}

// killsGroup holds for kill of a process group whose number is not known: without the number it may be everything.
func killsGroup(c *ctx, i int) (span, bool) {
	args := c.args(i)[1:]
	for k, w := range args {
		if k > 0 && len(w.Holes) > 0 && w.Text == "-\x00" {
			return at(w), true
		}
	}
	return span{}, false
}

// killsEverything holds for a kill by name whose name is every name, or that names only a user.
func killsEverything(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	if len(words) == 0 {
		o, ok := c.opt(i, "-u", "--user", "--euid", "-U", "--uid", "-g", "-G")
		return at(o.value), ok
	}
	for _, w := range words {
		if len(w.Holes) == 0 && (w.Text == "." || w.Text == ".*" || w.Text == "") && c.name(i) == "pkill" {
			return at(w), true
		}
	}
	return span{}, false
}

func boot() table {
	return table{
		{
			Key:   "change of boot, firmware or kernel",
			Harms: guard.Host,
			Match: either(
				all(runs("efibootmgr"), flag("-B", "-b", "-o", "-c", "-n", "--delete-bootnum", "--create", "--bootorder")),
				all(runs("grub-install", "update-grub", "grub2-mkconfig", "grub-mkconfig", "bootctl"), not(sub("status|list"))),
				all(runs("flashrom"), flag("-w", "-E", "--write", "--erase")),
				all(runs("fastboot"), sub("erase|flash|format|flashing|-w|oem")),
				all(runs("kexec"), flag("-e", "--exec", "-l", "--load", "-p")),
				all(runs("rmmod", "insmod"), not(flag("-V"))),
				all(runs("modprobe"), flag("-r", "--remove", "-f", "--force")),
				all(runs("sysctl"), when(setsKernel)),
				runs("dkms"),
				all(runs("nvram"), when(setsNvram)),
				all(runs("csrutil"), sub("disable|clear")),
				all(runs("spctl"), flag("--master-disable", "--global-disable")),
				all(runs("setenforce"), sub("0|Permissive|permissive")),
				runs("aa-teardown", "aa-disable", "aa-complain"),
				all(runs("update-initramfs"), flag("-d")),
			),
			Why:    "changes what the machine starts, or what the kernel enforces",
			Remedy: "look first: `sysctl kernel.panic`",
			Hits: []string{
				"efibootmgr -b 0001 -B", "sudo grub-install --force /dev/sdb", "flashrom -p internal -w b.bin", "kexec -e", "rmmod -f e1000e", "sysctl -w kernel.panic=1",
				"sysctl kernel.yama.ptrace_scope=0", "csrutil disable", "setenforce 0", "fastboot erase userdata",
			},
			Passes: []string{"sysctl kernel.panic", "sysctl -a", "efibootmgr -v", "bootctl status", "getenforce", "csrutil status", "modprobe -n x"},
		},
		{
			Key:   "change of a file system or mount",
			Harms: guard.Host,
			Match: either(
				all(runs("tune2fs", "xfs_admin", "e2label", "fatlabel"), not(flag("-l")), operand(isDevice)),
				all(runs("debugfs"), flag("-w")),
				all(runs("fsck", "e2fsck"), flag("-y", "-p", "-a"), operand(isDevice)),
				all(runs("xfs_repair", "resize2fs", "btrfsck"), not(flag("-n")), operand(isDevice)),
				all(runs("ddrescue"), flag("-f", "--force"), operand(isDevice)),
				all(runs("partclone.restore", "partclone.ext4", "partimage"), operand(isDevice)),
				all(runs("mount"), operand(mountsOver)),
				all(runs("losetup"), flag("-d", "-D", "--detach", "--detach-all")),
				all(runs("dmsetup"), sub("remove|remove_all|wipe_table")),
				all(runs("diskutil"), when(apfsDelete)),
				all(runs("asr"), flag("--erase")),
				all(runs("mv"), when(movesDevice)),
			),
			Why:    "can make what the file system holds unreachable",
			Remedy: "look first: `lsblk -f`",
			Hits: []string{
				"tune2fs -O ^has_journal /dev/sda2", "debugfs -w /dev/sda1", "fsck.ext4 -y /dev/sda2", "ddrescue --force /dev/zero /dev/sdb", "mount --bind /tmp/empty /etc",
				"dmsetup remove_all -f", "diskutil apfs deleteContainer disk1", "mv /dev/sda /dev/x",
			},
			Passes: []string{"lsblk -f", "tune2fs -l /dev/sda1", "mount", "mount /dev/sdb1 /mnt", "losetup -a", "diskutil apfs list", "e2fsck -n /dev/sda1"},
		},
		{
			Key:    "archive that deletes what it packs",
			Harms:  guard.Work,
			Match:  either(all(runs("tar", "gtar"), flag("--remove-files"), operand(isKept)), all(runs("zip"), flag("-m", "--move"), operand(isKept))),
			Why:    "deletes the files once they are packed",
			Remedy: "pack them and keep them: `tar czf a.tgz src`",
			Hits:   []string{"tar -cf /dev/null ~/photos --remove-files", "zip -rm /tmp/o.zip ~/Documents"},
			Passes: []string{"tar czf a.tgz src", "zip -r o.zip src"},
		},
		{
			Key:    "overwrite of a file outside the work tree (shred, truncate)",
			Harms:  guard.Host,
			Match:  all(runs("shred", "truncate", "wipe", "srm"), operand(isForeign)),
			Why:    "destroys what the file holds",
			Remedy: "empty a file here: `truncate -s 0 app.log`",
			Hits:   []string{"shred -uvz ~/.ssh/id_ed25519", "truncate -s 0 ~/notes/a.md", "shred /home/u/x"},
			Passes: []string{"truncate -s 0 app.log", "shred secret.txt", "truncate -s 1M /tmp/x"},
		},
	}
}

func setsKernel(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if w.Text == "-w" || w.Text == "--write" || w.Text == "-p" || w.Text == "--system" || strings.Contains(w.Text, "=") && w.Text[0] != '-' {
			return at(w), true
		}
	}
	return span{}, false
}

func setsNvram(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if strings.Contains(w.Text, "=") || w.Text == "-d" || w.Text == "-c" {
			return at(w), true
		}
	}
	return span{}, false
}

func mountsOver(c *ctx, t target) bool {
	return (c.isVital(t) || inside(t.path, "/etc")) && !strings.HasPrefix(t.path, "/dev") && t.path != "/proc" && t.path != "/sys" && t.path != "/run"
}

func apfsDelete(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		switch strings.ToLower(w.Text) {
		case "deletecontainer", "deletevolume", "erasevolume", "deletesnapshot":
			return at(w), true
		}
	}
	return span{}, false
}

func movesDevice(c *ctx, i int) (span, bool) {
	return c.find(c.operandTargets(i), func(c *ctx, t target) bool { return c.isRawDevice(t) })
}

func systemPackages() table {
	return table{
		{
			Key:   "removal of system packages",
			Harms: guard.Host,
			Match: either(
				all(runs("apt", "apt-get", "aptitude"), sub("remove|purge|autoremove|autopurge"), not(flag("-s", "--simulate", "--dry-run", "--just-print"))),
				all(runs("dpkg"), flag("-r", "-P", "--remove", "--purge", "--force-all")),
				all(runs("dnf", "yum", "zypper", "microdnf"), sub("remove|erase|rm|autoremove"), not(given("--assumeno", "-D"))),
				all(runs("rpm"), flag("-e", "--erase", "--nodeps")),
				all(runs("pacman"), when(removesPacman)),
				all(runs("apk"), sub("del")),
				all(runs("snap", "flatpak"), sub("remove|uninstall")),
				all(runs("emerge"), flag("-C", "--unmerge", "-c", "--depclean")),
				all(runs("port"), sub("uninstall")),
			),
			Why:    "takes away programs that others may need",
			Remedy: "look first: `apt-get -s remove nginx`",
			Hits:   []string{"sudo apt-get purge -y coreutils bash", "apt remove nginx", "dpkg --purge --force-all libc6", "pacman -Rdd glibc", "dnf remove x", "apk del x", "rpm -e x"},
			Passes: []string{"apt-get -s remove nginx", "apt-get --dry-run remove nginx", "apt install x", "pacman -Qi x", "pacman -Rp x", "dnf remove --assumeno x", "dpkg -l", "apk add x", "apt list --installed"},
		},
	}
}

func removesPacman(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] == 'R' || w.Text == "--remove" {
			return at(w), !c.given(i, "-p --print")
		}
	}
	return span{}, false
}
