package terminal

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/approval"
	"hermes/internal/process"
	"hermes/internal/sandbox/sandboxtest"
)

// A command in the background is started, looked at, waited for, and ends.
func TestBackground(t *testing.T) {
	b := newBench(t)
	wait, goOn := b.waits()
	id := b.start("echo one; "+wait+"; echo two; exit 3", args{"notify_on_complete": true})
	if out := b.until(id, "one"); out != "one" {
		t.Errorf("%q", out)
	}
	s := b.call("process", args{"action": "poll", "session_id": id}).Data.(State)
	if s.Status != "running" || s.Exit != nil {
		t.Errorf("%+v", s)
	}
	goOn()
	n := b.notice()
	if n.ID != id || n.Kind != process.Ended || !strings.Contains(n.Head, "exit code 3") || n.Output != "one\ntwo" || n.Stale() {
		t.Errorf("%+v", n)
	}
	r := b.call("process", args{"action": "wait", "session_id": id})
	if s := r.Data.(State); s.Status != "exited" || *s.Exit != 3 || s.Output != "two" || !n.Stale() {
		t.Errorf("%+v", s)
	}
	if said := said(b.call("process", args{"action": "list"})); !strings.Contains(said, id+" has ended with exit code 3") || !strings.Contains(said, "echo one; until") {
		t.Errorf("%q", said)
	}
}

// What has ended at once is told at once, and not again; what has not is told when it ends. Which it is depends on how much else
// the machine has to do.
func TestBackgroundEndsAtOnce(t *testing.T) {
	b := newBench(t)
	for range 100 {
		r := b.call("terminal", args{"command": "no-such-program-here", "background": true, "notify_on_complete": true})
		d := r.Data.(Outcome)
		if d.Status == "running" {
			if n := b.notice(); n.ID != d.Process || !strings.Contains(n.Head, "exit code 127") {
				t.Errorf("%+v", n)
			}
			continue
		}
		if d.Status != "finished" || *d.Exit != 127 || d.Process == "" || !strings.Contains(said(r), "It has ended at once: exit code 127") {
			t.Errorf("%+v\n%s", d, said(r))
		}
		b.untold(d.Process)
		return
	}
	t.Error("none of a hundred has ended at once")
}

// untold fails if the agent was told of the end of a process of which it knows. It ends the session: by then all that there is to
// tell was told.
func (b *bench) untold(id string) {
	b.Helper()
	if err := b.o.Processes.Close(b.Context(), b.o.Session); err != nil {
		b.Fatal(err)
	}
	for {
		select {
		case n := <-b.notices:
			if n.ID == id {
				b.Errorf("told of what it knows: %+v", n)
			}
		default:
			return
		}
	}
}

// The session's shell is not moved by what runs beside it, which has what the shell had when it began.
func TestBackgroundIsApart(t *testing.T) {
	b := newBench(t)
	b.run("export A=1")
	wait, goOn := b.waits()
	id := b.start("echo A=$A; cd /; export A=2; "+wait, nil)
	goOn()
	b.call("process", args{"action": "wait", "session_id": id})
	if out := b.until(id, "A=1"); out != "A=1" {
		t.Errorf("%q", out)
	}
	if d, _ := b.run("echo $A; pwd"); d.Output != "1\n"+b.dir+"\n" {
		t.Errorf("%+v", d)
	}
}

// Its input is a pipe: it is written to, and ended.
func TestInput(t *testing.T) {
	b := newBench(t)
	id := b.start("while read -r line; do echo \"got $line\"; done; echo end", nil)
	for tries := 0; ; tries++ { // the answer comes along, where the machine is not too busy for it
		s := b.call("process", args{"action": "submit", "session_id": id, "data": "hello"}).Data.(State)
		if strings.HasSuffix(s.Output, "got hello") {
			break
		} else if tries == 50 {
			t.Fatalf("%+v", s)
		}
	}
	b.call("process", args{"action": "write", "session_id": id, "data": "in pie"})
	b.call("process", args{"action": "write", "session_id": id, "data": "ces\n"})
	b.until(id, "got in pieces")
	b.call("process", args{"action": "close", "session_id": id})
	if s := b.call("process", args{"action": "wait", "session_id": id}).Data.(State); *s.Exit != 0 || !strings.HasSuffix(b.until(id, "end"), "end") {
		t.Errorf("%+v", s)
	}
	if _, err := b.try(t.Context(), "process", args{"action": "submit", "session_id": id, "data": "late"}); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
}

