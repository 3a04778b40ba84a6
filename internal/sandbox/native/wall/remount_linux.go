package wall

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// remount gives the mount at a path, and each one below it, more attributes, the way kernels before 5.12 have it: one by one.
// It is for what was mounted just now, while nobody else is there to see it in between.
func remount(path string, attr *unix.MountAttr) error {
	if real, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0); err == nil { // links on the way are followed
		var buffer [unix.PathMax]byte
		if n, err := unix.Readlink(old+"/proc/self/fd/"+decimal(real), buffer[:]); err == nil {
			path = string(buffer[:n])
		}
		_ = unix.Close(real)
	}
	buffer := make([]byte, 64<<10)
	text, err := slurp(old+"/proc/self/mountinfo", &buffer)
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	found := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		target := plain(f[4])
		if target != path && !strings.HasPrefix(target, path+"/") {
			continue
		}
		found = found || target == path
		// What is in force for a mount of the host cannot be taken away, and has to be said again.
		if err := unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|flags(f[5])|added(attr), ""); err != nil {
			return err
		}
	}
	if !found {
		return unix.ENOENT
	}
	return nil
}

// flags reads the options of a mount.
func flags(options string) (out uintptr) {
	atime := uintptr(unix.MS_STRICTATIME)
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "ro":
			out |= unix.MS_RDONLY
		case "nosuid":
			out |= unix.MS_NOSUID
		case "nodev":
			out |= unix.MS_NODEV
		case "noexec":
			out |= unix.MS_NOEXEC
		case "nodiratime":
			out |= unix.MS_NODIRATIME
		case "noatime":
			atime = unix.MS_NOATIME
		case "relatime":
			atime = unix.MS_RELATIME
		}
	}
	return out | atime
}

func added(attr *unix.MountAttr) (out uintptr) {
	for _, one := range [...]struct {
		attr uint64
		flag uintptr
	}{
		{unix.MOUNT_ATTR_RDONLY, unix.MS_RDONLY}, {unix.MOUNT_ATTR_NOSUID, unix.MS_NOSUID},
		{unix.MOUNT_ATTR_NODEV, unix.MS_NODEV}, {unix.MOUNT_ATTR_NOEXEC, unix.MS_NOEXEC},
	} {
		if attr.Attr_set&one.attr != 0 {
			out |= one.flag
		}
	}
	return out
}

// plain undoes what the kernel does to blanks and the like in a path.
func plain(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
