package native

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

// place is an opened sandbox. Commands, files and the rest are the runner's client's.
type place struct {
	*runner.Client
	exposure exposure.Exposure
	launcher *launcher
	born     *born
	walls    string
	walled   bool   // the end of its first process is the end of all
	after    func() // runs once, after Close, of a sandbox that was opened for somebody
	holding  *holding

	mu      sync.Mutex
	record  *record
	gone    bool
	closing bool
	why     string // it was ended by itself
	unended error  // what could not be ended
	control *control
}

// Walls says in one line what it is made of.
func (p *place) Walls() string { return p.walls }

// Exposure returns what was read back.
func (p *place) Exposure() exposure.Exposure { return p.exposure }

// Run runs a command; see sandbox.Sandbox.
func (p *place) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	status, err := p.Client.Run(ctx, c)
	status.Notices = append(status.Notices, p.control.notices()...)
	var broken *sandbox.BrokenError
	if errors.As(err, &broken) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closing {
			err = sandbox.ErrClosed
		} else if p.why != "" {
			err = &sandbox.BrokenError{Backend: Name, Cause: errors.New(p.why)}
		}
	}
	return status, err
}

// guard ends the sandbox when the hold of something in the work tree is lost: the commands could write what the host's git or
// an agent starts programs from. A new sandbox holds it again.
func (p *place) guard(h *holding, absent []string, log func(string)) {
	path := h.watch()
	if path == "" {
		return
	}
	p.mu.Lock() // who sees that it is over sees why, and what was done
	p.born.kill()
	p.why = path + " was replaced while the sandbox was open, and could have been written inside; open another one"
	if slices.Contains(absent, path) {
		p.why = removeLead(path)
	}
	why := p.why
	p.mu.Unlock()
	log("the sandbox was ended: " + why)
}

// removeLead removes what would lead git elsewhere, and says what was done.
func removeLead(path string) string {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path + " appeared while the sandbox was open, and leads git to other settings and hooks; remove it: " + err.Error()
	}
	return path + " appeared while the sandbox was open, and would lead git to other settings and hooks; it was removed"
}

