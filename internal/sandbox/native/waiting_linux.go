package native

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/runner"
)

// waiting is a process in new namespaces and control groups that waits for its plan. It has seen nothing and holds nothing, so
// any policy may use it, once.
type waiting struct {
	launcher *launcher
	flags    uintptr
	name     string
	id       uint64
	pid      int // as seen from outside
	conn     *os.File
	held     *held
	mounts   string // of the host when it was made
}

// abandon ends the process.
func (w *waiting) abandon() {
	_ = w.conn.Close()
	w.launcher.end(w.id)
}

// start has the launcher make a process.
func (b *Backend) start(ctx context.Context, h *host, l *launcher, flags uintptr) (*waiting, error) {
	conn, remote, err := runner.Pair()
	if err != nil {
		return nil, fmt.Errorf("open native sandbox: %w", err)
	}
	defer remote.Close()
	w := &waiting{launcher: l, flags: flags, conn: conn, id: l.number(), mounts: mounts(),
		name: fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), random())}
	w.held = h.hold(w.name)
	answer, err := l.ask(&wall.Request{ID: w.id, Flags: flags, Procs: w.held.procs, Dirs: w.held.dirs}, remote)
	if err == nil {
		var started *wall.Answer
		if started, err = l.await(ctx, answer); err == nil {
			if started.Errno == 0 {
				w.pid = started.PID
				return w, nil
			}
			_ = conn.Close()
			w.held.remove()
			return nil, missing(started.What, syscall.Errno(started.Errno))
		}
		go l.end(w.id)
	}
	_ = conn.Close()
	w.held.remove()
	return nil, fmt.Errorf("open native sandbox: %w", err)
}

// mounts is what the host has mounted. A process that was made before something was mounted may not see it.
func mounts() string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return random() // matches nothing
	}
	return string(text)
}

// take returns a process that waits already, nil if there is none.
func (b *Backend) take(l *launcher, flags uintptr) (*waiting, error) {
	now := mounts()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range b.waiting {
		switch {
		case w.launcher != l || w.mounts != now:
			b.waiting = append(b.waiting[:i:i], b.waiting[i+1:]...)
			go w.abandon()
			return nil, nil
		case w.flags == flags:
			b.waiting = append(b.waiting[:i:i], b.waiting[i+1:]...)
			return w, nil
		}
	}
	return nil, nil
}

// refillTime bounds the making of one.
const refillTime = 10 * time.Second

// refill makes a process to wait for the next opening.
func (b *Backend) refill(h *host, l *launcher, flags uintptr) {
	b.mu.Lock()
	if b.closed || len(b.waiting) >= b.conf.Waiting || l != b.launcher {
		b.mu.Unlock()
		return
	}
	b.filling.Add(1)
	b.mu.Unlock()
	defer b.filling.Done()
	ctx, cancel := context.WithTimeout(context.Background(), refillTime)
	defer cancel()
	w, err := b.start(ctx, h, l, flags)
	if err != nil {
		return // the next opening will meet the reason
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.waiting) >= b.conf.Waiting || l != b.launcher {
		go w.abandon()
		return
	}
	b.waiting = append(b.waiting, w)
}