// A line that has not ended can be seen, so that questions can be answered.
func TestQuestion(t *testing.T) {
	b := newBench(t)
	id := b.start("printf 'Continue? [y/N] '; read -r a; echo \"a: $a\"", nil)
	b.until(id, "Continue? [y/N] ")
	b.call("process", args{"action": "submit", "session_id": id, "data": "y"})
	b.until(id, "a: y")
}

// What a shell reads is judged as a command, and a refusal types nothing.
func TestTypedIsJudged(t *testing.T) {
	b := newBench(t)
	for _, pty := range []bool{false, true} {
		id := b.start("bash --norc", args{"pty": pty})
		for _, data := range []string{"rm -rf /", "git push --force origin main"} {
			r := b.call("process", args{"action": "submit", "session_id": id, "data": data})
			if d, ok := r.Data.(Outcome); !ok || d.Status != "refused" || !strings.Contains(said(r), "BLOCKED") {
				t.Errorf("%s: %+v", data, r)
			}
		}
		b.call("process", args{"action": "submit", "session_id": id, "data": "echo $((40+2)); exit 5"})
		if s := b.call("process", args{"action": "wait", "session_id": id}).Data.(State); *s.Exit != 5 || !strings.Contains(b.until(id, "42"), "42") {
			t.Errorf("%+v", s)
		}
	}
	b.person.choice = approval.Once
	id := b.start("bash --norc", nil)
	r := b.call("process", args{"action": "submit", "session_id": id, "data": "git push --force origin main"})
	if r.Approved.By != "person" || r.Approved.How != "once" {
		t.Errorf("%+v", r.Approved)
	}
}

// The end takes the whole tree along, also what left its group.
func TestKill(t *testing.T) {
	b := newBench(t)
	m := mark()
	id := b.start("setsid sleep "+m+" & (trap '' TERM; sleep "+m+") & echo up; sleep "+m, args{"notify_on_complete": true})
	b.until(id, "up")
	r := b.call("process", args{"action": "kill", "session_id": id})
	if s := r.Data.(State); s.Status != "exited" || !s.Killed || !strings.Contains(said(r), "was killed") {
		t.Errorf("%+v\n%s", s, said(r))
	}
	b.gone(m)
	b.untold(id)
}

func TestBackgroundTimeout(t *testing.T) {
	b := newBench(t)
	m := mark()
	id := b.start("sleep "+m, args{"timeout": 3, "notify_on_complete": true})
	if n := b.notice(); n.ID != id || !strings.Contains(n.Head, "took too long") {
		t.Errorf("%+v", n)
	}
	if s := b.call("process", args{"action": "poll", "session_id": id}).Data.(State); !s.TimedOut || *s.Exit != 124 {
		t.Errorf("%+v", s)
	}
	b.gone(m)
}

func TestWatch(t *testing.T) {
	b := newBench(t)
	id := b.start("echo booting; echo 'server listening on 8080'; sleep 60", args{"watch_patterns": []string{"listening on", "ERROR"}})
	if n := b.notice(); n.ID != id || n.Kind != process.Matched || n.Output != "server listening on 8080" {
		t.Errorf("%+v", n)
	}
	r := b.call("terminal", args{"command": "sleep 60", "background": true, "watch_patterns": []string{"x"}, "notify_on_complete": true})
	if !strings.Contains(said(r), "watch_patterns do not count beside notify_on_complete") {
		t.Error(said(r))
	}
}

// No other session sees a process, whatever it does with its id.
func TestSessions(t *testing.T) {
	b := newBench(t)
	m := mark()
	id := b.start("echo secret of the first; sleep "+m, args{"pty": true})
	mine := b.o.Session
	b.o.Session = sessionOf(t, "2")
	for _, a := range []args{
		{"action": "poll"}, {"action": "log"}, {"action": "wait", "timeout": 1}, {"action": "kill"}, {"action": "write", "data": "x"},
		{"action": "submit", "data": "x"}, {"action": "close"},
	} {
		a["session_id"] = id
		if r, err := b.try(t.Context(), "process", a); err == nil || !strings.Contains(err.Error(), "no such process") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %+v %v", a, r, err)
		}
	}
	for _, name := range []string{"read_terminal", "close_terminal"} {
		if _, err := b.try(t.Context(), name, args{"process_id": id}); err == nil || !strings.Contains(err.Error(), "no such process") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said := said(b.call("process", args{"action": "list"})); strings.Contains(said, id) {
		t.Error(said)
	}
	if err := b.o.Processes.Close(t.Context(), b.o.Session); err != nil {
		t.Error(err)
	}
	b.o.Session = mine
	if s := b.call("process", args{"action": "poll", "session_id": id}).Data.(State); s.Status != "running" {
		t.Errorf("%+v", s)
	}
	// The end of its own session is its end.
	if err := b.o.Processes.Close(t.Context(), mine); err != nil {
		t.Error(err)
	}
	b.gone(m)
	if len(b.o.Processes.List(mine)) > 0 {
		t.Error("still listed")
	}
}

