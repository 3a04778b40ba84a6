// Package process keeps what runs on while an agent does something else: commands in the background and terminals, with what they
// printed, who owns them, and what they are watched for.
//
// It judges no command and starts none (see launch), and nothing of it is ever printed as it came: what it shows is plain text
// without secrets.
//
// Failure direction: refuse. Whose a process is not, does not see it; when its session ends, so does it.
package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/scope"
	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/capture"
)

// Defaults of Options.
const (
	defaultRunning = 32
	defaultKept    = 64
	defaultKeep    = 30 * time.Minute
	defaultChars   = 200_000
)

// ErrNone is wrapped by errors about a process that does not exist, or not for who asks.
var ErrNone = errors.New("no such process")

// Options are what a Registry is made of. The zero Options work.
type Options struct {
	Capture func() *capture.Buffer // takes the whole of what a process prints; nil: only the last of it is kept
	Notify  func(Notice)           // hears what the agent of a session should be told; nil: nobody. It must not block
	Running int                    // most at once in a session; 0: 32
	Kept    int                    // most of a session that are kept, those that have ended among them; 0: 64
	Keep    time.Duration          // how long one that has ended is kept; 0: 30 minutes
	Chars   int                    // of its output that are kept at hand; 0: 200,000
}

// Registry holds processes by their sessions. It is safe for concurrent use. Whoever made it closes it.
type Registry struct {
	o Options

	mu       sync.Mutex // guards what follows
	sessions map[scope.Session]*owner
	ending   map[scope.Session][]*owner // were closed, and may not be gone yet
}

// owner is what one session has.
type owner struct {
	ctx    context.Context // ended with the session
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	notes  budget

	all []*Process // in order of their beginning; the Registry's lock guards it
}

// New makes a registry.
func New(o Options) *Registry {
	if o.Running <= 0 {
		o.Running = defaultRunning
	}
	if o.Kept <= 0 {
		o.Kept = defaultKept
	}
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	if o.Chars <= 0 {
		o.Chars = defaultChars
	}
	return &Registry{o: o, sessions: map[scope.Session]*owner{}, ending: map[scope.Session][]*owner{}}
}

// Spec says what to keep.
type Spec struct {
	Session  scope.Session
	Terminal *sandbox.Size // it has a terminal of this size
	Typed    bool          // it has an input; implied by Terminal
	Waited   bool          // whoever started it waits for it: the end of their context ends it, until Detach
	Notify   bool          // the agent is told when it ends
	Watch    []string      // the agent is told of lines that have one of these
	Tee      io.Writer     // gets its output too while it is waited for; nil: nobody

	// Origin says where what it prints comes from, once it may run; nil: from outside.
	Origin func(launch.Started) taint.Origin
	// Run runs it to its end, with these streams. It calls Streams.Started when it is decided that it may run.
	Run func(ctx context.Context, s Streams) (launch.Result, error)
	// Judge decides whether something may be typed into it (see launch.Door.Type); nil: nothing may.
	Judge func(ctx context.Context, text string) (launch.Result, error)
}

// Streams are the ends of a process's streams.
type Streams struct {
	Stdin   io.Reader // nil: empty
	Output  io.Writer // for redacted output
	Display io.Writer // for what its terminal shows; nil without one
	Resize  <-chan sandbox.Size
	Started func(launch.Started)

	Detached <-chan struct{} // closed when nobody waits for it any more
}

// errKilled and errClosed are the reasons for which a process is ended from here.
var (
	errKilled = errors.New("killed")
	errClosed = errors.New("its session has ended")
)

// Start starts a process and returns when it runs, or has ended, or was refused: its Result says which. The end of ctx ends it
// as long as it is not decided whether it may run, and as long as it is waited for.
func (r *Registry) Start(ctx context.Context, s Spec) (*Process, error) {
	if s.Session.IsZero() {
		return nil, fmt.Errorf("start process: %w", scope.ErrZero)
	}
	if s.Run == nil {
		return nil, errors.New("start process: nothing to run")
	}
	p := newProcess(r, s)
	if err := r.admit(ctx, p); err != nil {
		return nil, err
	}
	go func() {
		defer p.owner.work.Done()
		p.run()
	}()
	select {
	case <-p.started:
	case <-p.done:
		if p.refused() {
			r.Forget(p)
		}
	}
	return p, nil
}

