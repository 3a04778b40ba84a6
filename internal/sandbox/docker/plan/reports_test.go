package plan

import (
	"errors"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
)

// The weak points that were found in the original by reading, by their numbers there, as far as the command line decides them.

// 1: a container that was made with weaker settings is used again.
func TestWeakPoint1(t *testing.T) {
	for what, tighten := range map[string]func(*Settings){
		"volumes": func(s *Settings) { s.Volumes = nil },
		"user":    func(s *Settings) { s.AsHostUser = true },
		"image":   func(s *Settings) { s.Image = "busybox:2" },
		"limits":  func(s *Settings) { s.Limits.PIDs.Value = 64 },
		"network": func(s *Settings) { s.Network = exposure.NoNet },
		"flags":   func(s *Settings) { s.ExtraArgs = []string{"--read-only"} },
	} {
		s := settings()
		s.Volumes = []string{"a:/a"}
		was := must(t, s, facts())
		tighten(&s)
		if is := must(t, s, facts()); is.Fingerprint == was.Fingerprint {
			t.Errorf("%s tightened: the container of before would be used again", what)
		}
	}
}

// 3: extra arguments and volumes are not looked at.
func TestWeakPoint3(t *testing.T) {
	for _, row := range []struct{ volumes, extra []string }{
		{extra: []string{"--privileged"}}, {extra: []string{"--pid=host"}}, {extra: []string{"--network", "host"}}, {extra: []string{"-v", "/:/host"}},
		{volumes: []string{"/var/run/docker.sock:/var/run/docker.sock"}}, {volumes: []string{"/:/host:ro"}},
	} {
		s := settings()
		s.Volumes, s.ExtraArgs = row.volumes, row.extra
		var refused *RefusedError
		if _, err := New(s, facts()); !errors.As(err, &refused) {
			t.Errorf("%q: %v", row, err)
		}
	}
}

// 4: a volume at /workspace-old takes the place of the work tree.
func TestWeakPoint4(t *testing.T) {
	s := settings()
	s.Volumes = []string{"/x:/workspace-old"}
	p := must(t, s, facts())
	if !strings.Contains(strings.Join(p.Run, " "), "/workspace:/workspace ") || p.HostWork != "" {
		t.Errorf("the work tree is gone: %q", p.Run)
	}
}

// 5: when control groups do not work, all limits are dropped with a line in the log.
func TestWeakPoint5(t *testing.T) {
	s, f := settings(), facts()
	f.CPU, f.Memory, f.PIDs = false, false, false
	if p := must(t, s, f); len(p.NotInForce) != 4 {
		t.Errorf("not in force: %+v", p.NotInForce)
	}
	s.Limits.Memory.Set = true
	var missing *sandbox.MissingError
	if _, err := New(s, f); !errors.As(err, &missing) {
		t.Errorf("a limit that was asked for by name: %v", err)
	}
	f.Memory = true // one that works is set though another does not
	if p := must(t, s, f); !strings.Contains(strings.Join(p.Run, " "), "--memory 5120m") {
		t.Errorf("%q", p.Run)
	}
}

// 6, as far as names go: tasks never share a folder or a fingerprint.
func TestWeakPoint6(t *testing.T) {
	seen, dirs := map[string]string{}, map[string]string{}
	for _, task := range []string{"", ".", "..", " ", "a:b", "a/b", "a_b", "a\\b", "A", "a", "default", taskDir("a:b"), "a-.-b", strings.Repeat("x", 200), strings.Repeat("x", 201)} {
		s := settings()
		s.Task = task
		p := must(t, s, facts())
		if other, ok := seen[p.Fingerprint]; ok {
			t.Errorf("%q and %q have one fingerprint", task, other)
		}
		if other, ok := dirs[taskDir(task)]; ok {
			t.Errorf("%q and %q have one folder", task, other)
		}
		seen[p.Fingerprint], dirs[taskDir(task)] = task, task
	}
}

// Report 49 (hermes-agent 92571): with no volumes configured nothing of the host is shown but Hermes' own.
func TestReport49(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		s := settings()
		s.Persistent = persistent
		s.Runner, s.Sockets = Showing{"/h/runner", RunnerPath}, Showing{"/h/sockets", SocketDir}
		for _, m := range must(t, s, facts()).Mounts {
			if !m.Mine || m.Target == RunnerPath && m.Write {
				t.Errorf("persistent %t: %+v", persistent, m)
			}
		}
	}
}
