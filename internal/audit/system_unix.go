//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func (l *lock) try(mode lockMode) error {
	how := unix.LOCK_SH
	if mode == exclusive {
		how = unix.LOCK_EX
	}
	return l.flock(how | unix.LOCK_NB)
}

// drop gives the lock up. It cannot fail in a way that leaves it held: the end of the process drops it, too.
func (l *lock) drop() { _ = l.flock(unix.LOCK_UN) }

func (l *lock) flock(how int) error {
	conn, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = unix.Flock(int(fd), how); failed != unix.EINTR {
				return
			}
		}
	})
	switch {
	case failed == unix.EWOULDBLOCK:
		return fmt.Errorf("%s: %w", lockName, errBusy)
	case failed != nil:
		return fmt.Errorf("%s: %w", lockName, failed)
	}
	return err
}

// syncFolder makes new names survive a power cut.
func syncFolder(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
