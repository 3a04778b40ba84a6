package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/rigtest"
)

// halted is a demo that stands still at its first line, because what takes it is full.
type halted struct {
	*exec.Cmd
	drain func()
	dir   string // that it works in
}

func halt(t *testing.T, home, temp string) halted {
	t.Helper()
	before := folders(t, temp)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for range 1 << 10 { // more than any pipe takes
		_ = w.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		if _, err := w.Write(make([]byte, 4096)); err != nil {
			break
		}
	}
	c := hermes(t, home, temp, "dumb", "demo", "--backend", "local")
	c.Env, c.Stdout = append(c.Env, "TMPDIR="+temp), w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait(); _ = r.Close() })
	for tries := 0; ; tries++ {
		for _, dir := range folders(t, temp) {
			if _, err := os.Stat(filepath.Join(dir, "home", "tide", "Makefile")); err == nil && !slices.Contains(before, dir) {
				return halted{c, func() { _, _ = io.Copy(io.Discard, r) }, dir}
			}
		}
		if tries > 4000 {
			t.Fatal("no demo has begun")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func folders(t *testing.T, temp string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(temp, "hermes-demo-*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A demo that is asked to end removes its folder.
func TestDemoIsInterrupted(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		temp := t.TempDir()
		d := halt(t, t.TempDir(), temp)
		if err := d.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		go d.drain()
		_ = d.Wait()
		if code := d.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%s: exit code %d", sig, code)
		}
		if left := folders(t, temp); len(left) > 0 {
			t.Errorf("%s: left %q", sig, left)
		}
	}
}

// What a demo that was killed has left is removed by the next, which leaves alone what a living one works in.
func TestDemoSweeps(t *testing.T) {
	temp, home := t.TempDir(), t.TempDir()
	alive := halt(t, home, temp)
	killed := halt(t, home, temp)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	next := hermes(t, home, temp, "dumb", "demo", "--backend", "local")
	next.Env = append(next.Env, "TMPDIR="+temp)
	if out, err := next.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if left := folders(t, temp); !slices.Equal(left, []string{alive.dir}) {
		t.Errorf("%q are left; %q is the living one's, %q the dead one's", left, alive.dir, killed.dir)
	}
	go alive.drain()
	if err := alive.Wait(); err != nil {
		t.Error("the living one was disturbed:", err)
	}
}

// Where there is no room, a demo says where, and what to do.
func TestDemoWithoutRoom(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: needs root to mount a small file system")
	}
	for _, size := range []string{"64k", "600k"} {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `mount -t tmpfs -o size=`+size+`,mode=700 none "$TMPDIR" || exit 77
hermes demo --backend local; code=$?; ls -A "$TMPDIR"; exit $code`)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + rigtest.Guarded(t, os.Getenv("PATH")), "TMPDIR=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() == 77 && os.Getenv("HERMES_TEST_REQUIRE") == "" {
			t.Skip("skipped: needs the right to mount")
		}
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "no room is left in "+dir) || !strings.Contains(errs.String(), "TMPDIR=/var/tmp hermes demo") {
			t.Errorf("%s: %v: %s", size, err, errs.String())
		}
		if strings.Contains(out.String(), "hermes-demo-") {
			t.Errorf("%s: its folder stays: %s", size, out.String())
		}
	}
}
