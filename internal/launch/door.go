package launch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/redact"
	"hermes/internal/sandbox"
	"hermes/internal/shell"
)

// Door runs commands. It is safe for concurrent use.
type Door struct {
	o     Options
	board board

	mu     sync.Mutex // guards what follows
	rules  Rules
	strict *command.Checker // the rules without the allow-list
	asks   *command.Checker // the globs of Required, as if they were denied
}

// New makes a Door.
func New(o Options) *Door { return &Door{o: o} }

// Run runs one command, or refuses it: then Result says so, and nothing of it has run. An error means that it could not be
// run, or not to its end, for another reason; Result holds what is known then.
func (d *Door) Run(ctx context.Context, c Call) (Result, error) {
	text, err := c.text()
	if err != nil {
		return Result{}, err
	}
	p, err := d.o.Policy()
	if err != nil {
		return Result{}, fmt.Errorf("run: %w", err)
	}
	if p.Redact == nil {
		p.Redact = redact.New(redact.Options{})
	}
	j := &journey{d: d, c: c, p: p, text: text}
	j.r = Result{ID: newID(), Command: p.Redact.With(redact.Strict).String(text), Backend: c.Place.Backend(), Dir: c.Dir}
	if j.r.Dir == "" {
		j.r.Dir = c.Place.dir()
	}
	j.env, j.r.Notes = p.Environ.Build(c.request())
	return j.run(ctx)
}

