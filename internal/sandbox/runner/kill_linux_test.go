package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
)

// startsMark is set for the process that TestKillBesideStarts runs.
const startsMark = "HERMES_TEST_STARTS"

// manyStarts is how many processes it starts.
const manyStarts = 300

// startsBesideKills is a process that starts others without a break while it kills everything below itself, and collects its
// garbage.
func startsBesideKills() int {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 1
	}
	// What has many descriptors takes long to become its program.
	files := make([]uintptr, 200)
	for i := range files {
		files[i] = null.Fd()
	}
	var over sync.WaitGroup
	done := make(chan struct{})
	until := func(f func()) {
		over.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f()
				}
			}
		})
	}
	all := tree{self: os.Getpid()}
	until(func() { _, _ = all.round() })
	until(runtime.GC)
	started := 0
	runtime.LockOSThread()
	for range manyStarts {
		_, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "30"}, &syscall.ProcAttr{
			Dir: "/", Files: files, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
		})
		if err == nil {
			started++
		}
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.EINTR && pid <= 0 {
				break
			}
		}
	}
	close(done)
	over.Wait()
	err = all.kill()
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
			break
		}
	}
	fmt.Println(started, err)
	return 0
}

// Killing what was started stops no process half-way between its start and its first instruction: this one would stand still
// with it, for good.
func TestKillBesideStarts(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = []string{startsMark + "=1"}, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.Output()
	if ctx.Err() != nil {
		t.Fatal("it stands still")
	}
	if want := fmt.Sprintln(manyStarts, error(nil)); err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// However many clients of one runner come and go, and cut their commands off, while others start some, the runner goes on,
// nobody's commands but their own are hit, and nothing is left.
func TestKillBesideRuns(t *testing.T) {
	l, in := listening(t, nil)
	mark := "2" + newMark()
	first := join(t, l)
	if _, err := first.Probe(t.Context(), "collect", nil); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { // each command is cut off, at any point
			c, err := Connect(context.Background(), l.Socket, options(t, l))
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 40 {
				ctx, cancel := context.WithCancel(context.Background())
				go func() {
					for range i % 8 {
						runtime.Gosched()
					}
					cancel()
				}()
				_, err := c.Run(ctx, sandbox.Command{Text: "(setsid sleep " + mark + " &); sleep " + mark, Grace: -1})
				if err != nil {
					t.Error(err)
				}
				cancel()
			}
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() { // each client is closed while something starts through it
		for range 15 {
			c, err := Connect(context.Background(), l.Socket, options(t, l))
			if err != nil {
				t.Error(err)
				return
			}
			var runs sync.WaitGroup
			for range 3 {
				runs.Go(func() { _, _ = c.Run(context.Background(), sandbox.Command{Argv: []string{"sleep", mark}}) })
			}
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
			runs.Wait()
		}
	})
	for i := range 150 {
		var out bytes.Buffer
		s, err := first.Run(t.Context(), sandbox.Command{Argv: []string{"echo", fmt.Sprint(i)}, Stdout: &out})
		if err != nil || s.Code != 0 || out.String() != fmt.Sprintln(i) {
			t.Fatalf("%d: %q, %+v, %v", i, out.String(), s, err)
		}
	}
	all.Wait()
	if left := first.Left(); len(left) > 0 || !alive(in.PID) {
		t.Errorf("%+v", left)
	}
	soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 })
}
