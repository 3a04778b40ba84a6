package terminal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/approval"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// What commands print, how they end, and what a model is told of it.
func TestForeground(t *testing.T) {
	b := newBench(t)
	for _, row := range []struct {
		what, command string
		exit          int
		output        string
		says          []string
	}{
		{"plain", "echo out; echo err >&2", 0, "out\nerr\n", []string{"exit code 0"}},
		{"nothing", "true", 0, "", []string{"(no output)", "exit code 0"}},
		{"no match", "echo a | grep b", 1, "", []string{"exit code 1 (nothing matched; no error)"}},
		{"they differ", "echo a > a; echo b > b; diff a b > /dev/null", 1, "", []string{"they differ"}},
		{"its own", "exit 7", 7, "", []string{"exit code 7"}},
		{"unknown", "no-such-program-here", 127, "no-such-program-here: command not found\n", []string{"exit code 127 (there is no such command)"}},
		{"killed", "kill -9 $$", 137, "", []string{"signal 9"}},
		{"input is empty", "cat; echo done", 0, "done\n", nil},
		{"cd", "mkdir -p sub; cd sub; export A=kept", 0, "", []string{"The directory is now", "/sub"}},
		{"and stays", "basename $PWD; echo $A", 0, "sub\nkept\n", nil},
	} {
		d, said := b.run(row.command)
		if d.Exit == nil || *d.Exit != row.exit || !strings.HasSuffix(d.Output, row.output) || row.output == "" && d.Output != "" || d.Status != "finished" {
			t.Errorf("%s: %+v", row.what, d)
		}
		for _, s := range row.says {
			if !strings.Contains(said, s) {
				t.Errorf("%s: %q does not say %q", row.what, said, s)
			}
		}
	}
}

// Arguments that no command can be run with run none.
func TestArguments(t *testing.T) {
	b := newBench(t)
	for _, row := range []struct {
		a    args
		want string
	}{
		{args{}, "no command"},
		{args{"command": " \n"}, "no command"},
		{args{"command": "a\x00b"}, "NUL"},
		{args{"command": "true", "timeout": 0}, "not a number of seconds"},
		{args{"command": "true", "timeout": -5}, "not a number of seconds"},
		{args{"command": "true", "timeout": 601}, "background true"},
		{args{"command": "true", "timeout": int64(1) << 62}, "not a number of seconds"},
		{args{"command": "true", "workdir": "sub"}, "not absolute"},
		{args{"command": "true", "workdir": "/tmp/$(touch x)"}, "workdir"},
		{args{"command": "true", "workdir": "/tmp; rm -rf /"}, "workdir"},
		{args{"command": "true", "workdir": "/tmp/a\nb"}, "workdir"},
		{args{"command": "true", "workdir": "/tmp/`id`"}, "workdir"},
		{args{"command": "true", "force": true}, "force"},
	} {
		if r, err := b.try(t.Context(), "terminal", row.a); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v: %+v %v, want %q", row.a, r, err, row.want)
		}
	}
	if len(b.log.decisions) > 0 {
		t.Errorf("something was run: %q", b.log.texts)
	}
}

func TestWorkdir(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.dir, "a b", "項目")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := b.call("terminal", args{"command": "pwd", "workdir": dir})
	if d := r.Data.(Outcome); d.Output != dir+"\n" {
		t.Errorf("%+v", d)
	}
	r = b.call("terminal", args{"command": "echo no", "workdir": b.dir + "/none"})
	if d := r.Data.(Outcome); *d.Exit != 126 || strings.Contains(d.Output, "no\n") || !strings.Contains(said(r), "cannot be entered") {
		t.Errorf("%+v\n%s", d, said(r))
	}
}

// What takes too long is ended, with all it has started.
func TestTimeout(t *testing.T) {
	b := newBench(t)
	m := mark()
	r := b.call("terminal", args{"command": "echo before; sleep " + m + " & sleep " + m, "timeout": 3})
	d := r.Data.(Outcome)
	if *d.Exit != 124 || d.Output != "before\n" || !strings.Contains(said(r), "[Command timed out after 3s]") {
		t.Errorf("%+v\n%s", d, said(r))
	}
	b.gone(m)
}

