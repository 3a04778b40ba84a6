package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/rigtest"
)

// What git tracks is asked about, what it ignores and builds make again is not: on the command line of check as in exec. The
// work tree lies outside of the folders for temporary files, where deletes pass anyway.
func TestWorkTree(t *testing.T) {
	rigtest.Program(t, "git")
	dir := lastingDir(t)
	env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	run := func(program string, args ...string) int {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, env
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	fill := func() {
		for name, text := range map[string]string{".gitignore": "/data/\n", "data/a": "", "dist/a": "", "src/a.c": "", "main": "", "node_modules/a/b": ""} {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill()
	if run("git", "init", "-q") != 0 || run("git", "add", "-f", ".gitignore", "dist", "src", "main") != 0 {
		t.Fatal("git does not make a repository")
	}
	for _, row := range []struct {
		text string
		asks bool
	}{
		{"rm -rf node_modules", false},
		{"rm -rf data", false},
		{"rm -rf " + filepath.Join(dir, "data"), false},
		{"rm -rf data/*", false},
		{"rm -rf dist", true}, // a folder of builds, but it is tracked
		{"rm -rf src", true},
		{"rm -rf data src", true},
		{"cd src && rm -rf ../data", false},
		{"git checkout -- main", true},
		{"git checkout main", true}, // a tracked file, not a branch
	} {
		fill()
		code, want := run("hermes", "check", row.text), 0
		if row.asks {
			want = 2
		}
		if code != want {
			t.Errorf("check %q: exit code %d, want %d", row.text, code, want)
		}
		for _, backend := range []string{"local", "native"} {
			if row.asks {
				want = 125
			}
			if code := run("hermes", "exec", "--backend", backend, row.text); code != want {
				t.Errorf("exec %q on %s: exit code %d, want %d", row.text, backend, code, want)
			}
			fill()
		}
	}
	// One object a line knows what the line says, and nothing else.
	cmd := exec.Command("sh", "-c", `echo '{"command":"rm -rf data","cwd":"`+dir+`"}' | hermes check --jsonl`)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte(`"verdict":"ask"`)) {
		t.Errorf("check --jsonl has looked at the machine: %s %v", out, err)
	}
}

// lastingDir makes a folder that is not below those for temporary files, and removes it at the end.
func lastingDir(t *testing.T) string {
	t.Helper()
	here, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	for _, root := range []string{here, home, "/srv", "/opt"} {
		root, err := filepath.EvalSymlinks(root)
		if err != nil || slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/dev/shm"}, func(temp string) bool {
			return root == temp || strings.HasPrefix(root, temp+"/")
		}) {
			continue
		}
		if dir, err := os.MkdirTemp(root, ".hermes-test-tree-"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			return dir
		}
	}
	if os.Getenv("HERMES_TEST_REQUIRE") != "" {
		t.Fatal("a folder outside of /tmp is required")
	}
	t.Skip("skipped: needs a folder outside of /tmp")
	return ""
}
