package native

import (
	"context"
	"slices"
	"sync"
	"time"

	"hermes/internal/sandbox"
)

// pool holds sandboxes that were made before anybody asked, each for one more opening of a sandbox that was used and closed.
// Each is used once, and only where everything would be planned the same again (see identify).
type pool struct {
	quit chan struct{} // closed at the end
	busy sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	filling bool
	mounts  mountWatch
	waiting []*waiting // the oldest first
}

// waiting is a sandbox that nobody has used yet.
type waiting struct {
	place  *place
	whose  string
	key    [32]byte
	mounts uint64 // when it was begun
	age    *time.Timer
}

const (
	waitingAge  = time.Minute           // after which one is not kept any longer
	refillDelay = 10 * time.Millisecond // after the end of the one before: often enough it was the last
	refillTime  = 10 * time.Second      // bounds the making of one
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
	now := p.mounts.now()
	p.waiting = slices.DeleteFunc(p.waiting, func(w *waiting) bool {
		switch {
		case w.mounts != now || w.place.launcher != l || w.over() || w.whose == d.whose && w.key != d.key:
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
	p.mounts.close()
	p.mu.Unlock()
	p.busy.Wait()
}

// refill makes another sandbox like one that was closed, a little later. One is made at a time; the rest is made when it is
// asked for.
func (b *Backend) refill(whose string, spec sandbox.Spec) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.filling || slices.ContainsFunc(p.waiting, func(w *waiting) bool { return w.whose == whose }) {
		return
	}
	p.filling = true
	p.busy.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), refillTime)
		defer cancel()
		var w *waiting
		select {
		case <-p.quit:
		case <-time.After(refillDelay):
			go func() {
				select {
				case <-p.quit:
					cancel()
				case <-ctx.Done():
				}
			}()
			w, _ = b.prepare(ctx, spec) // the next opening will meet the reason
		}
		p.add(w, b.conf.Waiting)
	})
}

// prepare makes one.
func (b *Backend) prepare(ctx context.Context, spec sandbox.Spec) (*waiting, error) {
	p := &b.pool
	p.mu.Lock()
	begun := p.mounts.now()
	p.mu.Unlock()
	h, l, err := b.ready()
	if err != nil {
		return nil, err
	}
	d, err := b.outline(spec)
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
	w := &waiting{place: made, whose: d.whose, key: d.key, mounts: begun}
	w.age = time.AfterFunc(waitingAge, func() { p.expire(w) })
	return w, nil
}

// add takes one that was made, or nothing, and closes the oldest of too many.
func (p *pool) add(w *waiting, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.filling = false
	switch {
	case w == nil:
		return
	case p.closed:
		p.discard(w)
		return
	}
	p.waiting = append(p.waiting, w)
	for len(p.waiting) > most {
		p.discard(p.waiting[0])
		p.waiting = p.waiting[1:]
	}
}
