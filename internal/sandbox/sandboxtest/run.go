package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"hermes/internal/sandbox"
)

func testCodes(b *bench) {
	for _, row := range []struct {
		what string
		c    sandbox.Command
		code int
		bash bool
	}{
		{"success", sandbox.Command{Argv: []string{"true"}}, 0, false},
		{"failure", sandbox.Command{Argv: []string{"false"}}, 1, false},
		{"not found", sandbox.Command{Argv: []string{"no-such-program"}}, 127, false},
		{"absolute, not found", sandbox.Command{Argv: []string{"/no/such/program"}}, 127, false},
		{"not executable", sandbox.Command{Argv: []string{"/etc/passwd"}}, 126, true},
		{"no such directory", sandbox.Command{Argv: []string{"true"}, Dir: "/no/such/directory"}, 126, false},
		{"no such directory, text", sandbox.Command{Text: "true", Dir: "/no/such/directory"}, 126, true},
		{"its own code", sandbox.Command{Text: "exit 42"}, 42, true},
		{"last code", sandbox.Command{Text: "false; (exit 3)"}, 3, true},
		{"not found, text", sandbox.Command{Text: "no-such-program"}, 127, true},
		{"syntax", sandbox.Command{Text: "if"}, 2, true},
		{"signal", sandbox.Command{Text: "kill -KILL $$"}, 137, true},
		{"signal below", sandbox.Command{Text: "sh -c 'kill -TERM $$'; exit $?"}, 143, true},
		{"after a change", sandbox.Command{Text: "cd /; export A=1; exit 9"}, 9, true},
	} {
		if row.bash && !b.traits.Bash {
			continue
		}
		if s, out := b.run(row.c); s.Code != row.code || s.TimedOut || s.Interrupted {
			b.Errorf("%s: %+v, %q; want %d", row.what, s, out, row.code)
		}
	}
	for _, c := range []sandbox.Command{{}, {Text: "true", Argv: []string{"true"}}} {
		if _, err := b.box.Run(b.Context(), c); err == nil {
			b.Errorf("%+v: no error", c)
		}
	}
}

func testInput(b *bench) {
	large := strings.Repeat("0123456789abcde\n", 1<<16) // a mebibyte, more than any pipe holds
	for _, text := range []string{"one line\n", "", large} {
		if s, out := b.run(sandbox.Command{Argv: []string{"cat"}, Stdin: strings.NewReader(text)}); out != text || s.Code != 0 {
			b.Errorf("%d bytes came back as %d, %+v", len(text), len(out), s)
		}
	}
	if s, out := b.run(sandbox.Command{Argv: []string{"cat"}}); out != "" || s.Code != 0 {
		b.Errorf("no input: %q, %+v", out, s)
	}
	// Input that is not read to its end is no error.
	if s, _ := b.run(sandbox.Command{Argv: []string{"true"}, Stdin: strings.NewReader(large)}); s.Code != 0 {
		b.Errorf("unread input: %+v", s)
	}
}

func testOrder(b *bench) {
	var want strings.Builder
	for i := range 200 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	b.want(`for i in {0..199}; do echo out $i; echo err $i >&2; done`, want.String())
	var out, errs bytes.Buffer
	b.run(sandbox.Command{Text: "echo a; echo b >&2; echo c", Stdout: &out, Stderr: &errs})
	if out.String() != "a\nc\n" || errs.String() != "b\n" {
		b.Errorf("out %q, errors %q", out.String(), errs.String())
	}
	if s, err := b.box.Run(b.Context(), sandbox.Command{Text: "echo a; echo b >&2; head -c 1000000 /dev/zero"}); err != nil || s.Code != 0 {
		b.Errorf("output to nobody: %+v, %v", s, err)
	}
}

func testBinary(b *bench) {
	all := make([]byte, 1<<12)
	for i := range all {
		all[i] = byte(i ^ i>>8)
	}
	if s, out := b.run(sandbox.Command{Argv: []string{"cat"}, Stdin: bytes.NewReader(all)}); out != string(all) {
		b.Errorf("%d bytes came back changed, %+v", len(all), s)
	}
}

// counter takes output and keeps nothing of it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

