package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// What nobody can mean, or nobody should let an agent do. No mode, approval or allow-list lifts these.
func floor() table {
	return append(append(floorDeletes(), floorDevices()...), floorPower()...)
}

const outside = "run it yourself outside the agent if you mean it"

func floorDeletes() table {
	return table{
		{
			Key:    "recursive delete of root filesystem",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  either(all(recursiveRm(), operand((*ctx).isRoot)), all(recursiveRm(), when(fedTree((*ctx).isRoot))), all(emptiesTree(), roots((*ctx).isRoot)), all(mirrors(), lastOperand((*ctx).isRoot))),
			Why:    "deletes everything on this machine",
			Remedy: "name what you mean: `rm -r ./build`",
			Hits: []string{
				"rm -rf /", "rm -fr --no-preserve-root /", "sudo /bin/rm -r -- /", "busybox rm -rf /*", "rm -rf foo /", "cd / && rm -rf *", "find / -delete",
				"rm -rf /home/../..", "rm -rf //", "rm -rf /./", "LC_ALL=C rm -rf /", "find / -exec rm -rf {} +", "rsync -a --delete empty/ /", "rm / -rf",
				"rm -rf /proc/self/root", "find / -print0 | xargs -0 rm -rf",
			},
			Passes: []string{"rm -rf ./build", `git commit -m "rm -rf /"`, "rm -rf /...", "rm -rf /.foo", "rm --help /", "find / -name core -delete", "rm -rf ./*"},
		},
		{
			Key:   "recursive delete of system directory",
			Tier:  guard.Hardline,
			Harms: guard.Host,
			Match: either(all(recursiveRm(), operand((*ctx).isSystemDir)), all(recursiveRm(), when(fedTree((*ctx).isSystemDir))), all(emptiesTree(), roots((*ctx).isSystemDir)),
				all(mirrors(), lastOperand((*ctx).isSystemDir))),
			Why:    "wipes a directory the system needs",
			Remedy: "name what you mean: `rm -r ./build`",
			Hits: []string{
				"rm -rf /etc", "sudo /bin/rm -r -- /usr/", "F=-rf; rm $F /etc", "cd / && rm -rf etc", "rm -rf $HOME/..", "rm -rf ~root", "rm -rf /{etc,usr}",
				"rm -rf /e?c", "rm -rf /lib64", "rm -rf /var/*", "find /etc -type f -delete",
			},
			Passes: []string{"rm -rf /etc/myapp", "echo rm -rf /etc", "rm -rf ./etc", "rm /etc", "rm -rf /home/user/scratch"},
		},
		{
			Key:    "recursive delete of home directory",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  either(all(recursiveRm(), operand((*ctx).isHome)), all(recursiveRm(), when(fedTree((*ctx).isHome))), all(emptiesTree(), roots((*ctx).isHome)), all(mirrors(), lastOperand((*ctx).isHome))),
			Why:    "deletes everything you own on this machine",
			Remedy: "name the folder inside it that you mean",
			Hits:   []string{"rm -rf ~", "rm -rf $HOME", "rm -rf ~/", `rm -rf "$HOME"/*`, "rm -r ~/.", "rm -rf ~/x/..", "cd ~ && rm -rf *", "cd; rm -rf ./*"},
			Passes: []string{"rm -rf ~/Downloads/old", "rm -f ~", "ls ~", "rm -rf $HOME/tmp"},
		},
		{
			Key:    "move of system directory",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("mv"), when(movesVital)),
			Why:    "moves a directory the system needs out of its place",
			Remedy: outside,
			Hits:   []string{"mv / /mnt", "sudo mv /etc /tmp/etc", "mv /usr/* /tmp", "mv ~ /dev/null", "mv ~/* /dev/null"},
			Passes: []string{"mv ./etc /tmp/etc", "mv a b", "mv x /etc"},
		},
		{
			Key:    "recursive permission change of system directory",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("chmod", "chown", "chgrp", "setfacl", "chattr"), flag("-R", "--recursive"), not(flag("-l")), operand((*ctx).isVital)),
			Why:    "changes who may use every file the system needs",
			Remedy: "name the folder that you mean: `chmod -R u+w ./build`",
			Hits:   []string{"chmod -R 777 /", "sudo chown -R me:me /usr", "chmod --recursive 755 /etc/", "chown -hR nobody /var/.."},
			Passes: []string{"chmod -R 755 ./public", "chown -R me /opt/app", "chmod 755 /usr/local/bin/x", "chmod -R u+w /srv/www"},
		},
	}
}

func recursiveRm() match { return all(runs("rm"), flag("-r", "-R", "--recursive")) }

// mirrors holds for rsync that deletes what the source has not.
func mirrors() match {
	return all(runs("rsync"), flag("--delete", "--delete-before", "--delete-during", "--delete-after", "--delete-excluded", "--del"), not(flag("-n", "--dry-run")))
}

