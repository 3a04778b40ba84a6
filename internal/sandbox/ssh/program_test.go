package ssh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program builds hermes and puts a client before it that reads the test's settings in place of the owner's.
func (s *server) program() *binary {
	t := s.t
	t.Helper()
	helper(t)
	hermes := filepath.Join(sharedDir, "hermes")
	if !isFile(hermes) {
		cmd := exec.Command("go", "build", "-o", hermes, "hermes/cmd/hermes")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	real, err := exec.LookPath("ssh")
	s.must(err)
	bin := t.TempDir()
	s.must(os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\nexec "+real+" -F "+s.client+" \"$@\"\n"), 0o755))
	home := t.TempDir()
	s.must(os.MkdirAll(filepath.Join(home, "skills/a"), 0o700))
	s.must(os.WriteFile(filepath.Join(home, "skills/a/SKILL.md"), []byte("a skill\n"), 0o600))
	s.must(os.WriteFile(filepath.Join(home, ".env"), []byte(fmt.Sprintf("TERMINAL_SSH_HOST=127.0.0.1\nTERMINAL_SSH_USER=%s\nTERMINAL_SSH_PORT=%d\nTERMINAL_SSH_KEY=%s\n", s.user, s.port, s.key)), 0o600))
	return &binary{t: t, file: hermes, home: home, path: bin + ":" + os.Getenv("PATH")}
}

// binary is hermes with a home of its own.
type binary struct {
	t                testing.TB
	file, home, path string
}

func (b *binary) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.file, args...)
	cmd.Dir = b.t.TempDir()
	cmd.Env = []string{"PATH=" + b.path, "HOME=" + b.t.TempDir(), "HERMES_HOME=" + b.home, "LANG=C.UTF-8"}
	return cmd
}

func (b *binary) run(args ...string) (code int, stdout, stderr string) {
	b.t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// The whole way, as the owner goes it.
func TestProgram(t *testing.T) {
	s := serve(t, options{})
	hermes := s.program().run
	if code, out, errs := hermes("exec", "--backend", "ssh", "id"); code != 125 || out != "" || !strings.Contains(errs, s.fingerprint()) || !strings.Contains(errs, "ssh -p") {
		t.Errorf("an unknown key: %d, %q, %q", code, out, errs)
	}
	s.learn()
	code, out, errs := hermes("exec", "--backend", "ssh", "id -un; pwd; cat .hermes/skills/a/SKILL.md; exit 3")
	if code != 3 || out != s.user+"\n"+s.home+"\na skill\n" || errs != "" {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	if code, out, errs = hermes("exec", "--backend", "ssh", "--cwd", "/usr", "--", "pwd"); code != 0 || out != "/usr\n" {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	// What would be asked about on this machine is so on another. No rm does anything with the second: it has no such option.
	if code, _, errs = hermes("exec", "--backend", "ssh", "rm -rf /opt/hermes-none/thing"); code != 125 {
		t.Errorf("%d, %q", code, errs)
	}
	if code, _, errs = hermes("exec", "--backend", "ssh", "rm -rf --no-such-option /"); code != 125 || !strings.Contains(errs, "hardline") {
		t.Errorf("%d, %q", code, errs)
	}
	code, out, errs = hermes("sandbox", "verify", "--backend", "ssh", "--json")
	var answer struct {
		Walls    string
		OK       bool
		Boundary bool
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 || !answer.OK || answer.Boundary ||
		!strings.Contains(answer.Walls, s.user+"@127.0.0.1") || !strings.Contains(answer.Walls, "runner") {
		t.Errorf("%d, %q, %q, %v", code, out, errs, err)
	}
	s.keygen("host")
	s.again()
	if code, _, errs = hermes("exec", "--backend", "ssh", "id"); code != 125 || !strings.Contains(errs, "has changed") || !strings.Contains(errs, "ssh-keygen -R") {
		t.Errorf("a changed key: %d, %q", code, errs)
	}
}