// text returns what is judged.
func (c *Call) text() (string, error) {
	switch {
	case c.Place == nil:
		return "", errors.New("run: no place to run in")
	case c.Session.IsZero():
		return "", errors.New("run: no session")
	case (c.Text == "") == (len(c.Argv) == 0):
		return "", errors.New("run: either a text or a program is needed")
	case len(c.Argv) > 0 && c.Argv[0] == "":
		return "", errors.New("run: the program has no name")
	case c.Inner != nil && (c.Inner.Text == "" || c.Inner.Talk == nil || c.Argv == nil || strings.ContainsRune(c.Inner.Text, 0)):
		return "", errors.New("run: a program around another text needs that text, as one without NUL bytes, and somebody to talk to")
	case strings.ContainsRune(c.Text, 0) || slices.ContainsFunc(c.Argv, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return "", errors.New("run: a NUL byte cannot be part of a command")
	case c.Inner != nil:
		return c.Inner.Text, nil
	case c.Text != "":
		return c.Text, nil
	}
	return Quote(c.Argv), nil
}

func (c *Call) given() []string {
	if c.Inner == nil {
		return nil
	}
	return c.Inner.Given
}

func (c *Call) request() environ.Request {
	r := c.Env
	if len(c.Extra) > 0 {
		extra := make(map[string]string, len(r.Extra)+len(c.Extra))
		for _, from := range []map[string]string{r.Extra, c.Extra} {
			for name, value := range from {
				extra[name] = value
			}
		}
		r.Extra = extra
	}
	return r
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return hex.EncodeToString(b)
}

// journey is one command on its way.
type journey struct {
	d    *Door
	c    Call
	p    Policy
	text string
	env  environ.List
	box  sandbox.Sandbox
	r    Result

	judged  uint64          // the version of what earlier commands have left that it is judged with
	lent    []string        // variables of the text that earlier commands have set
	changed map[string]bool // functions and aliases that they have
	denied  []string        // hosts that a person has refused to it; the Place's lock guards it
	fed     []guard.Finding // what it would have others run that run already

	looks   sync.Mutex // guards what follows, which others look at while it runs
	reads   map[string]seen
	prog    *shell.Program
	against command.Facts
}

func (j *journey) ref() audit.Ref { return audit.Ref{ID: j.r.ID, Session: j.c.Session.String()} }

// read says what the command would run by now.
func (j *journey) read() (shell.Program, command.Facts, guard.Verdict) {
	j.looks.Lock()
	j.reads = nil
	j.looks.Unlock()
	facts := j.facts()
	prog := j.p.Rules.Parse(j.text, facts, j.c.given()...)
	prog.Defined = append(slices.DeleteFunc(prog.Defined, func(name string) bool { return !j.changed[name] }), j.lent...)
	if j.fed = nil; j.c.Place.hostFiles() {
		j.fed = j.feeds(&prog)
	}
	verdict := j.d.judge(j.p.Rules, &prog, facts)
	if len(j.fed) > 0 {
		verdict = guard.Strictest(verdict, guard.Judge(j.fed))
	}
	j.looks.Lock()
	defer j.looks.Unlock()
	j.prog, j.against = &prog, facts
	return prog, facts, verdict
}

func (j *journey) run(ctx context.Context) (Result, error) {
	prog, facts, verdict := j.read()
	j.r.Verdict = verdict
	if j.r.Verdict.Action != guard.Block {
		if err := j.open(ctx); err != nil {
			return j.r, err
		}
	}
	shown := prog
	if len(j.fed) > 0 { // it does more than its text says: no grant is for that
		shown.Defined = append(slices.Clip(shown.Defined), "what runs already")
	}
	j.r.Decision = j.d.o.Desk.Decide(ctx, approval.Request{
		Session: j.c.Session, Command: j.text, Dir: j.r.Dir, Backend: j.r.Backend, Program: &shown, Verdict: j.r.Verdict,
		Judge: func(entries []string) guard.Verdict {
			r := j.p.Rules
			r.Allow = slices.Concat(r.Allow, entries)
			v := r.Judge(&prog, facts)
			if len(j.fed) > 0 {
				v = guard.Strictest(v, guard.Judge(j.fed))
			}
			return v
		},
		Exposure: j.r.Exposure, Presence: j.c.Presence, Platform: j.c.Platform, Prompter: j.c.Prompter, Own: j.c.Own,
	})
	if w := j.r.Decision.Warning; w != "" {
		j.r.Warnings = append(j.r.Warnings, w)
	}
	if err := j.record(); err != nil {
		j.r.Decision = approval.Decision{Outcome: approval.Refused, Verdict: j.r.Verdict, By: "policy",
			Message: "BLOCKED: the decision could not be written to the audit log, and what is not written down does not run.",
			Remedy:  "make room on the disk, or see `hermes audit verify`"}
		return j.r, err
	}
	if j.r.Refused() {
		return j.r, nil
	}
	return j.execute(ctx, &prog)
}

// open opens the sandbox: what it exposes decides whether a question is needed.
func (j *journey) open(ctx context.Context) error {
	box, err := j.c.Place.open(ctx, j.env)
	if err != nil {
		err = fmt.Errorf("run %q: %w", shorten(j.r.Command), err)
		refused := audit.Decision{Verdict: guard.Block.String(), Reason: err.Error(), By: "policy", How: "no sandbox", Backend: j.r.Backend}
		return errors.Join(err, j.d.o.Log.Decide(j.ref(), j.text, refused))
	}
	j.box, j.r.Exposure = box, j.c.Place.exposure(box)
	return nil
}

// record writes the decision down.
func (j *journey) record() error {
	v, d := j.r.Verdict, j.r.Decision
	rec := audit.Decision{
		Verdict: d.Action.String(), Tier: v.Tier.String(), Rule: v.Rule, Reason: v.Reason, Harms: v.Harms.List(), By: d.By,
		How: string(d.Outcome), Backend: j.r.Backend,
	}
	if d.Outcome == approval.Answered {
		rec.How += ", " + d.Choice.String()
	}
	if j.box != nil {
		rec.Exposure = j.r.Exposure.Summary()
	}
	return j.d.o.Log.Decide(j.ref(), j.text, rec)
}

// execute runs what may run.
func (j *journey) execute(ctx context.Context, prog *shell.Program) (Result, error) {
	// Another command of the session may have changed the directory since: what was judged, and perhaps approved, is bound to it.
	if now := j.c.Place.dir(); j.c.Dir == "" && now != j.r.Dir {
		err := fmt.Errorf("run %q: the session has left the directory %q, in which it was judged: run it again", shorten(j.r.Command), j.r.Dir)
		return j.r, errors.Join(err, j.d.o.Log.Finish(j.ref(), audit.Result{Backend: j.r.Backend, Error: err.Error()}))
	}
	out := j.newOutput()
	cmd := sandbox.Command{
		ID: j.r.ID, Text: j.c.Text, Argv: j.c.Argv, Dir: j.c.Dir, Env: j.c.Place.since(j.env), Stdin: j.c.Stdin, Stdout: out.stdout, Stderr: out.stderr,
		Terminal: j.c.Terminal, Resize: j.c.Resize, Timeout: j.c.Timeout, Apart: j.c.Apart,
		Judged: j.judged,
	}
	if j.p.Sudo != nil && j.r.Backend == "local" && cmd.Text != "" {
		cmd.Text, cmd.Stdin, j.r.Sudo = withPassword(prog, *j.p.Sudo, cmd.Stdin)
	}
	sudo := &listener{w: cmd.Stderr}
	if j.r.Sudo > 0 {
		if cmd.Stdout == cmd.Stderr {
			cmd.Stdout = sudo
		}
		cmd.Stderr = sudo
	}
	if cmd.Dir == "" {
		cmd.Dir = j.c.Place.here()
	}
	over := j.d.board.begin(j) // from now on others are judged with it
	defer over()
	if j.moved() && !j.still(prog) {
		err := fmt.Errorf("run %q: what it would run is not what it was judged with: a script was changed meanwhile; run it again", shorten(j.r.Command))
		return j.r, errors.Join(err, j.d.o.Log.Finish(j.ref(), audit.Result{Backend: j.r.Backend, Error: err.Error()}))
	}
	j.r.Ran = true
	if j.c.Started != nil {
		j.c.Started(Started{Result: j.r, Program: prog, Held: out.held, Clean: out.clean.String})
	}
	end := j.c.Place.begin(j)
	run := ctx
	if j.c.Unbound != nil { // the sandbox cannot be told later that it holds no more
		var over func()
		run, over = sandbox.WithLiftable(ctx, cmd.Timeout, j.c.Unbound)
		defer over()
		cmd.Timeout = 0
	}
	status, err := j.box.Run(run, cmd)
	for tries := 0; errors.Is(err, sandbox.ErrChanged) && tries < maxChanges && j.still(prog); tries++ {
		cmd.Judged = j.judged
		status, err = j.box.Run(run, cmd)
	}
	end()
	j.r.Ran = !errors.Is(err, sandbox.ErrChanged)
	j.r.Status = status
	j.r.Warnings = append(j.r.Warnings, status.Notices...)
	err = errors.Join(err, out.close())
	j.r.Bytes = out.bytes()
	j.c.Place.after(j.box, status, err, j.c.Apart)
	if j.c.Dir == "" && err == nil {
		j.settle(ctx, cmd.Dir)
	}
	if sudo.heard() {
		j.r.Warnings = append(j.r.Warnings, "sudo did not take SUDO_PASSWORD; set the right one with `hermes config set SUDO_PASSWORD -`")
	}
	rec := audit.Result{Exit: status.Code, Duration: status.Wall, Bytes: j.r.Bytes, Backend: j.r.Backend, Exposure: j.r.Exposure.Summary()}
	switch {
	case err != nil:
		err = fmt.Errorf("run %q: %w", shorten(j.r.Command), err)
		rec.Error = err.Error()
	case status.TimedOut:
		rec.Error = timedOut(j.c.Timeout)
		j.r.Warnings = append(j.r.Warnings, rec.Error)
	case status.Interrupted:
		rec.Error = "interrupted"
	}
	if lost := j.d.o.Log.Finish(j.ref(), rec); lost != nil {
		j.r.Warnings = append(j.r.Warnings, "the command has run, but its result is missing in the audit log: "+lost.Error())
	}
	return j.r, err
}

// maxChanges is how often a command is judged again because others have changed the session's shell before it could start.
const maxChanges = 8

// still tells whether a command that has not run because the session's shell has changed is judged as it was. What somebody allowed
// who was shown what earlier commands make of it is not what they make of it now.
func (j *journey) still(was *shell.Program) bool {
	if j.r.Decision.Outcome != approval.Clean && len(was.Defined) > 0 {
		return false
	}
	now, _, v := j.read()
	same := func(a, b guard.Finding) bool {
		return a.Rule == b.Rule && a.Tier == b.Tier && a.Start == b.Start && a.End == b.End && a.Runs == b.Runs
	}
	return v.Action == j.r.Verdict.Action && slices.EqualFunc(v.Findings, j.r.Verdict.Findings, same) && slices.Equal(now.Defined, was.Defined)
}

// settle sees to it that the session's directory is known. One that is gone is left for where commands start then: the command, which
// was judged for the one that is gone, has not run.
func (j *journey) settle(ctx context.Context, dir string) {
	switch {
	case dir != "" && j.r.Status.Code == 126 && !j.r.Status.Observed:
		if now := j.c.Place.learn(ctx, j.box, j.env); now != "" && now != dir {
			j.r.Warnings = append(j.r.Warnings, fmt.Sprintf("the directory %s is gone or cannot be entered, so it was not run; the session is in %s now", dir, now))
		}
	case j.c.Place.lost():
		j.c.Place.learn(ctx, j.box, j.env)
	}
}

func shorten(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\n", " "), "?")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
