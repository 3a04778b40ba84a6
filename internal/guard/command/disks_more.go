package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Devices, volumes and kernel settings beyond the tables of disks.go.
func disksMore() table {
	return table{
		{
			Key:    "image written to raw block device",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  match{names: imageTools(), test: imagesDevice},
			Why:    "overwrites the device from its first byte",
			Remedy: "write to a file: `ddrescue disk.img copy.img`",
			Hits: []string{
				"sudo ddrescue --force /dev/zero /dev/sdb", "partclone.restore -s old.img -o /dev/sda1", "qemu-img convert -O raw a.qcow2 /dev/sdb", "bmaptool copy a.img /dev/mmcblk0", "ntfsclone --overwrite /dev/sda1 /dev/sdb1",
				"nwipe --autonuke /dev/sda", "sg_format --format /dev/sdb", "asr restore --source x.dmg --target /dev/disk2 --erase --noprompt", "qemu-img dd if=a of=/dev/sdb", "scrub /dev/sdc",
			},
			Passes: []string{"ddrescue disk.img copy.img", "ddrescue /dev/sdb rescue.img map", "partclone.ext4 -c -s /dev/sda1 -o old.img", "qemu-img convert -O raw a.qcow2 a.raw", "qemu-img info /dev/sdb", "ntfsclone --info /dev/sda1"},
		},
		{
			Key:   "dangerous drive command",
			Harms: guard.Host,
			Match: either(
				by(anyOption("--write-sector", "--make-bad-sector", "--repair-sector", "--yes-i-know-what-i-am-doing", "--please-destroy-my-drive", "--fwdownload", "--security-set-pass",
					"--security-unlock", "--security-disable", "--dco-restore", "--trim-sector-ranges-stdin", "-N", "--sanitize-block-erase", "--sanitize-crypto-scramble"), "hdparm"),
				by(verbIs("delete-ns", "write-zeroes", "write", "fw-download", "fw-commit", "fw-activate", "set-feature", "dsm", "write-uncor", "security-send", "format", "sanitize", "reset", "subsystem-reset"), "nvme"),
				by(anyOption("--setro", "--setrw", "--flushbufs", "--rereadpt"), "blockdev"),
				by(anyOption("--set", "--smart=off", "-s"), "smartctl"),
				by(ever, "sg_write_same", "sg_sanitize", "sg_unmap", "sg_dd", "sg_raw"),
				by(anyOption("-f", "--freeze"), "fsfreeze"),
				by(anyOption("-x"), "debugfs.ocfs2", "xfs_db"),
				by(remountsRoot, "mount"),
				by(detachesSystem, "umount"),
			),
			Why:    "works on the drive below its file system, or takes a file system away",
			Remedy: "look first: `hdparm -I /dev/sda`",
			Hits: []string{
				"hdparm --yes-i-know-what-i-am-doing --write-sector 0 /dev/sda", "nvme delete-ns /dev/nvme0 -n 1", "blockdev --setro /dev/sda", "fsfreeze -f /", "mount -o remount,ro /", "umount -l /", "umount -f /home",
			},
			Passes: []string{"hdparm -I /dev/sda", "nvme list", "nvme smart-log /dev/nvme0", "blockdev --getsize64 /dev/sda", "smartctl -a /dev/sda", "mount -o remount,rw /mnt/usb", "umount /mnt/usb", "umount ~/mnt"},
		},
		{
			Key:   "disk taken for a new volume",
			Harms: guard.Host,
			Match: either(
				by(touchesVolume, "pvcreate", "vgcreate", "vgextend", "make-bcache", "lvconvert", "pvmove", "pvchange", "vgchange", "vgsplit", "vgmerge", "vgreduce"),
				by(verbIs("create", "add", "attach", "replace", "offline", "detach", "export", "split"), "zpool"),
				by(anyOption("--create", "-C", "--grow", "-G", "--zero-superblock", "--build", "-B"), "mdadm"),
				by(touchesVolume, "lvresize", "lvrename", "lvchange", "vgrename"),
				by(touchesDevice, "swapon", "swaplabel"),
				by(verbIs("apfs", "corestorage", "cs", "appleraid", "resizevolume", "mergepartitions", "splitpartition", "unmountdisk", "enableownership", "randomdisk", "erasedisk"), "diskutil"),
				by(verbIs("delete", "deletelocalsnapshots", "disable", "thinlocalsnapshots", "deleteinprogress"), "tmutil"),
				by(dropsBackups, "snapper", "timeshift", "borg", "restic", "duplicity", "rdiff-backup", "bup", "kopia", "rsnapshot"),
			),
			Why:    "takes a disk over, or gives up copies that a rescue would need",
			Remedy: "list them: `lsblk`",
			Hits: []string{
				"pvcreate -ff /dev/sdb", "zpool create -f tank /dev/sdb", "mdadm --create /dev/md0 -l1 -n2 /dev/sda1 /dev/sdb1", "diskutil apfs deleteContainer disk1", "restic forget --prune --keep-last 1", "borg delete repo",
				"snapper delete 1-100", "tmutil disable", "vgextend vg0 /dev/sdc", "timeshift --delete-all",
			},
			Passes: []string{"lsblk", "zpool list", "mdadm --detail /dev/md0", "diskutil apfs list", "diskutil list", "restic snapshots", "borg list repo", "snapper list", "tmutil status", "restic backup ~/src", "pvcreate --test /dev/sdb"},
		},
		{
			Key:    "write to a kernel setting",
			Harms:  guard.Host,
			Match:  wrote(isKernelSetting),
			Why:    "changes the running kernel or its devices",
			Remedy: "read it: `cat /proc/sys/vm/swappiness`",
			Hits:   []string{"echo 1 > /sys/block/sda/device/delete", "echo 0 | sudo tee /proc/sys/kernel/randomize_va_space", "echo mem > /sys/power/state", "echo x > /dev/mem", "echo 3 > /proc/sys/vm/drop_caches"},
			Passes: []string{"cat /proc/sys/vm/swappiness", "echo 1 > /dev/null", "cat /sys/class/net/eth0/address > mac.txt"},
		},
		{
			Key:   "endless output into a file",
			Harms: guard.Host,
			Match: either(
				by(endlessRedirect, "yes", "cat"),
				by(endlessCopy, "dd"),
				by(hugeFile, "fallocate"),
			),
			Why:    "fills the disk until nothing can be written",
			Remedy: "say how much: `dd if=/dev/zero of=./disk.img bs=1M count=10`",
			Hits:   []string{"yes > big.txt", "cat /dev/zero > ~/fill", "dd if=/dev/zero of=./fill bs=1M", "dd if=/dev/urandom of=/tmp/x", "fallocate -l 900G x", "cat /dev/urandom >> f"},
			Passes: []string{"dd if=/dev/zero of=./disk.img bs=1M count=10", "yes | head -5 > x", "cat a > b", "fallocate -l 1G swap.img", "dd if=a of=b", "timeout 2 yes > /dev/null", "dd if=/dev/zero of=/dev/null", "yes | apt-get install x"},
		},
	}
}