// emptiesTree holds for find that deletes all it finds.
func emptiesTree() match {
	return all(runs("find"), when(func(c *ctx, i int) (span, bool) {
		args := c.args(i)
		if narrow(args) {
			return span{}, false
		}
		for k, w := range args {
			switch w.Text {
			case "-delete":
				return at(w), true
			case "-exec", "-execdir", "-ok", "-okdir":
				if k+1 < len(args) && deleter(base(args[k+1].Text)) {
					return at(w), true
				}
			}
		}
		return span{}, false
	}))
}

func deleter(name string) bool {
	switch name {
	case "rm", "unlink", "shred", "rmdir", "trash", "srm", "wipe":
		return true
	}
	return false
}

// roots holds when one of the directories a find command starts in is such a path.
func roots(is place) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, w := range startsOf(c.args(i)) {
			if s, ok := c.find(c.reached(i, w), is); ok {
				return s, true
			}
		}
		return span{}, false
	})
}

// startsOf returns the starting points among find's arguments.
func startsOf(args []shell.Word) []shell.Word {
	first := 1
	for first < len(args) && len(args[first].Text) == 2 && strings.Contains("-H-L-P", args[first].Text) {
		first++
	}
	end := first
	for end < len(args) && (args[end].Text == "" || !strings.Contains("-(!,", args[end].Text[:1])) {
		end++
	}
	return args[min(first, len(args)):end]
}

// fedTree holds for a command that xargs runs on all that find finds in such a place.
func fedTree(is place) test {
	return func(c *ctx, i int) (span, bool) {
		p := c.cmd(i).Parent
		if p < 0 || c.name(p) != "xargs" {
			return span{}, false
		}
		in := c.cmd(p).Stdin
		if in == nil || len(in.From) != 1 {
			return span{}, false
		}
		n := in.From[0]
		if n < 0 || n >= len(c.prog.Commands) || c.name(n) != "find" || narrow(c.args(n)) {
			return span{}, false
		}
		return roots(is).test(c, n)
	}
}

// lastOperand holds when the last operand is such a path.
func lastOperand(is place) match {
	return when(func(c *ctx, i int) (span, bool) {
		list := c.operandTargets(i)
		if len(list) < 2 {
			return span{}, false
		}
		return c.find(list[len(list)-1:], is)
	})
}

// movesVital holds for mv whose sources, not its destination, are what the system needs.
func movesVital(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	if o, ok := c.opt(i, "-t", "--target-directory"); !ok || !o.has {
		if len(words) < 2 {
			return span{}, false
		}
		words = words[:len(words)-1]
	}
	to := c.args(i)[len(c.args(i))-1]
	toNothing := to.Is("/dev/null")
	for _, w := range words {
		s, ok := c.find(c.reached(i, w), func(c *ctx, t target) bool { return c.isVital(t) || c.isHome(t) && (!t.all || toNothing) })
		if ok {
			return s, true
		}
	}
	return span{}, false
}