func testLarge(b *bench) {
	size := b.traits.Heavy
	if size == 0 {
		size = 64 << 20
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out counter
	s, err := b.box.Run(b.Context(), sandbox.Command{Argv: []string{"head", "-c", fmt.Sprint(size), "/dev/zero"}, Stdout: &out})
	runtime.ReadMemStats(&after)
	if err != nil || s.Code != 0 || out.n != int64(size) {
		b.Errorf("%d of %d bytes, %+v, %v", out.n, size, s, err)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		b.Errorf("memory grew by %d MiB", grown>>20)
	}
}

var errFull = errors.New("no room")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func testUntaken(b *bench) {
	c := sandbox.Command{Argv: []string{"head", "-c", "100000000", "/dev/zero"}, Stdout: full{}, Grace: 50 * time.Millisecond}
	if _, err := b.box.Run(b.Context(), c); !errors.Is(err, errFull) {
		b.Errorf("%v", err)
	}
	if s, _ := b.run(sandbox.Command{Argv: []string{"true"}}); s.Code != 0 {
		b.Errorf("afterwards: %+v", s)
	}
}

func testSignals(b *bench) {
	b.want(`trap 'echo got it' USR1; kill -USR1 $$; echo on`, "got it\non\n")
	s, _ := b.run(sandbox.Command{Text: "kill -SEGV $$"})
	if s.Code != 139 || s.Signal != 11 {
		b.Errorf("%+v", s)
	}
	b.want(`sleep 0.01 & wait $!; echo $?`, "0\n")
	b.want(`(trap - PIPE; yes | head -1)`, "y\n")
}

// Signals from outside reach the command's group, as a terminal's Ctrl-C does: the shell and what it waits for.
func testSent(b *bench) {
	for _, row := range []struct {
		what, text string
		signals    []sandbox.Signal
		code       int
		out        string
	}{
		{"Ctrl-C", `echo ready; sleep ` + b.mark, []sandbox.Signal{{Number: 2}}, 130, ""},
		{"Ctrl-C that a program handles", `trap 'trap "" INT; echo caught; exit 4' INT; echo ready; while :; do sleep 0.01; done`, []sandbox.Signal{{Number: 2}}, 4, "caught\n"},
		{"terminate", `echo ready; sleep ` + b.mark, []sandbox.Signal{{Number: 15}}, 143, ""},
		{"kill", `trap '' INT TERM; echo ready; while :; do sleep 0.01; done`, []sandbox.Signal{{Number: 2}, {Number: 15}, {Number: 9}}, 137, ""},
		{"one that means something", `trap 'trap "" HUP; echo hup; exit 0' HUP; echo ready; while :; do sleep 0.01; done`, []sandbox.Signal{{Number: 1}}, 0, "hup\n"},
		{"none", `echo ready; sleep 0.2; echo on`, []sandbox.Signal{{}, {Number: -3}, {Number: 10_000}}, 0, "on\n"},
	} {
		out, s := b.signalled(row.text, row.signals)
		if s.Code != row.code || out != "ready\n"+row.out || s.TimedOut || s.Interrupted {
			b.Errorf("%s: %q, %+v", row.what, out, s)
		}
	}
	if out, s := b.signalled(`echo ready; exec sleep 0.1`, nil); s.Code != 0 || out != "ready\n" {
		b.Errorf("a channel that is closed: %q, %+v", out, s)
	}
	if b.traits.Tree && b.traits.Here {
		text := `trap : USR1; setsid sh -c 'trap "trap \"\" USR1; echo got; exit 0" USR1; echo ready; sleep ` + b.mark + ` & wait' &
while kill -0 $! 2>/dev/null; do sleep 0.01; done; :`
		out, s := b.signalled(text, []sandbox.Signal{{Number: 10, Tree: true}})
		if out != "ready\ngot\n" || s.Code != 0 {
			b.Errorf("for what left the group: %q, %+v", out, s)
		}
	}
}

// signalled runs a text that says ready, and sends it signals then, the last of them again and again until it ends.
func (b *bench) signalled(text string, signals []sandbox.Signal) (string, sandbox.Status) {
	b.Helper()
	out := &watcher{want: "ready", seen: make(chan struct{})}
	sent, over := make(chan sandbox.Signal), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(sent)
		select {
		case <-out.seen:
		case <-over:
		}
		for i := 0; i < len(signals); {
			select {
			case sent <- signals[i]:
			case <-over:
				return
			}
			if i++; i == len(signals) { // a shell that is about to become its last command may lose one
				i--
				select {
				case <-time.After(100 * time.Millisecond):
				case <-over:
				}
			}
		}
	})
	s, err := b.box.Run(b.Context(), sandbox.Command{Text: text, Stdout: out, Signals: sent, Timeout: 20 * time.Second})
	close(over)
	wg.Wait()
	if err != nil {
		b.Errorf("%s: %v", text, err)
	}
	return out.String(), s
}