// The end of a turn ends what it waits for, and nothing else.
func TestInterrupt(t *testing.T) {
	b := newBench(t)
	front, back := mark(), mark()+"1"
	id := b.start("sleep "+back, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(sandboxtest.Running("sleep "+front)) == 0 && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	r, err := b.try(ctx, "terminal", args{"command": "echo before; sleep " + front})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data.(Outcome)
	if *d.Exit != 130 || d.Output != "before\n" || !strings.Contains(said(r), "[Command interrupted]") {
		t.Errorf("%+v\n%s", d, said(r))
	}
	b.gone("sleep " + front + " ")
	if s := b.call("process", args{"action": "poll", "session_id": id}).Data.(State); s.Status != "running" {
		t.Errorf("%+v", s)
	}
}

// A command in the foreground can be let go on in the background while it runs: then the end of the turn does not end it.
func TestDetach(t *testing.T) {
	b := newBench(t)
	told := make(chan string, 16)
	found, _ := tool.Find(All(b.o), "terminal")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-told
		for _, p := range b.o.Processes.Waited(b.o.Session) {
			if !p.Detach() || p.Detach() {
				t.Error("it is let go once")
			}
		}
	}()
	r, err := found.Call(ctx, tool.Call{Args: []byte(`{"command":"echo one; read -t 2 < <(sleep 9); echo two"}`), Tell: func(u tool.Update) { told <- u.Output }})
	if err != nil {
		t.Fatal(err)
	}
	cancel() // the turn goes on, or ends: it is not ended with it
	d := r.Data.(Outcome)
	if d.Status != "running" || d.Output != "one" || !strings.Contains(said(r), "go on in the background, as long as it takes") {
		t.Fatalf("%+v\n%s", d, said(r))
	}
	if n := len(b.o.Processes.Waited(b.o.Session)); n > 0 {
		t.Errorf("%d are still waited for", n)
	}
	n := b.notice()
	if n.ID != d.Process || !strings.Contains(n.Output, "two") {
		t.Errorf("%+v", n)
	}
	if len(told) > 0 {
		t.Errorf("told after the call: %q", <-told)
	}
}

func TestLongOutput(t *testing.T) {
	b := newBench(t)
	d, said := b.run("seq 1 100000")
	if !strings.Contains(d.Output, "[OUTPUT TRUNCATED - ") || len(d.Output) > 51_000 || d.Chars != 588895 || !strings.Contains(said, d.Path) {
		t.Errorf("%d characters of %d, %q", len(d.Output), d.Chars, d.Path)
	}
	all, err := os.ReadFile(d.Path)
	if err != nil || len(all) != d.Chars {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}

const token = "ghp_" + "a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4a1B2"

// Secrets are in nothing that is returned, told or kept.
func TestRedacts(t *testing.T) {
	b := newBench(t)
	var told strings.Builder
	found, _ := tool.Find(All(b.o), "terminal")
	r, err := found.Call(t.Context(), tool.Call{Args: []byte(`{"command":"printf 'ghp_a1B2c3D4a1B2'; sleep 0.2; printf 'c3D4a1B2c3D4a1B2c3D4a1B2\\n'; seq 1 20000"}`),
		Tell: func(u tool.Update) { told.WriteString(u.Output) }})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data.(Outcome)
	all, _ := os.ReadFile(d.Path)
	for what, text := range map[string]string{"output": d.Output, "told": told.String(), "kept": string(all), "said": said(r)} {
		if strings.Contains(text, "a1B2c3D4") || len(text) < 1000 {
			t.Errorf("%s: %.80q", what, text)
		}
	}
	id := b.start("echo "+token+"; printf 'next: "+token+"'; sleep 60", args{"pty": true})
	if s := b.screen(id, "next:"); strings.Contains(s.Output, "a1B2c3D4") {
		t.Errorf("%q", s.Output)
	}
	for _, action := range []string{"poll", "log"} {
		if s := b.call("process", args{"action": action, "session_id": id}).Data.(State); strings.Contains(s.Output+s.Command, "a1B2c3D4") {
			t.Errorf("%s: %+v", action, s)
		}
	}
}

// What was decided about a command, and what a model is told.
func TestDecisions(t *testing.T) {
	const push = "git push --force origin main"
	for _, row := range []struct {
		what     string
		command  string
		set      func(b *bench)
		ran      bool
		approved session.Approval
		outcome  string
		says     string
	}{
		{"nothing against it", "true", nil, true, session.Approval{}, "", "exit code 0"},
		{"floor", "rm -rf /", nil, false, session.Approval{}, "refused", "BLOCKED (hardline)"},
		{"floor, with YOLO", "rm -rf /", func(b *bench) { b.desk.SetYOLO(b.o.Session, true) }, false, session.Approval{}, "refused", "Name what you mean"},
		{"denied", push, nil, false, session.Approval{}, "denied", "NOT consented"},
		{"once", push, func(b *bench) { b.person.choice = approval.Once }, true, session.Approval{By: "person", How: "once"}, "user_approved", "exit code"},
		{"session", push, func(b *bench) { b.person.choice = approval.Session }, true, session.Approval{By: "person", How: "session"}, "user_approved", "exit code"},
		{"YOLO", push, func(b *bench) { b.desk.SetYOLO(b.o.Session, true) }, true, session.Approval{By: "mode", How: "yolo"}, "yolo", "exit code"},
		{"listed", push, func(b *bench) { b.policy.Rules.Allow = []string{push} }, true, session.Approval{By: "rule", How: "allowlist"}, "allowlist", "exit code"},
		{"the owner's", push, func(b *bench) { b.policy.Rules.Deny = []string{"git push --force*"} }, false, session.Approval{}, "refused", "approvals.deny"},
		{"nobody", push, func(b *bench) { b.o.Presence, b.o.Prompter = approval.Nobody, nil }, false, session.Approval{}, "nobody", "nobody to ask"},
		{"single query", push, func(b *bench) { b.o.Presence = approval.SingleQuery }, false, session.Approval{}, "blocked", "approvals.single_query_mode"},
	} {
		for _, background := range []bool{false, true} {
			b := newBench(t)
			if row.set != nil {
				row.set(b)
			}
			r := b.call("terminal", args{"command": row.command, "background": background})
			d := r.Data.(Outcome)
			outcome := ""
			if d.Approval != nil {
				outcome = d.Approval.Outcome
			}
			if (d.Status != "refused") != row.ran || r.Failed == row.ran || r.Approved != row.approved || outcome != row.outcome {
				t.Errorf("%s, background %v: %+v %+v", row.what, background, d, r.Approved)
			}
			if said := said(r); !strings.Contains(said, row.says) && !(background && row.ran) {
				t.Errorf("%s: says %q, not %q", row.what, said, row.says)
			}
			if !row.ran && len(b.o.Processes.List(b.o.Session)) > 0 {
				t.Errorf("%s: what was refused is listed", row.what)
			}
		}
	}
}

// Silence is not consent, and the end of a turn takes its question along.
func TestSilence(t *testing.T) {
	b := newBench(t)
	b.run("true")
	b.person.silent = true
	for i, background := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for b.person.count() <= i && t.Context().Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
		r, err := b.try(ctx, "terminal", args{"command": "git push --force origin main", "background": background})
		if err != nil || r.Data.(Outcome).Status != "refused" || r.Data.(Outcome).Approval.Outcome != "cancelled" {
			t.Errorf("%+v %v", r.Data, err)
		}
	}
}

