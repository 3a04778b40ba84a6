package docker_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
)

// container is the name of a sandbox's container.
func container(box sandbox.Sandbox) string {
	return box.(interface{ Container() string }).Container()
}

// running starts a command that tells how often it was started, and returns how it ended.
func running(t testing.TB, box sandbox.Sandbox, c sandbox.Command) <-chan error {
	t.Helper()
	end := make(chan error, 1)
	begun := &first{begun: make(chan struct{})}
	c.Text, c.Stdout = "echo once >>/workspace/ran; echo begun; sleep 300", begun
	go func() {
		s, err := box.Run(context.Background(), c)
		if err == nil && s.TimedOut {
			err = errTimedOut
		} else if err == nil {
			err = errors.New("it ended by itself")
		}
		end <- err
	}()
	select {
	case <-begun.begun:
	case <-time.After(time.Minute):
		t.Fatal("the command did not begin")
	}
	return end
}

var errTimedOut = errors.New("timed out")

// first tells that something was written.
type first struct {
	begun chan struct{}
	done  bool
}

func (f *first) Write(p []byte) (int, error) {
	if !f.done {
		f.done = true
		close(f.begun)
	}
	return len(p), nil
}

// ended waits for how a command ended.
func ended(t testing.TB, end <-chan error) error {
	t.Helper()
	select {
	case err := <-end:
		return err
	case <-time.After(90 * time.Second):
		t.Fatal("the command did not end")
	}
	return nil
}

// once checks that the command was started once, by the file it wrote into the kept work tree.
func once(t testing.TB, state string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(state, "docker", "default", "workspace", "ran"))
	if err != nil || string(text) != "once\n" {
		t.Errorf("the command ran %q, %v", text, err)
	}
}

// A container that is removed in the middle of a command breaks the sandbox; the command is not run again, and the next
// sandbox is another container.
func TestContainerRemoved(t *testing.T) {
	r := rootful(t)
	c := r.conf(t, kept())
	b := r.backend(t, c)
	box := open(t, b, spec(t))
	end := running(t, box, sandbox.Command{})
	r.call(t, "rm", "-f", container(box))
	var broken *sandbox.BrokenError
	if err := ended(t, end); !errors.As(err, &broken) || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("%v", err)
	}
	if _, err := box.Run(t.Context(), sandbox.Command{Text: "true"}); err == nil {
		t.Error("a broken sandbox runs commands")
	}
	once(t, c.State)
	again := open(t, b, spec(t))
	if container(again) == container(box) || say(t, again, "cat /workspace/ran") != "once" {
		t.Error("the next one is not another container with the same work tree")
	}
}

