package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/filesync"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

var (
	_ sandbox.Sandbox = (*place)(nil)
	_ sandbox.Files   = (*withFiles)(nil)
)

// session is what runs commands over one connection: a runner's client, or a plain shell for each command.
type session interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error)
	Left() []sandbox.Process
	Close(ctx context.Context) error
	Done() <-chan struct{}
}

// place is a sandbox on another machine. What lasts of a session is kept here, so that a connection that was cut while nothing
// ran is made again unseen.
type place struct {
	b    *Backend
	to   checked.Remote
	spec sandbox.Spec
	gaps []string
	sync *filesync.Sync

	mu     sync.Mutex // guards what follows; held while a connection is made
	link   *link
	now    session
	state  *snapshot.State
	facts  facts
	plain  bool   // the runner does not run there
	led    string // the way out through this machine; "": there is none
	e      exposure.Exposure
	closed bool
}

// open connects, sees to the runner, and brings the files.
func (p *place) open(ctx context.Context) error {
	if p.b.conf.Sync != nil && p.sync == nil {
		s, err := filesync.Open(*p.b.conf.Sync)
		if err != nil {
			return fmt.Errorf("open ssh sandbox: %w", err)
		}
		p.sync = s
	}
	l, f, word, err := p.b.connect(ctx, p)
	if err != nil {
		return err
	}
	if f.moved && p.state == nil {
		p.b.log(fmt.Sprintf("%s cannot be entered on %s: commands start in %s", p.spec.Workdir, p.to, f.dir))
	}
	if p.sync != nil {
		bounded, cancel := context.WithTimeout(ctx, syncTime)
		err := p.sync.Up(bounded, p.remote(l), f.synced)
		cancel()
		if err != nil {
			// Commands run all the same; what they then miss is told.
			p.b.log("files were not copied to " + p.to.String() + ": " + err.Error())
			_ = p.sync.Close()
			p.sync = nil
		}
	}
	fresh := p.state == nil
	if fresh || p.facts.bash != f.bash {
		p.state, fresh = p.b.state(p.spec, f), true
	}
	p.facts = f
	if f.bash == "" && fresh {
		p.b.log("there is no bash on " + p.to.String() + ": commands are run by " + f.sh + ", and nothing lasts")
	}
	start := runner.Start{}
	if fresh && f.bash != "" {
		start = runner.Start{Login: p.b.conf.Login, Files: p.spec.InitFiles}
	}
	p.led = ""
	if err := p.lead(ctx, l); err != nil {
		p.b.log("commands on " + p.to.String() + " find no way out through this machine: " + err.Error())
	}
	if !p.plain {
		if err := p.resident(ctx, l, word, start); err == nil {
			return nil
		} else if ctx.Err() != nil {
			l.close()
			return p.b.degraded(p.to, context.Cause(ctx))
		} else {
			p.b.log("the runner does not run on " + p.to.String() + ", a shell is started for each command: " + err.Error())
		}
		p.plain = true
		select {
		case <-l.dead(): // it went with the runner
			return p.open(ctx)
		default:
		}
		if l.given() {
			l.close()
			return p.open(ctx)
		}
	}
	p.link, p.now = l, newPlain(p, l, start)
	p.e = p.exposure(exposure.Plain)
	return nil
}

// syncTime bounds the copying of files, each way.
const syncTime = 2 * time.Minute

// resident hands the connection's session over to the runner.
func (p *place) resident(ctx context.Context, l *link, word string, start runner.Start) error {
	if err := p.b.provide(ctx, l, p.facts); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	l.handed.Store(true)
	if _, err := io.WriteString(l, "run\n"); err != nil {
		return err
	}
	if err := l.await(ctx, word, "run", func(string, string) {}); err != nil {
		return err
	}
	client, err := runner.DialStream(ctx, l, runner.Options{
		Backend: Name, State: p.state, Search: p.facts.vars["PATH"], Start: start, Queue: p.b.conf.Queue, Grace: p.b.conf.Grace,
		Log: p.b.conf.Log,
	})
	if err != nil {
		if said := l.said.line(); said != "" {
			err = errors.New(said)
		}
		return err
	}
	p.link, p.now = l, client
	p.e = p.exposure(exposure.Resident)
	in := client.Inside()
	p.e.Caps = exposure.Caps{Known: true, Held: exposure.CapSet(in.Effective | in.Bounding | in.Ambient)}
	return nil
}

func (p *place) exposure(r exposure.Runner) exposure.Exposure {
	e := unconfined(p.spec, p.to.String(), p.gaps)
	e.Runner = r
	how := "runner"
	if r == exposure.Plain {
		how = "plain shell for each command"
	}
	e.Means = []string{p.to.String(), p.facts.system + " " + p.facts.machine, how}
	if p.led != "" {
		e.Means = append(e.Means, p.led)
	}
	return e
}

