package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/sandboxtest"
)

// A container is used again only by the policy it was made for: whatever of that is tightened reaches a new one, and the old
// one goes.
func TestWeakPoint01Reuse(t *testing.T) {
	r := rootful(t)
	outside := t.TempDir()
	c := r.conf(t, kept())
	name := func(change func(*plan.Settings)) string {
		t.Helper()
		conf := c
		change(&conf.Plan)
		b := newBackend(conf)
		box := open(t, b, spec(t))
		_ = box.Close(t.Context())
		_ = b.Close()
		return container(box)
	}
	same := func(*plan.Settings) {}
	first := name(same)
	if again := name(same); again != first {
		t.Fatalf("the same policy is in %s, not in %s", again, first)
	}
	for what, change := range map[string]func(*plan.Settings){
		"memory":       func(s *plan.Settings) { s.Limits.Memory.Value = 1024 },
		"processes":    func(s *plan.Settings) { s.Limits.PIDs.Value = 128 },
		"processors":   func(s *plan.Settings) { s.Limits.CPU.Value = 0.5 },
		"a volume":     func(s *plan.Settings) { s.Volumes = []string{outside + ":/data:ro"} },
		"the network":  func(s *plan.Settings) { s.Network, s.NetworkSet = exposure.OpenNet, true }, // public report N-058
		"the user":     func(s *plan.Settings) { s.ExtraArgs = []string{"--user=1000:1000"} },
		"a capability": func(s *plan.Settings) { s.ExtraArgs = []string{"--cap-drop=CHOWN"} },
		"/dev/shm":     func(s *plan.Settings) { s.Shm = "64m" },
	} {
		before := name(same)
		if changed := name(change); changed == before {
			t.Errorf("%s was changed, and the container is the old one", what)
		}
	}
	// Public report 46: the new values are in the new container.
	tight := name(func(s *plan.Settings) { s.Limits.Memory.Value = 1024 })
	if got := r.call(t, "inspect", "--format", "{{.HostConfig.Memory}}", tight); got != fmt.Sprint(1024<<20) {
		t.Errorf("the new container has %s bytes", got)
	}
	b := r.backend(t, c)
	all, err := b.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != tight || all[0].Busy {
		t.Errorf("left: %+v, %v", all, err)
	}
}

// A container is gone when the engine says so, not when a command says something that sounds so; no command is run twice.
func TestWeakPoint02Recovery(t *testing.T) {
	r := rootful(t)
	b := r.backend(t, r.conf(t, kept()))
	box := open(t, b, spec(t))
	for i, text := range []string{
		"Error response from daemon: No such container: " + container(box), "no such container", "Container is not running",
		"Error: No such container: x\nis not running",
	} {
		var out bytes.Buffer
		s, err := box.Run(t.Context(), sandbox.Command{Text: fmt.Sprintf("echo . >>/workspace/runs; printf '%%s\\n' '%s' >&2; exit 1", text), Stdout: &out, Stderr: &out})
		if err != nil || s.Code != 1 || strings.TrimSpace(out.String()) != text {
			t.Errorf("%q: %+v, %v, %q", text, s, err, out.String())
		}
		if got := say(t, box, "wc -l </workspace/runs"); got != fmt.Sprint(i+1) {
			t.Errorf("after %q the commands ran %s times", text, got)
		}
	}
	if again := open(t, b, spec(t)); container(again) != container(box) {
		t.Error("the container was dropped")
	}
}