// A sandbox that is not there is no refusal, and says what can be done.
func TestNoSandbox(t *testing.T) {
	for _, row := range []struct {
		err    error
		status string
		says   string
	}{
		{&sandbox.DegradedError{Backend: "docker", Text: "no engine answers", Remedy: "start it: systemctl start docker"}, "degraded", "Start it: systemctl start docker"},
		{&sandbox.MissingError{Backend: "native", What: "memory limit", Remedy: "use another"}, "failed", "Use another."},
		{errors.New("broken"), "failed", "broken"},
	} {
		b := newBenchOn(t, &sandboxtest.Fake{Failure: row.err}, 0)
		for _, background := range []bool{false, true} {
			r := b.call("terminal", args{"command": "true", "background": background})
			if d := r.Data.(Outcome); d.Status != row.status || !r.Failed || d.Exit != nil || !strings.Contains(said(r), row.says) {
				t.Errorf("%+v\n%s", d, said(r))
			}
		}
	}
}

// What a command leaves running is told, and how it is done better.
func TestLeft(t *testing.T) {
	b := newBench(t)
	m := mark()
	d, said := b.run("nohup sleep " + m + " > /dev/null 2>&1 &")
	if len(d.Left) != 1 || !strings.Contains(said, "background true") {
		t.Errorf("%+v\n%s", d, said)
	}
	if err := b.o.Place.Close(context.Background()); err != nil {
		t.Error(err)
	}
	b.gone(m)
}

// A command runs in the directory it was judged for, or not at all, and the session goes on.
func TestGoneDirectory(t *testing.T) {
	b := newBench(t)
	b.run("echo first") // the directory is known after any command
	b.run("mkdir -p a/b && cd a/b")
	if err := os.RemoveAll(b.dir + "/a"); err != nil {
		t.Fatal(err)
	}
	d, said := b.run("touch here")
	if *d.Exit != 126 || !strings.Contains(said, "is gone or cannot be entered, so it was not run; the session is in "+b.dir+" now") {
		t.Errorf("%+v\n%s", d, said)
	}
	if d, _ := b.run("pwd; ls"); d.Output != b.dir+"\n" {
		t.Errorf("%+v", d)
	}
	for i, text := range []string{"true", "exit 3", "sleep 1"} {
		r := b.call("terminal", args{"command": text, "timeout": 1})
		if d := r.Data.(Outcome); b.o.Place.Backend() != "local" || i < 2 && !d.Observed {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// sudo without a password says what a person can do.
func TestSudo(t *testing.T) {
	b := newBench(t)
	b.run(`sudo() { echo "sudo: a password is required" >&2; return 1; }`)
	if _, said := b.run("sudo true"); !strings.Contains(said, "SUDO_PASSWORD") {
		t.Error(said)
	}
	if _, said := b.run("echo 'sudo: a password is required'"); strings.Contains(said, "SUDO_PASSWORD") {
		t.Error(said)
	}
}
