//go:build linux || darwin

package child

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes/internal/rigtest"
)

// A kill takes the whole tree, whatever it did to leave.
func TestKillTakesTheTree(t *testing.T) {
	const me = `sh -c 'echo $PPID' >> $F`
	rows := []struct {
		what, text  string
		first, pids int // that are told before the end is asked for, and in all
	}{
		{"one program", me + `; exec sleep 1000`, 1, 1},
		{"that ignores TERM", `trap '' TERM; ` + me + `; while :; do sleep 1; done`, 1, 1},
		{"with children", `(` + me + `; exec sleep 1000)& (` + me + `; exec sleep 1000)& ` + me + `; wait`, 3, 3},
		{"in sessions of their own", `setsid sh -c "trap '' TERM HUP; echo \$\$ >> $F; while :; do sleep 1; done"& ` + me + `; wait`, 2, 2},
		{"stopped", me + `; kill -STOP $$; sleep 1000`, 1, 1},
		{"that start others as they end", `trap 'sleep 1000 & echo $! >> $F' TERM; ` + me + `; while :; do sleep 0.01; done`, 1, 2},
	}
	for _, row := range rows {
		t.Run(row.what, func(t *testing.T) {
			if strings.Contains(row.text, "setsid") && runtime.GOOS != "linux" {
				rigtest.Need(t, "setsid")
			}
			file := filepath.Join(t.TempDir(), "pids")
			spec := sh(row.text)
			spec.Env = env("PATH="+search, "F="+file)
			spec.End.Grace = 50 * time.Millisecond
			if row.pids > row.first { // it gets all the time that it needs for them
				spec.End.Grace = time.Minute
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			p, err := Start(ctx, spec)
			if err != nil {
				t.Fatal(err)
			}
			pidsIn(t, file, row.first)
			cause := errors.New("out of time")
			cancel(cause)
			if row.pids > row.first {
				pidsIn(t, file, row.pids)
				p.Kill()
			}
			if _, err := p.Wait(); !errors.Is(err, cause) {
				t.Errorf("Wait: %v", err)
			}
			gone(t, append(pidsIn(t, file, row.pids), p.Pid()))
		})
	}
}

// Processes that start new ones in sessions of their own as fast as they can are gone after a kill.
func TestKillTakesRespawners(t *testing.T) {
	if _, err := Lookup("setsid", search); err != nil {
		rigtest.Need(t, "setsid")
	}
	file := filepath.Join(t.TempDir(), "pids")
	script := filepath.Join(t.TempDir(), "again")
	text := "#!/bin/sh\ntrap '' TERM\necho $$ >> $F\n[ $1 -gt 0 ] || exec sleep 1000\n" +
		"setsid $0 $(($1-1)) &\nsetsid $0 $(($1-1)) &\nsleep 1000 &\nwait\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Spec{Program: script, Args: []string{"5"}, Env: env("PATH="+search, "F="+file), Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	pidsIn(t, file, 20) // in the middle of it
	p.Kill()
	if _, err := p.Wait(); !errors.Is(err, ErrStopped) {
		t.Errorf("Wait: %v", err)
	}
	pids := pidsIn(t, file, 20)
	gone(t, pids)
	t.Logf("%d processes", len(pids))
}

// What a program leaves running is killed with its end, or left if the spec says so; its output is read for a while only.
func TestLeftovers(t *testing.T) {
	for _, leave := range []bool{false, true} {
		spec := sh("sleep 1000 & echo $!")
		var out bytes.Buffer
		spec.Stdio.Out = &out
		spec.End = End{Leave: leave, Drain: 20 * time.Millisecond}
		s, err := Run(t.Context(), spec)
		if err != nil || !s.Cut || s.Code != 0 {
			t.Errorf("leave %v: %+v, %v", leave, s, err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
		if err != nil || pid <= 1 {
			t.Fatalf("%q", out.String())
		}
		if !leave {
			gone(t, []int{pid})
		} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("what was to be left is gone: %v", err)
		}
	}
}

// A slow writer gets everything that was written before the program ended, however long it takes.
func TestSlowWriterLosesNothing(t *testing.T) {
	out := &slow{}
	spec := sh("head -c 200000 /dev/zero")
	spec.Stdio.Out = out
	spec.End.Drain = time.Millisecond
	s, err := Run(t.Context(), spec)
	if err != nil || out.n != 200000 || s.Cut {
		t.Errorf("%d bytes, %+v, %v", out.n, s, err)
	}
}

type slow struct{ n int }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	s.n += len(p)
	return len(p), nil
}

func TestGigabyteInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: long")
	}
	count := &counter{}
	spec := sh("head -c 1073741824 /dev/zero")
	spec.Stdio.Out = count
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Run(t.Context(), spec); err != nil || count.n != 1<<30 {
		t.Errorf("%d bytes, %v", count.n, err)
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 8<<20 {
		t.Errorf("%d bytes were allocated", grew)
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// A program whose output cannot be written ends of it, and the error says so.
func TestBrokenWriter(t *testing.T) {
	spec := sh("exec yes")
	spec.Stdio.Out = brokenWriter{}
	s, err := Run(t.Context(), spec)
	if !errors.Is(err, errBroken) || s.Exit() == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

var errBroken = errors.New("disk full")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// A reader that never ends does not hold up the end.
func TestEndlessInput(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	spec := sh("exit 4")
	spec.Stdio.In = r
	if s, err := Run(t.Context(), spec); err != nil || s.Code != 4 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	spec := sh(`trap 'exit 5' USR1; sh -c 'trap "exit 0" USR1; echo $$ >> $F; while :; do sleep 0.01; done' & while :; do wait; done`)
	spec.Env = env("PATH="+search, "F="+file)
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	pids := pidsIn(t, file, 1)
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	if s, err := p.Wait(); err != nil || s.Code != 5 {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, pids)
	if err := p.Signal(syscall.SIGUSR1); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the end: %v", err)
	}
}

func TestTerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	out := &rigtest.Buffer{}
	spec := sh(`test -t 0 && test -t 1 && test -t 2 && echo yes; stty size; trap 'stty size; exit 0' WINCH; echo $$ >> $F; while :; do sleep 0.01; done`)
	spec.Env = env("PATH="+search, "F="+file)
	spec.Stdio = Stdio{Terminal: &Size{Rows: 31, Cols: 97}, Out: out}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	pidsIn(t, file, 1)
	if err := p.Resize(Size{Rows: 12, Cols: 34}); err != nil {
		t.Error(err)
	}
	if s, err := p.Wait(); err != nil || s.Code != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if got := strings.ReplaceAll(out.String(), "\r\n", "\n"); got != "yes\n31 97\n12 34\n" {
		t.Errorf("the terminal showed %q", got)
	}
}

// Something that keeps the terminal open after the program's end does not hold up the end.
func TestTerminalIsNotHeld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	out := &rigtest.Buffer{}
	spec := sh(`(trap '' HUP; echo $(exec sh -c 'echo $PPID') >> $F; exec sleep 1000) & while [ ! -s $F ]; do sleep 0.01; done; echo shown`)
	spec.Env = env("PATH="+search, "F="+file)
	spec.Stdio = Stdio{Terminal: &Size{Rows: 24, Cols: 80}, Out: out}
	spec.End.Drain = 20 * time.Millisecond
	if s, err := Run(t.Context(), spec); err != nil || s.Code != 0 || !strings.Contains(out.String(), "shown") {
		t.Errorf("%q, %+v, %v", out.String(), s, err)
	}
	gone(t, pidsIn(t, file, 1))
}

