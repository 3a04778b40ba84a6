package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/child/proc"
	"hermes/internal/sandbox/sandboxtest"
)

// A runner whose client does not read any more ends, although that one still holds the other stream.
func TestUnread(t *testing.T) {
	cmd := program(t, StdioMode)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(greeting(Version)); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(out, 16).ReadByte(); err != nil { // it is up
		t.Fatal(err)
	}
	_ = out.Close()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
		_ = cmd.Process.Kill()
		<-ended
	}
	_ = in.Close()
}

// What the commands of a runner that was left behind have left ends with it, also when it is killed. Then nobody is there.
func TestKilledListener(t *testing.T) {
	l, in := listening(t, nil)
	mark := "4" + newMark()
	c := join(t, l)
	says(t, c, "(setsid sleep "+mark+" &); (setsid nohup sh -c 'trap \"\" TERM; sleep "+mark+"' >/dev/null 2>&1 &)")
	soon(t, func() bool { return len(sandboxtest.Running(mark)) >= 2 })
	watcher := parentOf(t, in.PID)
	if err := syscall.Kill(in.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 && !alive(in.PID) && !alive(watcher) })
	if err := os.Remove(l.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The other way round, the runner ends with everything, and takes its socket away.
func TestKilledListenersWatcher(t *testing.T) {
	l, in := listening(t, nil)
	mark := "4" + newMark()
	says(t, join(t, l), "(setsid sleep "+mark+" &)")
	watcher := parentOf(t, in.PID)
	if !alive(watcher) {
		t.Fatalf("process %d watches", watcher)
	}
	if err := syscall.Kill(watcher, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 && !alive(in.PID) })
}

// headless is a process whose first thread ends while others go on, which the kernel shows as one that has ended.
func headless() {
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		_ = syscall.Exec("/proc/self/exe", os.Args, os.Environ()) // on the first thread again
	}
	go func() {
		for range time.Tick(time.Hour) {
		}
	}()
	fmt.Println(os.Getpid())
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
}

// A process without its first thread is killed like any other.
func TestHeadless(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, nil)
	out, s := says(t, c, "(setsid "+self+" headless & wait) & sleep 0.2")
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		t.Fatalf("%q %+v", out, s)
	}
	soon(t, func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(text), ") Z ")
	})
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	soon(t, func() bool { p, ok := proc.Look(pid); return !ok || p.Ended })
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	p, ok := proc.Look(pid)
	if !ok {
		t.Fatalf("process %d is gone", pid)
	}
	return p.Parent
}