// Close ends it; see sandbox.Sandbox.
func (p *place) Close(ctx context.Context) error {
	p.mu.Lock()
	after := p.after
	p.closing, p.after = true, nil
	p.mu.Unlock()
	if p.walled {
		p.born.kill() // it dies while the connection is taken down
	}
	err := p.Client.Close(ctx)
	if after != nil {
		after()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && p.unended != nil {
		err = fmt.Errorf("close native sandbox: %w", p.unended)
	}
	return err
}

// note writes down that it is open, and for whom.
func (p *place) note(state string, d *design, spec sandbox.Spec) error {
	n := p.born
	r, err := note(state, Record{
		ID: n.name, Tree: d.tree, Session: spec.Session.String(), Owner: os.Getpid(), PID: n.pid, Born: n.started(),
		Opened: time.Now(),
	})
	if err != nil {
		return fmt.Errorf("open native sandbox: note it: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		r.remove()
		return nil
	}
	p.record = r
	return nil
}

// over sees to what is left when the connection is.
func (p *place) over(d *design, log func(string)) {
	unended := p.born.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone, p.unended = true, unended
	p.holding.close()
	if p.holding != nil { // nobody watches any more, and what was made last was perhaps not seen
		for _, path := range d.absent {
			if number(path) != 0 {
				log("when the sandbox was closed: " + removeLead(path))
			}
		}
	}
	p.record.remove()
	_ = d.clear()
}

// Open opens a sandbox; see sandbox.Backend. Of a launcher that was killed it notices only when it is asked for something; then
// there is another one.
func (b *Backend) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	h, l, err := b.ready()
	if err != nil {
		return nil, fmt.Errorf("open native sandbox: %w", err)
	}
	p, err := b.openWith(ctx, h, l, spec)
	if errors.Is(err, errLauncher) {
		_ = l.socket.Close() // whatever is left of it ends
		<-l.dead
		if h, l, err = b.ready(); err != nil {
			return nil, fmt.Errorf("open native sandbox: %w", err)
		}
		p, err = b.openWith(ctx, h, l, spec)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (b *Backend) openWith(ctx context.Context, h *host, l *launcher, spec sandbox.Spec) (*place, error) {
	d, err := b.outline(h, spec)
	if err != nil {
		return nil, err
	}
	var n *born // it is made while the rest is planned, unless one is likely to be there already
	if !b.pool.mayHave(d.whose) {
		if n, err = b.process(h, l, d, spec); err != nil {
			return nil, err
		}
	}
	if err = d.complete(b, h, spec); err != nil {
		if n != nil {
			n.abandon()
		}
		return nil, err
	}
	for _, note := range d.notes {
		b.log(note)
	}
	var p *place
	if n == nil {
		b.pool.await(ctx, d)
		if p = b.pool.take(l, d); p == nil {
			if n, err = b.process(h, l, d, spec); err != nil {
				return nil, err
			}
		}
	}
	if p == nil {
		if p, err = b.make(ctx, h, l, n, d, spec); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(p.leave(ctx, spec, b.log), p.note(b.conf.State, d, spec)); err != nil {
		_ = p.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	if d.plan.Namespaces && b.conf.Waiting > 0 {
		b.opened(d)
	}
	p.control = watchOver(d.made)
	p.after = func() {
		for _, notice := range p.control.notices() { // made since the last command ended
			b.log(notice)
		}
		if d.plan.Namespaces && b.conf.Waiting > 0 {
			b.ended(d, spec)
		}
	}
	return p, nil
}

// process returns the blank process, if it would do, or begins another one.
func (b *Backend) process(h *host, l *launcher, d *design, spec sandbox.Spec) (*born, error) {
	if spec.Limits.Memory >= 0 && spec.Limits.PIDs >= 0 { // the one that waits has limits
		if n := b.pool.process(l, d, spec.Limits.CPU > 0); n != nil {
			return n, nil
		}
	}
	return b.begin(h, l, d.flags, d.base, spec.Limits)
}

// make makes a sandbox, in the process n if there is one, and judges it.
func (b *Backend) make(ctx context.Context, h *host, l *launcher, n *born, d *design, spec sandbox.Spec) (*place, error) {
	p, err := b.open(ctx, h, l, n, d, spec)
	var missing *sandbox.MissingError
	if errors.As(err, &missing) && spec.BestEffort {
		if err := d.withoutNamespaces(b, h, spec, missing.Why); err != nil {
			return nil, err
		}
		p, err = b.open(ctx, h, l, nil, d, spec)
	}
	if err != nil {
		return nil, errors.Join(err, d.clear())
	}
	if err := b.judge(ctx, p, d, spec); err != nil {
		_ = p.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return p, nil
}

// ready looks around once and sees to it that there is a launcher.
func (b *Backend) ready() (*host, *launcher, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, sandbox.ErrClosed
	}
	if b.facts == nil {
		b.facts = lookAround()
		b.facts.groups.sweep()
	}
	if b.launcher == nil || !b.launcher.alive() {
		l, err := startLauncher(b.conf.Launcher, b.facts.groups, b.log)
		if err != nil {
			return nil, nil, err
		}
		b.launcher = l
	}
	return b.facts, b.launcher, nil
}

// Close ends every sandbox that is still open, and the launcher.
func (b *Backend) Close() error {
	b.mu.Lock()
	l := b.launcher
	b.launcher, b.closed = nil, true
	b.mu.Unlock()
	b.pool.close()
	if l != nil {
		l.close()
	}
	return nil
}

// open has the sandbox put up.
func (b *Backend) open(ctx context.Context, h *host, l *launcher, n *born, d *design, spec sandbox.Spec) (*place, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, openTime, errSlow)
	defer cancel()
	if n == nil {
		var err error
		if n, err = b.begin(h, l, d.flags, d.base, spec.Limits); err != nil {
			return nil, err
		}
	}
	limits := n.limits
	if limits == nil || spec.Limits != (sandbox.Limits{}) {
		limits = h.limit(n.held, spec.Limits)
	}
	d.fallBack(limits)
	d.asked.Limits = limits
	if err := n.arrived(ctx); err != nil {
		return nil, err
	}
	release := n.bound(ctx)
	var held *holding
	abandon := func(err error) (*place, error) {
		release()
		held.close()
		n.abandon()
		return nil, err
	}
	if watched := slices.Concat(d.covered, d.held); d.plan.Namespaces && len(watched)+len(d.absent) > 0 {
		var err error
		if held, err = hold(watched, d.absent); err != nil {
			return abandon(fmt.Errorf("open native sandbox: watch what is held: %w", err))
		}
	}
	if err := wall.SendPlan(n.conn, d.base.rest(d.plan)); err != nil {
		return abandon(fmt.Errorf("open native sandbox: send plan: %w", err))
	}
	greeted := runner.Greet(n.conn) // if that fails, the report says why
	d.print(h, spec)                // while the walls are put up
	report, err := wall.ReceiveReport(n.conn)
	switch {
	case ctx.Err() != nil:
		return abandon(fmt.Errorf("open native sandbox: %w", context.Cause(ctx)))
	case err != nil:
		return abandon(fmt.Errorf("open native sandbox: read report: %w", err))
	case report.Failed != "":
		return abandon(missing(report.Failed, syscall.Errno(report.Errno)))
	case greeted != nil:
		return abandon(fmt.Errorf("open native sandbox: greet the runner: %w", greeted))
	}
	release()
	p := &place{launcher: l, born: n, holding: held, walled: d.plan.Namespaces}
	dialled := make(chan error, 1)
	go func() { // the two ends greet each other while what was seen is read
		var err error
		p.Client, err = runner.Dial(ctx, n.conn, runner.Options{
			Backend: Name, Search: searchPath, Log: b.conf.Log, Start: runner.Start{Files: spec.InitFiles},
			Walled: d.plan.Namespaces, Greeted: true, Cleanup: func() { p.over(d, b.log) },
			State: snapshot.New(snapshot.Config{
				Vars: d.vars, Shell: b.conf.Shell, Env: spec.Env, Dir: d.tree, Lasts: spec.Persistent, Judge: effect.Judge, Prelude: runner.PreludeFD, Write: runner.StateFD,
			}),
		})
		dialled <- err
	}()
	p.exposure, p.walls = d.readBack(h, report), d.summary(h, report)
	if err := <-dialled; err != nil {
		held.close()
		n.abandon()
		return nil, fmt.Errorf("open native sandbox: %w", err)
	}
	if held != nil {
		go p.guard(held, d.absent, b.log)
	}
	return p, nil
}

// openTime bounds the making of a sandbox, however long the caller would wait.
const openTime = time.Minute

var errSlow = errors.New("its first process was not ready within a minute")

// searchPath is where programs are looked for when the environment does not say.
const searchPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

func random() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// fallBack limits by rlimit what no control group limits. It holds for each process, and for processes for the user inside.
func (d *design) fallBack(limits []exposure.Limit) {
	for i := range limits {
		l := &limits[i]
		if l.Grade != exposure.NoGrade || l.Asked == 0 {
			continue
		}
		kind := map[string]int{"memory": unix.RLIMIT_DATA, "pids": unix.RLIMIT_NPROC}[l.Name]
		if kind == 0 {
			continue
		}
		if l.Name == "pids" && os.Getuid() == 0 {
			continue // the kernel does not count the root user's
		}
		d.plan.Limits = append(d.plan.Limits, wall.Rlimit{Kind: kind, Value: l.Asked})
		l.Force, l.Grade = l.Asked, exposure.Rlimit
	}
}

// missing says what the kernel refused, and what to do.
func missing(what string, errno syscall.Errno) error {
	e := &sandbox.MissingError{Backend: Name, What: "isolation by namespaces", Why: what + ": " + errno.Error()}
	switch {
	case errors.Is(errno, unix.EPERM) || errors.Is(errno, unix.EACCES):
		e.Remedy = "user namespaces are refused here: allow them (sysctl kernel.unprivileged_userns_clone=1, " +
			"kernel.apparmor_restrict_unprivileged_userns=0, a container with its own seccomp profile), or set " +
			"terminal.native_best_effort: true to run with fewer walls"
	case errors.Is(errno, unix.ENOSPC) || errors.Is(errno, unix.EUSERS):
		e.Remedy = "raise sysctl user.max_user_namespaces"
	case errors.Is(errno, unix.ENOSYS) || errors.Is(errno, unix.EINVAL):
		e.Remedy = "Linux 5.6 or newer is needed, or set terminal.native_best_effort: true to run with fewer walls"
	}
	return e
}

// summary says in one line what a sandbox is made of.
func (d *design) summary(h *host, r *wall.Report) string {
	release := h.release
	if i := strings.IndexByte(release, '.'); i >= 0 {
		if j := strings.IndexAny(release[i+1:], ".-"); j >= 0 {
			release = release[:i+1+j]
		}
	}
	parts := []string{"Linux " + release}
	var spaces []string
	for _, n := range namespaceNames {
		if seen := r.Seen["ns/"+n]; seen != "" && seen != h.self["ns/"+n] {
			spaces = append(spaces, n)
		}
	}
	if len(spaces) > 0 {
		parts = append(parts, "namespaces "+strings.Join(spaces, " "))
	} else {
		parts = append(parts, "no namespaces")
	}
	if r.Landlock > 0 {
		parts = append(parts, fmt.Sprintf("Landlock ABI %d", r.Landlock))
	} else {
		parts = append(parts, "no Landlock")
	}
	return strings.Join(append(parts, fmt.Sprintf("seccomp %d rules", d.rules)), " · ")
}
