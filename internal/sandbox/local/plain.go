package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

var _ sandbox.Sandbox = (*plain)(nil)

// plain is a sandbox without a runner: bash is started for each command.
type plain struct {
	b     *Backend
	state *snapshot.State
	shell string
	start runner.Start
	e     exposure.Exposure
	env   environ.List
	path  string
	temp  string
	gate  *sandbox.Gate
	boot  sync.Mutex // held by the command that starts the session
	ready bool       // it was started

	mu     sync.Mutex
	groups map[int]sandbox.Process // process groups of commands that have ended, by their leader
}

// Descriptors of the state, which follow the three of every program.
const (
	plainPrelude = 3
	plainState   = 4
)

func (b *Backend) plain(conf snapshot.Config, start runner.Start, e exposure.Exposure, temp string) *plain {
	conf.Prelude, conf.Write = plainPrelude, plainState
	e.Runner = exposure.Plain
	most := plainQueue
	if b.conf.Queue > 0 {
		most = b.conf.Queue
	}
	return &plain{
		b: b, state: snapshot.New(conf), start: start, shell: conf.Shell, e: e, env: conf.Env, path: conf.Vars["PATH"], temp: temp,
		groups: map[int]sandbox.Process{}, gate: sandbox.NewGate(most),
	}
}

const plainQueue = 64

func (p *plain) Exposure() exposure.Exposure { return p.e }

// Run runs a command.
func (p *plain) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	return p.gate.Pass(ctx, c, func(ctx context.Context) (sandbox.Status, error) {
		if c.Dir == "" && !enterable(p.state.Dir()) {
			p.state.Move(p.b.usable(p.state.Dir(), p.temp))
		}
		if c.Text != "" {
			p.bootstrap(ctx)
		}
		plan, err := p.state.Plan(c)
		if err != nil {
			return sandbox.Status{}, err
		}
		status, written, err := p.run(ctx, c, plan)
		if err == nil && status.Signal == 0 && !status.TimedOut && !status.Interrupted && !c.Apart &&
			(status.Code != 126 || enterable(plan.Dir)) { // else it has not run
			status.Dir, status.Observed = p.state.Apply(plan, written)
		}
		return status, err
	})
}

// run runs what was planned.
func (p *plain) run(ctx context.Context, c sandbox.Command, plan snapshot.Plan) (sandbox.Status, []byte, error) {
	var status sandbox.Status
	if !enterable(plan.Dir) {
		return p.refuse(c, 126, "cd: "+plan.Dir+": cannot be entered")
	}
	argv, prelude := p.wrap(plan)
	spec := child.Spec{
		Program: argv[0], Args: argv[1:], Search: p.path, Env: p.env, Dir: plan.Dir,
		Stdio: child.Stdio{In: c.Stdin, Out: c.Stdout, Err: c.Stderr},
		End:   child.End{Grace: c.Grace, Leave: true}, Session: true,
	}
	if spec.End.Grace == 0 {
		spec.End.Grace = p.b.conf.Grace
	}
	if c.Terminal != nil {
		spec.Stdio.Terminal, spec.Stdio.Err = &child.Size{Rows: c.Terminal.Rows, Cols: c.Terminal.Cols}, nil
	}
	side, err := openSide(prelude, plan.Write)
	if err != nil {
		return status, nil, err
	}
	defer side.close()
	spec.Stdio.Files = side.remote
	process, err := child.Start(ctx, spec)
	side.started()
	switch {
	case ctx.Err() != nil && err != nil:
		status, err = sandbox.Ended(ctx, status)
		return status, nil, err
	case errors.Is(err, os.ErrNotExist):
		return p.refuse(c, 127, plan.Argv[0]+": command not found")
	case errors.Is(err, os.ErrPermission):
		return p.refuse(c, 126, plan.Argv[0]+": permission denied")
	case err != nil:
		return status, nil, err
	}
	p.follow(process, c.Resize, c.Signals)
	end, err := process.Wait()
	status.Code, status.Signal, status.CPU = end.Exit(), int(end.Signal), end.User+end.System
	p.note(process.Pid(), plan, &status)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		status, err = sandbox.Ended(ctx, status)
		return status, nil, err
	}
	if err != nil || !plan.Write {
		return status, nil, err
	}
	return status, side.written(), nil
}

