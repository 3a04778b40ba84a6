package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/native/wall"
)

// orphan is a process that was born of a launcher that is gone. It is ended with the test.
func orphan(t *testing.T) *born {
	t.Helper()
	socket, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = socket.Close(), far.Close()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	n := &born{launcher: &launcher{socket: socket, wait: map[uint64]chan *wall.Answer{}, dead: make(chan struct{})}, conn: far, held: &held{}, pid: cmd.Process.Pid}
	close(n.launcher.dead)
	if n.pidfd, err = unix.PidfdOpen(n.pid, 0); err != nil {
		t.Fatal(err)
	}
	return n
}

// A process that is ended and given up at the same time is killed by its own descriptor, never by one that was closed and may be
// another's by now; the race detector watches.
func TestEndAndAbandon(t *testing.T) {
	for range 50 {
		n := orphan(t)
		begin := make(chan struct{})
		var both sync.WaitGroup
		for _, f := range []func(){n.abandon, func() { _ = n.end() }, n.kill} {
			both.Go(func() {
				<-begin
				f()
			})
		}
		close(begin)
		both.Wait()
		if n.pidfd != -1 {
			t.Fatal("its descriptor is still there")
		}
	}
}

// What leads git elsewhere and is made at the very end, when nobody watches any more, is removed.
func TestLastLook(t *testing.T) {
	git := t.TempDir()
	path := filepath.Join(git, "commondir")
	held, err := hold(nil, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	n := orphan(t)
	p := &place{born: n, holding: held}
	if err := os.WriteFile(path, []byte("../evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log []string
	p.over(&design{absent: []string{path}}, func(text string) { log = append(log, text) })
	if _, err := os.Lstat(path); err == nil {
		t.Error("git is led elsewhere")
	}
	if len(log) != 1 || !strings.Contains(log[0], path+" appeared while the sandbox was open") || !strings.Contains(log[0], "it was removed") {
		t.Errorf("said %q", log)
	}
}