// Ctrl-C and Ctrl-D as typed on a terminal.
func testTyped(b *bench) {
	var told string
	for range 3 { // a shell that is just between two commands loses one of them in ten thousand, or what its trap says
		if told = b.typesInterrupt(); told == "" {
			break
		}
		b.Log(told)
	}
	if told != "" {
		b.Error("three times")
	}
	s, out := b.run(sandbox.Command{Text: `cat; echo end`, Terminal: &sandbox.Size{Rows: 9, Cols: 80}, Stdin: strings.NewReader("line\n"), Timeout: 20 * time.Second})
	if !strings.Contains(out, "end") || s.Code != 0 {
		b.Errorf("%q, %+v", out, s)
	}
}

// typesInterrupt types Ctrl-C at a shell that has a trap for it, and returns what is wrong with what came of it.
func (b *bench) typesInterrupt() string {
	r, w := io.Pipe()
	ready := &watcher{want: "ready", seen: make(chan struct{})}
	go func() {
		<-ready.seen
		_, _ = w.Write([]byte{3})
	}()
	s, err := b.box.Run(b.Context(), sandbox.Command{
		Text: `trap 'trap "" INT; echo caught; exit 7' INT; echo ready; while :; do sleep 0.01; done`, Terminal: &sandbox.Size{Rows: 9, Cols: 80},
		Stdin: r, Stdout: ready, Timeout: 20 * time.Second,
	})
	_ = w.Close()
	if err != nil || s.Code != 7 || !strings.Contains(ready.String(), "caught") {
		return fmt.Sprintf("%q, %+v, %v", ready.String(), s, err)
	}
	return ""
}

func testTimeout(b *bench) {
	begin := time.Now()
	s, _ := b.run(sandbox.Command{Argv: []string{"sleep", b.mark}, Timeout: 100 * time.Millisecond, Grace: 100 * time.Millisecond})
	if s.Code != 124 || !s.TimedOut || s.Interrupted || s.Observed {
		b.Errorf("%+v", s)
	}
	if took := time.Since(begin); took < 100*time.Millisecond || s.Wall < 100*time.Millisecond {
		b.Errorf("it took %v, told %v", took, s.Wall)
	}
	if s, _ := b.run(sandbox.Command{Argv: []string{"true"}, Timeout: time.Minute}); s.Code != 0 {
		b.Errorf("within its time: %+v", s)
	}
	// A limit that the caller could have lifted is told like any other.
	ctx, end := sandbox.WithLiftable(b.Context(), 100*time.Millisecond, make(chan struct{}))
	defer end()
	s, err := b.box.Run(ctx, sandbox.Command{Argv: []string{"sleep", b.mark}, Grace: 100 * time.Millisecond})
	if err != nil || s.Code != 124 || !s.TimedOut || s.Interrupted {
		b.Errorf("the caller's limit: %+v %v", s, err)
	}
}

