package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/snapshot"
)

// plain is a sandbox without a helper inside: the engine's client is started for each command. It costs an engine's call each
// time, and the walls the helper would put up are missing, which the exposure says.
type plain struct {
	p     *place // which has no client: nothing of a helper's is promised
	state *snapshot.State
	mark  string // of everything that is started through it
	last  atomic.Uint64
	gate  *sandbox.Gate
	boot  sync.Once
}

var _ sandbox.Sandbox = (*plain)(nil)

const (
	plainPrelude = 3
	plainState   = 4
	plainQueue   = 16
	longest      = 16 << 10      // of a message that is read from a pipe
	markName     = "HERMES_MARK" // the one variable that stands in the client's command line; its value is no secret
)

// Scripts run inside. Their arguments follow them. What they write lies in memory; names begin with what no variable of the
// owner's begins with.
const (
	// placeScript chooses the folder of what is written, by its end.
	placeScript = `_hermes_t=/dev/shm; [ -d "$_hermes_t" ] && [ -w "$_hermes_t" ] || _hermes_t=/tmp
`
	// runScript: file of the message or "" for the standard input. The message is, each ended by a zero byte: the directory, "1"
	// where the nearest that is there will do, "1" where both outputs are one, the file of the state or "", the prelude, the number
	// of words of the command and these, NAME=value for each variable, and an empty one. It is read no byte further. Nothing of the
	// environment of this shell lasts, and variables are set last: what some of them change in it does no harm any more.
	runScript = placeScript + `_hermes_f=$1
if [ -n "$_hermes_f" ]; then exec 5<"$_hermes_t/$_hermes_f" || exit 126; rm -f -- "$_hermes_t/$_hermes_f"; else exec 5<&0; fi
_hermes_r() { IFS= LC_ALL=C read -r -d "" -u 5 "_hermes_$1"; }
_hermes_r d && _hermes_r n && _hermes_r m && _hermes_r s && _hermes_r p && _hermes_r c || exit 126
_hermes_a=() _hermes_e=()
while [ "$_hermes_c" -gt 0 ]; do _hermes_r v || exit 126; _hermes_a+=("$_hermes_v"); _hermes_c=$((_hermes_c-1)); done
while _hermes_r v && [ -n "$_hermes_v" ]; do _hermes_e+=("$_hermes_v"); done
exec 5<&-
while [ -n "$_hermes_n" ] && [ "$_hermes_d" != / ] && ! [ -e "$_hermes_d" ]; do _hermes_d=${_hermes_d%/*}; _hermes_d=${_hermes_d:-/}; done
cd -- "$_hermes_d" || exit 126
if [ -n "$_hermes_p" ]; then exec 3<<<"$_hermes_p"; fi
if [ -n "$_hermes_s" ]; then exec 4>"$_hermes_t/$_hermes_s" || exit 126; fi
if [ -n "$_hermes_m" ]; then exec 2>&1; fi
unset -f _hermes_r
for _hermes_v in $(compgen -e); do unset -v "$_hermes_v"; done 2>/dev/null
for _hermes_v in "${_hermes_e[@]}"; do declare -x -- "$_hermes_v"; done 2>/dev/null
[ -v PATH ] || PATH=` + standard + `
exec -- "${_hermes_a[@]}"`
	// sendScript: a signal, a mark, "tree" or "". It reaches the group of what the engine started, or everything with the mark.
	sendScript = `for e in /proc/[0-9]*/environ; do
p=${e#/proc/} p=${p%/environ}
while IFS= read -r -d "" v; do if [ "$v" = ` + markName + `="$2" ]; then
IFS= read -r s </proc/$p/stat; s=(${s##*) })
if [ "$3" = tree ]; then kill -"$1" "$p" && echo sent; elif [ "${s[1]}" = 0 ]; then kill -"$1" -- -"${s[2]}" && echo sent; fi
break; fi; done <"$e"
done 2>/dev/null; :`
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
	saveScript  = placeScript + `umask 077; cat >"$_hermes_t/$1"`
	loadScript  = placeScript + `cat -- "$_hermes_t/$1"; rm -f -- "$_hermes_t/$1"`
	closeScript = `rm -f -- /dev/shm/.hermes-"$2"* /tmp/.hermes-"$2"*
` + markScript
)