func ever(*ctx, int) (span, bool) { return span{}, true }

// anyOption holds when an argument is one of the options, with or without a value.
func anyOption(names ...string) test {
	return func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[1:] {
			name, _, _ := cut(w.Text, '=')
			if has(names, name) || has(names, w.Text) {
				return at(w), true
			}
		}
		return span{}, false
	}
}

// verbIs holds when the first word that is no option is one of the words, however it is written, and nothing says that the
// next word only asks.
func verbIs(words ...string) test {
	return func(c *ctx, i int) (span, bool) {
		args := c.args(i)
		for k := 1; k < len(args); k++ {
			w := args[k]
			if w.Text == "" || w.Text[0] == '-' {
				continue
			}
			if !has(words, strings.ToLower(w.Text)) {
				return span{}, false
			}
			if k+1 < len(args) {
				switch strings.ToLower(args[k+1].Text) {
				case "list", "info", "status", "-n", "--dry-run", "verifyvolume", "listsnapshots", "listusers", "listcryptousers":
					return span{}, false
				}
			}
			return at(w), true
		}
		return span{}, false
	}
}

func imageTools() []string {
	return []string{
		"ddrescue", "dd_rescue", "dc3dd", "dcfldd", "partclone.restore", "partclone.ext4", "partclone.ntfs", "partclone.xfs", "partclone.btrfs", "partclone.vfat", "partclone.dd", "partclone.extfs", "ntfsclone", "fsarchiver",
		"partimage", "ocs-restore-disk", "qemu-img", "bmaptool", "asr", "nwipe", "scrub", "wipe", "srm", "sg_format", "sg_write_same", "rpi-imager", "etcher", "balena", "dd_rhelp", "e2image", "xfs_copy", "xfs_mdrestore", "flashbench",
		"f3write", "f3probe", "write_zeroes", "zerofree", "mkusb", "dban", "img2simg", "simg2img", "fwupdtool", "usbimager", "caligula",
	}
}

