package command

import (
	"strings"

	"hermes/internal/guard"
)

// Devices, where the floor's rows have a twin that asks: rows 34 to 37, and what changes volumes.
func disks() table {
	return table{
		{
			Key:    "format filesystem",
			Harms:  guard.Host,
			Match:  all(makesFilesystem(), not(when(onlyImage))),
			Why:    "destroys what the file or device holds",
			Remedy: outside,
			Hits:   []string{"mkfs.ext4 /dev/sdb1", "mkfs.ext4 /var/lib/x.img", "sudo mkfs $DEV"},
			Passes: []string{"mkfs.ext4 -F disk.img", "mkfs.ext4 --help", `echo "mkfs is a formatting tool"`, "man mkfs"},
		},
		{
			Key:    "disk copy",
			Harms:  guard.Host,
			Match:  all(runs("dd"), either(input((*ctx).isRawDevice), output(isUnusual), output(isBlind), when(endless))),
			Why:    "copies a device, or overwrites what is outside the work tree",
			Remedy: "write to a file here: `dd if=/dev/zero of=./disk.img bs=1M count=10`",
			Hits:   []string{"dd if=/dev/sda", "dd if=/dev/sda of=/tmp/disk.img", "dd if=x of=/usr/local/bin/y", "dd if=x of=$OUT", "dd if=/dev/zero of=/tmp/out"},
			Passes: []string{"dd if=/dev/zero of=./disk.img bs=1M count=10", "dd if=/dev/zero of=/tmp/out bs=1k count=1", "dd if=/dev/urandom bs=16 count=1", "dd if=a of=/dev/null"},
		},
		{
			Key:    "raw block device wipe (shred/wipefs/blkdiscard/sgdisk)",
			Harms:  guard.Host,
			Match:  wipesDevice(),
			Why:    "destroys what is on the device",
			Remedy: outside,
			Hits:   []string{"wipefs -a /dev/sda", "shred /dev/sdb", "blkdiscard /dev/nvme0n1"},
			Passes: []string{"wipefs /dev/sda", "shred secret.txt"},
		},
		{
			Key:    "write to block device",
			Harms:  guard.Host,
			Match:  wrote((*ctx).isRawDevice),
			Why:    "overwrites the device",
			Remedy: "write to a file",
			Hits:   []string{"cat x > /dev/sda", "cp x.img /dev/sdb"},
			Passes: []string{"cat x > /dev/null", "cp /dev/sda x"},
		},
	}
}

// volumes are rules beyond the original's table.
func volumes() table {
	return table{
		{
			Key:   "change of disk partitions",
			Harms: guard.Host,
			Match: either(
				all(runs("fdisk", "cfdisk"), not(flag("-l", "--list", "-x", "-s", "-V")), operand(isDevice)),
				all(runs("sfdisk"), not(flag("-l", "--list", "-d", "--dump", "-J", "--json", "-F", "-V", "-T", "--verify")), operand(isDevice)),
				all(runs("parted"), word("mklabel", "mkpart", "rm", "resizepart", "mktable", "set", "rescue", "mkpartfs")),
				all(runs("sgdisk"), flag("-d", "--delete", "-n", "--new", "-g", "--mbrtogpt", "-R", "--replicate", "-l"), operand(isDevice)),
			),
			Why:    "changes where the disk's file systems are",
			Remedy: "list them: `fdisk -l`",
			Hits:   []string{"fdisk /dev/sda", "parted -s /dev/sda mklabel gpt", "parted /dev/sdb rm 1", "sfdisk /dev/sda < layout", "sgdisk -d 1 /dev/sda"},
			Passes: []string{"fdisk -l /dev/sda", "parted -l", "parted /dev/sda print", "sfdisk -d /dev/sda"},
		},
		{
			Key:   "removal of a storage volume",
			Harms: guard.Host,
			Match: either(
				all(runs("lvremove", "vgremove", "pvremove", "lvreduce", "vgreduce"), not(flag("-t", "--test"))),
				all(runs("zpool"), sub("destroy|labelclear|remove")),
				all(runs("zfs"), sub("destroy|rollback"), not(flag("-n"))),
				all(runs("btrfs"), sub("subvolume|device|su|sub", "delete|remove|del")),
				all(runs("mdadm"), flag("--stop", "-S", "--remove", "-r", "--fail", "-f")),
				all(runs("cryptsetup"), word("luksFormat", "luksErase", "erase", "luksKillSlot", "luksRemoveKey")),
				all(runs("swapoff"), flag("-a", "--all")),
				all(runs("umount"), flag("-a", "--all")),
			),
			Why:    "destroys or detaches storage with all it holds",
			Remedy: "list it: `lvs`",
			Hits:   []string{"lvremove -f vg0/data", "zpool destroy tank", "zfs destroy -r tank/x", "btrfs subvolume delete /snap", "cryptsetup luksErase x.img"},
			Passes: []string{"lvs", "zpool status", "zfs list", "btrfs subvolume list /", "mdadm --detail /dev/md0"},
		},
	}
}

// endless holds for a copy that nothing ends before the disk is full.
func endless(c *ctx, i int) (span, bool) {
	source, target, counted := false, false, false
	for _, w := range c.args(i)[1:] {
		switch t := w.Text; {
		case t == "if=/dev/zero" || t == "if=/dev/urandom" || t == "if=/dev/random":
			source = true
		case strings.HasPrefix(t, "of=") && t != "of=/dev/null":
			target = true
		case strings.HasPrefix(t, "count="):
			counted = true
		}
	}
	return span{}, source && target && !counted
}

// onlyImage holds when a program that formats is given an ordinary file in the work tree or a temporary directory.
func onlyImage(c *ctx, i int) (span, bool) {
	list := c.operandTargets(i)
	for _, t := range list {
		if t.blind || isUnusual(c, t) {
			return span{}, false
		}
	}
	return span{}, len(list) > 0
}

func isDevice(_ *ctx, t target) bool { return inside(t.path, "/dev") }

func isBlind(_ *ctx, t target) bool { return t.blind }

// isUnusual tells whether writing to the target reaches outside the work tree, temporary directories and the devices
// that swallow everything.
func isUnusual(c *ctx, t target) bool {
	switch t.path {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/full", "/dev/tty":
		return false
	}
	return !t.blind && !c.isTemp(t) && !c.inTree(t)
}
