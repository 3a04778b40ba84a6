package launch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/guard"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/redact"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/secret"
)

// bash is a backend that runs commands for real, and keeps what it was asked to do.
type bash struct {
	name    string
	exp     exposure.Exposure
	openErr error
	runErr  error
	status  sandbox.Status
	fake    bool   // do not run, return status
	path    string // what leads PATH
	do      func(context.Context, sandbox.Command)

	mu     sync.Mutex
	opened int
	closed int
	ran    []sandbox.Command
	spec   sandbox.Spec
}

func (b *bash) Name() string {
	if b.name == "" {
		return "local"
	}
	return b.name
}

func (b *bash) Open(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openErr != nil {
		return nil, b.openErr
	}
	b.opened++
	b.spec = spec
	return b, nil
}

func (b *bash) Exposure() exposure.Exposure { e := b.exp; e.Backend = b.Name(); return e }
func (b *bash) Left() []sandbox.Process     { return nil }
func (b *bash) Close(context.Context) error { b.mu.Lock(); defer b.mu.Unlock(); b.closed++; return nil }

func (b *bash) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	b.mu.Lock()
	b.ran = append(b.ran, c)
	b.mu.Unlock()
	if b.do != nil {
		b.do(ctx, c)
	}
	if b.fake || b.runErr != nil {
		return b.status, b.runErr
	}
	argv := c.Argv
	if c.Text != "" {
		argv = []string{"bash", "-c", c.Text}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	b.mu.Lock()
	env := append(b.spec.Env.Strings(), c.Env.Strings()...)
	b.mu.Unlock()
	search := os.Getenv("PATH")
	for _, line := range env {
		if value, ok := strings.CutPrefix(line, "PATH="); ok {
			search = value
		}
	}
	env = append(env, "PATH="+b.path+search)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, env, c.Stdin, c.Stdout, c.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = nil
	}
	return sandbox.Status{Code: cmd.ProcessState.ExitCode()}, err
}

// log is a Recorder in memory.
type log struct {
	mu        sync.Mutex
	decisions []audit.Decision
	results   []audit.Result
	ids       []string
	err, lost error
}

func (l *log) Decide(ref audit.Ref, _ string, d audit.Decision) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.decisions, l.ids = append(l.decisions, d), append(l.ids, ref.ID)
	return l.err
}

func (l *log) Finish(ref audit.Ref, r audit.Result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results, l.ids = append(l.results, r), append(l.ids, ref.ID)
	return l.lost
}

// says answers every question with the same choice.
type says struct {
	choice    approval.Choice
	asked     []approval.Question
	meanwhile func() // done while the person thinks; nil: nothing
}

func (s *says) Prompt(_ context.Context, q approval.Question) (approval.Answer, error) {
	s.asked = append(s.asked, q)
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return q.Reply(s.choice), nil
}

// bench is everything a command needs.
type bench struct {
	dir    string
	box    *bash
	log    *log
	person *says
	policy Policy
	perr   error
	desk   approval.Options
	out    bytes.Buffer
	errs   bytes.Buffer
}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir := t.TempDir()
	return &bench{dir: dir, box: &bash{path: rigtest.Guarded(t, "")}, log: &log{}, person: &says{}, policy: Policy{
		Facts: command.Facts{Home: dir}, Environ: environ.New(environ.Config{}),
	}}
}

func testSession(t testing.TB) scope.Session {
	t.Helper()
	p, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scope.ParseSession(p, "exec", "1")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *bench) place(t testing.TB) *Place {
	t.Helper()
	w, err := checked.ParseWorkdir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	return NewPlace(b.box, sandbox.Spec{Workdir: w, Session: testSession(t)})
}

// noDir is where a call names no directory.
const noDir = "none"

func (b *bench) run(t testing.TB, c Call) (Result, error) {
	t.Helper()
	door := New(Options{Policy: func() (Policy, error) { return b.policy, b.perr }, Desk: approval.New(b.desk), Log: b.log})
	if c.Place == nil {
		c.Place = b.place(t)
	}
	if c.Session.IsZero() {
		c.Session = testSession(t)
	}
	switch c.Dir {
	case "":
		c.Dir = b.dir
	case noDir:
		c.Dir = ""
	}
	if c.Env.Surface == environ.NoSurface {
		c.Env = environ.Request{Surface: environ.Foreground, Base: map[string]string{"PATH": os.Getenv("PATH"), "HOME": b.dir}}
	}
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &b.out, &b.errs
	}
	if c.Presence == approval.Nobody && b.person != nil {
		c.Presence, c.Prompter = approval.Person, b.person
	}
	return door.Run(t.Context(), c)
}

