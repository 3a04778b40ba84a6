package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/capture"
)

// Process is one process. It is safe for concurrent use.
type Process struct {
	r       *Registry
	owner   *owner
	spec    Spec
	id      string
	begin   time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func() bool   // lets it outlive whoever started it
	started chan struct{} // closed when it may run
	parted  chan struct{} // closed by Detach
	done    chan struct{} // closed when it has ended
	in      *input        // nil: none
	resize  chan sandbox.Size
	typing  sync.Mutex // held while something is judged and typed

	mu      sync.Mutex // guards what follows
	begun   launch.Started
	out     lines
	whole   *capture.Buffer // nil: none
	screen  *Screen         // nil: none, or closed
	watch   watch
	origin  taint.Origin // of what it prints
	result  launch.Result
	err     error
	ended   time.Time
	killed  bool
	alone   bool      // nobody waits for it
	notify  bool      // its agent is told of its end
	waiters int       // that will see its end
	told    bool      // its agent knows of its end
	last    time.Time // of output
	seen    int64     // line up to which its agent has read
}

// Info is what is known of a process.
type Info struct {
	ID       string
	Command  string // redacted
	Dir      string
	Backend  string
	Begun    time.Time
	Ended    time.Time // zero while it runs
	Code     int       // when it has ended
	Killed   bool      // ended from here
	TimedOut bool
	Err      error  // why it could not run to its end
	Terminal bool   // it has a terminal
	Screen   bool   // which can be read
	Lines    int64  // printed so far
	Dropped  int64  // of these, no longer at hand
	Path     string // where more of its output is kept, "" for nowhere
	Notify   bool
	Watch    []string          // what it is still watched for
	Left     []sandbox.Process // what it has left running
	Origin   taint.Origin      // of what it prints
}

// Running tells whether it runs.
func (i Info) Running() bool { return i.Ended.IsZero() }

// Took returns how long it has run.
func (i Info) Took() time.Duration {
	if i.Running() {
		return time.Since(i.Begun)
	}
	return i.Ended.Sub(i.Begun)
}

func newProcess(r *Registry, s Spec) *Process {
	p := &Process{
		r: r, spec: s, id: newID(), begin: time.Now(), started: make(chan struct{}), parted: make(chan struct{}), done: make(chan struct{}),
		out: lines{most: r.o.Chars}, alone: !s.Waited, notify: s.Notify, watch: newWatch(s.Watch),
	}
	if s.Typed || s.Terminal != nil {
		p.in = newInput()
	}
	if r.o.Capture != nil {
		p.whole = r.o.Capture()
	}
	if s.Terminal != nil {
		p.screen = NewScreen(int(s.Terminal.Rows), int(s.Terminal.Cols))
		p.resize = make(chan sandbox.Size, 4)
	}
	return p
}

// run runs it to its end.
func (p *Process) run() {
	s := Streams{Output: output{p}, Started: p.start, Detached: p.parted}
	if p.in != nil {
		s.Stdin = p.in
	}
	if p.screen != nil {
		s.Display, s.Resize = display{p}, p.resize
	}
	result, err := p.spec.Run(p.ctx, s)
	if p.in != nil {
		p.in.close()
	}
	p.release()
	p.mu.Lock()
	p.out.end()
	p.result, p.err, p.ended = result, err, time.Now()
	if p.whole != nil {
		p.whole.Close()
	}
	if cause := context.Cause(p.ctx); errors.Is(cause, errKilled) || errors.Is(cause, errClosed) {
		p.killed = true
	}
	notice, tell := p.endNotice()
	p.mu.Unlock()
	p.cancel(nil)
	close(p.done)
	if tell {
		p.r.o.Notify(notice)
	}
}

// start is told that it may run.
func (p *Process) start(s launch.Started) {
	origin := taint.Outside
	if p.spec.Origin != nil {
		origin = p.spec.Origin(s)
	}
	p.mu.Lock()
	p.origin = origin
	p.begun, p.begin = s, time.Now()
	if p.alone {
		p.release()
	}
	p.mu.Unlock()
	close(p.started)
}

// Detach lets a process that was waited for run on alone: from now on its agent is told of its end. It is false if it is too
// late for that.
func (p *Process) Detach() bool {
	if !p.release() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended.IsZero() {
		return false
	}
	p.alone, p.notify = true, true
	close(p.parted)
	return true
}

// Detached is closed once Detach has let it run on alone.
func (p *Process) Detached() <-chan struct{} { return p.parted }

// ID names it.
func (p *Process) ID() string { return p.id }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

func (p *Process) over() bool { return !p.endedAt().IsZero() }

func (p *Process) endedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

func (p *Process) waited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.alone
}

// runs tells whether it has begun, and not ended.
func (p *Process) runs() bool {
	select {
	case <-p.started:
		return !p.over()
	default:
		return false
	}
}

// refused tells whether it never ran.
func (p *Process) refused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.result.Ran
}

// Result returns what came of it, once it has ended; before, what is known.
func (p *Process) Result() (launch.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.IsZero() {
		return p.begun.Result, nil
	}
	return p.result, p.err
}

// Whole returns all it has printed, as far as it was captured. It is there once the process has ended.
func (p *Process) Whole() capture.Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole == nil || p.ended.IsZero() {
		return capture.Result{}
	}
	return p.whole.Close()
}

// Info tells what is known of it.
func (p *Process) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.begun.Result
	i := Info{
		ID: p.id, Begun: p.begin, Ended: p.ended, Killed: p.killed, Terminal: p.spec.Terminal != nil, Screen: p.screen != nil,
		Lines: p.out.count(), Dropped: p.out.first, Notify: p.notify, Watch: p.watch.left(), Origin: p.origin,
	}
	if !p.ended.IsZero() {
		r = p.result
		i.Err, i.Code, i.TimedOut, i.Left = p.err, r.Status.Code, r.Status.TimedOut, r.Status.Left
	}
	if p.whole != nil {
		i.Path = p.whole.Path()
	}
	i.Command, i.Dir, i.Backend = r.Command, r.Dir, r.Backend
	return i
}

// Wait waits until it has ended, or for some time, or until ctx ends. It tells whether it has ended: then its agent knows.
func (p *Process) Wait(ctx context.Context, most time.Duration) bool {
	p.mu.Lock()
	p.waiters++
	p.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	// An end that comes now is either told by who waited, or by a notice: whichever has the lock first.
	p.mu.Lock()
	p.waiters--
	if p.ended.IsZero() {
		p.mu.Unlock()
		return false
	}
	p.told = true
	p.mu.Unlock()
	<-p.done
	return true
}

// Told notes that the agent knows of its end, if it has ended.
func (p *Process) Told() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = p.told || !p.ended.IsZero()
}

// Kill ends it, with all that it has started, and waits for that.
func (p *Process) Kill(ctx context.Context) error {
	p.cancel(errKilled)
	select {
	case <-p.done:
		p.Told()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kill %s: %w", p.id, context.Cause(ctx))
	}
}
