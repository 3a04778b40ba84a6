package agent

import (
	"fmt"
	"sync"
)

const (
	mostFailures = 2 // of the same call, that are made
	mostRefusals = 3 // of the same that are answered, before the turn ends
)

// brake counts calls that fail again and again. It is safe for concurrent use.
type brake struct {
	mu      sync.Mutex // guards what is below
	failed  map[string]int
	refused map[string]int
	stuck   bool
}

// refuses says why a call is not made once more; "" means that it is.
func (b *brake) refuses(same string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.failed[same]
	if n < mostFailures {
		return ""
	}
	if b.refused == nil {
		b.refused = map[string]int{}
	}
	b.refused[same]++
	b.stuck = b.stuck || b.refused[same] >= mostRefusals
	return fmt.Sprintf("This same call has failed %d times and nothing has changed since, so it was not made again. Do something else: read what its result "+
		"said, look at the cause, or tell the person what is in the way.", n)
}

// made notes what came of a call. One that went well and may have changed something makes it worth trying others again.
func (b *brake) made(same string, failed, beside bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case failed:
		if b.failed == nil {
			b.failed = map[string]int{}
		}
		b.failed[same]++
	case beside:
		delete(b.failed, same)
	default:
		b.failed, b.refused = nil, nil
	}
}

// isStuck tells whether the turn should end.
func (b *brake) isStuck() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stuck
}
