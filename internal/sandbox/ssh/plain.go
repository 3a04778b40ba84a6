package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

// plain runs each command in a session of its own over the connection: for machines on which the runner cannot run. What a
// command gets (its environment, what lasts) goes through the session's input, never through an argument.
type plain struct {
	p     *place
	l     *link
	start runner.Start
	tag   string // in the environment of every process of this sandbox
	gate  *sandbox.Gate
	boot  sync.Mutex
	ready bool

	mu   sync.Mutex
	last int
	runs map[string]bool // tags of commands under way
}

// Descriptors of what lasts: a POSIX shell knows those of one digit only.
const (
	plainPrelude = 3
	plainState   = 4
)

// plainQueue is how many sessions a server allows over one connection (MaxSessions 10), less the one that holds it and one to
// end commands with.
const plainQueue = 8

// tagName is the variable the processes of a command are known by, also those that left their group. Its like never lasts.
const tagName = "HERMES_SESSION_RUN"

func newPlain(p *place, l *link, start runner.Start) *plain {
	return &plain{p: p, l: l, start: start, tag: l.tag, gate: sandbox.NewGate(plainQueue), runs: map[string]bool{}}
}

// Done is closed when the connection is over.
func (s *plain) Done() <-chan struct{} { return s.l.dead() }

// Run runs a command.
func (s *plain) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	if c.Terminal != nil {
		return sandbox.Status{}, errors.New("run: a terminal needs the runner, which does not run there")
	}
	return s.gate.Pass(ctx, c, func(ctx context.Context) (sandbox.Status, error) {
		if c.Text != "" {
			s.bootstrap(ctx)
		}
		plan, err := s.p.state.Plan(c)
		if err != nil {
			return sandbox.Status{}, err
		}
		status, written, told, err := s.run(ctx, c, plan)
		if err == nil && told && status.Signal == 0 && !c.Apart {
			status.Dir, status.Observed = s.p.state.Apply(plan, written)
		}
		return status, err
	})
}

// listening is the script of a session: it takes a program from its input, whole, up to a word, and runs it. What follows in the
// input is the command's.
const listening = `IFS= read -r n || exit 0; l=$(printf "\nx"); l=${l%x}; p=; k=; ` +
	`while IFS= read -r i; do if [ "$i" = "$n" ]; then k=1; break; fi; p=$p$i$l; done; [ -n "$k" ] || exit 0; eval "$p"`

// run runs what was planned. told says that the command ran to an end of its own.
func (s *plain) run(ctx context.Context, c sandbox.Command, plan snapshot.Plan) (status sandbox.Status, state []byte, told bool, err error) {
	for again := (patience{}); ; {
		status, state, told, err = s.try(ctx, c, plan)
		if errors.Is(err, errNoSession) {
			if again.wait(ctx, s.l) {
				continue
			}
			if ctx.Err() != nil { // its time was up, or nobody wants it any more, while it waited for its turn
				status, err = sandbox.Ended(ctx, status)
			}
		}
		return status, state, told, err
	}
}

// try runs what was planned, unless the server gives no session for it: then nothing of it has run, nor was any of its input read.
func (s *plain) try(ctx context.Context, c sandbox.Command, plan snapshot.Plan) (status sandbox.Status, state []byte, told bool, err error) {
	word := nonce()
	s.mu.Lock()
	s.last++
	tag := s.tag + "." + strconv.Itoa(s.last) + "."
	s.runs[tag] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.runs, tag)
		s.mu.Unlock()
	}()
	joined := sandbox.SameWriter(c.Stdout, c.Stderr)
	program := s.program(c, plan, word, tag, joined)
	begun, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	in := io.MultiReader(strings.NewReader(word+"\n"+program+"\n"+word+"\n"), &gated{orEmpty(c.Stdin), begun, over})
	spec := s.l.exec(shellLine(quietly(word, listening)))
	bad := &fault{broken: make(chan struct{})}
	out := &upTo{w: guarded{c.Stdout, bad}, mark: []byte("\x00" + word), told: make(chan struct{})}
	errs := &trailer{word: []byte(word), told: make(chan struct{})}
	if !joined {
		errs.w = guarded{c.Stderr, bad}
	}
	before := &tail{limit: 4 << 10}
	spec.Stdio = child.Stdio{In: in, Out: &after{w: out, word: word}, Err: &after{w: errs, word: word, before: before, begun: begun}}
	spec.End = child.End{Grace: -1, Drain: 100 * time.Millisecond}
	process, err := child.Start(context.WithoutCancel(ctx), spec)
	if err != nil {
		return status, nil, false, err
	}
	if c.Signals != nil {
		go s.signal(process, errs, tag, c.Signals)
	}
	soon := func() { // what it left may hold the streams
		select {
		case <-process.Done():
		case <-time.After(300 * time.Millisecond):
			process.Kill()
			<-process.Done()
		}
	}
	cut := false
