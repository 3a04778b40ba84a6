package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/snapshot"
)

// plain is a sandbox without a helper inside: the engine's client is started for each command. It costs an engine's call each
// time, and the walls the helper would put up are missing, which the exposure says.
type plain struct {
	*place
	state *snapshot.State
	mark  string // of everything that is started through it
	last  atomic.Uint64
	slots chan struct{}
	boot  sync.Once
	ctx   context.Context // ended by Close
	end   context.CancelCauseFunc
	work  sync.WaitGroup
}

var _ sandbox.Sandbox = (*plain)(nil)

const (
	plainPrelude = 3
	plainState   = 4
	plainQueue   = 16
	markName     = "HERMES_MARK"
	preludeName  = "HERMES_PRELUDE"
	longest      = 100 << 10 // what fits into one variable
)

// Scripts run inside. Their arguments follow them.
const (
	// runScript: directory, file of the state or "", file of the prelude or "", then the command.
	runScript = `cd -- "$1" || exit 126
s=$2 f=$3 p=$` + preludeName + `; shift 3; unset ` + preludeName + `
if [ -n "$f" ]; then exec 3<"$f"; rm -f -- "$f"; elif [ -n "$p" ]; then exec 3<<<"$p"; fi
if [ -n "$s" ]; then exec 4>"$s"; fi
unset s f p
exec "$@"`
	// markScript: what to do (a signal, or list), the beginning of a mark. It looks through what all processes were started with.
	markScript = `for round in 1 2 3 4 5; do
found=
for e in /proc/[0-9]*/environ; do
p=${e#/proc/} p=${p%/environ}
[ "$p" = $$ ] && continue
while IFS= read -r -d "" v; do case $v in ` + markName + `="$2"*)
if [ "$1" = list ]; then IFS= read -r -d "" c </proc/$p/cmdline; printf '%s %s\n' "$p" "$c"; else kill -"$1" "$p"; found=1; fi
break;; esac; done <"$e"
done 2>/dev/null
[ "$1" = KILL ] && [ -n "$found" ] || break
done`
	saveScript = `umask 077; cat >"$1"`
	loadScript = `cat -- "$1"; rm -f -- "$1"`
)

// plain opens a container without a helper in it.
func (b *Backend) plain(_ context.Context, p *place) (sandbox.Sandbox, error) {
	q := &plain{place: p, mark: random(12), slots: make(chan struct{}, plainQueue)}
	q.ctx, q.end = context.WithCancelCause(context.Background())
	q.state = snapshot.New(snapshot.Config{
		Vars: p.vars(), Shell: "bash", Env: p.d.spec.Env, Dir: p.d.Workdir, Lasts: p.d.spec.Persistent, Judge: effect.Judge,
		Prelude: plainPrelude, Write: plainState, Stores: b.conf.Stores,
	})
	e := p.d.Asked
	e.Backend, e.Runner = Name, exposure.Plain
	e.Gaps = append(slices.Clone(e.Gaps), "the helper inside")
	e.Limits = slices.Clone(e.Limits)
	for _, r := range p.d.Risks {
		for _, door := range r.Opens {
			e.Doors.Found(door, exposure.Open, r.Text)
		}
	}
	p.exposure = e
	limits(p, nil, &p.exposure)
	p.exposure.Means = append(p.exposure.Means, "no helper inside: "+p.d.why)
	p.judged = true
	b.log("commands are run by docker exec, without the helper's walls: " + p.d.why)
	return q, nil
}

var errTimeout = errors.New("timed out")

// Run runs a command.
func (q *plain) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	if (c.Text == "") == (len(c.Argv) == 0) {
		return sandbox.Status{}, errors.New("run: a command is either a text or a program")
	}
	q.closing.Lock()
	if q.closed {
		q.closing.Unlock()
		return sandbox.Status{}, sandbox.ErrClosed
	}
	q.work.Add(1)
	q.closing.Unlock()
	defer q.work.Done()
	begin := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(q.ctx, func() { cancel(sandbox.ErrClosed) })()
	if c.Timeout > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
		defer done()
	}
	select {
	case q.slots <- struct{}{}:
		defer func() { <-q.slots }()
	case <-ctx.Done():
		return ended(ctx, sandbox.Status{Wall: time.Since(begin)})
	}
	if c.Text != "" && len(q.d.spec.InitFiles) > 0 {
		q.boot.Do(func() {
			plan := q.state.Bootstrap(q.d.spec.InitFiles, false)
			if _, text, err := q.run(ctx, sandbox.Command{}, plan); err == nil {
				q.state.Bootstrapped(plan, text)
			}
		})
	}
	plan := q.state.Program(c.Argv, c.Env, c.Dir)
	if c.Text != "" {
		plan = q.state.Text(c.Text, c.Env, c.Dir)
	}
	s, written, err := q.run(ctx, c, plan)
	s.Wall = time.Since(begin)
	if err == nil && !s.TimedOut && !s.Interrupted {
		s.Dir, s.Observed = q.state.Apply(plan, written)
	}
	return s, err
}

// ended gives a command that was ended from outside the code a shell would.
func ended(ctx context.Context, s sandbox.Status) (sandbox.Status, error) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, sandbox.ErrClosed):
		return s, sandbox.ErrClosed
	case errors.Is(cause, errTimeout):
		s.Code, s.TimedOut = 124, true
	default:
		s.Code, s.Interrupted = 130, true
	}
	return s, nil
}

// carried makes the variables of one command, which travel through the engine's client.
func carried(env []string, more ...string) environ.List {
	list, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Docker, Server: environ.Parse(append(slices.Clone(env), more...))})
	return list
}

