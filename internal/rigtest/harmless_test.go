package rigtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// fails is a test of which is known whether it failed, with folders and an end of its own.
type fails struct {
	testing.TB
	failed bool
	end    []func()
}

func (f *fails) Helper()               {}
func (f *fails) Errorf(string, ...any) { f.failed = true }
func (f *fails) Cleanup(end func())    { f.end = append(f.end, end) }

func TestGuarded(t *testing.T) {
	Program(t, "sh")
	other, err := os.MkdirTemp("", "rigtest") // not below this test's own folder
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(other)
	for _, row := range []struct {
		text string
		ran  bool
	}{
		{"rm -rf sub", true},
		{"rm -rf \"$OWN\"/sub", true},
		{"rm -f none /none-of-this-name", true},
		{"rm -rf \"$OTHER\"", false},
		{"rm -rf sub \"$OTHER\"/*", false},
		{"cd \"$OTHER\" && rm -rf *", false},
		{"cd \"$OTHER\" && rm -rf .", false},
		{"rm -rf sub/../link/kept", false},
		{"rm -f link/kept", false},
		{"sudo true", false},
		{"shutdown now", false},
	} {
		f := &fails{TB: t}
		dir := t.TempDir()
		kept := filepath.Join(other, "kept")
		if err := os.WriteFile(kept, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", row.text)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + Guarded(f, "/usr/bin:/bin"), "OWN=" + dir, "OTHER=" + other}
		out, err := cmd.CombinedOutput()
		for _, end := range f.end {
			end()
		}
		if (err == nil) != row.ran || f.failed == row.ran {
			t.Errorf("%s: %v, failed %v\n%s", row.text, err, f.failed, out)
		}
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%s deleted what is not the test's: %v", row.text, err)
		}
	}
}