func TestRun(t *testing.T) {
	b := newBench(t)
	r, err := b.run(t, Call{Text: "echo out; echo err >&2; cat; exit 7", Stdin: strings.NewReader("in\n")})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Ran || r.Refused() || r.Status.Code != 7 || b.out.String() != "out\nin\n" || b.errs.String() != "err\n" || r.Bytes != 11 {
		t.Errorf("%+v\nout %q err %q", r, b.out.String(), b.errs.String())
	}
	if len(b.log.decisions) != 1 || len(b.log.results) != 1 || b.log.ids[0] != r.ID || b.log.ids[1] != r.ID {
		t.Errorf("log %+v", b.log)
	}
	if d := b.log.decisions[0]; d.Verdict != "allow" || d.How != "allow" || d.Backend != "local" || d.Exposure == "" {
		t.Errorf("decision %+v", d)
	}
	if got := b.log.results[0]; got.Exit != 7 || got.Bytes != 11 {
		t.Errorf("result %+v", got)
	}
}

func TestProgramWithoutShell(t *testing.T) {
	b := newBench(t)
	if _, err := b.run(t, Call{Argv: []string{"printf", "%s|", "a b", "$HOME", "", "it's", "*"}}); err != nil {
		t.Fatal(err)
	}
	if b.out.String() != "a b|$HOME||it's|*|" {
		t.Errorf("%q", b.out.String())
	}
}

// A command that was refused has not run: the effect is tested, not the text.
func TestReport_tirith_77(t *testing.T) {
	for _, row := range []struct {
		what  string
		text  string
		alter func(*bench, *Call)
	}{
		{"hardline", "touch ran; rm -rf /", nil},
		{"the owner's deny rule", "touch ran; git push --force", func(b *bench, _ *Call) { b.policy.Rules.Deny = []string{"git push --force*"} }},
		{"denied by a person", "touch ran; git reset --hard", nil},
		{"nobody to ask", "touch ran; git reset --hard", func(b *bench, c *Call) { b.person = nil }},
		{"cron", "touch ran; git reset --hard", func(b *bench, c *Call) { c.Presence = approval.Cron }},
		{"audit log broken", "touch ran", func(b *bench, c *Call) { b.log.err = errors.New("disk full") }},
		{"settings broken", "touch ran", func(b *bench, c *Call) { b.perr = errors.New("config.yaml:3: bad") }},
		{"sandbox does not open", "touch ran", func(b *bench, c *Call) {
			b.box.openErr = &sandbox.MissingError{Backend: "native", What: "memory limit", Why: "no cgroup"}
		}},
		{"guard asks, sandbox does not open", "touch ran; git reset --hard", func(b *bench, c *Call) { b.box.openErr = errors.New("x"); b.person.choice = approval.Once }},
		{"two commands", "touch ran", func(b *bench, c *Call) { c.Argv = []string{"touch", "ran"} }},
		{"a NUL byte", "touch ran\x00", nil},
		{"no session", "touch ran", func(b *bench, c *Call) { c.Text = "" }},
	} {
		b := newBench(t)
		c := Call{Text: row.text}
		if row.alter != nil {
			row.alter(b, &c)
		}
		r, err := b.run(t, c)
		if err == nil && !r.Refused() {
			t.Errorf("%s: not refused", row.what)
		}
		if r.Ran || len(b.box.ran) > 0 {
			t.Errorf("%s: told as run %t, run %d times", row.what, r.Ran, len(b.box.ran))
		}
		if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
			t.Errorf("%s: it ran", row.what)
		}
		if err == nil && (r.Decision.Message == "" || len(b.log.decisions) != 1 || b.log.decisions[0].Verdict != "deny" || len(b.log.results) != 0) {
			t.Errorf("%s: %q, log %+v", row.what, r.Decision.Message, b.log.decisions)
		}
	}
}

// What the guard refuses opens no sandbox.
func TestHardlineOpensNothing(t *testing.T) {
	b := newBench(t)
	if r, err := b.run(t, Call{Text: "rm -rf /"}); err != nil || r.Verdict.Tier != guard.Hardline || b.box.opened != 0 {
		t.Errorf("%v %s, opened %d", err, r.Verdict.Tier, b.box.opened)
	}
}

