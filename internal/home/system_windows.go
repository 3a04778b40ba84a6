package home

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Access on Windows is decided by lists that a folder inherits from the user's profile; the mode bits say nothing about it.

func owned(fs.FileInfo) error { return nil }

func tight(fs.FileInfo) bool { return true }

func replaceable(fs.FileInfo) bool { return false }

// lockFile takes the lock of an open file, and waits for it if told to. It is given back when the file is closed. The locked
// byte lies far behind the file's end, since a locked byte cannot be read by others.
func lockFile(f *os.File, wait bool) error {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

// syncFolder does nothing: a folder cannot be flushed there, and renaming is journaled.
func syncFolder(*os.File) error { return nil }
