package native

import (
	"io"
	"time"
)

// Said returns what takes a launcher's words.
func Said(log func(string)) io.Writer { return &said{log: log} }

// Settle waits until what is to be made after a sandbox was closed is made.
func (b *Backend) Settle() {
	for {
		b.pool.mu.Lock()
		busy := b.pool.filling
		b.pool.mu.Unlock()
		if !busy {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// GroupDirs returns the directories that groups are made in.
func GroupDirs() []string { return findGroups().dirs() }

// Waiting tells how many sandboxes wait, and whether a blank process does.
func (b *Backend) Waiting() (int, bool) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return len(b.pool.waiting), b.pool.blank != nil
}

// Blanks tells how many blank processes were used.
func (b *Backend) Blanks() int {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.used
}