func TestAuditThatFailsAfterwardsIsTold(t *testing.T) {
	b := newBench(t)
	b.log.lost = errors.New("disk full")
	r, err := b.run(t, Call{Text: "exit 3"})
	if err != nil || r.Status.Code != 3 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "disk full") {
		t.Errorf("%v %+v", err, r)
	}
}

func TestOutputLosesItsSecrets(t *testing.T) {
	const key, token = "correct-horse-battery", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for _, off := range []bool{false, true} {
		b := newBench(t)
		b.policy.Redact, b.policy.Off = redact.New(redact.Options{Known: []secret.String{secret.New(key)}}), off
		text := "printf 'a %s b' correct-horse-; printf 'battery %s\\n' " + token + "; printf correct-horse-battery >&2"
		b.policy.Facts.File = nil
		r, err := b.run(t, Call{Text: text, Stdout: &b.out, Stderr: &b.errs})
		if err != nil || r.Refused() {
			t.Fatal(err, r.Decision.Message)
		}
		if all := b.out.String() + b.errs.String() + r.Command; strings.Contains(all, key) {
			t.Errorf("a known value comes through: %q", all)
		}
		if strings.Contains(b.out.String(), token) != off {
			t.Errorf("redaction off %t: %q", off, b.out.String())
		}
	}
}

func TestOrderOfOneStream(t *testing.T) {
	b := newBench(t)
	both := &b.out
	if _, err := b.run(t, Call{Text: "echo 1; echo 2 >&2; echo 3", Stdout: both, Stderr: both}); err != nil || b.out.String() != "1\n2\n3\n" {
		t.Errorf("%v %q", err, b.out.String())
	}
}

func TestEnvironmentIsThePolicys(t *testing.T) {
	b := newBench(t)
	b.policy.Environ = environ.New(environ.Config{Secrets: []environ.Secret{{Name: "X", Value: secret.New("s3cr3t-value")}}})
	r, err := b.run(t, Call{Text: "env | sort", Env: environ.Request{Surface: environ.Foreground, Base: map[string]string{
		"PATH": os.Getenv("PATH"), "OPENAI_API_KEY": "sk-aaaaaaaaaaaaaaaaaaaaaaaa", "HARMLESS": "yes", "OTHER": "s3cr3t-value"}}})
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Join(b.box.spec.Env.Strings(), "\n")
	if strings.Contains(env, "OPENAI") || strings.Contains(env, "s3cr3t") || !strings.Contains(env, "HARMLESS=yes") {
		t.Errorf("environment:\n%s", env)
	}
	if len(r.Notes) == 0 || b.box.ran[0].Env.Len() != 0 {
		t.Errorf("notes %v, and once more %v", r.Notes, b.box.ran[0].Env.Names())
	}
}

// Variables the caller adds are judged with the command; those the text names are known.
func TestFacts(t *testing.T) {
	for _, row := range []struct {
		what, text string
		extra      map[string]string
		base       map[string]string
		persistent bool
		want       guard.Action
	}{
		{"plain", "git status", nil, nil, false, guard.Allow},
		{"injected by the caller", "git status", map[string]string{"GIT_SSH_COMMAND": "sh -c 'rm -rf ~'"}, nil, false, guard.Ask},
		{"the owner's own", "git status", nil, map[string]string{"LESS": "-R"}, false, guard.Allow},
		{"known and ruinous", "rm -rf $DIR/*", nil, map[string]string{"DIR": "/etc"}, false, guard.Block},
		{"known and harmless", "rm -rf $DIR/*", nil, map[string]string{"DIR": "/tmp/q"}, false, guard.Allow},
		{"may have changed since", "rm -rf $DIR/*", nil, map[string]string{"DIR": "/tmp/q"}, true, guard.Ask},
	} {
		b := newBench(t)
		base := map[string]string{"PATH": os.Getenv("PATH")}
		for k, v := range row.base {
			base[k] = v
		}
		place := b.place(t)
		b.box.fake = true
		if row.persistent {
			place.spec.Persistent, place.used = true, true
		}
		r, err := b.run(t, Call{Text: row.text, Extra: row.extra, Place: place, Env: environ.Request{Surface: environ.Foreground, Base: base}})
		if err != nil || r.Verdict.Action != row.want {
			t.Errorf("%s: %v %s %s", row.what, err, r.Verdict.Action, r.Verdict.Rule)
		}
	}
}

