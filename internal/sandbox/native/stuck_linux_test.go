package native_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// stat returns the fields of a process's line that follow its name.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

func parentOf(t testing.TB, pid int) int {
	t.Helper()
	f := stat(pid)
	if len(f) < 2 {
		t.Fatalf("process %d is gone", pid)
	}
	parent, err := strconv.Atoi(f[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// ticks returns how much processor time a process has used, in hundredths of a second.
func ticks(pid int) (n int) {
	if f := stat(pid); len(f) > 12 {
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		n = user + system
	}
	return n
}

// bounded fails when f does not return, or works hard instead of waiting.
func bounded(t *testing.T, what string, f func()) {
	t.Helper()
	before, done := ticks(os.Getpid()), make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s: it hangs", what)
	}
	if used := ticks(os.Getpid()) - before; used > 300 {
		t.Errorf("%s: %d ms of processor time", what, 10*used)
	}
}

// Whatever happened to the processes of a sandbox, closing it ends, does not spin, and leaves nothing; so does the opening of
// another one.
func TestCloseEnds(t *testing.T) {
	for _, row := range []struct {
		what  string
		first syscall.Signal // to the first process
		boss  syscall.Signal // to the launcher
	}{
		{what: "nothing"},
		{what: "first process killed", first: syscall.SIGKILL},
		{what: "first process stopped", first: syscall.SIGSTOP},
		{what: "launcher killed", boss: syscall.SIGKILL},
		{what: "launcher stopped", boss: syscall.SIGSTOP},
		{what: "both killed", first: syscall.SIGKILL, boss: syscall.SIGKILL},
		{what: "both stopped", first: syscall.SIGSTOP, boss: syscall.SIGSTOP},
		{what: "launcher stopped, first process killed", first: syscall.SIGKILL, boss: syscall.SIGSTOP},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			s, conf := spec(t)
			conf.Probe, conf.State, conf.Launcher = []string{}, s.Home, executable(t)
			b := native.New(conf)
			p, err := b.Open(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = run(t, p, "trap '' TERM; (setsid sleep 1234567 &); sleep 1234567 & true")
			all, err := native.List(s.Home)
			if err != nil || len(all) != 1 {
				t.Fatalf("%v %v", all, err)
			}
			first := all[0].PID
			boss := parentOf(t, first)
			if boss == os.Getpid() {
				t.Fatal(boss)
			}
			family := append(below(first), first)
			for pid, signal := range map[int]syscall.Signal{first: row.first, boss: row.boss} {
				if signal != 0 {
					if err := syscall.Kill(pid, signal); err != nil {
						t.Fatal(err)
					}
				}
			}
			used := ticks(boss)
			bounded(t, "close the sandbox", func() {
				if err := p.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			if more := ticks(boss) - used; more > 100 {
				t.Errorf("the launcher used %d ms", 10*more)
			}
			if row.boss != syscall.SIGSTOP { // else nobody waits for the dead until it is killed itself
				bounded(t, "open another one", func() {
					if p, err := b.Open(context.Background(), s); err == nil {
						_ = p.Close(context.Background())
					} else {
						t.Log(err)
					}
				})
			}
			bounded(t, "close all", func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			if !soon(func() bool { return gone(0, append(family, boss)) }) {
				t.Error("something is left")
			}
		})
	}
}

// The launcher, or the process that it makes, is killed at any moment of opening: Open returns, and the next one works.
func TestKilledWhileOpening(t *testing.T) {
	s, conf := spec(t)
	conf.Probe, conf.Waiting = []string{}, -1
	b := backend(t, conf)
	own := os.Getpid()
	for i := range 60 {
		p, err := b.Open(t.Context(), s) // so that there is a launcher
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		family := below(own)
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(rand.N(8 * time.Millisecond))
			if i%2 == 0 {
				family = below(own) // those of now: the new one among them
			}
			for _, pid := range family {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}()
		bounded(t, "open", func() {
			p, err := b.Open(context.Background(), s)
			if err == nil {
				_, _ = p.Run(context.Background(), sandbox.Command{Argv: []string{"true"}})
				_ = p.Close(context.Background())
			}
		})
		<-killed
	}
}

// Hermes may run in real time; what it starts inside does not.
func TestRealTime(t *testing.T) {
	const policy, variable = 38, "HERMES_TEST_REAL_TIME" // field 41 of the line as a whole
	if os.Getenv(variable) != "" {
		s, conf := spec(t)
		conf.Probe = []string{}
		p := open(t, backend(t, conf), s)
		if f := stat(os.Getpid()); f[policy] != "1" {
			t.Fatalf("this process's policy is %s", f[policy])
		}
		if out, _ := run(t, p, "cut -d' ' -f41 /proc/self/stat"); out != "0" {
			t.Errorf("a command's policy is %s", out)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root may")
	}
	chrt := rigtest.Program(t, "chrt")
	cmd := exec.Command(chrt, "-f", "1", executable(t), "-test.run", "^TestRealTime$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestRealTime")) {
		t.Errorf("%v\n%s", err, out)
	}
}