// plain opens a container without a helper in it.
func (b *Backend) plain(ctx context.Context, p *place) (sandbox.Sandbox, error) {
	q := &plain{p: p, mark: random(12), gate: sandbox.NewGate(plainQueue)}
	q.state = snapshot.New(snapshot.Config{
		Vars: p.vars(), Shell: "bash", Env: p.d.spec.Env, Dir: p.d.Workdir, Lasts: p.d.spec.Persistent, Judge: effect.Judge,
		Prelude: plainPrelude, Write: plainState, Stores: b.conf.Stores,
	})
	e := p.d.Asked
	e.Backend, e.Runner = Name, exposure.Plain
	e.Gaps = append(slices.Clone(e.Gaps), "the helper inside")
	if p.e.far() {
		e.Place = "the engine's machine"
	}
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
	if err := p.leave(ctx); err != nil {
		p.abandon(ctx)
		return nil, err
	}
	b.log("commands are run by docker exec, without the helper's walls: " + p.d.why)
	return q, nil
}

// Exposure returns what was read back.
func (q *plain) Exposure() exposure.Exposure { return q.p.Exposure() }

// Walls says in one line what it is made of.
func (q *plain) Walls() string { return q.p.Walls() }

// Container returns the container's name.
func (q *plain) Container() string { return q.p.Container() }

// Run runs a command.
func (q *plain) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	return q.gate.Pass(ctx, c, func(ctx context.Context) (sandbox.Status, error) {
		if c.Text != "" && len(q.p.d.spec.InitFiles) > 0 {
			q.boot.Do(func() {
				plan := q.state.Bootstrap(q.p.d.spec.InitFiles, false)
				if _, text, err := q.run(ctx, sandbox.Command{}, plan); err == nil {
					q.state.Bootstrapped(plan, text)
				}
			})
		}
		plan, err := q.state.Plan(c)
		if err != nil {
			return sandbox.Status{}, err
		}
		s, written, err := q.run(ctx, c, plan)
		if err == nil && !s.TimedOut && !s.Interrupted && !c.Apart {
			s.Dir, s.Observed = q.state.Apply(plan, written)
		}
		return s, err
	})
}

// message is what runScript reads before the command's own input. What travels this way stands in no command line and in nothing
// an engine keeps, and comes as it is, byte for byte.
func message(p snapshot.Plan, near, merged bool, state string, env []string) ([]byte, error) {
	yes := map[bool]string{true: "1"}
	// The shell adds a new line to the prelude.
	words := []string{p.Dir, yes[near], yes[merged], state, strings.TrimSuffix(string(p.Prelude), "\n"), strconv.Itoa(len(p.Argv))}
	words = append(words, p.Argv...)
	for _, pair := range env {
		if name, _, ok := strings.Cut(pair, "="); ok && isName(name) { // no shell could set another
			words = append(words, pair)
		}
	}
	var out bytes.Buffer
	for _, w := range append(words, "") {
		if strings.IndexByte(w, 0) >= 0 {
			return nil, errors.New("run: a zero byte in the command, its directory or its variables")
		}
		out.WriteString(w)
		out.WriteByte(0)
	}
	return out.Bytes(), nil
}

