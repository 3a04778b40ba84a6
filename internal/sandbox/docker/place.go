package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
)

var noVariables environ.List

// place is an opened sandbox with a helper inside. Commands, files and the rest are the helper's client's.
type place struct {
	*runner.Client
	b        *Backend
	e        *engine
	d        *design
	held     *held
	exposure exposure.Exposure
	apart    bool // on a kernel of its own

	closing  sync.Mutex // guards what follows
	closed   bool       // Close was called: the end is wanted
	judged   bool       // commands may have run
	diagnose sync.Once
	verdict  error // what became of the container, once it broke
}

var (
	_ sandbox.Sandbox = (*place)(nil)
	_ sandbox.Files   = (*place)(nil)
)

// Exposure returns what was read back.
func (p *place) Exposure() exposure.Exposure { return p.exposure }

// Walls says in one line what it is made of.
func (p *place) Walls() string {
	return strings.Join(append([]string{p.e.title()}, p.exposure.Means...), " · ")
}

// Container returns the container's name.
func (p *place) Container() string { return p.held.name() }

// Run runs a command. When the container broke, the error says what became of it; nothing is run again.
func (p *place) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	s, err := p.Client.Run(ctx, c)
	var broken *sandbox.BrokenError
	if errors.As(err, &broken) {
		return s, &sandbox.BrokenError{Backend: Name, Cause: p.cause(broken.Cause)}
	}
	return s, err
}

// cause asks the engine what became of the container.
func (p *place) cause(err error) error {
	p.diagnose.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), versionTime)
		defer cancel()
		p.verdict = fmt.Errorf("%s: %w", p.b.became(ctx, p.e, p.held), err)
	})
	return p.verdict
}

// became says what became of a container, by asking the engine. It never goes by what a command printed.
func (b *Backend) became(ctx context.Context, e *engine, h *held) string {
	all, err := e.inspect(ctx, h.ID)
	for range 15 { // one that is being removed is not running first, and its helper notices before the engine does
		if err != nil || len(all) == 0 || all[0].State.Running {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
		all, err = e.inspect(ctx, h.ID)
	}
	name := "container " + h.name()
	switch {
	case err != nil && gone(err):
		return "the engine stopped"
	case err != nil:
		return name + " cannot be looked at (" + err.Error() + ")"
	case len(all) == 0:
		return name + " was removed"
	}
	s := all[0].State
	switch {
	case s.OOMKilled:
		return name + " ran out of memory"
	case s.Paused:
		return name + " is paused"
	case !s.Running:
		return fmt.Sprintf("%s ended with exit code %d", name, s.ExitCode)
	}
	return "the helper in " + name + " ended"
}

// Close ends everything that was started through this sandbox. A container that is not kept is removed, for which nobody
// waits but Backend.Close. It may be called twice.
func (p *place) Close(ctx context.Context) error {
	p.wanted()
	return p.Client.Close(ctx)
}

// wanted notes that the end which comes now is no accident.
func (p *place) wanted() {
	p.closing.Lock()
	defer p.closing.Unlock()
	p.closed = true
}

// abandon gives up a container that is not what it should be, or that nothing could be run in.
func (p *place) abandon(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if p.Client != nil {
		_ = p.Close(ctx)
		return // which cleans up
	}
	p.drop(ctx)
}

// drop removes a container that is not kept, or that was made for this one and is not what it should be. One that others are seen
// to have found meanwhile stays theirs; who finds it between the look and the removal makes another one.
func (p *place) drop(ctx context.Context) {
	if p.d.Reuse {
		p.held.use.release()
		if !p.held.fresh {
			return
		}
		if busy, err := owned(p.b.conf.State, p.held.name()); err != nil || busy {
			return
		}
	} else {
		defer p.held.use.release()
	}
	if err := p.b.discard(ctx, p.e, p.id(), p.held.name()); err != nil {
		p.b.log("container " + p.held.name() + " could not be removed: " + err.Error())
	}
}

// id is what the engine finds the container by.
func (p *place) id() string {
	if p.held.ID != "" {
		return p.held.ID
	}
	return p.d.Name
}

// cleanup sees to the container once the connection is over. One that is kept stays as it is when the end was wanted; when it
// broke, nobody knows what still runs in it, so it is stopped, and started again by the next one who needs it.
func (p *place) cleanup() {
	p.closing.Lock()
	wanted, judged := p.closed, p.judged
	p.closing.Unlock()
	switch {
	case !p.d.Reuse || !judged && p.held.fresh:
		p.b.background(p.drop)
	case !wanted:
		p.b.background(func(ctx context.Context) {
			_ = p.cause(errors.New("the connection ended")) // before it is stopped
			_, _ = p.e.do(ctx, call{args: []string{"kill", p.id()}})
			p.held.use.release()
		})
	default:
		p.held.use.release()
	}
}
