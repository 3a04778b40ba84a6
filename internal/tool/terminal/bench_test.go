package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/process"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/capture"
	"hermes/internal/sandbox/local"
	"hermes/internal/sandbox/native/role"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/tool"
)

// TestMain makes the test binary the program inside sandboxes when it is started as one. A role ends the process.
func TestMain(m *testing.M) {
	if os.Args[0] == runner.Marker {
		os.Exit(role.Main(os.Args, nil))
	}
	os.Exit(m.Run())
}

// recorder is an audit log in memory.
type recorder struct {
	mu        sync.Mutex
	decisions []audit.Decision
	texts     []string
	results   []audit.Result
}

func (r *recorder) Decide(_ audit.Ref, text string, d audit.Decision) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decisions, r.texts = append(r.decisions, d), append(r.texts, text)
	return nil
}

func (r *recorder) Finish(_ audit.Ref, a audit.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, a)
	return nil
}

// person answers every question with the same choice.
type person struct {
	mu     sync.Mutex
	choice approval.Choice
	silent bool
	asked  []approval.Question
}

func (p *person) Prompt(ctx context.Context, q approval.Question) (approval.Answer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	choice, silent := p.choice, p.silent
	p.mu.Unlock()
	if silent {
		<-ctx.Done()
		return approval.Answer{}, ctx.Err()
	}
	return q.Reply(choice), nil
}

func (p *person) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// bench is a session with its tools.
type bench struct {
	*testing.T
	o       Options
	dir     string
	person  *person
	log     *recorder
	desk    *approval.Desk
	policy  *launch.Policy
	notices chan process.Notice
}

func sessionOf(t testing.TB, key string) scope.Session {
	t.Helper()
	p, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scope.ParseSession(p, "test", key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func executable(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// newBench makes a session on this machine.
func newBench(t *testing.T) *bench {
	t.Helper()
	backend := local.New(local.Config{Runner: executable(t), Search: "/usr/bin:/bin", Log: func(s string) { t.Log(s) }})
	return newBenchOn(t, backend, environ.Foreground)
}

func newBenchOn(t *testing.T, backend sandbox.Backend, surface environ.Surface) *bench {
	t.Helper()
	home := t.TempDir()
	b := &bench{T: t, dir: home + "/work", person: &person{}, log: &recorder{}, notices: make(chan process.Notice, 64)}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	workdir, err := checked.ParseWorkdir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	b.policy = &launch.Policy{Facts: command.Facts{Home: home}, Environ: environ.New(environ.Config{})}
	b.desk = approval.New(approval.Options{})
	session := sessionOf(t, "1")
	state, search := t.TempDir(), rigtest.Guarded(t, os.Getenv("PATH"))
	b.o = Options{
		Door:    launch.New(launch.Options{Policy: func() (launch.Policy, error) { return *b.policy, nil }, Desk: b.desk, Log: b.log}),
		Place:   launch.NewPlace(backend, sandbox.Spec{Workdir: workdir, Session: session, Persistent: true, Home: state}),
		Session: session,
		Processes: process.New(process.Options{Notify: func(n process.Notice) { b.notices <- n },
			Capture: func() *capture.Buffer { return capture.New(capture.Config{Dir: state + "/output"}) }}),
		Environment: func() environ.Request {
			return environ.Request{Surface: surface, Base: map[string]string{"PATH": search, "LANG": "C.UTF-8", "HOME": home, "TERM": "xterm"}}
		},
		Presence: approval.Person, Prompter: b.person,
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := b.o.Processes.CloseAll(ctx); err != nil {
			t.Error(err)
		}
		if err := b.o.Place.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

// args is what a call is made with.
type args map[string]any

// call makes a call that has to be possible.
func (b *bench) call(name string, a args) tool.Result {
	b.Helper()
	r, err := b.try(b.Context(), name, a)
	if err != nil {
		b.Fatalf("%s %v: %v", name, a, err)
	}
	return r
}

func (b *bench) try(ctx context.Context, name string, a args) (tool.Result, error) {
	b.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	found, ok := tool.Find(All(b.o), name)
	if !ok {
		b.Fatal("no tool", name)
	}
	return found.Call(ctx, tool.Call{Args: text})
}

// run runs a command in the foreground.
func (b *bench) run(command string) (Outcome, string) {
	b.Helper()
	r := b.call("terminal", args{"command": command})
	return r.Data.(Outcome), said(r)
}

// start starts a command in the background and returns its id.
func (b *bench) start(command string, more args) string {
	b.Helper()
	a := args{"command": command, "background": true}
	for k, v := range more {
		a[k] = v
	}
	r := b.call("terminal", a)
	d := r.Data.(Outcome)
	if d.Status != "running" || d.Process == "" {
		b.Fatalf("%s: %+v\n%s", command, d, said(r))
	}
	return d.Process
}

// waits is a command that goes on when the function is called.
func (b *bench) waits() (command string, goOn func()) {
	file := b.dir + "/go"
	return "until [ -e " + file + " ]; do sleep 0.02; done", func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			b.Error(err)
		}
	}
}

// said joins all that a model is told.
func said(r tool.Result) string {
	var out []string
	for _, p := range r.Parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// patience bounds the waiting for what has to come.
const patience = 30 * time.Second

// until polls until a text has come.
func (b *bench) until(id, want string) string {
	b.Helper()
	all := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		s := b.call("process", args{"action": "log", "session_id": id}).Data.(State)
		if all = s.Output; strings.Contains(all, want) {
			return all
		}
		if s.Status != "running" {
			break
		}
	}
	b.Fatalf("%s never printed %q: %q", id, want, all)
	return ""
}

// screen reads a terminal until it shows a text.
func (b *bench) screen(id, want string) Shown {
	b.Helper()
	var s Shown
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		s = b.call("read_terminal", args{"process_id": id}).Data.(Shown)
		if strings.Contains(s.Output, want) {
			return s
		}
	}
	b.Fatalf("the terminal never shows %q:\n%s", want, s.Output)
	return s
}

// notice waits for a message to the agent.
func (b *bench) notice() process.Notice {
	b.Helper()
	select {
	case n := <-b.notices:
		return n
	case <-time.After(patience):
		b.Fatal("no message came")
		return process.Notice{}
	}
}

// gone checks that nothing runs any more that sleeps for a number of seconds nobody else sleeps for.
func (b *bench) gone(mark string) {
	b.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if len(sandboxtest.Running(mark)) == 0 {
			return
		}
	}
	b.Errorf("still running: %q", sandboxtest.Running(mark))
}

func mark() string { return fmt.Sprintf("9%07d", time.Now().UnixNano()%10_000_000) }