// Walls says by what commands run, for the heading of a table.
func (p *place) Walls() string {
	e := p.Exposure()
	return strings.Join(e.Means, " · ")
}

// Exposure says that nothing of the other machine is contained.
func (p *place) Exposure() exposure.Exposure {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.e
}

// session returns what commands run in. A connection that was cut while nobody used it is made again: nothing was sent over
// it that could have run.
func (p *place) session(ctx context.Context) (session, *link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, sandbox.ErrClosed
	}
	select {
	case <-p.now.Done():
	case <-p.link.dead():
	default:
		return p.now, p.link, nil
	}
	if !p.spec.Persistent {
		return nil, nil, &sandbox.BrokenError{Backend: Name, Cause: fmt.Errorf("the connection to %s is over", p.to)}
	}
	_ = p.now.Close(context.WithoutCancel(ctx))
	p.link.close()
	p.b.log("the connection to " + p.to.String() + " was cut: it is made again")
	if err := p.open(ctx); err != nil {
		return nil, nil, &sandbox.BrokenError{Backend: Name, Cause: err}
	}
	return p.now, p.link, nil
}

// Run runs a command. When the connection is cut meanwhile nobody knows how far it came: that is told, and it is not run again.
func (p *place) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	s, l, err := p.session(ctx)
	if err != nil {
		return sandbox.Status{}, err
	}
	status, err := s.Run(ctx, c)
	var broken *sandbox.BrokenError
	if errors.As(err, &broken) {
		why := broken.Cause.Error()
		if said := l.said.line(); said != "" {
			why = said
		}
		err = &sandbox.BrokenError{Backend: Name, Cause: fmt.Errorf(
			"the connection to %s was cut while the command ran (%s): whether it has run to its end is not known, and it is not run again", p.to, why)}
	}
	return status, err
}

// Kept implements sandbox.Keeper.
func (p *place) Kept() sandbox.Kept { return p.state.Kept() }

// Left lists what earlier commands left running.
func (p *place) Left() []sandbox.Process {
	p.mu.Lock()
	s, closed := p.now, p.closed
	p.mu.Unlock()
	if closed {
		return nil
	}
	return s.Left()
}

// Close kills what was started there, brings back what changed, and ends the connection.
func (p *place) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	var err error
	if p.sync != nil {
		// Files first: the session's end is the connection's. What still runs could write on, and is too late.
		bounded, cancel := context.WithTimeout(ctx, syncTime)
		down := p.sync.Down(bounded, p.remote(p.link))
		cancel()
		if down != nil {
			p.b.log("files were not brought back from " + p.to.String() + ": " + down.Error())
		}
		err = p.sync.Close()
	}
	err = errors.Join(p.now.Close(ctx), err)
	p.link.close()
	return err
}

// remote runs scripts over a connection, for the files.
func (p *place) remote(l *link) filesync.Remote {
	return func(ctx context.Context, script string, in io.Reader, out io.Writer) error {
		errs := &tail{limit: 4 << 10}
		code, err := l.stream(ctx, script, in, out, errs)
		if err == nil && code != 0 {
			err = fmt.Errorf("exit code %d there: %s", code, errs.line())
		}
		return err
	}
}

var errNoFiles = errors.New("files are reached through the runner, which does not run there")

// files returns the runner's client.
func (p *place) files(ctx context.Context) (*runner.Client, error) {
	s, _, err := p.session(ctx)
	if err != nil {
		return nil, err
	}
	if c, ok := s.(*runner.Client); ok {
		return c, nil
	}
	return nil, errNoFiles
}

// withFiles is a place whose runner reaches files, too.
type withFiles struct{ *place }

// Open opens a file there; see sandbox.Files.
func (p *withFiles) Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error) {
	c, err := p.files(ctx)
	if err != nil {
		return nil, nil, err
	}
	return c.Open(ctx, path)
}

// Create writes a file there; see sandbox.Files.
func (p *withFiles) Create(ctx context.Context, path string, mode fs.FileMode) (io.WriteCloser, error) {
	c, err := p.files(ctx)
	if err != nil {
		return nil, err
	}
	return c.Create(ctx, path, mode)
}

// Stat tells of a file there; see sandbox.Files.
func (p *withFiles) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	c, err := p.files(ctx)
	if err != nil {
		return nil, err
	}
	return c.Stat(ctx, path)
}

// List lists a directory there; see sandbox.Files.
func (p *withFiles) List(ctx context.Context, path string) ([]fs.FileInfo, error) {
	c, err := p.files(ctx)
	if err != nil {
		return nil, err
	}
	return c.List(ctx, path)
}