func TestRequired(t *testing.T) {
	rules := Rules{Required: []Required{{Glob: "make deploy*", Why: "it goes live"}, {Glob: "npm publish*", Review: true}}}
	for text, asked := range map[string]int{"make deploy": 1, "cd x && make deploy-all": 1, "make test": 0, "echo make deploy": 0} {
		b := newBench(t)
		b.policy.Rules, b.box.fake, b.desk = rules, true, approval.Options{YOLO: true}
		b.policy.Rules.Allow = []string{"make *", text}
		if _, err := b.run(t, Call{Text: text}); err != nil || len(b.person.asked) != asked {
			t.Errorf("%s: %v, asked %d times", text, err, len(b.person.asked))
		}
		if asked == 1 && (b.person.asked[0].Findings[0].Reason != "it goes live" || b.person.asked[0].Offers(approval.Always)) {
			t.Errorf("%s: %+v", text, b.person.asked[0])
		}
	}
}

func TestAllowListAndGrants(t *testing.T) {
	b := newBench(t)
	b.box.fake, b.policy.Rules.Allow = true, []string{"git reset --hard"}
	if r, err := b.run(t, Call{Text: "git reset --hard"}); err != nil || r.Decision.Outcome != approval.Listed || len(r.Decision.Lifted) == 0 {
		t.Errorf("%v %+v", err, r.Decision)
	}
	if d := b.log.decisions[0]; d.Rule == "" || d.How != "allowlist" {
		t.Errorf("%+v", d)
	}
}

func TestPersonApproves(t *testing.T) {
	b := newBench(t)
	b.person.choice = approval.Once
	r, err := b.run(t, Call{Text: "git init -q . && git reset -q --hard; echo gone"})
	if err != nil || b.out.String() != "gone\n" || r.Decision.Outcome != approval.Answered {
		t.Errorf("%v %q %s", err, b.out.String(), r.Decision.Outcome)
	}
	if d := b.log.decisions[0]; d.How != "user_approved, once" || d.By != "user" || d.Verdict != "allow" {
		t.Errorf("%+v", d)
	}
	if q := b.person.asked[0]; q.Dir != b.dir || q.Sum != approval.Sum(q.Command, b.dir, "local") || !strings.Contains(q.Exposure, "local") {
		t.Errorf("%+v", q)
	}
}

func TestBrokenSandboxIsGivenUp(t *testing.T) {
	b := newBench(t)
	place := b.place(t)
	b.box.runErr = &sandbox.BrokenError{Backend: "native", Cause: io.ErrUnexpectedEOF}
	r, err := b.run(t, Call{Text: "true", Place: place})
	var broken *sandbox.BrokenError
	if !errors.As(err, &broken) || !r.Ran || len(b.box.ran) != 1 {
		t.Errorf("%v, run %d times", err, len(b.box.ran))
	}
	b.box.runErr = nil
	if _, err := b.run(t, Call{Text: "true", Place: place}); err != nil || b.box.opened != 2 || b.box.closed != 1 {
		t.Errorf("%v, opened %d, closed %d", err, b.box.opened, b.box.closed)
	}
	if err := errors.Join(place.Close(t.Context()), place.Close(t.Context())); err != nil || b.box.closed != 2 {
		t.Errorf("%v, closed %d", err, b.box.closed)
	}
	if _, err := b.run(t, Call{Text: "true", Place: place}); !errors.Is(err, sandbox.ErrClosed) {
		t.Error(err)
	}
}

func TestTimedOut(t *testing.T) {
	b := newBench(t)
	b.box.fake, b.box.status = true, sandbox.Status{Code: 124, TimedOut: true}
	r, err := b.run(t, Call{Text: "sleep 9", Timeout: 5 * time.Second})
	if err != nil || r.Status.Code != 124 || len(r.Warnings) != 1 || r.Warnings[0] != "timed out after 5 seconds" {
		t.Errorf("%v %+v", err, r)
	}
}