// A container that was stopped between two sandboxes is started again; one that was removed is made anew.
func TestContainerFoundAgain(t *testing.T) {
	r := rootful(t)
	b := r.backend(t, r.conf(t, kept()))
	name := ""
	for _, step := range []struct {
		what string
		do   []string
		same bool
	}{{"nothing", nil, false}, {"nothing happened", nil, true}, {"stopped", []string{"stop", "--time", "0"}, true}, {"paused", []string{"pause"}, true},
		{"removed", []string{"rm", "-f"}, false}} {
		if step.do != nil {
			r.call(t, append(step.do, name)...)
		}
		box := open(t, b, spec(t))
		if now := container(box); (now == name) != step.same {
			t.Errorf("%s: %s after %s", step.what, now, name)
		}
		name = container(box)
		if got := say(t, box, "echo there"); got != "there" {
			t.Errorf("%s: %q", step.what, got)
		}
		if err := box.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A paused container does not answer: a time-out ends the waiting all the same.
func TestContainerPaused(t *testing.T) {
	r := rootful(t)
	c := r.conf(t, kept())
	b := r.backend(t, c)
	box := open(t, b, spec(t))
	end := running(t, box, sandbox.Command{Timeout: 3 * time.Second, Grace: 100 * time.Millisecond})
	r.call(t, "pause", container(box))
	err := ended(t, end)
	var broken *sandbox.BrokenError
	if !errors.Is(err, errTimedOut) && !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
	once(t, c.State)
	_ = box.Close(t.Context())
	if got := say(t, open(t, b, spec(t)), "cat /workspace/ran"); got != "once" {
		t.Errorf("%q", got)
	}
}

// A command that takes more memory than there may be is killed; the sandbox goes on.
func TestOutOfMemory(t *testing.T) {
	r := rootful(t)
	s := hardened()
	s.Limits.Memory = plan.Limit{Value: 96, Set: true}
	box := open(t, r.backend(t, r.conf(t, s)), spec(t))
	var out bytes.Buffer
	status, err := box.Run(t.Context(), sandbox.Command{Text: "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}", Stdout: &out, Stderr: &out, Timeout: time.Minute})
	if err == nil && strings.TrimSpace(out.String()) == "300000000" {
		t.Errorf("the limit does not hold: %+v", status)
	}
	var broken *sandbox.BrokenError
	switch {
	case errors.As(err, &broken): // the helper was taken: then it is told
		if !strings.Contains(err.Error(), "memory") && !strings.Contains(err.Error(), "removed") {
			t.Errorf("%v", err)
		}
	case err != nil:
		t.Error(err)
	default:
		if got := say(t, box, "echo on"); got != "on" {
			t.Errorf("afterwards: %q", got)
		}
	}
}

// A full file system is the command's to cope with; the session goes on, its state is not on that disk.
func TestOutOfDisk(t *testing.T) {
	r := rootful(t)
	box := open(t, r.backend(t, r.conf(t, hardened())), spec(t))
	full := "for d in /run /var/tmp; do head -c 300000000 /dev/zero >$d/full && exit 9; done; export LEFT=there; true"
	if got := say(t, box, full); !strings.Contains(got, "No space left") {
		t.Errorf("%q", got)
	}
	if got := say(t, box, "echo $LEFT"); got != "there" {
		t.Errorf("the session lost %q", got)
	}
}

// An image that is not there and cannot be pulled is told with what to do, and nothing is left of the attempt.
func TestImageMissing(t *testing.T) {
	r := rootful(t)
	s := hardened()
	s.Image = "127.0.0.1:1/none/such:1"
	b := r.backend(t, r.conf(t, s))
	_, err := b.Open(t.Context(), spec(t))
	var degraded *sandbox.DegradedError
	if !errors.As(err, &degraded) || !strings.Contains(degraded.Remedy, "hermes sandbox image build") || !strings.Contains(err.Error(), "none/such") {
		t.Errorf("%v", err)
	}
	if all, err := b.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("left: %+v, %v", all, err)
	}
}

// What is wrong with an engine is told with what to do, and the way on is offered, never taken.
func TestNoEngine(t *testing.T) {
	refuses := filepath.Join(t.TempDir(), "docker")
	script := "#!/bin/sh\necho 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock' >&2; exit 1\n"
	odd := filepath.Join(t.TempDir(), "docker")
	if err := errors.Join(os.WriteFile(refuses, []byte(script), 0o700), os.WriteFile(odd, []byte("#!/bin/sh\necho surprise >&2; exit 3\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ what, binary, search, host, text, remedy string }{
		{"none", "", t.TempDir(), "", "Docker executable not found", "terminal.backend native"},
		{"a name that is none", "no-such-engine", "/usr/bin:/bin", "", "HERMES_DOCKER_BINARY names no-such-engine", "docker or podman"},
		{"not running", "docker", os.Getenv("PATH"), "unix:///nonexistent/docker.sock", "Docker daemon is not responding", "start it"},
		{"no permission", refuses, "", "", "no permission on its socket", "usermod -aG docker"},
		{"something else", odd, "", "", "'docker version' failed", "docker version"},
	} {
		t.Run(row.what, func(t *testing.T) {
			r := &rig{binary: row.binary, env: []string{"DOCKER_HOST=" + row.host}}
			if row.what == "not running" {
				rootful(t)
			}
			c := r.conf(t, hardened())
			c.Search = row.search
			if row.what == "none" {
				for _, usual := range []string{"/usr/local/bin/docker", "/opt/homebrew/bin/docker"} {
					if _, err := os.Stat(usual); err == nil {
						t.Skip("there is an engine in a usual place")
					}
				}
			}
			_, err := newBackend(c).Open(t.Context(), spec(t))
			var degraded *sandbox.DegradedError
			if !errors.As(err, &degraded) || !strings.Contains(err.Error(), row.text) || !strings.Contains(degraded.Remedy, row.remedy) {
				t.Errorf("%v", err)
			}
		})
	}
}

// An engine that stops in the middle of a command, and is started again.
func TestEngineStopped(t *testing.T) {
	rootful(t) // the programs are there
	dir, err := os.MkdirTemp("", "hs")
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	if bridge() {
		args = []string{"-b", bridgeName}
	}
	host, stop, err := daemon(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = os.RemoveAll(dir)
	}()
	r := &rig{binary: "docker", env: []string{"DOCKER_HOST=" + host}}
	if lacks := r.equip(); lacks != "" {
		t.Fatal(lacks)
	}
	s := kept()
	s.Network, s.NetworkSet = exposure.NoNet, true
	c := r.conf(t, s)
	b := newBackend(c)
	box := open(t, b, spec(t))
	end := running(t, box, sandbox.Command{})
	stop()
	var broken *sandbox.BrokenError
	if err := ended(t, end); !errors.As(err, &broken) {
		t.Errorf("%v", err)
	} else {
		t.Log(err)
	}
	_, err = b.Open(t.Context(), spec(t))
	var degraded *sandbox.DegradedError
	if !errors.As(err, &degraded) || !strings.Contains(err.Error(), "not responding") {
		t.Errorf("without an engine: %v", err)
	}
	if _, stop, err = daemon(dir, args...); err != nil {
		t.Fatal(err)
	}
	again := open(t, b, spec(t))
	if got := say(t, again, "cat /workspace/ran"); got != "once" {
		t.Errorf("after the engine came back: %q", got)
	}
	once(t, c.State)
	_ = again.Close(t.Context())
	_ = b.Close()
}
