package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/sandbox"
)

func session(t *testing.T, key string) scope.Session {
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

// allowed is the result of a command that ran.
func allowed(code int) launch.Result {
	return launch.Result{Command: "cmd", Ran: true, Decision: approval.Decision{Action: guard.Allow, Outcome: approval.Clean}, Status: sandbox.Status{Code: code}}
}

// script is a process that runs, does something, and ends when that returns or its context ends.
func script(do func(ctx context.Context, out io.Writer)) func(context.Context, Streams) (launch.Result, error) {
	return func(ctx context.Context, s Streams) (launch.Result, error) {
		s.Started(launch.Started{Result: launch.Result{Command: "cmd", Ran: true}, Held: func() string { return "" }, Clean: func(s string) string { return s }})
		do(ctx, s.Output)
		r := allowed(0)
		if ctx.Err() != nil {
			r.Status = sandbox.Status{Code: 130, Interrupted: true}
		}
		return r, nil
	}
}

func forever(ctx context.Context, _ io.Writer) { <-ctx.Done() }

// ears collect what an agent is told.
type ears struct {
	mu  sync.Mutex
	all []Notice
}

func (e *ears) hear(n Notice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, n)
}

// told returns what was told, as kinds and seconds since a time.
func (e *ears) told(since time.Time) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, n := range e.all {
		out = append(out, fmt.Sprintf("%s@%d", n.Kind, n.At.Sub(since)/time.Second))
	}
	return strings.Join(out, " ")
}

// How often an agent is told of lines.
func TestWatchLimits(t *testing.T) {
	for _, row := range []struct {
		what  string
		every time.Duration
		lasts time.Duration
		want  string
	}{
		{"three times too many lines in a row, then only of the end", time.Second, 2 * time.Minute, "matched@1 matched@16 matched@31 unwatched@46 ended@120"},
		{"never too many, but eight at most", 20 * time.Second, 5 * time.Minute, "matched@20 matched@40 matched@60 matched@80 matched@100 matched@120 matched@140 unwatched@160 ended@300"},
		{"few", time.Minute, 3 * time.Minute, "matched@60 matched@120 matched@180"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, begin := &ears{}, time.Now()
			r := New(Options{Notify: e.hear})
			p, err := r.Start(t.Context(), Spec{Session: session(t, "1"), Watch: []string{"", "ERROR"}, Run: script(func(_ context.Context, out io.Writer) {
				for range row.lasts / row.every {
					time.Sleep(row.every)
					_, _ = io.WriteString(out, "an ERROR here\nnone\n")
				}
			})})
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			synctest.Wait()
			if got := e.told(begin); got != row.want {
				t.Errorf("%s: %s, want %s", row.what, got, row.want)
			}
		})
	}
}

// All processes of a session have one budget, and another session has its own.
func TestWatchBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, begin := &ears{}, time.Now()
		r := New(Options{Notify: e.hear})
		start := func(key string, first time.Duration) {
			if _, err := r.Start(t.Context(), Spec{Session: session(t, key), Watch: []string{"x"}, Run: script(func(_ context.Context, out io.Writer) {
				time.Sleep(first)
				_, _ = io.WriteString(out, "x\n")
				time.Sleep(time.Hour)
			})}); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			start("1", time.Second)
		}
		start("2", time.Second)
		start("1", 20*time.Second)
		start("1", 40*time.Second)
		time.Sleep(time.Minute)
		want := strings.TrimSpace(strings.Repeat("matched@1 ", 16)) + " matched@40"
		if got := e.told(begin); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if err := r.CloseAll(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Of an end is told who does not know it, once, and nothing after it.
func TestEndNotice(t *testing.T) {
	for _, row := range []struct {
		what string
		spec Spec
		do   func(p *Process)
		want string
	}{
		{"asked for", Spec{Notify: true}, nil, "ended@10"},
		{"not asked for", Spec{}, nil, ""},
		{"waited for", Spec{Notify: true}, func(p *Process) { p.Wait(context.Background(), time.Minute) }, ""},
		{"waited for, not long enough", Spec{Notify: true}, func(p *Process) { p.Wait(context.Background(), time.Second) }, "ended@10"},
		{"killed by the agent", Spec{Notify: true}, func(p *Process) { _ = p.Kill(context.Background()) }, ""},
		{"in the foreground", Spec{Notify: true, Waited: true}, nil, ""},
		{"sent to the background", Spec{Waited: true}, func(p *Process) { p.Detach() }, "ended@10"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, begin := &ears{}, time.Now()
			r := New(Options{Notify: e.hear})
			row.spec.Session = session(t, "1")
			row.spec.Run = script(func(ctx context.Context, out io.Writer) {
				select {
				case <-time.After(10 * time.Second):
				case <-ctx.Done():
				}
				_, _ = io.WriteString(out, "last words")
			})
			p, err := r.Start(t.Context(), row.spec)
			if err != nil {
				t.Fatal(err)
			}
			if row.do != nil {
				row.do(p)
			}
			<-p.Done()
			synctest.Wait()
			if got := e.told(begin); got != row.want {
				t.Errorf("%s: %q, want %q", row.what, got, row.want)
			}
			for _, n := range e.all {
				if n.Output != "last words" || n.Stale() || n.Session != row.spec.Session {
					t.Errorf("%s: %+v", row.what, n)
				}
				p.Told()
				if !n.Stale() {
					t.Errorf("%s: not stale although it is known", row.what)
				}
			}
		})
	}
}

