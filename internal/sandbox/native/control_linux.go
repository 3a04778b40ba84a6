package native

import (
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// control looks after control files that are not there: what is not there cannot be held, so commands may make them, and then
// it is told. The nil control has none. It is safe for concurrent use.
type control struct {
	mu    sync.Mutex
	paths map[string]bool          // still to be told of
	dirs  map[string]unix.Timespec // the directories they would be in, and when those changed last
}

func watchOver(paths []string) *control {
	c := &control{paths: map[string]bool{}, dirs: map[string]unix.Timespec{}}
	for _, path := range paths {
		c.paths[path] = true
		if dir := filepath.Dir(path); c.dirs[dir] == (unix.Timespec{}) {
			c.dirs[dir] = changedAt(dir)
		}
	}
	return c
}

// changedAt returns when a directory was changed, zero for none.
func changedAt(dir string) unix.Timespec {
	var info unix.Stat_t
	if unix.Lstat(dir, &info) != nil {
		return unix.Timespec{}
	}
	return info.Ctim
}

// notices tells what is there by now, each once.
func (c *control) notices() (out []string) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := false
	for dir, was := range c.dirs {
		if now := changedAt(dir); now != was || recent(now) {
			c.dirs[dir], changed = now, true
		}
	}
	if !changed {
		return nil
	}
	for path := range c.paths {
		var info unix.Stat_t
		if unix.Lstat(path, &info) == nil {
			delete(c.paths, path)
			out = append(out, path+" was made while the sandbox was open: look at it before a program takes orders from it")
		}
	}
	slices.Sort(out)
	return out
}

// recent tells whether a time is so near that another change may bear the same: the clock of files ticks slowly.
func recent(at unix.Timespec) bool {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return true
	}
	return now.Nano()-at.Nano() < 50e6
}