// wrap returns what to start, and what it has to read before. A child has the environment that a policy made; what the session
// changed of it is in the prelude.
func (p *plain) wrap(plan snapshot.Plan) (argv []string, prelude []byte) {
	have, want := environ.Parse(p.env.Strings()), environ.Parse(plan.Env)
	delete(want, "BASH_ENV")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, ok := have[name]; (!ok || value != want[name]) && variable(name) {
			b.WriteString("export " + name + "=" + snapshot.Quote(want[name]) + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok && variable(name) {
			b.WriteString("unset -v " + name + "\n")
		}
	}
	if memory := p.b.memory(); memory > 0 {
		b.WriteString(fmt.Sprintf("ulimit -d %d || exit 126\n", memory>>10))
	}
	b.Write(plan.Prelude)
	if b.Len() == 0 {
		return plan.Argv, nil
	}
	source := fmt.Sprintf(". /dev/fd/%d\n", plainPrelude)
	if plan.Shell {
		argv = slices.Clone(plan.Argv)
		argv[len(argv)-1] = source + argv[len(argv)-1]
	} else {
		argv = append([]string{p.shell, "-c", source + `exec "$@"`, p.shell}, plan.Argv...)
	}
	return argv, []byte(fmt.Sprintf("exec %d<&-\n", plainPrelude) + b.String())
}

// variable tells whether a shell takes a name; functions in the environment have others.
func variable(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// refuse says what a shell would have said.
func (p *plain) refuse(c sandbox.Command, code int, text string) (sandbox.Status, []byte, error) {
	out := c.Stderr
	if out == nil || c.Terminal != nil {
		out = c.Stdout
	}
	if out != nil {
		if _, err := io.WriteString(out, "hermes: "+text+"\n"); err != nil {
			return sandbox.Status{}, nil, fmt.Errorf("run: write output: %w", err)
		}
	}
	return sandbox.Status{Code: code}, nil, nil
}

// follow passes on the sizes of a terminal, and signals. Those for a whole tree reach the group: what has left it is not known
// here.
func (p *plain) follow(process *child.Process, sizes <-chan sandbox.Size, signals <-chan sandbox.Signal) {
	if sizes == nil && signals == nil {
		return
	}
	go func() {
		for {
			select {
			case size, ok := <-sizes:
				if !ok {
					sizes = nil
					continue
				}
				_ = process.Resize(child.Size(size))
			case sig, ok := <-signals:
				if !ok {
					signals = nil
					continue
				}
				if sig.Number > 0 {
					_ = process.Signal(syscall.Signal(sig.Number))
				}
			case <-process.Done():
				return
			}
		}
	}()
}

// bootstrap is what the runner's client does; see there.
func (p *plain) bootstrap(ctx context.Context) {
	p.boot.Lock()
	defer p.boot.Unlock()
	if p.ready || !p.start.Login && len(p.start.Files) == 0 {
		return
	}
	defer func() { p.ready = ctx.Err() == nil }()
	try := func(plan snapshot.Plan, limit time.Duration) (sandbox.Status, []byte, bool) {
		ctx, cancel := sandbox.WithTimeout(ctx, limit)
		defer cancel()
		status, text, err := p.run(ctx, sandbox.Command{Grace: -1}, plan)
		return status, text, err == nil && !status.TimedOut && !status.Interrupted
	}
	plan := p.state.Bootstrap(p.start.Files, p.start.Login)
	if _, text, ok := try(plan, 30*time.Second); ok && p.state.Bootstrapped(plan, text) {
		return
	}
	status, _, ok := try(p.state.Bare(), 15*time.Second)
	if ctx.Err() != nil {
		return
	}
	if ok && status.Code == 0 {
		p.b.log("the login shell does not get to its end: commands run without its start files")
		return
	}
	p.b.log("bash runs only as a login shell: every command reads its start files")
	p.state.Login()
}

// note keeps the group of a command that left something running.
func (p *plain) note(pid int, plan snapshot.Plan, status *sandbox.Status) {
	if !child.GroupAlive(pid) {
		return
	}
	left := sandbox.Process{PID: pid, Command: plan.Argv[len(plan.Argv)-1], Started: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups[pid] = left
	status.Left = []sandbox.Process{left}
}

// Kept implements sandbox.Keeper.
func (p *plain) Kept() sandbox.Kept { return p.state.Kept() }

// Left lists the groups in which something still runs.
func (p *plain) Left() (out []sandbox.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pid, left := range p.groups {
		if !child.GroupAlive(pid) {
			delete(p.groups, pid)
			continue
		}
		out = append(out, left)
	}
	return out
}

// killTime bounds the waiting for what was killed: a kill only begins an end.
const killTime = 8 * time.Second

// Close ends what runs and kills what was left, as far as it stayed in its group.
func (p *plain) Close(ctx context.Context) error {
	p.gate.Close()
	ctx, cancel := context.WithTimeout(ctx, killTime)
	defer cancel()
	for {
		left := p.Left()
		if len(left) == 0 {
			return nil
		}
		for _, one := range left {
			killGroup(one.PID)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("close local sandbox: %d process groups are still there, %d (%s) among them", len(left), left[0].PID, left[0].Command)
		case <-time.After(time.Millisecond):
		}
	}
}
