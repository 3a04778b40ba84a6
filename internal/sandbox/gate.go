package sandbox

import (
	"context"
	"errors"
	"io"
	"reflect"
	"sync"
	"time"
)

// Gate is how commands get into a sandbox that nothing inside counts them for: so many at once, each with its time limit, none after
// Close. Safe for concurrent use.
type Gate struct {
	slots chan struct{} // nil: any number at once
	ctx   context.Context
	end   context.CancelCauseFunc
	work  sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// NewGate makes a gate for most commands at once; 0 is any number.
func NewGate(most int) *Gate {
	g := &Gate{}
	if most > 0 {
		g.slots = make(chan struct{}, most)
	}
	g.ctx, g.end = context.WithCancelCause(context.Background())
	return g
}

// Pass has run run the command c, once it is its turn. The context it gets ends with ctx, with the time limit and with the gate; Ended
// tells which of them it was. The time taken is in the status.
func (g *Gate) Pass(ctx context.Context, c Command, run func(context.Context) (Status, error)) (s Status, err error) {
	if err := c.Check(); err != nil {
		return Status{}, err
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return Status{}, ErrClosed
	}
	g.work.Add(1)
	g.mu.Unlock()
	defer g.work.Done()
	begin := time.Now()
	defer func() { s.Wall = time.Since(begin) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.ctx, func() { cancel(ErrClosed) })()
	ctx, done := WithTimeout(ctx, c.Timeout)
	defer done()
	if g.slots != nil {
		select {
		case g.slots <- struct{}{}:
			defer func() { <-g.slots }()
		case <-ctx.Done():
			return Ended(ctx, Status{})
		}
	}
	return run(ctx)
}

// Context ends when the gate is closed.
func (g *Gate) Context() context.Context { return g.ctx }

// Close ends what passed and waits until it has returned. It tells whether it is the first to do so.
func (g *Gate) Close() (first bool) {
	g.mu.Lock()
	first = !g.closed
	g.closed = true
	g.mu.Unlock()
	g.end(ErrClosed)
	g.work.Wait()
	return first
}

// Check refuses a command that does not say what to run.
func (c Command) Check() error {
	if (c.Text == "") == (len(c.Argv) == 0) {
		return errors.New("run: a command is either a text or a program")
	}
	return nil
}

var errTimeout = errors.New("timed out")

// WithTimeout bounds a context as Command.Timeout does; 0 is no bound.
func WithTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, errTimeout)
}

// WithLiftable bounds a context as WithTimeout does, until lifted is closed; nil is never. What runs within it sees a command whose
// time is up. The end is to be called when it is over.
func WithLiftable(ctx context.Context, limit time.Duration, lifted <-chan struct{}) (context.Context, context.CancelFunc) {
	if limit <= 0 || lifted == nil {
		return WithTimeout(ctx, limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel(errTimeout)
		case <-lifted:
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// TimedOut tells whether a context ended by the time limit of WithTimeout.
func TimedOut(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errTimeout) }

// Ended gives a command whose context ended the code a shell would.
func Ended(ctx context.Context, s Status) (Status, error) {
	switch {
	case errors.Is(context.Cause(ctx), ErrClosed):
		return s, ErrClosed
	case TimedOut(ctx):
		s.Code, s.TimedOut = 124, true
	default:
		s.Code, s.Interrupted = 130, true
	}
	return s, nil
}

// SameWriter tells whether two writers are one, so that what is written keeps its order. Those that cannot be compared are two.
func SameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