func testCancel(b *bench) {
	ctx, cancel := context.WithCancel(b.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	s, err := b.box.Run(ctx, sandbox.Command{Argv: []string{"sleep", b.mark}, Grace: 100 * time.Millisecond})
	if err != nil || s.Code != 130 || !s.Interrupted || s.TimedOut {
		b.Errorf("%+v, %v", s, err)
	}
	s, err = b.box.Run(ctx, sandbox.Command{Argv: []string{"sleep", b.mark}})
	if err != nil || s.Code != 130 || !s.Interrupted {
		b.Errorf("cancelled before: %+v, %v", s, err)
	}
	if !b.traits.Bash {
		return
	}
	// Cancelling takes all of it along, as a time-out does.
	out := &watcher{want: "ready", seen: make(chan struct{})}
	ctx, cancel = context.WithCancel(b.Context())
	defer cancel()
	go func() {
		<-out.seen
		cancel()
	}()
	text := "sh -c 'sleep " + b.mark + " & sleep " + b.mark + "' & sleep " + b.mark + " & echo ready; wait"
	if b.traits.Tree {
		text = "(setsid sleep " + b.mark + " &); " + text
	}
	s, err = b.box.Run(ctx, sandbox.Command{Text: text, Stdout: out, Grace: 50 * time.Millisecond})
	if err != nil || s.Code != 130 || !s.Interrupted {
		b.Errorf("%+v, %v", s, err)
	}
	if b.traits.Here {
		if found := Running(b.mark); len(found) > 0 {
			b.Errorf("still running: %q", found)
		}
	}
}

// A command that does not mind being asked is killed, with all that it started.
func testStubborn(b *bench) {
	text := `trap '' TERM INT HUP; (trap '' TERM; sleep ` + b.mark + `) & sleep ` + b.mark
	s, _ := b.run(sandbox.Command{Text: text, Timeout: 200 * time.Millisecond, Grace: 200 * time.Millisecond})
	if s.Code != 124 {
		b.Errorf("%+v", s)
	}
	if b.traits.Here {
		if found := Running(b.mark); len(found) > 0 {
			b.Errorf("still running: %q", found)
		}
	}
}

// Whoever leaves its group, its parents and its session still belongs to the command that started it.
func testRespawn(b *bench) {
	neighbour := make(chan sandbox.Status, 1)
	go func() {
		s, _ := b.box.Run(b.Context(), sandbox.Command{Text: "sleep 1; exit 5"})
		neighbour <- s
	}()
	text := `f() { setsid bash -c 'for i in 1 2 3; do (setsid sleep ` + b.mark + ` &); sleep 0.02; done; exec setsid sleep ` + b.mark + `' & }
for i in {1..8}; do f; done; sleep ` + b.mark
	s, _ := b.run(sandbox.Command{Text: text, Timeout: 400 * time.Millisecond, Grace: time.Millisecond})
	if s.Code != 124 {
		b.Errorf("%+v", s)
	}
	if b.traits.Here {
		if found := Running(b.mark); len(found) > 0 {
			b.Errorf("still running: %q", found)
		}
	}
	if left := b.box.Left(); len(left) > 0 {
		b.Errorf("left: %+v", left)
	}
	if s := <-neighbour; s.Code != 5 {
		b.Errorf("another command was hit: %+v", s)
	}
}

func testLeft(b *bench) {
	begin := time.Now()
	s, out := b.run(sandbox.Command{Text: `sleep ` + b.mark + ` & (setsid sleep ` + b.mark + ` &) ; echo started`})
	if out != "started\n" || s.Code != 0 {
		b.Errorf("%q, %+v", out, s)
	}
	if time.Since(begin) > 10*time.Second {
		b.Error("what was left running was waited for")
	}
	ours := func(all []sandbox.Process) (n int) {
		for _, p := range all {
			if strings.Contains(p.Command, b.mark) && p.PID > 0 && time.Since(p.Started) < time.Minute {
				n++
			}
		}
		return n
	}
	if len(s.Left) != 2 {
		b.Fatalf("it left %+v", s.Left)
	}
	if left := b.box.Left(); len(left) != 2 {
		b.Fatalf("two are left: %+v", left)
	}
	// One that is just about to become its program has no command line for a moment.
	b.soon("both are known by their commands", func() bool { return ours(b.box.Left()) == 2 })
	if s, _ := b.run(sandbox.Command{Text: "true"}); len(s.Left) != 0 {
		b.Errorf("another command left %+v", s.Left)
	}
	b.run(sandbox.Command{Text: fmt.Sprintf("kill %d %d", s.Left[0].PID, s.Left[len(s.Left)-1].PID)})
	// The kernel sends a signal; the end comes a moment later.
	b.soon("what ended is not left", func() bool { return ours(b.box.Left()) == 0 })
	b.run(sandbox.Command{Text: `setsid sh -c "trap '' TERM HUP; sleep ` + b.mark + `" >/dev/null 2>&1 &`}) // for Close
}

func testMany(b *bench) {
	const many = 200
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			var out bytes.Buffer
			s, err := b.box.Run(b.Context(), sandbox.Command{Argv: []string{"echo", fmt.Sprint(i)}, Stdout: &out})
			if err != nil || s.Code != 0 || out.String() != fmt.Sprintln(i) {
				b.Errorf("%d: %q, %+v, %v", i, out.String(), s, err)
			}
		})
	}
	wg.Wait()
	if left := b.box.Left(); len(left) > 0 {
		b.Errorf("left: %+v", left)
	}
}