// A time limit that can be lifted holds like any other until it is.
func TestUnbound(t *testing.T) {
	for _, row := range []struct {
		what  string
		after time.Duration // when it is lifted; 0: never
		want  sandbox.Status
		tells []string
	}{
		{"never", 0, sandbox.Status{Code: 124, TimedOut: true}, []string{"timed out after 5 seconds"}},
		{"too late", 6 * time.Second, sandbox.Status{Code: 124, TimedOut: true}, []string{"timed out after 5 seconds"}},
		{"in time", 4 * time.Second, sandbox.Status{Code: 3}, nil},
	} {
		t.Run(row.what, func(t *testing.T) {
			b := newBench(t)
			synctest.Test(t, func(t *testing.T) {
				b.box.fake = true
				b.box.do = func(ctx context.Context, c sandbox.Command) {
					if c.Timeout != 0 {
						t.Errorf("the sandbox ends it after %s", c.Timeout)
					}
					select {
					case <-ctx.Done():
						b.box.status, _ = sandbox.Ended(ctx, sandbox.Status{})
					case <-time.After(time.Minute):
						b.box.status = sandbox.Status{Code: 3}
					}
				}
				lifted := make(chan struct{})
				if row.after > 0 {
					time.AfterFunc(row.after, func() { close(lifted) })
				}
				r, err := b.run(t, Call{Text: "sleep 9", Timeout: 5 * time.Second, Unbound: lifted})
				if err != nil || !cmp.Equal(r.Status, row.want) || !slices.Equal(r.Warnings, row.tells) {
					t.Errorf("%v %+v %q", err, r.Status, r.Warnings)
				}
			})
		})
	}
}

// The same dangerous command gets the same verdict on every path, and an unknown context refuses.
func TestReport_hermes_90789(t *testing.T) {
	const text = "git reset --hard"
	var rules []string
	for _, c := range []Call{
		{Text: text}, {Argv: []string{"git", "reset", "--hard"}},
		{Text: text, Env: environ.Request{Surface: environ.Background}}, {Text: text, Env: environ.Request{Surface: environ.ExecuteCode}},
		{Text: text, Env: environ.Request{Surface: environ.Cron}, Presence: approval.Cron},
		{Text: text, Terminal: &sandbox.Size{Rows: 24, Cols: 80}},
	} {
		b := newBench(t)
		b.person = nil
		r, err := b.run(t, c)
		if err != nil || !r.Refused() {
			t.Errorf("%+v: %v %s", c, err, r.Decision.Outcome)
		}
		rules = append(rules, r.Verdict.Rule)
	}
	for _, rule := range rules {
		if rule != rules[0] || rule == "" {
			t.Errorf("rules %q", rules)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, row := range []struct {
		argv []string
		want string
	}{
		{[]string{"git", "status"}, "git status"},
		{[]string{"rm", "-rf", "a b", "it's", "", "$x", "*", "~"}, `rm -rf 'a b' 'it'\''s' '' '$x' '*' '~'`},
		{[]string{"A=1", "b=2"}, "'A=1' b=2"},
		{[]string{"if", "if"}, "'if' if"},
		{[]string{"a", "#b", "!", "{", "}"}, "a '#b' '!' '{' '}'"},
	} {
		if got := Quote(row.argv); got != row.want {
			t.Errorf("%q: %s, want %s", row.argv, got, row.want)
		}
	}
}

// What is quoted, bash reads back as it was.
func FuzzQuote(f *testing.F) {
	f.Add("a", "b c")
	f.Add("if", "'")
	f.Add("A=1", "\n\\$(x)")
	rigtest.Program(f, "bash")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) {
			t.Skip()
		}
		out, err := exec.Command("bash", "-c", "printf '%s\\0' "+Quote([]string{"x", a, b})[2:]).Output()
		if err != nil || string(out) != a+"\x00"+b+"\x00" {
			t.Errorf("%q %q: %q %v", a, b, out, err)
		}
	})
}

// leaves answers yes, after another command of the session has gone elsewhere.
type leaves struct{ place *Place }

func (l leaves) Prompt(_ context.Context, q approval.Question) (approval.Answer, error) {
	l.place.after(nil, sandbox.Status{Observed: true, Dir: "/"}, nil, false)
	return q.Reply(approval.Once), nil
}

// A command runs in the directory it was judged and approved in, or not at all.
func TestDirectoryThatChangesMeanwhile(t *testing.T) {
	b := newBench(t)
	b.box.fake = true
	place := b.place(t)
	place.spec.Persistent = true
	door := New(Options{Policy: func() (Policy, error) { return b.policy, nil }, Desk: approval.New(b.desk), Log: b.log})
	r, err := door.Run(t.Context(), Call{
		Session: testSession(t), Place: place, Text: "git clean -fdx", Presence: approval.Person, Prompter: leaves{place},
		Env: environ.Request{Surface: environ.Foreground},
	})
	if err == nil || r.Ran || !strings.Contains(err.Error(), "run it again") {
		t.Errorf("ran %v, %v", r.Ran, err)
	}
}
