package local

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/sandboxtest"
)

// parent opens a sandbox and starts commands that detach themselves, without end.
func parent(mark string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	t := &testing.T{}
	box, err := New(Config{Runner: self, Search: "/usr/bin:/bin"}).Open(context.Background(), sandboxtest.Spec(t, "/"))
	if err != nil {
		return
	}
	fmt.Println(box.(*resident).PID())
	for range 4 {
		go func() {
			for {
				_, _ = box.Run(context.Background(), sandbox.Command{
					Text:   "(setsid sleep " + mark + " &); (env -i setsid nohup sleep " + mark + " &); sh -c 'sleep " + mark + " & wait'",
					Stdout: io.Discard, Stdin: strings.NewReader("x"), Timeout: 20 * time.Millisecond, Grace: -1,
				})
			}
		}()
	}
	select {}
}

// Hermes and its runner are killed at once, at any point: what they had started is gone soon after, and so is the watcher.
func TestKilledBoth(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		mark := fmt.Sprintf("2%07d", rand.IntN(10_000_000))
		cmd := exec.Command(self)
		cmd.Env = []string{parentMark + "=" + mark}
		pid := rigtest.Start(t, cmd)
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		victims := []int{cmd.Process.Pid, pid}
		rand.Shuffle(2, func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
		for _, victim := range victims {
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil && victim == cmd.Process.Pid {
				t.Fatal(err)
			}
		}
		_ = cmd.Wait()
		for until := time.Now().Add(20 * time.Second); len(sandboxtest.Running(mark)) > 0; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("still running: %q", sandboxtest.Running(mark))
			}
		}
	}
	for until := time.Now().Add(20 * time.Second); watchers(self) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("a watcher is still there")
		}
	}
}

// watchers counts the watchers of this very program.
func watchers(self string) (n int) {
	for _, line := range sandboxtest.Running(runner.Marker + " " + runner.WatchMode + " ") {
		pid, _, _ := strings.Cut(line, " ")
		if exe, err := os.Readlink("/proc/" + pid + "/exe"); err == nil && exe == self {
			n++
		}
	}
	return n
}
