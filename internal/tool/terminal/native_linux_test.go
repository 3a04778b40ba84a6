package terminal

import (
	"errors"
	"os"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/taint"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// The same in a sandbox of namespaces: background, terminal, input, and an end that leaves nothing.
func TestNative(t *testing.T) {
	const python = "/usr/bin/python3" // what is below a home is not inside
	rigtest.Program(t, python)
	state := t.TempDir()
	backend := native.New(native.Config{
		Launcher: executable(t), Probe: []string{}, Home: t.TempDir(), Path: os.Getenv("PATH"), State: state, Waiting: -1, Log: func(s string) { t.Log(s) },
	})
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	b := newBenchOn(t, backend, environ.Native)
	if _, err := b.o.Door.Files(t.Context(), b.o.Place, b.o.Environment()); err != nil { // it opens the sandbox
		var missing *sandbox.MissingError
		if errors.As(err, &missing) && os.Getenv("HERMES_TEST_REQUIRE") == "" {
			t.Skipf("skipped: needs %s", missing.What)
		}
		t.Fatal(err)
	}
	r := b.call("terminal", args{"command": "echo $((6*7)); exit 3"})
	if d := r.Data.(Outcome); d.Output != "42\n" || *d.Exit != 3 || d.Backend != "native" {
		t.Errorf("%+v\n%s", d, said(r))
	}
	m := mark()
	id := b.start("setsid sleep "+m+" & echo up; while read -r l; do echo got $l; done", nil)
	b.until(id, "up")
	b.call("process", args{"action": "submit", "session_id": id, "data": "this"})
	b.until(id, "got this")
	b.call("process", args{"action": "kill", "session_id": id})
	b.gone(m)

	id = b.start("PYTHON_BASIC_REPL=1 "+python+" -q", args{"pty": true})
	b.screen(id, ">>>")
	b.call("process", args{"action": "submit", "session_id": id, "data": "print('a' * 3)"})
	b.screen(id, "aaa\n>>>")
	if s := b.call("read_terminal", args{"process_id": id, "rows": 12, "cols": 50}).Data.(Shown); s.Rows != 12 || s.Cols != 50 {
		t.Errorf("%+v", s)
	}
	b.call("process", args{"action": "submit", "session_id": id, "data": "import shutil; print(shutil.get_terminal_size((1, 1)))"})
	b.screen(id, "columns=50, lines=12")

	// The wall contains what would be asked about here, and that is told.
	b.person.choice = approval.Deny
	id = b.start("sleep "+m, args{"notify_on_complete": true})
	b.untold(id)
	b.gone(m)
}

// Where nothing can come from outside, nothing does.
func TestNativeOrigin(t *testing.T) {
	for _, row := range []struct {
		command string
		want    taint.Origin
	}{{"echo hello", taint.Work}, {"curl -s http://127.0.0.1:1/", taint.Outside}} {
		b := newBench(t)
		r := b.call("terminal", args{"command": row.command + "; echo end"})
		if r.Parts[0].Origin != row.want {
			t.Errorf("%s: %v", row.command, r.Parts[0].Origin)
		}
	}
}

// An alias that an earlier command has made does not make the work tree's own of what comes from outside.
func TestOriginBehindAlias(t *testing.T) {
	b := newBench(t)
	for _, row := range []struct {
		command string
		want    taint.Origin
	}{
		{"ls; echo end", taint.Work}, {"f() { echo x; }; f", taint.Work}, {"g() { curl -s http://127.0.0.1:1/; }; g; echo end", taint.Outside},
		{"alias ls='curl -s http://127.0.0.1:1/'; echo made", taint.Work}, {"ls; echo end", taint.Outside},
	} {
		if r := b.call("terminal", args{"command": row.command}); r.Parts[0].Origin != row.want {
			t.Errorf("%s: %v, %+v", row.command, r.Parts[0].Origin, r.Parts)
		}
	}
}