wait:
	for _, told := range []<-chan struct{}{errs.told, out.told} { // it has ended, and all it said is here
		select {
		case <-process.Done():
			break wait
		case <-told:
		case <-bad.broken:
			s.end(tag, errs.pid(), c.Grace)
			process.Kill()
			break wait
		case <-ctx.Done():
			s.end(tag, errs.pid(), c.Grace)
			cut = true
			break wait
		}
	}
	soon()
	out.flush()
	switch {
	case cut:
		status, err = sandbox.Ended(ctx, status)
		return status, nil, false, err
	case bad.err != nil:
		return status, nil, false, fmt.Errorf("run: write output: %w", bad.err)
	case refusedSession(begun, before):
		return status, nil, false, errNoSession
	}
	return s.result(plan, errs)
}

// result reads how a command ended.
func (s *plain) result(plan snapshot.Plan, errs *trailer) (status sandbox.Status, state []byte, told bool, err error) {
	if !errs.ended {
		return status, nil, false, &sandbox.BrokenError{Backend: Name, Cause: errors.New("the session ended before the command")}
	}
	status.Code = errs.code
	if status.Code > 128 && status.Code <= 128+64 {
		status.Signal = status.Code - 128 // a shell does not tell it from an exit code of the same value
	}
	for _, pid := range errs.left {
		status.Left = append(status.Left, sandbox.Process{PID: pid, Command: plan.Argv[len(plan.Argv)-1], Started: time.Now()})
	}
	return status, errs.state, !errs.refused, nil
}

func orEmpty(r io.Reader) io.Reader {
	if r == nil {
		return strings.NewReader("")
	}
	return r
}

