package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/rigtest"
)

// shown collects what a terminal shows.
type shown struct{ rigtest.Buffer }

func (s *shown) has(text string) bool { return strings.Contains(s.String(), text) }

// Two commands at once ask the same question on two terminals: an answer on one is none on the other.
func TestTwoQuestionsAtOnce(t *testing.T) {
	rigtest.Program(t, "script")
	home, dir := t.TempDir(), t.TempDir()
	type one struct {
		cmd *exec.Cmd
		out shown
		in  io.WriteCloser
	}
	var both [2]*one
	for i := range both {
		o := &one{}
		o.cmd = exec.Command("script", "-qec", "hermes exec 'echo ran >>ran; git reset --hard'", "/dev/null")
		o.cmd.Dir, o.cmd.Env = dir, []string{"HOME=" + home, "PATH=" + rigtest.Guarded(t, os.Getenv("PATH")), "TERM=dumb", "SHELL=/bin/sh"}
		o.cmd.Stdout = &o.out
		var err error
		if o.in, err = o.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := o.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		both[i] = o
	}
	for _, o := range both {
		for tries := 0; !o.out.has("left:"); tries++ {
			if tries > 400 {
				t.Fatalf("no question: %s", o.out.String())
			}
			time.Sleep(25 * time.Millisecond)
		}
	}
	time.Sleep(50 * time.Millisecond) // what was typed before the question is no answer
	if _, err := io.WriteString(both[1].in, "\r"); err != nil {
		t.Fatal(err)
	}
	_ = both[1].cmd.Wait()
	if code := both[1].cmd.ProcessState.ExitCode(); code != 125 || !both[1].out.has("denied") {
		t.Errorf("denied: exit code %d: %s", code, both[1].out.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a denied command has run")
	}
	if both[0].out.has("denied") {
		t.Errorf("the answer landed on the other question: %s", both[0].out.String())
	}
	if _, err := io.WriteString(both[0].in, "o\r"); err != nil {
		t.Fatal(err)
	}
	_ = both[0].cmd.Wait()
	if text, _ := os.ReadFile(filepath.Join(dir, "ran")); string(text) != "ran\n" {
		t.Errorf("the approved command has written %q: %s", text, both[0].out.String())
	}
}