// run runs what was planned, in one call of the engine.
func (q *plain) run(ctx context.Context, c sandbox.Command, plan snapshot.Plan) (s sandbox.Status, written []byte, err error) {
	mark := q.mark + "." + strconv.FormatUint(q.last.Add(1), 10) + "."
	state, prelude := "", ""
	if plan.Write {
		state = "/tmp/.hermes-" + mark + "state"
	}
	env := append(slices.Clone(plan.Env), markName+"="+mark)
	if len(plan.Prelude) > longest {
		prelude = "/tmp/.hermes-" + mark + "prelude"
		if _, err := q.e.do(ctx, call{args: q.inside(saveScript, prelude), in: bytes.NewReader(plan.Prelude)}); err != nil {
			return s, nil, q.broken(err)
		}
	} else if len(plan.Prelude) > 0 {
		env = append(env, preludeName+"="+string(plan.Prelude))
	}
	carry := carried(env)
	args := []string{"exec", "-i"}
	if c.Terminal != nil {
		args = append(args, "-t")
	}
	for _, name := range carry.Names() {
		args = append(args, "-e", name)
	}
	args = append(args, q.held.ID, "bash", "-c", runScript, "bash", plan.Dir, state, prelude)
	spec := child.Spec{
		Program: q.e.program, Args: append(args, plan.Argv...), Env: q.e.client(carry), Dir: "/", Session: true, DieWithParent: diesWithParent,
		Stdio: child.Stdio{In: c.Stdin, Out: c.Stdout, Err: c.Stderr}, End: child.End{Leave: true, Grace: time.Millisecond},
	}
	if c.Terminal != nil {
		spec.Stdio.Terminal, spec.Stdio.Err = &child.Size{Rows: c.Terminal.Rows, Cols: c.Terminal.Cols}, nil
	}
	// The client must outlive the end of the context: what runs inside is asked to end first.
	process, err := child.Start(context.WithoutCancel(ctx), spec)
	if err != nil {
		return s, nil, fmt.Errorf("run: %w", err)
	}
	q.follow(process, c.Resize)
	select {
	case <-process.Done():
	case <-ctx.Done():
		q.kill(c.Grace, mark, process)
		s, err = ended(ctx, s)
		return s, nil, err
	}
	end, err := process.Wait()
	s.Code, s.CPU = end.Exit(), 0
	if s.Code > 128 && s.Code <= 192 {
		s.Signal = s.Code - 128
	}
	if err != nil {
		return s, nil, fmt.Errorf("run: %w", err)
	}
	// An engine's own failure looks like the command's: what counts is whether the container is there.
	if s.Code != 0 {
		if gone := q.there(); gone != nil {
			return s, nil, &sandbox.BrokenError{Backend: Name, Cause: gone}
		}
	}
	if plan.Write {
		written, err = q.e.do(context.WithoutCancel(ctx), call{args: q.inside(loadScript, state)})
		if err != nil {
			written = nil
		}
	}
	return s, written, nil
}

// follow passes on the sizes of a terminal.
func (q *plain) follow(process *child.Process, sizes <-chan sandbox.Size) {
	if sizes == nil {
		return
	}
	go func() {
		for {
			select {
			case size, ok := <-sizes:
				if !ok {
					return
				}
				_ = process.Resize(child.Size(size))
			case <-process.Done():
				return
			}
		}
	}()
}

// inside is the call that runs a script with arguments in the container.
func (q *plain) inside(script string, args ...string) []string {
	return append([]string{"exec", "-i", q.held.ID, "bash", "-c", script, "bash"}, args...)
}

// kill asks what bears a mark to end, and then kills it.
func (q *plain) kill(grace time.Duration, mark string, process *child.Process) {
	if grace == 0 {
		grace = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	if grace > 0 {
		_, _ = q.e.do(ctx, call{args: q.inside(markScript, "TERM", mark)})
		select {
		case <-process.Done():
		case <-time.After(grace):
		}
	}
	_, _ = q.e.do(ctx, call{args: q.inside(markScript, "KILL", mark)})
	select {
	case <-process.Done():
	case <-time.After(time.Second):
		process.Kill()
	}
}

// there tells what became of the container, nil if it runs.
func (q *plain) there() error {
	ctx, cancel := context.WithTimeout(context.Background(), versionTime)
	defer cancel()
	all, err := q.e.inspect(ctx, q.held.ID)
	if err == nil && len(all) == 1 && all[0].State.Running && !all[0].State.Paused {
		return nil
	}
	return errors.New(q.b.became(ctx, q.e, q.held))
}

func (q *plain) broken(err error) error {
	if gone := q.there(); gone != nil {
		return &sandbox.BrokenError{Backend: Name, Cause: fmt.Errorf("%w: %w", gone, err)}
	}
	return err
}

// Left lists what earlier commands left running, as far as it kept its environment.
func (q *plain) Left() (out []sandbox.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	text, err := q.e.do(ctx, call{args: q.inside(markScript, "list", q.mark)})
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		pid, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); err == nil {
			out = append(out, sandbox.Process{PID: n, Command: name})
		}
	}
	return out
}

// Close kills everything that was started through this sandbox and gives the container up. It may be called twice.
func (q *plain) Close(ctx context.Context) error {
	q.closing.Lock()
	first := !q.closed
	q.closed = true
	q.closing.Unlock()
	q.end(sandbox.ErrClosed)
	q.work.Wait()
	if !first {
		return nil
	}
	_, err := q.e.do(ctx, call{args: q.inside(markScript, "KILL", q.mark)})
	q.cleanup()
	if err != nil && q.there() == nil && q.d.Reuse {
		return fmt.Errorf("close docker sandbox: %w", err)
	}
	return nil
}