// A mount whose place only begins like the work tree does not take the work tree away.
func TestWeakPoint04Workspace(t *testing.T) {
	r := rootful(t)
	old := t.TempDir()
	s := kept()
	s.Volumes = []string{old + ":/workspace-old"}
	c := r.conf(t, s)
	box := open(t, r.backend(t, c), spec(t))
	say(t, box, "echo mine >/workspace/file")
	if text, err := os.ReadFile(filepath.Join(c.State, "docker", "default", "workspace", "file")); err != nil || string(text) != "mine\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Sessions share a container, and its files, but nothing of a shell: no function, alias, variable or directory.
func TestWeakPoint06Sessions(t *testing.T) {
	r := rootful(t)
	s := kept()
	s.SharedKey = "team"
	b := r.backend(t, r.conf(t, s))
	one, other := open(t, b, spec(t)), open(t, b, spec(t))
	if container(one) != container(other) {
		t.Fatal("the sessions do not share a container")
	}
	say(t, one, "ls() { echo gotcha; }; export -f ls; alias pwd='echo gotcha'; export PATH=/tmp:$PATH SECRET=mine; cd /tmp; echo shared >/workspace/file")
	if got := say(t, other, `ls /workspace; pwd; echo "$PATH [$SECRET]"; cat /workspace/file`); strings.Contains(got, "gotcha") || strings.Contains(got, "mine") ||
		strings.Contains(got, "/tmp") || !strings.Contains(got, "shared") {
		t.Errorf("the other session sees %q", got)
	}
	// What one leaves running is not the other's, and ends with its own session.
	say(t, one, "sleep 7654321 & echo")
	if left := other.Left(); len(left) != 0 {
		t.Errorf("the other session left %+v", left)
	}
	if err := one.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := sandboxtest.Running("sleep 7654321"); len(left) != 0 {
		t.Errorf("left of the closed session: %q", left)
	}
}

// What a limit or wall was asked for by name and is not in force does not open.
func TestWeakPoint05Limits(t *testing.T) {
	r := rootful(t)
	s := hardened()
	s.Limits.Disk = plan.Limit{Value: 512, Set: true}
	box, err := r.backend(t, r.conf(t, s)).Open(t.Context(), spec(t))
	if err == nil {
		defer box.Close(t.Context())
		for _, l := range box.Exposure().Limits {
			if l.Name == "disk" && !l.Holds() {
				t.Errorf("it opened without the disk limit: %+v", l)
			}
		}
		return // this engine can
	}
	if _, ok := err.(*sandbox.MissingError); !ok || !strings.Contains(err.Error(), "disk") {
		t.Errorf("%v", err)
	}
}

// A kept container whose limits were raised meanwhile is not used again, also where they are only defaults; one whose limits were
// lowered is.
func TestRaisedLimits(t *testing.T) {
	r := rootful(t)
	s := kept()
	s.Limits = plan.Limits{CPU: plan.Limit{Value: 0.29}, Memory: plan.Limit{Value: 512}, PIDs: plan.Limit{Value: 200}}
	c := r.conf(t, s)
	_ = r.backend(t, c) // leaves nothing
	for _, row := range []struct {
		what   string
		update []string
		again  bool
	}{
		{"nothing", nil, true},
		{"lower", []string{"--memory=256m", "--memory-swap=256m", "--pids-limit=100", "--cpus=0.2"}, true},
		{"memory", []string{"--memory=1g", "--memory-swap=1g"}, false},
		{"processes", []string{"--pids-limit=400"}, false},
		{"any number of processes", []string{"--pids-limit=-1"}, false},
		{"processors", []string{"--cpus=0.5"}, false},
	} {
		name := func() string {
			b := newBackend(c)
			defer b.Close()
			box := open(t, b, spec(t))
			defer box.Close(t.Context())
			for _, l := range box.Exposure().Limits {
				if !l.Holds() {
					t.Errorf("%s: %+v", row.what, l)
				}
			}
			return container(box)
		}
		before := name()
		if row.update != nil {
			r.call(t, append(append([]string{"update"}, row.update...), before)...)
		}
		if after := name(); (after == before) != row.again {
			t.Errorf("%s: it was in %s, and is in %s", row.what, before, after)
		}
	}
}

// The reaper takes what is ours and nobody's, and nothing else.
func TestReaper(t *testing.T) {
	r := rootful(t)
	c := r.conf(t, kept())
	b := r.backend(t, c)
	box := open(t, b, spec(t)) // in use
	label := r.call(t, "inspect", "--format", `{{index .Config.Labels "hermes-owner"}}`, container(box))
	start := func(name string, more ...string) {
		t.Helper()
		args := append([]string{"run", "-d", "--network=none", "--name", name}, more...)
		r.call(t, append(args, testImage, "sleep", "300")...)
		t.Cleanup(func() { _ = r.engine(context.Background(), nil, &bytes.Buffer{}, "rm", "-f", name) })
	}
	start("hermes-0000000a", "--rm", "--label", "hermes-agent=1", "--label", "hermes-owner="+label) // an owner that is gone
	start("hermes-0000000b", "--rm", "--label", "hermes-agent=1", "--label", "hermes-owner=other")  // another home's
	start("hermes-0000000c", "--rm")                                                                // nobody's of ours
	start("hermes-0000000d", "--label", "hermes-agent=1", "--label", "hermes-owner="+label)         // kept, runs
	removed, err := b.Clean(t.Context())
	if err != nil || len(removed) != 1 || removed[0] != "hermes-0000000a" {
		t.Errorf("removed %q, %v", removed, err)
	}
	r.call(t, "kill", "hermes-0000000d")
	soon(t, "it ended", func() bool {
		return r.call(t, "inspect", "--format", "{{.State.Running}}", "hermes-0000000d") == "false"
	})
	if removed, err := b.Clean(t.Context()); err != nil || len(removed) != 1 || removed[0] != "hermes-0000000d" {
		t.Errorf("removed %q, %v", removed, err)
	}
	if got := say(t, box, "echo still here"); got != "still here" {
		t.Errorf("%q", got)
	}
	if err := b.Stop(t.Context(), "hermes-0000000b"); err == nil {
		t.Error("another home's container was stopped")
	}
	time.Sleep(10 * time.Millisecond)
}