// A command whose output nobody takes for a while holds up no other, and nothing piles up for it.
func testSlowReader(b *bench) {
	slow := &held{free: make(chan struct{}), begun: make(chan struct{})}
	done := make(chan sandbox.Status, 1)
	const size = 64 << 20
	go func() {
		s, err := b.box.Run(b.Context(), sandbox.Command{Argv: []string{"head", "-c", fmt.Sprint(size), "/dev/zero"}, Stdout: slow})
		if err != nil {
			b.Error(err)
		}
		done <- s
	}()
	<-slow.begun
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 20 {
		if s, out := b.run(sandbox.Command{Argv: []string{"echo", fmt.Sprint(i)}}); out != fmt.Sprintln(i) || s.Code != 0 {
			b.Errorf("meanwhile: %q, %+v", out, s)
		}
	}
	var out counter
	if s, err := b.box.Run(b.Context(), sandbox.Command{Argv: []string{"head", "-c", "8000000", "/dev/zero"}, Stdout: &out}); err != nil || out.n != 8000000 {
		b.Errorf("meanwhile: %d, %+v, %v", out.n, s, err)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		b.Errorf("memory grew by %d MiB", grown>>20)
	}
	close(slow.free)
	if s := <-done; s.Code != 0 || slow.n != size {
		b.Errorf("%d of %d bytes, %+v", slow.n, size, s)
	}
}

// What a command said before its end is all delivered, however late it is taken, and although something that it left still
// holds its output.
func testLateReader(b *bench) {
	for _, text := range []string{"head -c 60000 /dev/zero", "(sleep " + b.mark + " &); head -c 60000 /dev/zero"} {
		slow := &held{free: make(chan struct{}), begun: make(chan struct{})}
		go func() {
			<-slow.begun
			time.Sleep(700 * time.Millisecond) // longer than a held stream is waited for
			close(slow.free)
		}()
		s, err := b.box.Run(b.Context(), sandbox.Command{Text: "echo; sleep 0.1; " + text, Stdout: slow})
		if err != nil || s.Code != 0 || slow.n != 60001 {
			b.Errorf("%s: %d bytes, %+v, %v", text, slow.n, s, err)
		}
	}
}

// held takes nothing until it is freed.
type held struct {
	counter
	free, begun chan struct{}
	once        sync.Once
}

func (h *held) Write(p []byte) (int, error) {
	h.once.Do(func() { close(h.begun) })
	<-h.free
	return h.counter.Write(p)
}

// Commands of one session run side by side, each with its own streams, texts as well as programs.
func testManyTexts(b *bench) {
	const many = 200
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			var out bytes.Buffer
			c := sandbox.Command{Text: fmt.Sprintf("read -r x; echo $x %d; exit %d", i, i), Stdin: strings.NewReader("in\n"), Stdout: &out, Stderr: &out}
			s, err := b.box.Run(b.Context(), c)
			if err != nil || s.Code != i || out.String() != fmt.Sprintf("in %d\n", i) {
				b.Errorf("%d: %q, %+v, %v", i, out.String(), s, err)
			}
		})
	}
	wg.Wait()
}

