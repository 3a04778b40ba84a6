package native

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
)

// pool holds what was made before anybody asked: sandboxes, each for one more opening of one that was used and closed, and a
// blank process with only the base of a plan, for the next policy whatever it is. Each is used once, a sandbox only where everything would be
// planned the same again (see identify).
type pool struct {
	quit chan struct{} // closed at the end
	busy sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	pending *refill  // the sandbox that is being made
	recent  []string // whose sandboxes were closed lately, the last one last
	making  int      // what is being made after something was closed
	sparing bool     // a blank process is being made, or will be
	mounts  mountWatch
	waiting []*waiting // the oldest first
	blank   *born      // nil: none
	blankAt uint64     // mounts, when it was begun
	follows bool       // somebody gives it up when that is another number
	used    int        // blank processes so far
	taken   int        // sandboxes so far
}

// waiting is a sandbox that nobody has used yet.
type waiting struct {
	place *place
	whose string
	key   [sha256.Size]byte
	age   *time.Timer
}

// refill is a sandbox that is being made for the next opening.
type refill struct {
	whose   string
	begun   bool              // else it is only meant to be made, after a while
	now     chan struct{}     // closed when that shall be at once
	key     [sha256.Size]byte // once it is planned
	planned chan struct{}     // closed then
	done    chan struct{}     // closed when it waits, or could not be made
}

const (
	waitingAge = time.Minute            // after which a sandbox is not kept any longer
	closeDelay = 10 * time.Millisecond  // after one was closed for the first time: often enough it was the last
	recently   = 16                     // how many that were closed are remembered
	openDelay  = 200 * time.Millisecond // after one was opened: most programs open only one
	mountDelay = 2 * time.Second        // after something was mounted or taken away: often enough it was not all
	refillTime = 10 * time.Second       // bounds the making of one
)

// mayHave tells whether it is worth to plan before a process is made: one waits, or is being made.
func (p *pool) mayHave(whose string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending != nil && p.pending.begun && p.pending.whose == whose || p.has(whose)
}

func (p *pool) has(whose string) bool {
	return slices.ContainsFunc(p.waiting, func(w *waiting) bool { return w.whose == whose })
}

// await waits for one that is as planned and being made: it is there before another one would be.
func (p *pool) await(ctx context.Context, d *design) {
	p.mu.Lock()
	f := p.pending
	mine := f != nil && f.begun && f.whose == d.whose
	p.mu.Unlock()
	if !mine {
		return
	}
	select {
	case <-f.planned:
		if f.key != d.key {
			return
		}
	case <-f.done:
		return
	case <-p.quit: // then nobody may make it any more
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-f.done:
	case <-p.quit:
	case <-ctx.Done():
	}
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
			p.taken++
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
	p.mu.Lock() // an opening that began before may still look for it
	defer p.mu.Unlock()
	if p.blank != nil {
		p.blank.abandon()
		p.blank = nil
	}
	p.mounts.close()
}

// later runs f after a while or when it is told to, unless the pool is closed before. The context ends with the pool.
func (p *pool) later(after time.Duration, now <-chan struct{}, f func(context.Context)) {
	p.busy.Go(func() {
		wait := time.NewTimer(after)
		defer wait.Stop()
		select {
		case <-p.quit:
			return
		case <-now:
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
func (b *Backend) opened(d *design) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.needSpare() {
		p.later(openDelay, nil, func(ctx context.Context) { b.spare(ctx, d.flags) })
	}
}

// needSpare tells whether somebody is to make a blank process. Whoever is told does. The caller holds the lock.
func (p *pool) needSpare() bool {
	if p.closed || p.sparing || p.blank != nil {
		return false
	}
	p.sparing = true
	return true
}

// ended makes a sandbox like one that was closed, and a blank process if there is none: at once where somebody opens and closes the
// same again and again. One is made at a time; the rest is made when it is asked for.
func (b *Backend) ended(d *design, spec sandbox.Spec) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	delay := closeDelay
	if i := slices.Index(p.recent, d.whose); i >= 0 {
		delay = 0
		p.recent = slices.Delete(p.recent, i, i+1)
	}
	p.recent = append(p.recent, d.whose)
	p.recent = p.recent[max(0, len(p.recent)-recently):]
	if f := p.pending; f != nil {
		if f.whose == d.whose && !f.begun {
			f.begun = true
			close(f.now)
		}
		return
	}
	if p.has(d.whose) {
		return
	}
	f := &refill{whose: d.whose, begun: delay == 0, now: make(chan struct{}), planned: make(chan struct{}), done: make(chan struct{})}
	p.pending = f
	p.making++
	p.later(delay, f.now, func(ctx context.Context) {
		p.mu.Lock()
		f.begun = true
		p.mu.Unlock()
		w, err := b.prepare(ctx, spec, f)
		if err != nil && ctx.Err() == nil && !errors.Is(err, sandbox.ErrClosed) { // the next opening will meet the reason
			b.log("no sandbox waits for the next opening: " + err.Error())
		}
		p.add(w, b.conf.Waiting)
		p.mu.Lock()
		p.pending = nil
		close(f.done)
		spare := p.needSpare()
		p.mu.Unlock()
		if spare {
			b.spare(ctx, d.flags)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.making--
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
	_ = n.started()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.follows {
		p.follows = b.follow() == nil
	}
	if p.blank != nil || !p.follows || begun != p.mounts.now() {
		n.abandon()
		return
	}
	p.blank, p.blankAt = n, begun // close waits for this
}

// follow gives the blank process up, from now on, when something was mounted or taken away: it will not be used, and what the host
// has taken away stays in use as long as it waits. Then another one is made. The caller holds the lock.
func (b *Backend) follow() error {
	p := &b.pool
	mounts, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	quit, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(mounts)
		return err
	}
	ended := make(chan struct{})
	p.busy.Go(func() {
		<-p.quit
		_, _ = unix.Write(quit, []byte{1, 0, 0, 0, 0, 0, 0, 1}) // not 0, whatever the order of bytes
		<-ended
		_ = unix.Close(quit)
	})
	p.busy.Go(func() {
		defer close(ended)
		defer unix.Close(mounts)
		for {
			on := []unix.PollFd{{Fd: int32(mounts), Events: unix.POLLPRI}, {Fd: int32(quit), Events: unix.POLLIN}}
			if _, err := unix.Poll(on, -1); err != nil && err != unix.EINTR || on[1].Revents != 0 {
				p.mu.Lock()
				p.follows = false
				p.mu.Unlock()
				return
			}
			p.mu.Lock()
			if p.blank != nil && p.blankAt != p.mounts.now() {
				flags := p.blank.flags
				p.blank.abandon()
				if p.blank = nil; p.needSpare() {
					p.later(mountDelay, nil, func(ctx context.Context) { b.spare(ctx, flags) })
				}
			}
			p.mu.Unlock()
		}
	})
	return nil
}

// prepare makes one.
func (b *Backend) prepare(ctx context.Context, spec sandbox.Spec, f *refill) (*waiting, error) {
	h, l, err := b.ready()
	if err != nil {
		return nil, err
	}
	d, err := b.outline(h, spec)
	if err != nil {
		return nil, err
	}
	n, err := b.process(h, l, d, spec)
	if err != nil {
		return nil, err
	}
	if err := d.complete(b, h, spec); err != nil {
		n.abandon()
		return nil, err
	}
	f.key = d.key
	close(f.planned)
	made, err := b.make(ctx, h, l, n, d, spec)
	if err != nil {
		return nil, err
	}
	if !d.plan.Namespaces {
		return nil, made.Close(ctx)
	}
	_ = made.born.started() // before somebody waits for it
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
