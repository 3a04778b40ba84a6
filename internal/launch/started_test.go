package launch

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/sandbox"
)

const testToken = "ghp_" + "a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4a1B2"

// Whoever waits is told when a command may run, and can look at the line that has not ended: without secrets.
func TestStarted(t *testing.T) {
	b := newBench(t)
	b.box.fake = true
	var started []Started
	var held, raw string
	b.box.do = func(_ context.Context, c sandbox.Command) {
		_, _ = io.WriteString(c.Stdout, "a line\nname? token "+testToken)
		held, raw = started[0].Held(), b.out.String()
	}
	var screen bytes.Buffer
	_, err := b.run(t, Call{Text: "ask", Terminal: &sandbox.Size{Rows: 2, Cols: 20}, Display: &screen,
		Started: func(s Started) { started = append(started, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(started) != 1 || !started[0].Result.Ran || started[0].Result.Decision.Outcome != approval.Clean || started[0].Result.ID == "" {
		t.Fatalf("%+v", started)
	}
	if raw != "a line\n" || !strings.HasPrefix(held, "name? token ") || strings.Contains(held, testToken) {
		t.Errorf("out %q, held %q", raw, held)
	}
	if !strings.HasSuffix(screen.String(), testToken) || strings.Contains(started[0].Clean(screen.String()), testToken) {
		t.Errorf("display %q, clean %q", screen.String(), started[0].Clean(screen.String()))
	}
}

// What is refused does not start.
func TestRefusedDoesNotStart(t *testing.T) {
	b := newBench(t)
	r, err := b.run(t, Call{Text: "rm -rf /", Started: func(Started) { t.Error("started") }})
	if err != nil || !r.Refused() {
		t.Fatal(r, err)
	}
}

// Without a terminal there is nothing to draw.
func TestDisplayWithoutTerminal(t *testing.T) {
	b := newBench(t)
	var screen bytes.Buffer
	if _, err := b.run(t, Call{Text: "echo a", Display: &screen}); err != nil || screen.Len() > 0 {
		t.Error(screen.String(), err)
	}
}

// A command that is apart does not move the session.
func TestApart(t *testing.T) {
	b := newBench(t)
	b.box.fake, b.box.status = true, sandbox.Status{Dir: "/elsewhere", Observed: true}
	p := b.place(t)
	p.spec.Persistent = true
	if _, err := b.run(t, Call{Place: p, Text: "cd /elsewhere", Apart: true}); err != nil {
		t.Fatal(err)
	}
	if p.dir() != b.dir || !p.fresh() || !b.box.ran[0].Apart {
		t.Errorf("%q, fresh %v", p.dir(), p.fresh())
	}
	if _, err := b.run(t, Call{Place: p, Text: "cd /elsewhere"}); err != nil || p.dir() != "/elsewhere" || p.fresh() {
		t.Errorf("%q, %v", p.dir(), err)
	}
}

// Where the session is, is known after the first command, whatever that was; and a command runs there or not at all.
func TestWhereTheSessionIs(t *testing.T) {
	b := newBench(t)
	b.box.fake, b.box.name = true, "docker" // where commands start is not known from here
	here := b.dir
	b.box.do = func(_ context.Context, c sandbox.Command) {
		if c.Text == "pwd -P" {
			b.box.status = sandbox.Status{}
			_, _ = io.WriteString(c.Stdout, here+"\n")
		}
	}
	p := b.place(t)
	p.spec.Persistent = true
	run := func(text string, status sandbox.Status) Result {
		t.Helper()
		b.box.status = status
		r, err := b.run(t, Call{Place: p, Text: text, Dir: noDir})
		if err != nil {
			t.Fatal(err)
		}
		b.box.status = sandbox.Status{}
		return r
	}
	dirs := func() (out []string) {
		for _, c := range b.box.ran {
			out = append(out, c.Text+" in "+c.Dir)
		}
		b.box.ran = nil
		return out
	}
	for _, row := range []struct {
		what   string
		status sandbox.Status
		here   string
		ran    string
		is     string
	}{
		{"it is asked for once", sandbox.Status{}, "/real", "a in ,pwd -P in ", "/real"},
		{"a command that does not tell has not moved it", sandbox.Status{Code: 124, TimedOut: true}, "", "a in /real", "/real"},
		{"one that moves it", sandbox.Status{Observed: true, Dir: "/real/sub"}, "", "a in /real", "/real/sub"},
		{"it is there", sandbox.Status{Code: 126, Observed: true, Dir: "/real/sub"}, "", "a in /real/sub", "/real/sub"},
		{"it is gone", sandbox.Status{Code: 126}, "/real", "a in /real/sub,pwd -P in ", "/real"},
	} {
		here = row.here
		r := run("a", row.status)
		if got := strings.Join(dirs(), ","); got != row.ran || p.dir() != row.is {
			t.Errorf("%s: %q, is in %q", row.what, got, p.dir())
		}
		if warned := strings.Contains(strings.Join(r.Warnings, ""), "is gone"); warned != (row.what == "it is gone") {
			t.Errorf("%s: %q", row.what, r.Warnings)
		}
	}
}