func TestLimits(t *testing.T) {
	b := newBench(t)
	b.o.Processes = process.New(process.Options{Running: 3, Kept: 4, Keep: time.Hour})
	t.Cleanup(func() { _ = b.o.Processes.CloseAll(context.Background()) })
	m := mark()
	var ids []string
	for range 3 {
		ids = append(ids, b.start("sleep "+m, nil))
	}
	if _, err := b.try(t.Context(), "terminal", args{"command": "true", "background": true}); err == nil || !strings.Contains(err.Error(), "3 run already") {
		t.Error(err)
	}
	for _, id := range ids {
		b.call("process", args{"action": "kill", "session_id": id})
	}
	for range 4 {
		b.call("process", args{"action": "kill", "session_id": b.start("sleep "+m, nil)})
	}
	if n := len(b.o.Processes.List(b.o.Session)); n > 4 {
		t.Errorf("%d are kept", n)
	}
	if _, err := b.try(t.Context(), "process", args{"action": "poll", "session_id": ids[0]}); err == nil {
		t.Error("the oldest is still kept")
	}
}

func TestLog(t *testing.T) {
	b := newBench(t)
	id := b.start("seq 0 999; sleep 60", nil)
	b.until(id, "999")
	for _, row := range []struct {
		a    args
		want string
		next int64
	}{
		{args{"offset": 0, "limit": 3}, "0\n1\n2", 3},
		{args{"offset": 500, "limit": 2}, "500\n501", 502},
		{args{"limit": 2}, "998\n999", 1000},
		{args{"offset": -3, "limit": 1}, "997", 998},
		{args{"offset": 5000}, "", 1000},
	} {
		row.a["action"], row.a["session_id"] = "log", id
		if s := b.call("process", row.a).Data.(State); s.Output != row.want || s.Next != row.next || s.Lines != 1000 {
			t.Errorf("%v: %q next %d", row.a, s.Output, s.Next)
		}
	}
	if _, err := b.try(t.Context(), "process", args{"action": "log", "session_id": id, "limit": 5000}); err == nil {
		t.Error("5000 lines at once")
	}
}

func TestProcessArguments(t *testing.T) {
	b := newBench(t)
	id := b.start("sleep 60", nil)
	for _, row := range []struct {
		a    args
		want string
	}{
		{args{}, "none of list"},
		{args{"action": "restart", "session_id": id}, "none of list"},
		{args{"action": "poll"}, "session_id is needed; there are: " + id},
		{args{"action": "poll", "session_id": "proc_x"}, "no such process"},
		{args{"action": "write", "session_id": id}, "data is needed"},
		{args{"action": "write", "session_id": id, "data": ""}, "data is empty"},
		{args{"action": "wait", "session_id": id, "timeout": 0}, "less than 1"},
	} {
		if _, err := b.try(t.Context(), "process", row.a); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v: %v, want %q", row.a, err, row.want)
		}
	}
	if s := b.call("process", args{"action": "wait", "session_id": id, "timeout": 1}); !strings.Contains(said(s), "It still runs after 1s") {
		t.Error(said(s))
	}
}

// Nothing is left when all is closed: no process, no descriptor.
func TestNothingIsLeft(t *testing.T) {
	m := mark()
	before := 0
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := newBench(t)
			for range 5 {
				b.start("sleep "+m+" & setsid sleep "+m+" & sleep "+m, args{"pty": i%2 == 0})
			}
			b.run("sleep " + m + " & true")
		})
		if left := sandboxtest.Running(m); len(left) > 0 {
			t.Fatalf("still running: %q", left)
		}
		if n := sandboxtest.Descriptors(); i == 0 {
			before = n
		} else if n > before+2 {
			t.Errorf("%d descriptors, %d before", n, before)
		}
	}
}

// The output of a background command is kept in a file when it is long, by its owner's leave alone.
func TestBackgroundOutputFile(t *testing.T) {
	b := newBench(t)
	wait, goOn := b.waits()
	id := b.start(wait+"; seq 1 100000; echo done", nil)
	goOn()
	s := b.call("process", args{"action": "wait", "session_id": id}).Data.(State)
	info, err := os.Stat(s.Path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() < 500_000 {
		t.Errorf("%q %v %v", s.Path, info, err)
	}
	if s.Lines != 100_001 || !strings.HasSuffix(s.Output, "100000\ndone") || s.Lost == 0 {
		t.Errorf("%d lines, %d lost, %.20q", s.Lines, s.Lost, s.Output)
	}
}
