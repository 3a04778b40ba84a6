package native

import (
	"io"
	"time"

	"hermes/internal/sandbox"
)

// Said returns what takes a launcher's words.
func Said(log func(string)) io.Writer { return &said{log: log} }

// Settle waits until what is to be made after a sandbox was opened or closed is made.
func (b *Backend) Settle() {
	for {
		b.pool.mu.Lock()
		busy := b.pool.making > 0 || b.pool.sparing
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

// Used tells how many sandboxes that waited were opened, and how many blank processes.
func (b *Backend) Used() (sandboxes, blanks int) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.taken, b.pool.used
}

// Plan plans a sandbox and tells whether it could.
func (b *Backend) Plan(spec sandbox.Spec) error {
	h, _, err := b.ready()
	if err != nil {
		return err
	}
	d, err := b.outline(h, spec)
	if err != nil {
		return err
	}
	return d.complete(b, h, spec)
}
