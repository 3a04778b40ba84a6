package native

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
)

// pool holds what was made before anybody asked: sandboxes, each for one more opening of one that was used and closed, and a
// blank process without a plan, for the next policy whatever it is. Each is used once, a sandbox only where everything would be
// planned the same again (see identify).
type pool struct {
	quit chan struct{} // closed at the end
	busy sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	filling bool // a sandbox is being made
	sparing bool // a blank process is
	mounts  mountWatch
	waiting []*waiting // the oldest first
	blank   *born      // nil: none
	blankAt uint64     // mounts, when it was begun
	used    int        // blank processes so far
}

// waiting is a sandbox that nobody has used yet.
type waiting struct {
	place *place
	whose string
	key   [32]byte
	age   *time.Timer
}

const (
	waitingAge = time.Minute            // after which a sandbox is not kept any longer
	closeDelay = 10 * time.Millisecond  // after one was closed: often enough it was the last
	openDelay  = 200 * time.Millisecond // after one was opened: most programs open only one
	refillTime = 10 * time.Second       // bounds the making of one
)

// mayHave tells whether it is worth to plan before a process is made.
func (p *pool) mayHave(whose string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.waiting, func(w *waiting) bool { return w.whose == whose })
}

// take returns a sandbox that is as planned, nil if there is none. One of the same session and work tree that has become
// another one will not be used any more.
func (p *pool) take(l *launcher, d *design) (found *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(w *waiting) bool {
		switch {
		case w.place.launcher != l || w.over() || w.whose == d.whose && w.key != d.key:
			p.discard(w)
			return true
		case found == nil && w.key == d.key:
			w.age.Stop()
			found = w.place
			return true
		}
		return false
	})
	return found
}

// process returns the blank process, nil if there is none that would do.
func (p *pool) process(l *launcher, d *design, cpu bool) (n *born) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blank == nil || p.blank.flags != d.flags || p.blank.cpu != cpu {
		return nil
	}
	n, p.blank = p.blank, nil
	// It does not see what was mounted since, and shows what was there then.
	if n.launcher != l || p.blankAt != p.mounts.now() || n.base != d.base || !bytes.Equal(n.shown, d.base.shown()) {
		n.abandon()
		return nil
	}
	p.used++
	return n
}

func (w *waiting) over() bool {
	select {
	case <-w.place.Done():
		return true
	default:
		return false
	}
}

// discard closes one. The caller holds the lock and takes it out of the list.
func (p *pool) discard(w *waiting) {
	w.age.Stop()
	p.busy.Go(func() { _ = w.place.Close(context.Background()) })
}

// expire closes one that nobody wanted.
func (p *pool) expire(w *waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 && !p.closed {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.discard(w)
	}
}

// close closes all of them.
func (p *pool) close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.quit)
	}
	for _, w := range p.waiting {
		p.discard(w)
	}
	p.waiting = nil
	p.mu.Unlock()
	p.busy.Wait()
	if p.blank != nil {
		p.blank.abandon()
		p.blank = nil
	}
	p.mounts.close()
}

// later runs f after a while, unless the pool is closed before. The context ends with the pool.
func (p *pool) later(after time.Duration, f func(context.Context)) {
	p.busy.Go(func() {
		wait := time.NewTimer(after)
		defer wait.Stop()
		select {
		case <-p.quit:
			return
		case <-wait.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), refillTime)
		defer cancel()
		done := make(chan struct{})
		defer close(done)
		go func() {
			select {
			case <-p.quit:
				cancel()
			case <-done:
			}
		}()
		f(ctx)
	})
}

// opened sees to it that there is a blank process again.
func (b *Backend) opened(flags uintptr) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.sparing || p.blank != nil {
		return
	}
	p.sparing = true
	p.later(openDelay, func(ctx context.Context) { b.spare(ctx, flags) })
}

// ended makes a sandbox like one that was closed, and a blank process if there is none. One is made at a time; the rest is made
// when it is asked for.
func (b *Backend) ended(d *design, spec sandbox.Spec) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.filling || slices.ContainsFunc(p.waiting, func(w *waiting) bool { return w.whose == d.whose }) {
		return
	}
	p.filling = true
	p.later(closeDelay, func(ctx context.Context) {
		w, err := b.prepare(ctx, spec)
		if err != nil && ctx.Err() == nil { // the next opening will meet the reason
			b.log("no sandbox waits for the next opening: " + err.Error())
		}
		p.add(w, b.conf.Waiting)
		b.spare(ctx, d.flags)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.filling = false
	})
}

// spare makes a blank process.
func (b *Backend) spare(ctx context.Context, flags uintptr) {
	p := &b.pool
	p.mu.Lock()
	begun := p.mounts.now()
	need := !p.closed && p.blank == nil
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sparing = false
	}()
	p.mu.Unlock()
	h, l, err := b.ready()
	if !need || err != nil {
		return
	}
	n, err := b.begin(h, l, flags, h.base(flags&unix.CLONE_NEWNET != 0), sandbox.Limits{})
	if err != nil {
		return
	}
	n.limits = h.limit(n.held, sandbox.Limits{}) // most ask for no others
	if n.arrived(ctx) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blank != nil {
		n.abandon()
		return
	}
	p.blank, p.blankAt = n, begun // close waits for this
}

// prepare makes one.
func (b *Backend) prepare(ctx context.Context, spec sandbox.Spec) (*waiting, error) {
	h, l, err := b.ready()
	if err != nil {
		return nil, err
	}
	d, err := b.outline(h, spec)
	if err != nil {
		return nil, err
	}
	if err := d.complete(b, h, spec); err != nil {
		return nil, err
	}
	made, err := b.make(ctx, h, l, nil, d, spec)
	if err != nil {
		return nil, err
	}
	if !d.plan.Namespaces {
		return nil, made.Close(ctx)
	}
	w := &waiting{place: made, whose: d.whose, key: d.key}
	w.age = time.AfterFunc(waitingAge, func() { b.pool.expire(w) })
	return w, nil
}

// add takes one that was made, or nothing, and closes the oldest of too many.
func (p *pool) add(w *waiting, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w == nil {
		return
	}
	if p.closed {
		p.discard(w)
		return
	}
	p.waiting = append(p.waiting, w)
	for len(p.waiting) > most {
		p.discard(p.waiting[0])
		p.waiting = p.waiting[1:]
	}
}