// program is what the session's shell runs: it tells its process id, becomes what the plan says, and tells how that ended.
func (s *plain) program(c sandbox.Command, plan snapshot.Plan, word, tag string, joined bool) string {
	var b strings.Builder
	q := snapshot.Quote
	// The server tells a session that its connection was cut only by being gone.
	b.WriteString("( while sleep 1; do kill -0 $PPID 2>/dev/null || kill -KILL -$$; done ) </dev/null >/dev/null 2>&1 &\n__w=$!\n")
	b.WriteString("__g() { printf '\\n" + word + " %s %s\\n' \"$1\" \"$2\" >&2; }\n")
	b.WriteString("__g pid $$\n")
	b.WriteString("__d=" + q(plan.Dir) + "\n")
	if c.Dir == "" {
		b.WriteString("until cd \"$__d\" 2>/dev/null; do [ \"$__d\" = / ] && break; __d=${__d%/*}; [ -n \"$__d\" ] || __d=/; done\n__c=\n")
	} else {
		b.WriteString("__c=; cd \"$__d\" 2>/dev/null || { __c=126; __g refused .; echo \"hermes: cd: $__d: cannot be entered\"")
		if !joined {
			b.WriteString(" >&2")
		}
		b.WriteString("; }\n")
	}
	// A bash that takes itself for one that sshd started reads other start files than it is told to.
	b.WriteString("unset SSH_CLIENT SSH2_CLIENT SSH_CONNECTION\nexport SHLVL=1\n")
	env := environ.Parse(plan.Env)
	delete(env, "BASH_ENV")
	for name := range s.p.facts.vars {
		if _, ok := env[name]; !ok {
			b.WriteString("unset " + name + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if variable(name) && name != "PWD" && name != "SHLVL" {
			b.WriteString("export " + name + "=" + q(env[name]) + "\n")
		}
	}
	b.WriteString("export " + tagName + "=" + tag + "\n")
	if plan.Prelude != nil {
		text := strings.ReplaceAll(string(plan.Prelude), "exec "+strconv.Itoa(runner.PreludeFD)+"<&-", "exec "+strconv.Itoa(plainPrelude)+"<&-")
		text = strings.ReplaceAll(text, ">&"+strconv.Itoa(runner.StateFD), ">&"+strconv.Itoa(plainState))
		b.WriteString("exec 3<<'" + word + "p'\n" + text + "\n" + word + "p\n")
		b.WriteString("export BASH_ENV=/dev/fd/3\n")
	}
	if plan.Write {
		// The state has no name, so that nobody else reads it and nothing of it stays.
		b.WriteString("__t=${TMPDIR:-/tmp}/" + word + "\n( umask 077; mkdir \"$__t\" && : >\"$__t/s\" ) && exec 4>\"$__t/s\" 5<\"$__t/s\"; rm -rf \"$__t\"\n")
	}
	b.WriteString("unset __d __t\n[ -n \"$__c\" ] || { ")
	for _, arg := range plan.Argv {
		b.WriteString(q(arg) + " ")
	}
	if c.Stdin == nil {
		b.WriteString("</dev/null ")
	}
	if joined {
		b.WriteString("2>&1 ")
	}
	if plan.Write {
		b.WriteString("5<&-")
	}
	b.WriteString("\n__c=$?; }\nexec 3<&- 4>&-\nkill $__w 2>/dev/null\nunset " + tagName + "\n")
	b.WriteString("for __f in $(grep -l -s -F " + tagName + "=" + tag + " /proc/[0-9]*/environ); do __f=${__f#/proc/}; __g left ${__f%/environ}; done\n")
	if plan.Write {
		b.WriteString("__g state .\ncat <&5 >&2\n")
	}
	b.WriteString("printf '\\000" + word + "'\n__g end $__c\nexit $__c")
	return b.String()
}

// variable tells whether a shell takes a name; functions in the environment have others.
func variable(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// ending kills whoever carries a tag, again and again until nobody does; where processes cannot be looked at, a group.
func ending(tag, signal string, pid int, rounds int) string {
	return `[ -r /proc/self/environ ] || { [ ` + strconv.Itoa(pid) + ` -gt 1 ] && kill -` + signal + ` -` + strconv.Itoa(pid) + `; exit 0; }; i=0; ` +
		`while [ $i -lt ` + strconv.Itoa(rounds) + ` ]; do n=; for f in $(grep -l -s -F ` + tagName + `=` + tag + ` /proc/[0-9]*/environ); do f=${f#/proc/}; ` +
		`kill -` + signal + ` ${f%/environ} 2>/dev/null; kill -CONT ${f%/environ} 2>/dev/null; n=1; done; [ -n "$n" ] || exit 0; i=$((i+1)); done; exit 1`
}

// end asks a command's tree to end, and kills it.
func (s *plain) end(tag string, pid int, grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell+max(grace, 0))
	defer cancel()
	if grace == 0 {
		if grace = s.p.b.conf.Grace; grace == 0 {
			grace = 2 * time.Second
		}
	}
	if grace > 0 {
		_, _ = s.l.run(ctx, ending(tag, "TERM", pid, 1), nil, 4<<10)
		script := `i=0; while [ $i -lt ` + strconv.Itoa(int(grace/(50*time.Millisecond))+1) + ` ]; do [ -z "$(grep -l -s -F ` + tagName + `=` + tag +
			` /proc/[0-9]*/environ)" ] && exit 0; sleep 0.05 || sleep 1; i=$((i+1)); done`
		_, _ = s.l.run(ctx, script, nil, 4<<10)
	}
	_, _ = s.l.run(ctx, ending(tag, "KILL", pid, 300), nil, 4<<10)
}

// signal passes signals on to a command: to those of its processes that are in its group, or to all of them. The session's own
// shell is in that group, too, and must not get them.
func (s *plain) signal(process *child.Process, errs *trailer, tag string, signals <-chan sandbox.Signal) {
	for {
		select {
		case sig, ok := <-signals:
			if !ok {
				return
			}
			if sig.Number < 1 || sig.Number > 64 {
				continue
			}
			for errs.pid() == 0 { // it has not begun
				select {
				case <-process.Done():
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
			group := `[ "$3" = ` + strconv.Itoa(errs.pid()) + ` ] && `
			if sig.Tree {
				group = ""
			}
			ctx, cancel := context.WithTimeout(context.Background(), farewell)
			_, _ = s.l.run(ctx, `for f in $(grep -l -s -F `+tagName+`=`+tag+` /proc/[0-9]*/environ); do f=${f#/proc/}; f=${f%/environ}; `+
				`s=$(cat /proc/$f/stat 2>/dev/null); set -- ${s##*\) }; `+group+`kill -`+strconv.Itoa(sig.Number)+` "$f" 2>/dev/null; done; exit 0`, nil, 4<<10)
			cancel()
		case <-process.Done():
			return
		}
	}
}

// bootstrap is what the runner's client does; see there.
func (s *plain) bootstrap(ctx context.Context) {
	s.boot.Lock()
	defer s.boot.Unlock()
	if s.ready || !s.start.Login && len(s.start.Files) == 0 {
		return
	}
	defer func() { s.ready = ctx.Err() == nil }()
	ctx, cancel := sandbox.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	plan := s.p.state.Bootstrap(s.start.Files, s.start.Login)
	plan.Argv = slices.Clone(plan.Argv)
	last := &plan.Argv[len(plan.Argv)-1]
	*last = strings.ReplaceAll(*last, ">&"+strconv.Itoa(runner.StateFD), ">&"+strconv.Itoa(plainState))
	_, text, _, err := s.run(ctx, sandbox.Command{Grace: -1}, plan)
	if err != nil || !s.p.state.Bootstrapped(plan, text) {
		s.p.b.log("the login shell does not get to its end: commands run without its start files")
	}
}

// Left lists what commands that have ended left running.
func (s *plain) Left() (out []sandbox.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	text, err := s.l.run(ctx, `for f in $(grep -l -s -F `+tagName+`=`+s.tag+`. /proc/[0-9]*/environ); do f=${f#/proc/}; f=${f%/environ}; `+
		`printf "%s %s %s\n" "$f" "$(tr "\000" "\n" </proc/$f/environ | grep `+tagName+`= | cut -d = -f 2)" "$(tr "\000\n" "  " </proc/$f/cmdline)"; done`, nil, 1<<20)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		tag, command, _ := strings.Cut(rest, " ")
		if pid, err := strconv.Atoi(id); err == nil && !s.runs[tag] {
			out = append(out, sandbox.Process{PID: pid, Command: command, Started: time.Now()})
		}
	}
	return out
}

// Close kills what runs and what was left.
func (s *plain) Close(ctx context.Context) error {
	if !s.gate.Close() {
		return nil
	}
	select {
	case <-s.l.dead(): // each command's own watch sees to what it started
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if _, err := s.l.run(ctx, ending(s.tag+".", "KILL", 0, 300), nil, 4<<10); err != nil {
		return fmt.Errorf("close ssh sandbox: %w", err)
	}
	return nil
}

// fault is the first error of writing output.
type fault struct {
	once   sync.Once
	err    error         // set before broken is closed
	broken chan struct{} // closed then
}

// guarded is a writer that never fails but remembers that it did: whoever reads goes on to the end.
type guarded struct {
	w   io.Writer
	bad *fault
}

func (g guarded) Write(p []byte) (int, error) {
	select {
	case <-g.bad.broken:
		return len(p), nil
	default:
	}
	if g.w == nil {
		return len(p), nil
	}
	if _, err := g.w.Write(p); err != nil {
		g.bad.once.Do(func() {
			g.bad.err = err
			close(g.bad.broken)
		})
	}
	return len(p), nil
}

// upTo passes on what a command prints, up to a mark that the session's own shell sets behind it.
type upTo struct {
	w    io.Writer // never fails
	mark []byte
	told chan struct{} // closed when the mark has come
	held []byte        // what the mark may begin with
	over bool
}

// Write takes what comes. It never fails.
func (u *upTo) Write(p []byte) (int, error) {
	if u.over { // what it left running says something
		return len(p), nil
	}
	u.held = append(u.held, p...)
	if at := bytes.Index(u.held, u.mark); at >= 0 {
		_, _ = u.w.Write(u.held[:at])
		u.over, u.held = true, nil
		close(u.told)
		return len(p), nil
	}
	keep := min(len(u.mark)-1, len(u.held))
	for !bytes.HasPrefix(u.mark, u.held[len(u.held)-keep:]) {
		keep--
	}
	if pass := len(u.held) - keep; pass > 0 {
		_, _ = u.w.Write(u.held[:pass])
		u.held = append(u.held[:0], u.held[pass:]...)
	}
	return len(p), nil
}

// flush passes on what was held back, once nothing comes any more.
func (u *upTo) flush() {
	if len(u.held) > 0 {
		_, _ = u.w.Write(u.held)
	}
	u.held = nil
}

// gated is an input that is not read before a session has begun.
type gated struct {
	r           io.Reader
	begun, over <-chan struct{}
}

func (g *gated) Read(p []byte) (int, error) {
	select {
	case <-g.begun:
		return g.r.Read(p)
	case <-g.over:
		return 0, io.EOF
	}
}

// trailer passes on what a command says on its standard error, and takes out what the session's own shell tells there: lines
// that begin with a word nobody can foresee.
type trailer struct {
	w    io.Writer // never fails; nil: nobody
	word []byte
	told chan struct{} // closed when the end was told

	mu      sync.Mutex
	held    []byte
	leader  int
	left    []int
	code    int
	ended   bool
	refused bool
	stating bool
	state   []byte
}

func (t *trailer) pid() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leader
}

// Write takes what comes. It never fails.
func (t *trailer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = append(t.held, p...)
	mark := append([]byte{'\n'}, t.word...)
	for {
		at := bytes.Index(t.held, mark)
		if at < 0 {
			keep := len(mark) - 1
			if i := bytes.LastIndexByte(t.held, '\n'); i < 0 || len(t.held)-i > keep {
				keep = 0
			} else {
				keep = len(t.held) - i
			}
			t.pass(t.held[:len(t.held)-keep])
			t.held = append(t.held[:0], t.held[len(t.held)-keep:]...)
			return len(p), nil
		}
		end := bytes.IndexByte(t.held[at+1:], '\n')
		if end < 0 {
			t.pass(t.held[:at])
			t.held = append(t.held[:0], t.held[at:]...)
			return len(p), nil
		}
		t.pass(t.held[:at])
		t.line(string(t.held[at+1+len(t.word) : at+1+end]))
		t.held = append(t.held[:0], t.held[at+1+end+1:]...)
	}
}

func (t *trailer) pass(p []byte) {
	switch {
	case len(p) == 0:
	case t.stating:
		if len(t.state) < maxState {
			t.state = append(t.state, p...)
		}
	case t.w != nil:
		_, _ = t.w.Write(p)
	}
}

// maxState bounds what lasts of a session.
const maxState = 4 << 20

func (t *trailer) line(text string) {
	key, value, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, _ := strconv.Atoi(value)
	switch key {
	case "pid":
		t.leader = n
	case "left":
		t.left = append(t.left, n)
	case "refused":
		t.refused = true
	case "state":
		t.stating, t.state = true, []byte{}
	case "end":
		if !t.ended {
			t.code, t.ended, t.stating = n, true, false
			close(t.told)
		}
	}
}
