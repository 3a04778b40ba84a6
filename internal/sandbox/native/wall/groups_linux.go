package wall

import (
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Sweep removes what is there of them, with nobody in it: also a group that hermes made and did not come to tell its launcher
// of, because it was killed in between.
func (g Groups) Sweep() {
	if g.Prefix == "" {
		return
	}
	for _, dir := range g.Dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), g.Prefix) {
				discard(dir + "/" + e.Name())
			}
		}
	}
}

// discardTime bounds the wait for a group to become empty.
const discardTime = 5 * time.Second

// discard removes a group. The kernel lets go of its last process a moment after that was waited for.
func discard(dir string) {
	for begin := time.Now(); errors.Is(unix.Rmdir(dir), unix.EBUSY) && time.Since(begin) < discardTime; {
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