// imagesDevice holds for a tool that writes an image over a whole device.
func imagesDevice(c *ctx, i int) (span, bool) {
	args := c.args(i)
	var out []shell.Word
	switch name := c.name(i); {
	case name == "ddrescue", name == "dd_rescue", name == "xfs_copy", name == "bmaptool", name == "e2image", name == "xfs_mdrestore", name == "simg2img":
		if words := rawOperands(args); len(words) > 1 {
			out = words[1:2]
			if name == "bmaptool" || name == "e2image" {
				out = words[len(words)-1:]
			}
		}
	case strings.HasPrefix(name, "partclone."), name == "ntfsclone":
		out = c.values(i, "-o --output -O --overwrite")
	case name == "qemu-img":
		if anyWord(args, "convert", "dd", "create", "resize") {
			out = args[len(args)-1:]
		}
		for _, w := range args[1:] {
			if strings.HasPrefix(w.Text, "of=") {
				out = append(out, w.Slice(3))
			}
		}
	case name == "asr":
		out = c.values(i, "--target -target")
	case name == "fsarchiver", name == "partimage":
		if !anyWord(args, "restfs", "restdir", "restore") {
			return span{}, false
		}
		for _, w := range args[1:] {
			if n := strings.Index(w.Text, "dest="); n >= 0 {
				out = append(out, w.Slice(n+5))
			}
		}
		out = append(out, rawOperands(args)...)
	case name == "dc3dd", name == "dcfldd":
		for _, w := range args[1:] {
			for _, o := range [...]string{"of=", "wipe=", "hwipe=", "hof="} {
				if strings.HasPrefix(w.Text, o) {
					out = append(out, w.Slice(len(o)))
				}
			}
		}
	default:
		out = args[1:]
	}
	for _, w := range out {
		if s, ok := c.find(c.targets(w, c.cmd(i).Dir), (*ctx).isRawDevice); ok {
			return s, true
		}
	}
	return span{}, false
}

// rawOperands returns the arguments that do not look like options.
func rawOperands(args []shell.Word) (out []shell.Word) {
	for _, w := range args[1:] {
		if w.Text != "" && w.Text[0] != '-' {
			out = append(out, w)
		}
	}
	return out
}

func touchesDevice(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if strings.HasPrefix(w.Text, "/dev/") {
			return at(w), true
		}
	}
	return span{}, false
}

func touchesVolume(c *ctx, i int) (span, bool) {
	return span{}, len(c.args(i)) > 1 && !c.given(i, "-t --test")
}

// remountsRoot holds for a mount that makes the root unwritable or lifts what it was mounted with.
func remountsRoot(c *ctx, i int) (span, bool) {
	for _, w := range c.values(i, "-o --options") {
		if strings.Contains(w.Text, "remount") {
			for _, t := range c.operandTargets(i) {
				if c.isRoot(t) || c.isSystemDir(t) {
					return at(w), true
				}
			}
		}
	}
	return span{}, false
}

func detachesSystem(c *ctx, i int) (span, bool) {
	return c.find(c.operandTargets(i), func(c *ctx, t target) bool { return c.isRoot(t) || systemDir(t.path) })
}

// dropsBackups holds for backup tools told to delete what they keep.
func dropsBackups(c *ctx, i int) (span, bool) {
	if c.given(i, "-n --dry-run") {
		return span{}, false
	}
	for _, w := range c.args(i)[1:] {
		switch w.Text {
		case "forget", "prune", "delete", "rm", "key", "--delete", "--delete-all", "remove-older-than", "remove-all-but-n-full", "--remove-older-than", "unlock", "recreate":
			return at(w), true
		}
	}
	return span{}, false
}

func isKernelSetting(_ *ctx, t target) bool {
	return inside(t.path, "/sys") || inside(t.path, "/proc/sys") || t.path == "/dev/mem" || t.path == "/dev/kmem" || t.path == "/dev/port" || inside(t.path, "/dev/cpu") || t.path == "/dev/watchdog" ||
		inside(t.path, "/dev/input") || t.path == "/dev/nvram"
}

// endlessRedirect holds for output without an end that goes into a file.
func endlessRedirect(c *ctx, i int) (span, bool) {
	if c.name(i) == "cat" {
		endless := false
		for _, w := range c.args(i)[1:] {
			endless = endless || endlessDevice(w.Text)
		}
		if !endless {
			return span{}, false
		}
	}
	if p := c.cmd(i).Parent; p >= 0 && c.name(p) == "timeout" {
		return span{}, false
	}
	for _, r := range c.cmd(i).Redirs {
		if r.Writes() && r.FD != "2" && !strings.HasPrefix(r.Target.Text, "/dev/") {
			return span{r.Start, r.End}, true
		}
	}
	return span{}, false
}

func endlessDevice(p string) bool {
	return p == "/dev/zero" || p == "/dev/urandom" || p == "/dev/random" || p == "/dev/full"
}

func endlessCopy(c *ctx, i int) (span, bool) {
	from, to, counted := false, false, false
	var where span
	for _, w := range c.args(i)[1:] {
		name, v, _ := cut(w.Text, '=')
		switch name {
		case "if":
			from = endlessDevice(v)
		case "of":
			to, where = !strings.HasPrefix(v, "/dev/"), at(w)
		case "count":
			counted = true
		}
	}
	return where, from && to && !counted
}

// hugeFile holds for a file of 100 gigabytes or more.
func hugeFile(c *ctx, i int) (span, bool) {
	for _, w := range c.values(i, "-l --length") {
		t := strings.ToUpper(w.Text)
		n := len(t) - len(strings.TrimLeft(t, "0123456789"))
		if unit := t[n:]; strings.HasPrefix(unit, "T") || strings.HasPrefix(unit, "P") || strings.HasPrefix(unit, "E") || strings.HasPrefix(unit, "G") && n > 2 || unit == "" && n > 11 {
			return at(w), true
		}
	}
	return span{}, false
}
