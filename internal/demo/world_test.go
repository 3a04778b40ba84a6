package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/rigtest"
)

// Whatever lets the attempts pass: the programs that harm are the demo's own, which do nothing but leave the marker.
func TestStubs(t *testing.T) {
	rigtest.Program(t, "sh")
	for _, real := range [][]string{{"A=b"}, {"PATH=" + os.Getenv("PATH")}} {
		w, err := Plant(t.TempDir(), "{}\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Stubbed(); err != nil {
			t.Fatal(err)
		}
		keep := filepath.Join(w.Project, "README.md")
		for _, name := range stubbed {
			cmd := exec.Command("sh", "-c", `command -v "$0" && exec "$0" -f "$1"`, name, keep)
			cmd.Env = w.Environ(real)
			out, err := cmd.CombinedOutput()
			if err == nil || strings.TrimSpace(string(out)) != filepath.Join(w.stubs, name) {
				t.Errorf("%s: %v, %s", name, err, out)
			}
			if _, err := os.Stat(keep); err != nil {
				t.Fatal(err)
			}
			if got := w.changed(); got != "a file was written outside the sandbox" {
				t.Errorf("%s is not seen to have run: %q", name, got)
			}
			if err := os.Remove(w.marker); err != nil {
				t.Error(err)
			}
		}
	}
}

// Where the stubs cannot be run, that is told.
func TestStubbed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: no file is kept from being run there")
	}
	w, err := Plant(t.TempDir(), "{}\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.stubs, "rm"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Stubbed(); err == nil || !strings.Contains(err.Error(), "TMPDIR=/var/tmp hermes demo") {
		t.Error(err)
	}
}
