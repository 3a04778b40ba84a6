package audit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

func (l *lock) try(mode lockMode) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if mode == exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(l.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return fmt.Errorf("%s: %w", lockName, errBusy)
	case err != nil:
		return fmt.Errorf("%s: %w", lockName, err)
	}
	return nil
}

// drop gives the lock up. It cannot fail in a way that leaves it held: the end of the process drops it, too.
func (l *lock) drop() {
	_ = windows.UnlockFileEx(windows.Handle(l.Fd()), 0, 1, 0, &windows.Overlapped{})
}

// syncFolder has nothing to do: folders are written through here.
func syncFolder(*os.Root) error { return nil }
