package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"hermes/internal/llm/llmtest"
	"hermes/internal/rigtest"
)

// turns are what a model says, one file of a script for each.
func turns(all ...string) string {
	var b strings.Builder
	for i, one := range all {
		fmt.Fprintf(&b, "-- %d --\n%s\n", i, one)
	}
	return b.String()
}

// seat is hermes at a terminal of its own.
type seat struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File
	out shown
	end chan struct{}
}

// world is a home with a model, and a directory to work in.
func world(t *testing.T, script string) (home, dir string, server *llmtest.Server) {
	t.Helper()
	home, dir, server = t.TempDir(), t.TempDir(), llmtest.New(t, script)
	own := filepath.Join(home, ".hermes")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf("model: test:test-model\napprovals:\n  mode: manual\nproviders:\n  test:\n    base_url: %s/v1\n", server.URL)
	if err := os.WriteFile(filepath.Join(own, "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, dir, server
}

func hermes(t *testing.T, home, dir, term string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "hermes", args...)
	c.Dir, c.Env = dir, []string{"HOME=" + home, "PATH=" + rigtest.Guarded(t, os.Getenv("PATH")), "TERM=" + term, "SHELL=/bin/sh", "LANG=C.UTF-8", "USER=ada"}
	return c
}

// seated starts hermes at a terminal.
func seated(t *testing.T, home, dir, term string, args ...string) *seat {
	t.Helper()
	s := &seat{t: t, cmd: hermes(t, home, dir, term, args...), end: make(chan struct{})}
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.end)
		buf := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buf)
			_, _ = s.out.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = s.tty.Close()
	})
	return s
}

// until waits for a text to be shown n times.
func (s *seat) until(n int, text string) {
	s.t.Helper()
	for tries := 0; s.out.count(text) < n; tries++ {
		if tries > 800 {
			s.t.Fatalf("%q was not shown %d times: %s", text, n, s.out.String())
		}
		time.Sleep(25 * time.Millisecond)
	}
}

func (s *shown) count(text string) int { return strings.Count(s.String(), text) }

func (s *seat) types(keys string) {
	s.t.Helper()
	time.Sleep(60 * time.Millisecond) // what is typed before a question is there is no answer to it
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// left waits until it has ended, and returns its exit code.
func (s *seat) left() int {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case <-done:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		s.t.Fatalf("it does not end: %s", s.out.String())
		return -1
	}
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

const done = "stop done"

func command(text string) string {
	return fmt.Sprintf("call terminal {\"command\":%q}\nstop calls", text)
}

// At a terminal questions are asked, Enter denies, Ctrl-C ends a turn, and what was done before it counts.
func TestChatOfLinesAtTerminal(t *testing.T) {
	home, dir, server := world(t, turns(command("chmod 777 .; touch one"), "say Said one.\n"+done, command("chmod 777 .; touch two"), "say Said two.\n"+done,
		"say Half of it\nhang", "say Said three.\n"+done, "say Said four.\n"+done))
	s := seated(t, home, dir, "dumb", "chat", "--backend", "local")
	s.types("first\r")
	s.until(1, "left:")
	s.types("o\r")
	s.until(1, "Said one.")
	s.types("second\r")
	s.until(2, "left:")
	s.types("\r")
	s.until(1, "Said two.")
	s.types("third\r")
	s.until(1, "Half of")
	s.types("\x03")
	s.until(1, "nterrupted")
	s.types("fourth\r")
	s.until(1, "Said three.")
	s.types("/yolo\r")
	s.until(1, "YOLO mode ON")
	s.types("/quit\r")
	if code := s.left(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.out.String())
	}
	if !there(dir, "one") || there(dir, "two") {
		t.Errorf("one %v, two %v", there(dir, "one"), there(dir, "two"))
	}
	if seen := server.Seen(); len(seen) != 6 || !seen[5].Has("third") || !seen[3].Has("NOT consented") {
		t.Errorf("%d requests", len(seen))
	}
	out, err := hermes(t, home, dir, "dumb", "chat", "--resume", "-q", "fifth").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "YOLO mode") || !strings.Contains(string(out), "Said four.") {
		t.Errorf("resumed: %s %v", out, err)
	}
}

// On a full screen the same: an answer, a question with its panel, Ctrl-C twice.
func TestChatOnScreen(t *testing.T) {
	home, dir, _ := world(t, turns("say Said **one**.\n"+done, command("chmod 777 .; touch ran"), "say Said two.\n"+done, "say Half of it\nhang"))
	s := seated(t, home, dir, "xterm-256color", "--backend", "local")
	s.until(1, "test-model")
	s.types("first\r")
	s.until(1, "Said")
	s.types("second\r")
	s.until(1, "chmod")
	s.until(1, "eny")
	for pause := time.Second; !s.out.has("allowed once"); pause *= 2 { // what is typed just when it appears is no answer either
		if pause > time.Minute {
			t.Fatalf("it takes no answer: %s", s.out.String())
		}
		s.types("\x15o\r")
		for begun := time.Now(); time.Since(begun) < pause && !s.out.has("allowed once"); {
			time.Sleep(25 * time.Millisecond)
		}
	}
	s.until(1, "two.")
	if !there(dir, "ran") {
		t.Error("an approved command has not run")
	}
	s.types("\x15third\r") // without what came before
	s.until(1, "Half of")
	s.types("\x03")
	s.until(1, "nterrupted")
	s.types("\x03")
	time.Sleep(100 * time.Millisecond)
	s.types("\x03")
	if code := s.left(); code != 0 || !s.out.has("hermes chat --resume") {
		t.Errorf("exit code %d: %s", code, s.out.String())
	}
}

// A chat that is killed in the middle of a turn goes on: nothing is lost, nothing is there twice, and no command runs on.
func TestChatKilled(t *testing.T) {
	home, dir, server := world(t, turns("say I will wait.\n"+command("echo $$ >pid; sleep 300"), "say Gone on.\n"+done))
	first := hermes(t, home, dir, "dumb", "chat", "-q", "begin", "--backend", "local")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for tries := 0; !there(dir, "pid"); tries++ {
		if tries > 800 {
			_ = first.Process.Kill()
			t.Fatal("the command did not begin")
		}
		time.Sleep(25 * time.Millisecond)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	out, err := hermes(t, home, dir, "dumb", "chat", "--resume", "-q", "go on", "--backend", "local").Output()
	if err != nil || string(out) != "Gone on.\n" {
		t.Errorf("%s %v", out, err)
	}
	seen := server.Seen()
	if len(seen) != 2 || !seen[1].Has("begin") || !seen[1].Has("I will wait.") || !seen[1].Has("go on") || strings.Count(string(seen[1].Body), `"role":"tool"`) != 1 {
		t.Errorf("%d requests, the last: %s", len(seen), seen[len(seen)-1].Body)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	for tries := 0; syscall.Kill(pid, 0) == nil; tries++ {
		if tries > 200 {
			t.Fatalf("process %d runs on", pid)
		}
		time.Sleep(25 * time.Millisecond)
	}
}