// Whose context ends what.
func TestContexts(t *testing.T) {
	waits := func(ctx context.Context, _ Streams) (launch.Result, error) { // for a decision
		<-ctx.Done()
		return launch.Result{Decision: approval.Decision{Outcome: approval.Cancelled}}, nil
	}
	for _, row := range []struct {
		what  string
		spec  Spec
		then  func(p *Process)
		ended bool
	}{
		{"while it is decided", Spec{Run: waits}, nil, true},
		{"in the background", Spec{Run: script(forever)}, nil, false},
		{"in the foreground", Spec{Run: script(forever), Waited: true}, nil, true},
		{"sent to the background", Spec{Run: script(forever), Waited: true}, func(p *Process) { p.Detach() }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := New(Options{})
			ctx, cancel := context.WithCancel(t.Context())
			row.spec.Session = session(t, "1")
			if row.what == "while it is decided" {
				go func() { time.Sleep(time.Second); cancel() }()
			}
			p, err := r.Start(ctx, row.spec)
			if err != nil {
				t.Fatal(err)
			}
			if row.then != nil {
				row.then(p)
			}
			cancel()
			synctest.Wait()
			if p.over() != row.ended {
				t.Errorf("%s: ended %v", row.what, p.over())
			}
			if err := r.CloseAll(t.Context()); err != nil || !p.over() {
				t.Errorf("%s: %v, ended %v", row.what, err, p.over())
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	r := New(Options{})
	run := script(forever)
	if _, err := r.Start(t.Context(), Spec{Run: run}); !errors.Is(err, scope.ErrZero) {
		t.Error(err)
	}
	if _, err := r.Start(t.Context(), Spec{Session: session(t, "1")}); err == nil {
		t.Error("nothing to run")
	}
	if r.List(scope.Session{}) != nil {
		t.Error("nobody has processes")
	}
	// What is refused is no process.
	p, err := r.Start(t.Context(), Spec{Session: session(t, "1"), Run: func(context.Context, Streams) (launch.Result, error) {
		return launch.Result{Decision: approval.Decision{Outcome: approval.Refused, Message: "no"}}, nil
	}})
	if err != nil || len(r.List(session(t, "1"))) > 0 {
		t.Error(err)
	}
	if got, err := p.Result(); err != nil || got.Decision.Message != "no" {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := r.Find(session(t, "1"), p.ID()); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// One that does not end in time is an error, and so it is not taken for gone.
func TestCloseTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		if _, err := r.Start(t.Context(), Spec{Session: session(t, "1"), Run: script(func(context.Context, io.Writer) { time.Sleep(time.Minute) })}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx, session(t, "1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		if err := r.Close(t.Context(), session(t, "1")); err != nil {
			t.Error(err)
		}
	})
}

// What has ended is kept for a while.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		one := session(t, "1")
		p, err := r.Start(t.Context(), Spec{Session: one, Run: script(func(context.Context, io.Writer) {})})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		time.Sleep(29 * time.Minute)
		if _, err := r.Find(one, p.ID()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := r.Find(one, p.ID()); !errors.Is(err, ErrNone) {
			t.Error(err)
		}
	})
}

// Starting, looking and closing at once harms nobody.
func TestConcurrent(t *testing.T) {
	r := New(Options{Running: 1000, Kept: 1000, Notify: func(Notice) {}})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s := session(t, fmt.Sprint(i%3))
			for range 20 {
				p, err := r.Start(t.Context(), Spec{Session: s, Notify: true, Watch: []string{"a"}, Terminal: &sandbox.Size{Rows: 5, Cols: 10}, Run: script(func(_ context.Context, out io.Writer) {
					for range 50 {
						_, _ = io.WriteString(out, "a line\nand a half")
					}
				})})
				if err != nil {
					t.Error(err)
					return
				}
				p.News(10)
				p.Info()
				_, _ = p.Look(10)
				_ = p.Resize(3, 4)
				if i == 7 {
					_ = r.Close(t.Context(), s)
				}
				for _, other := range r.List(s) {
					other.Info()
				}
			}
		})
	}
	wait.Wait()
	if err := r.CloseAll(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLines(t *testing.T) {
	l := lines{most: 20}
	var ended []string
	for _, piece := range []string{"one\ntw", "o\n\x1b[3", "1mthree\x1b[0m\r\n", "four\nfive\nsix\nse"} {
		l.add([]byte(piece), func(s string) { ended = append(ended, s) })
	}
	if got := strings.Join(ended, ","); got != "one,two,three,four,five,six" {
		t.Error(got)
	}
	if got := strings.Join(l.all, ","); got != "three,four,five,six" || l.first != 2 || l.count() != 6 || string(l.open) != "se" {
		t.Errorf("%q from %d of %d, %q", got, l.first, l.count(), l.open)
	}
	l.end()
	if l.all[len(l.all)-1] != "se" || l.open != nil {
		t.Errorf("%q", l.all)
	}
	// One that does not end is broken, between characters.
	l = lines{most: 1 << 20}
	l.add([]byte(strings.Repeat("日", 3*maxLine)), nil)
	l.end()
	for _, line := range l.all {
		if len(line) > maxLine+4 || strings.Trim(line, "日") != "" {
			t.Errorf("%d bytes, %.10q", len(line), strings.Trim(line, "日"))
		}
	}
}

func TestInput(t *testing.T) {
	in := newInput()
	if err := in.write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 3)
	n, _ := in.Read(p)
	if rest, _ := in.Read(p[n:]); string(p[:n]) != "hel" || rest != 0 {
		t.Errorf("%q %d", p, rest)
	}
	go func() { time.Sleep(10 * time.Millisecond); _ = in.write([]byte("!")); in.close() }()
	text, err := io.ReadAll(in)
	if string(text) != "lo!" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if in.write([]byte("x")) == nil {
		t.Error("a closed input takes more")
	}
	full := newInput()
	if err := full.write(make([]byte, maxInput)); err != nil || full.write([]byte("x")) == nil {
		t.Error("an input without end")
	}
}

