package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// ErrStopped is the cause of an end that Stop asked for.
var ErrStopped = errors.New("stopped")

// Process is a started program. Its methods are safe for concurrent use. It is waited for even if nobody calls Wait, so no
// zombie is left; nobody closes it.
type Process struct {
	pid     int
	program string
	end     End
	term    *terminal // nil without one
	streams *streams
	tree    tree // what is needed to reach everything below

	ask  sync.Once // closes stop
	stop chan struct{}
	rush sync.Once // closes kill
	kill chan struct{}

	exited chan struct{} // the program has ended, it is not reaped yet
	done   chan struct{} // everything is over, status and err are set

	mu     sync.Mutex // holds off reaping while the pid is used
	proc   *os.Process
	reaped bool

	status Status
	err    error
}

// Start starts a program. When ctx ends, the program is asked to end and then killed, as by Stop; a ctx that has ended
// starts nothing.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Program, context.Cause(ctx))
	}
	program, err := Lookup(spec.Program, spec.Search)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Program, err)
	}
	env, err := spec.variables()
	if err != nil {
		return nil, err
	}
	p := &Process{
		program: spec.Program, end: spec.End.filled(),
		stop: make(chan struct{}), kill: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
	files, err := p.open(spec.Stdio)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Program, err)
	}
	argv := append([]string{spec.Program}, spec.Args...)
	if spec.Name != "" {
		argv[0] = spec.Name
	}
	attr := &os.ProcAttr{Dir: spec.Dir, Env: env, Files: append(files, spec.Stdio.Files...)}
	if err := p.launch(&spec, program, argv, attr); err != nil {
		p.streams.abandon()
		return nil, fmt.Errorf("start %s: %w", spec.Program, bare(err))
	}
	p.streams.run()
	go func() {
		waitExit(p)
		close(p.exited)
	}()
	go p.watch(ctx)
	return p, nil
}

// filled returns e with its defaults.
func (e End) filled() End {
	if e.Grace == 0 {
		e.Grace = defaultGrace
	}
	if e.Drain <= 0 {
		e.Drain = defaultDrain
	}
	return e
}

// bare strips the operation and path that os adds, since our errors name them already.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var s *os.SyscallError
	if errors.As(err, &s) {
		return s.Err
	}
	return err
}

// Pid returns the process id, which stays the child's own until Done is closed.
func (p *Process) Pid() int { return p.pid }

// Done is closed when the program has ended, its output is read, and what it left is dealt with.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns how the program ended. It may be called any number of times. An exit code or signal is no error. Errors are:
// why the program was ended before it was done (the cause of the context, ErrStopped), output that could not be written,
// and processes that could not be killed.
func (p *Process) Wait() (Status, error) {
	<-p.done
	return p.status, p.err
}

// Signal sends a signal to the program's whole process group. After its end it is os.ErrProcessDone.
func (p *Process) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return os.ErrProcessDone
	}
	if err := p.signalGroup(sig); err != nil {
		return fmt.Errorf("signal %s: %w", p.program, err)
	}
	return nil
}

// Resize tells the child's terminal its new size. Without a terminal it is an error.
func (p *Process) Resize(size Size) error {
	if p.term == nil {
		return fmt.Errorf("resize %s: no terminal", p.program)
	}
	if err := p.term.resize(size); err != nil {
		return fmt.Errorf("resize %s: %w", p.program, bare(err))
	}
	return nil
}

// Stop asks the program to end, kills its whole tree after End.Grace, and returns at once; Wait tells the rest.
func (p *Process) Stop() { p.ask.Do(func() { close(p.stop) }) }

// Kill kills the whole tree without asking and returns at once; Wait tells the rest.
func (p *Process) Kill() {
	p.rush.Do(func() { close(p.kill) })
	p.Stop()
}

// watch leads the process from its start to the closing of done.
func (p *Process) watch(ctx context.Context) {
	var cause error
	select {
	case <-p.exited:
	case <-ctx.Done():
		cause = context.Cause(ctx)
	case <-p.stop:
		cause = ErrStopped
	}
	var left error
	leave := false
	if cause != nil {
		left = p.finish()
	}
	<-p.exited
	cut := p.streams.drain(p.end.Drain)
	if cause == nil {
		if leave = p.end.Leave && !p.asked(); !leave {
			left = p.killRest()
		}
	}
	failed := p.streams.finish()
	p.reap(cut)
	if !leave && left == nil {
		left = p.settle()
	}
	switch {
	case cause != nil:
		p.err = fmt.Errorf("run %s: %w", p.program, errors.Join(cause, left))
	case left != nil || failed != nil:
		p.err = fmt.Errorf("run %s: %w", p.program, errors.Join(failed, left))
	}
	close(p.done)
}

// finish asks the tree to end, gives it time, and kills what is left.
func (p *Process) finish() error {
	alive := p.remember()
	if p.end.Grace > 0 {
		select {
		case <-p.kill:
		default:
			p.askTree(alive)
			timer := time.NewTimer(p.end.Grace)
			defer timer.Stop()
			select {
			case <-p.exited:
			case <-p.kill:
			case <-timer.C:
			}
		}
	}
	return p.killTree()
}

// asked tells whether the end was asked for.
func (p *Process) asked() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// reap takes the status and lets go of the pid.
func (p *Process) reap(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	state, err := p.proc.Wait()
	p.reaped = true
	p.release()
	p.status = Status{Code: -1, Cut: cut}
	if err != nil {
		p.err = fmt.Errorf("wait for %s: %w", p.program, bare(err))
		return
	}
	p.status.Code = state.ExitCode()
	p.status.User, p.status.System = state.UserTime(), state.SystemTime()
	p.status.Signal, p.status.Core = endedBy(state)
}