// admit finds a place for a process, which ends with ctx. Its owner then counts one more piece of work. From now on others find the
// process, and may end it.
func (r *Registry) admit(ctx context.Context, p *Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.sessions[p.spec.Session]
	if o == nil {
		o = &owner{}
		o.ctx, o.cancel = context.WithCancelCause(context.Background())
		r.sessions[p.spec.Session] = o
	}
	r.prune(o)
	running := 0
	for _, other := range o.all {
		if !other.over() {
			running++
		}
	}
	if running >= r.o.Running {
		return fmt.Errorf("start process: %d run already, and no more are allowed at once: end one first (process, action kill)", running)
	}
	p.owner = o
	p.ctx, p.cancel = context.WithCancelCause(o.ctx)
	p.release = context.AfterFunc(ctx, func() { p.cancel(context.Cause(ctx)) })
	o.all = append(o.all, p)
	o.work.Add(1)
	return nil
}

// prune lets go of what has ended long ago, and of the oldest that has ended when there is no more room. The caller holds r.mu.
func (r *Registry) prune(o *owner) {
	now := time.Now()
	o.all = slices.DeleteFunc(o.all, func(p *Process) bool {
		ended := p.endedAt()
		return !ended.IsZero() && now.Sub(ended) > r.o.Keep
	})
	for len(o.all) >= r.o.Kept {
		i := slices.IndexFunc(o.all, (*Process).over)
		if i < 0 {
			return
		}
		o.all = slices.Delete(o.all, i, i+1)
	}
}

// Forget takes out a process that has ended, and that nobody asks for any more.
func (r *Registry) Forget(p *Process) {
	if !p.over() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.owner.all = slices.DeleteFunc(p.owner.all, func(other *Process) bool { return other == p })
}

// List returns the processes of a session, the oldest first.
func (r *Registry) List(caller scope.Session) []*Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.sessions[caller]
	if o == nil || caller.IsZero() {
		return nil
	}
	r.prune(o)
	var out []*Process
	for _, p := range o.all {
		if !p.waited() {
			out = append(out, p)
		}
	}
	return out
}

// Waited returns the processes of a session that run while somebody waits for them, the oldest first: those for Detach.
func (r *Registry) Waited(caller scope.Session) []*Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.sessions[caller]
	if o == nil || caller.IsZero() {
		return nil
	}
	var out []*Process
	for _, p := range o.all {
		if p.waited() && p.runs() {
			out = append(out, p)
		}
	}
	return out
}

// Find returns a process of a session. One that belongs to another session is as unknown as one that never was.
func (r *Registry) Find(caller scope.Session, id string) (*Process, error) {
	for _, p := range r.List(caller) {
		if p.id == id && scope.Check(caller, p.spec.Session).Action == guard.Allow {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNone, id)
}

// Close ends all processes of a session, with all that they have started, and forgets them. It returns when they are gone, or with
// an error when ctx ends before. It may be called twice, and then waits for what is not gone yet; a session that goes on later
// begins anew.
func (r *Registry) Close(ctx context.Context, session scope.Session) error {
	r.mu.Lock()
	if o := r.sessions[session]; o != nil {
		delete(r.sessions, session)
		r.ending[session] = append(r.ending[session], o)
		o.cancel(errClosed)
	}
	ending := slices.Clone(r.ending[session])
	r.mu.Unlock()
	if len(ending) == 0 {
		return nil
	}
	gone := make(chan struct{})
	go func() {
		for _, o := range ending {
			o.work.Wait()
		}
		close(gone)
	}()
	select {
	case <-gone:
		r.over(session, ending)
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the processes of %s: %w", session, context.Cause(ctx))
	}
}

// over forgets what is gone of a session.
func (r *Registry) over(session scope.Session, gone []*owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.ending[session], func(o *owner) bool { return slices.Contains(gone, o) })
	if r.ending[session] = left; len(left) == 0 {
		delete(r.ending, session)
	}
}

// CloseAll ends all processes.
func (r *Registry) CloseAll(ctx context.Context) error {
	r.mu.Lock()
	var all []scope.Session
	for s := range r.sessions {
		all = append(all, s)
	}
	for s := range r.ending {
		if r.sessions[s] == nil {
			all = append(all, s)
		}
	}
	r.mu.Unlock()
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, s := range all {
		wait.Go(func() { errs[i] = r.Close(ctx, s) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func newID() string { return "proc_" + strings.ToLower(rand.Text()[:8]) }