// Nothing is typed that is not judged.
func TestWrite(t *testing.T) {
	r := New(Options{})
	got := make(chan string, 8)
	spec := Spec{Session: session(t, "1"), Typed: true, Run: func(ctx context.Context, s Streams) (launch.Result, error) {
		s.Started(launch.Started{Result: launch.Result{Ran: true}})
		text, _ := io.ReadAll(s.Stdin)
		got <- string(text)
		return allowed(0), nil
	}}
	p, err := r.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(t.Context(), "x"); err == nil {
		t.Error("typed without a judge")
	}
	_ = p.CloseInput()
	<-p.Done()
	if text := <-got; text != "" {
		t.Errorf("%q", text)
	}
	spec.Judge = func(_ context.Context, text string) (launch.Result, error) {
		switch text {
		case "bad":
			return launch.Result{Decision: approval.Decision{Outcome: approval.Denied}}, nil
		case "broken":
			return launch.Result{}, errors.New("no policy")
		}
		return allowed(0), nil
	}
	if p, err = r.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Write(t.Context(), "good "); err != nil || r.Refused() {
		t.Error(r, err)
	}
	if r, err := p.Write(t.Context(), "bad"); err != nil || !r.Refused() {
		t.Error(r, err)
	}
	if _, err := p.Write(t.Context(), "broken"); err == nil {
		t.Error("no error")
	}
	_ = p.CloseInput()
	<-p.Done()
	if text := <-got; text != "good " {
		t.Errorf("%q", text)
	}
	if _, err := p.Write(t.Context(), "late"); !errors.Is(err, errOver) {
		t.Error(err)
	}
}
