package wall

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// old is where the host's root is while the new one is put together.
const old = "/.old"

// beginRoot makes the root file system, an empty one in memory, and keeps the host's aside for the steps of the plan.
func (e *entry) beginRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// Any directory does as a place; what it covers is uncovered by the pivot.
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=16m"); err != nil {
		return fmt.Errorf("mount new root: %w", err)
	}
	if err := unix.Mkdir("/tmp"+old, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", old, err)
	}
	if err := unix.PivotRoot("/tmp", "/tmp"+old); err != nil {
		return fmt.Errorf("pivot to new root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("go to new root: %w", err)
	}
	host, err := unix.Open(old, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", old, err)
	}
	e.host = host
	return nil
}

// steps does the steps of a part of the plan.
func (e *entry) steps(p *Plan) error {
	for _, s := range p.Steps {
		err := s.do(e.host)
		switch {
		case s.Missing && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)):
			e.report.Skipped = append(e.report.Skipped, s.Target)
		case err != nil:
			return fmt.Errorf("%s %s: %w", s.Kind, s.Target, err)
		}
	}
	return nil
}

// finishRoot leaves nothing of the host but what the steps mounted.
func (e *entry) finishRoot() error {
	_ = unix.Close(e.host)
	e.host = -1
	if err := unix.Unmount(old, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", old, err)
	}
	if err := unix.Rmdir(old); err != nil {
		return fmt.Errorf("remove %s: %w", old, err)
	}
	err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if errors.Is(err, unix.ENOSYS) {
		err = unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
	}
	if err != nil {
		return fmt.Errorf("make root read-only: %w", err)
	}
	return nil
}

// String returns what the step does, for errors.
func (k Kind) String() string {
	switch k {
	case Read, Write, Device, Scratch:
		return "bind"
	case Tmpfs, Proc, Devpts:
		return "mount"
	case Hide:
		return "hide"
	}
	return "make"
}

func (s Step) do(host int) error {
	switch s.Kind {
	case Read:
		return bind(host, s.Source, s.Target, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
	case Scratch:
		if err := unix.Mkdir(old+s.Source, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		fallthrough
	case Write:
		return bind(host, s.Source, s.Target, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
	case Device:
		return bind(host, s.Source, s.Target, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC})
	case Tmpfs:
		options := "mode=700"
		if s.Text != "" {
			options += ",size=" + s.Text
		}
		return mount("tmpfs", s.Target, unix.MS_NOSUID|unix.MS_NODEV, options)
	case Proc:
		return mount("proc", s.Target, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	case Devpts:
		return mount("devpts", s.Target, unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
	case Dir:
		return directory(s.Target)
	case Link:
		if err := directory(filepath.Dir(s.Target)); err != nil {
			return err
		}
		return unix.Symlink(s.Source, s.Target)
	case File:
		return file(s.Target, s.Text)
	case Hide:
		return hide(s.Target)
	}
	return unix.EINVAL
}

func mount(kind, target string, flags uintptr, options string) error {
	if err := directory(target); err != nil {
		return err
	}
	return unix.Mount(kind, target, kind, flags, options)
}

// bind shows a file or a directory of the host, with all that is mounted below it. Symbolic links on the way to it are
// followed within the host's root, those on the way to the target within the new one.
func bind(host int, source, target string, attr *unix.MountAttr) error {
	from, err := within(host, source)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	tree, err := unix.OpenTree(from, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	set := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr)
	if set != nil && !errors.Is(set, unix.ENOSYS) {
		return set
	}
	if err := place(from, target); err != nil {
		return err
	}
	err = unix.MoveMount(tree, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_SYMLINKS)
	if err != nil || set == nil {
		return err
	}
	return remount(target, attr)
}

// within opens a path below a root that links cannot lead out of.
func within(root int, path string) (int, error) {
	return unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
}

// place makes what a mount goes onto, where there is nothing: a directory for a directory, else a file.
func place(from int, target string) error {
	var info unix.Stat_t
	if err := unix.Fstat(from, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT == unix.S_IFDIR {
		return directory(target)
	}
	err := unix.Mknod(target, unix.S_IFREG|0o600, 0)
	if errors.Is(err, unix.ENOENT) {
		if err := directory(filepath.Dir(target)); err != nil {
			return err
		}
		err = unix.Mknod(target, unix.S_IFREG|0o600, 0)
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// directory makes a directory and those above it.
func directory(path string) error {
	err := unix.Mkdir(path, 0o755)
	if errors.Is(err, unix.ENOENT) {
		if err := directory(filepath.Dir(path)); err != nil {
			return err
		}
		err = unix.Mkdir(path, 0o755)
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func file(path, text string) error {
	if err := directory(filepath.Dir(path)); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for len(text) > 0 {
		n, err := unix.Write(fd, []byte(text))
		if err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// Where the empty things are that cover others: a file system of their own that nobody may write, with a file and a directory
// that nobody may open.
const emptyFile, emptyDir = Empty + "/file", Empty + "/dir"

// nothing makes them.
func nothing() error {
	if err := mount("tmpfs", Empty, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size=4k"); err != nil {
		return err
	}
	if err := unix.Mknod(emptyFile, unix.S_IFREG, 0); err != nil {
		return err
	}
	if err := unix.Mkdir(emptyDir, 0); err != nil {
		return err
	}
	return unix.Mount("", Empty, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// hide covers a path that exists inside. A link itself is covered, not what it leads to.
func hide(target string) error {
	var info unix.Stat_t
	if err := unix.Lstat(target, &info); err != nil {
		return err
	}
	from := emptyFile
	if info.Mode&unix.S_IFMT == unix.S_IFDIR {
		from = emptyDir
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if errors.Is(err, unix.ENOENT) { // the first one
		if err := nothing(); err != nil {
			return err
		}
		tree, err = unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	}
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return unix.MoveMount(tree, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
