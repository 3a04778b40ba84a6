//go:build unix

package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// owned refuses what belongs to somebody else: its owner can change it, and what we write there would be his.
func owned(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%w: its owner is not known", ErrUnsafe)
	}
	if me := os.Geteuid(); int64(stat.Uid) != int64(me) {
		return fmt.Errorf("%w: it belongs to uid %d, this process is uid %d", ErrUnsafe, stat.Uid, me)
	}
	return nil
}

// tight tells whether nobody but the owner has access.
func tight(info fs.FileInfo) bool { return info.Mode().Perm()&others == 0 }

// replaceable tells whether everybody could put another folder into the place of one in this folder.
func replaceable(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
}

// lockFile takes the lock of an open file, and waits for it if told to. It is given back when the file is closed.
func lockFile(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}

// syncFolder sees the entries of an open folder onto the disk. File systems that cannot do it say EINVAL.
func syncFolder(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