func testTerminal(b *bench) {
	s, out := b.run(sandbox.Command{Text: "tty >/dev/null && stty size; echo $?", Terminal: &sandbox.Size{Rows: 33, Cols: 77}})
	if out != "33 77\r\n0\r\n" || s.Code != 0 {
		b.Errorf("%q, %+v", out, s)
	}
	sizes := make(chan sandbox.Size, 1)
	r, w := io.Pipe()
	defer w.Close()
	ready := &watcher{want: "ready", seen: make(chan struct{})}
	go func() {
		<-ready.seen
		sizes <- sandbox.Size{Rows: 40, Cols: 100}
	}()
	c := sandbox.Command{
		Text: `trap 'stty size; exit 6' WINCH; echo ready; while :; do sleep 0.05; done`, Terminal: &sandbox.Size{Rows: 10, Cols: 10},
		Stdin: r, Stdout: ready, Resize: sizes, Timeout: 20 * time.Second,
	}
	s, err := b.box.Run(b.Context(), c)
	if err != nil || s.Code != 6 || !strings.Contains(ready.String(), "40 100") {
		b.Errorf("%q, %+v, %v", ready.String(), s, err)
	}
	s, out = b.run(sandbox.Command{Text: "read -r x; echo got $x; cat", Terminal: &sandbox.Size{Rows: 9, Cols: 9}, Stdin: strings.NewReader("typed\n"), Timeout: 20 * time.Second})
	if !strings.Contains(out, "got typed") || s.Code != 0 {
		b.Errorf("%q, %+v", out, s)
	}
}

// watcher keeps output and tells when something was in it.
type watcher struct {
	want string
	seen chan struct{}
	once sync.Once
	mu   sync.Mutex
	buf  bytes.Buffer
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if strings.Contains(w.buf.String(), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// A fork bomb that stops by itself at 250 processes, however it is counted.
func testForks(b *bench) {
	text := `f() { [ $1 -gt 0 ] || { exec sleep ` + b.mark + `; }; f $(($1-1)) & f $(($1-1)) & wait; }; f 6`
	s, _ := b.run(sandbox.Command{Text: text, Timeout: 1500 * time.Millisecond, Grace: time.Millisecond})
	if s.Code != 124 {
		b.Errorf("%+v", s)
	}
	if left := b.box.Left(); len(left) > 0 {
		b.Errorf("left: %+v", left)
	}
}

// A limit of file size stands for a full disk: what cannot be written is the command's failure, and the state stays.
func testFull(b *bench) {
	s, _ := b.run(sandbox.Command{Text: `trap '' XFSZ; ulimit -f 8; head -c 100000 /dev/zero > "` + b.traits.Dir + `/full"; echo $?`})
	if s.Code != 0 {
		b.Errorf("%+v", s)
	}
	b.want(`wc -c < "`+b.traits.Dir+`/full"; rm "`+b.traits.Dir+`/full"`, "8192\n")
	if b.traits.Lasts {
		b.want("export KEPT=1", "")
		b.run(sandbox.Command{Text: "ulimit -f 0; trap '' XFSZ; export KEPT=2"})                // its state cannot be written
		if _, out := b.run(sandbox.Command{Text: "echo $KEPT"}); out != "1\n" && out != "2\n" { // whole or not at all
			b.Errorf("a state that could not be written left %q", out)
		}
	}
}

func testClose(b *bench) {
	count := Descriptors()
	box := b.another()
	ended := make(chan error, 1)
	go func() {
		_, err := box.Run(b.Context(), sandbox.Command{Argv: []string{"sleep", b.mark}})
		ended <- err
	}()
	if b.traits.Here {
		b.soon("it sleeps", func() bool { return len(Running(b.mark)) > 0 })
	}
	for range 2 {
		if err := box.Close(b.Context()); err != nil {
			b.Error(err)
		}
	}
	<-ended // with whatever: it was killed, or the sandbox was closed below it
	if _, err := box.Run(b.Context(), sandbox.Command{Argv: []string{"true"}}); !errors.Is(err, sandbox.ErrClosed) {
		b.Errorf("after the end: %v", err)
	}
	if left := box.Left(); len(left) > 0 {
		b.Errorf("left: %+v", left)
	}
	if count >= 0 {
		b.soon("no descriptor is left", func() bool { return Descriptors() <= count })
	}
}