// isName tells whether a shell can have such a variable.
func isName(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// run runs what was planned, in one call of the engine.
func (q *plain) run(ctx context.Context, c sandbox.Command, plan snapshot.Plan) (s sandbox.Status, written []byte, err error) {
	mark := q.mark + "." + strconv.FormatUint(q.last.Add(1), 10) + "."
	state, file := "", ""
	if plan.Write {
		state = ".hermes-" + mark + "state"
	}
	merged := c.Terminal == nil && sandbox.SameWriter(c.Stdout, c.Stderr)
	text, err := message(plan, c.Dir == "", merged, state, append(slices.Clone(plan.Env), markName+"="+mark))
	if err != nil {
		return s, nil, err
	}
	in := io.Reader(bytes.NewReader(text))
	switch {
	case c.Terminal != nil, len(text) > longest: // a terminal would show what is typed; from a pipe it would be read byte by byte
		file = ".hermes-" + mark + "message"
		if _, err := q.p.e.do(ctx, call{args: q.inside(saveScript, file), in: in}); err != nil {
			if ctx.Err() != nil {
				s, err = sandbox.Ended(ctx, s)
				return s, nil, err
			}
			return s, nil, q.broken(err)
		}
		in = c.Stdin
	case c.Stdin != nil:
		in = io.MultiReader(in, c.Stdin)
	}
	args := []string{"exec", "-i"}
	if c.Terminal != nil {
		args = append(args, "-t")
	}
	args = append(args, "-e", markName+"="+mark, q.p.held.ID, "bash", "-c", runScript, "bash", file)
	spec := child.Spec{
		Program: q.p.e.program, Args: args, Env: q.p.e.client(noVariables), Dir: "/", Session: true, DieWithParent: diesWithParent,
		Stdio: child.Stdio{In: in, Out: c.Stdout, Err: c.Stderr}, End: child.End{Leave: true, Grace: time.Millisecond},
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
	q.pass(process, mark, c.Signals)
	select {
	case <-process.Done():
	case <-ctx.Done():
		q.kill(c.Grace, mark, process)
		s, err = sandbox.Ended(ctx, s)
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
	// An engine's own failure looks like the command's: what counts is whether the container is there. Only engines' clients end
	// with these codes; with any other the command itself has ended.
	if s.Code == 1 || s.Code >= 125 {
		if gone := q.there(); gone != nil {
			return s, nil, &sandbox.BrokenError{Backend: Name, Cause: gone}
		}
	}
	if plan.Write {
		written, err = q.p.e.do(context.WithoutCancel(ctx), call{args: q.inside(loadScript, state)})
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

// sendTime is how long a command is looked for that a signal is meant for.
const sendTime = 2 * time.Second

// pass passes signals on, each with a call of the engine.
func (q *plain) pass(process *child.Process, mark string, signals <-chan sandbox.Signal) {
	if signals == nil {
		return
	}
	go func() {
		for {
			select {
			case s, ok := <-signals:
				if !ok {
					return
				}
				q.send(process, mark, s)
			case <-process.Done():
				return
			}
		}
	}()
}

func (q *plain) send(process *child.Process, mark string, s sandbox.Signal) {
	if s.Number < 1 || s.Number > 64 {
		return
	}
	tree := ""
	if s.Tree {
		tree = "tree"
	}
	ctx, cancel := context.WithTimeout(q.gate.Context(), sendTime)
	defer cancel()
	for ctx.Err() == nil {
		if text, err := q.p.e.do(ctx, call{args: q.inside(sendScript, strconv.Itoa(s.Number), mark, tree)}); err != nil || len(text) > 0 {
			return
		}
		select { // it has not begun yet
		case <-process.Done():
			return
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// inside is the call that runs a script with arguments in the container.
func (q *plain) inside(script string, args ...string) []string {
	return append([]string{"exec", "-i", q.p.held.ID, "bash", "-c", script, "bash"}, args...)
}

// kill asks what bears a mark to end, and then kills it.
func (q *plain) kill(grace time.Duration, mark string, process *child.Process) {
	if grace == 0 {
		grace = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	if grace > 0 {
		_, _ = q.p.e.do(ctx, call{args: q.inside(markScript, "TERM", mark)})
		select {
		case <-process.Done():
		case <-time.After(grace):
		}
	}
	_, _ = q.p.e.do(ctx, call{args: q.inside(markScript, "KILL", mark)})
	select {
	case <-process.Done():
	case <-time.After(time.Second):
		process.Kill()
	}
}

// there tells what became of the container, nil if it runs.
func (q *plain) there() error {
	ctx, cancel := context.WithTimeout(context.Background(), queryTime) // an engine that has much to do takes long
	defer cancel()
	all, err := q.p.e.inspect(ctx, q.p.held.ID)
	if err == nil && len(all) == 1 && all[0].State.Running && !all[0].State.Paused {
		return nil
	}
	return errors.New(q.p.b.became(ctx, q.p.e, q.p.held))
}

func (q *plain) broken(err error) error {
	if gone := q.there(); gone != nil {
		return &sandbox.BrokenError{Backend: Name, Cause: fmt.Errorf("%w: %w", gone, err)}
	}
	return err
}

// Kept implements sandbox.Keeper.
func (q *plain) Kept() sandbox.Kept { return q.state.Kept() }

// Left lists what earlier commands left running, as far as it kept its environment.
func (q *plain) Left() (out []sandbox.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	text, err := q.p.e.do(ctx, call{args: q.inside(markScript, "list", q.mark)})
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
	if !q.gate.Close() {
		return nil
	}
	q.p.wanted()
	_, err := q.p.e.do(ctx, call{args: q.inside(closeScript, "KILL", q.mark)})
	q.p.cleanup()
	if err != nil && q.there() == nil && q.p.d.Reuse {
		return fmt.Errorf("close docker sandbox: %w", err)
	}
	return nil
}