func floorDevices() table {
	return table{
		{
			Key:    "format filesystem (mkfs)",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  either(all(makesFilesystem(), when(onDevice)), all(runs("mkswap", "newfs"), operand((*ctx).isRawDevice)), erasesDisk()),
			Why:    "destroys what is on the device",
			Remedy: outside,
			Hits: []string{
				"mkfs.ext4 /dev/sda1", "sudo mkfs -t xfs /dev/nvme0n1p2", "mke2fs /dev/vdb", "mkswap /dev/sdb2", "diskutil eraseDisk JHFS+ X disk2",
				"busybox mkfs.vfat /dev/sdb", "nice mkfs.ext4 /dev/sda1",
			},
			Passes: []string{"mkswap /swapfile", "mkfs.ext4 disk.img", "diskutil list", "command -v mkfs", "mkfs_helper x", "mkfs.ext4 --help", "newfs_hfs disk.dmg"},
		},
		{
			Key:    "wipe raw block device",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  wipesDevice(),
			Why:    "destroys what is on the device",
			Remedy: outside,
			Hits: []string{
				"wipefs -a /dev/sda", "sgdisk --zap-all /dev/sda", "sgdisk -o /dev/sdb", "blkdiscard /dev/nvme0n1", "shred -n1 /dev/sdc",
				"cryptsetup luksFormat /dev/sda2", "truncate -s 0 /dev/sda", "hdparm --security-erase x /dev/sda", "nvme format /dev/nvme0n1", "badblocks -w /dev/sdb",
			},
			Passes: []string{"wipefs /dev/sda", "wipefs -na /dev/sda", "sgdisk -p /dev/sda", "blkdiscard --help", "shred secret.txt", "hdparm -I /dev/sda"},
		},
		{
			Key:    "dd to raw block device",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("dd", "dcfldd", "dc3dd"), output((*ctx).isRawDevice)),
			Why:    "overwrites the device from its first byte",
			Remedy: "write to a file: `dd if=/dev/zero of=./disk.img bs=1M count=10`",
			Hits:   []string{"dd if=/dev/zero of=/dev/sda", "sudo dd of=/dev/nvme0n1 if=x bs=4M", `dd if=x of="/dev/disk/by-id/usb-X"`, "cat x | dd of=/dev/sdb"},
			Passes: []string{"dd if=/dev/zero of=./disk.img bs=1M count=10", `echo "dd of=/dev/sda"`, "dd if=/dev/zero of=~/dev/sdk/x", "dd if=x of=/dev/null"},
		},
		{
			Key:    "redirect to raw block device",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  redirect((*ctx).isRawDevice),
			Why:    "overwrites the device from its first byte",
			Remedy: "write to a file",
			Hits:   []string{"cat x > /dev/sda", `echo junk >"/dev/sdb"`, "cat x >| /dev/nvme0n1", ": > /dev/mapper/root", `sh -c "cat f > /dev/sda"`},
			Passes: []string{"cat x > /dev/null", `echo "> /dev/sda"`, "echo x 2> /dev/stderr", "cat < /dev/sda"},
		},
		{
			Key:    "write to raw block device",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  all(runs("tee", "cp", "mv", "install", "rsync"), lands((*ctx).isRawDevice)),
			Why:    "overwrites the device from its first byte",
			Remedy: "write to a file",
			Hits:   []string{"cat x | tee /dev/sda", "cp image.iso /dev/sdb", "sudo cp x.img /dev/nvme0n1"},
			Passes: []string{"cp /dev/sda x.img", "cat x | tee /dev/stderr", "cp x /dev/null"},
		},
		{
			Key:    "fork bomb",
			Tier:   guard.Hardline,
			Harms:  guard.Host,
			Match:  noted(shell.ForkBomb),
			Why:    "starts copies of itself until the machine stands still",
			Remedy: outside,
			Hits:   []string{":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", `bash -c ":(){ :|:& };:"`},
			Passes: []string{`echo ":(){ :|:& };:"`, "f() { echo hi; }; f"},
		},
	}
}

func makesFilesystem() match {
	return runs("mkfs", "mke2fs", "mkntfs", "mkdosfs", "mkexfatfs", "mkreiserfs", "mkudffs")
}

// onDevice holds when a program that formats is given a device, or nothing that is known to be an ordinary file.
func onDevice(c *ctx, i int) (span, bool) {
	list := c.operandTargets(i)
	for _, t := range list {
		if !t.blind && !t.maybe && strings.HasPrefix(t.path, "/dev/") {
			return t.where, true
		}
	}
	return span{}, false
}

// erasesDisk holds for the verbs of diskutil that destroy.
func erasesDisk() match {
	return all(runs("diskutil"), when(func(c *ctx, i int) (span, bool) {
		for k, w := range c.args(i) {
			switch strings.ToLower(w.Text) {
			case "erasedisk", "erasevolume", "zerodisk", "randomdisk", "secureerase", "reformat", "partitiondisk":
				if k == 1 || k == 2 {
					return at(w), true
				}
			}
		}
		return span{}, false
	}))
}

func wipesDevice() match {
	device := operand((*ctx).isRawDevice)
	return either(
		all(runs("wipefs"), flag("-a", "--all"), not(flag("-n", "--no-act")), device),
		all(runs("sgdisk"), flag("-Z", "--zap-all", "-o", "--clear", "-z", "--zap"), device),
		all(runs("blkdiscard", "shred", "truncate"), device),
		all(runs("cryptsetup"), word("luksFormat", "luksErase", "erase", "reencrypt"), device),
		all(runs("hdparm"), flag("--security-erase", "--security-erase-enhanced", "--trim-sector-ranges", "--write-sector"), device),
		all(runs("nvme"), word("format", "sanitize"), device),
		all(runs("badblocks"), flag("-w"), device),
		all(runs("mdadm"), flag("--zero-superblock"), device),
	)
}

// output holds when dd writes to such a path.
func output(is place) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[1:] {
			if strings.HasPrefix(w.Text, "of=") {
				if s, ok := c.find(c.targets(w.Slice(3), c.cmd(i).Dir), is); ok {
					return s, true
				}
			}
		}
		return span{}, false
	})
}

// input holds when dd reads from such a path.
func input(is place) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[1:] {
			if strings.HasPrefix(w.Text, "if=") {
				if s, ok := c.find(c.targets(w.Slice(3), c.cmd(i).Dir), is); ok {
					return s, true
				}
			}
		}
		return span{}, false
	})
}