// What is typed reaches the program, and its end ends it.
func TestTerminalInput(t *testing.T) {
	out := &rigtest.Buffer{}
	spec := sh("read a; echo got $a; cat")
	spec.Stdio = Stdio{Terminal: &Size{Rows: 24, Cols: 80}, In: strings.NewReader("one\ntwo\n"), Out: out}
	if s, err := Run(t.Context(), spec); err != nil || s.Code != 0 || !strings.Contains(out.String(), "got one") || !strings.Contains(out.String(), "two") {
		t.Errorf("%q, %+v, %v", out.String(), s, err)
	}
}

// Started and never waited for, programs leave no zombies.
func TestNoZombies(t *testing.T) {
	procs := []*Process{}
	for range 20 {
		p, err := Start(t.Context(), sh("exit 0"))
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
	}
	for _, p := range procs {
		<-p.Done()
	}
	table, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range table {
		for _, p := range procs {
			if e.pid == p.Pid() && e.ppid == os.Getpid() {
				t.Errorf("%d is still in the table", e.pid)
			}
		}
	}
}

// The result is there however many wait, and Stop and Kill may come at any time and any number of times.
func TestManyCallers(t *testing.T) {
	p, err := Start(t.Context(), sh("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { p.Stop(); p.Kill() })
		all.Go(func() {
			if s, err := p.Wait(); !errors.Is(err, ErrStopped) || s.Signal == 0 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	all.Wait()
	p.Kill()
}
