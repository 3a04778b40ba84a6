package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		if os.Getenv("HERMES_TEST_REQUIRE") != "" {
			t.Log("as an ordinary user only the limit of a file's size is tested")
		}
		t.Skip("skipped: needs root to mount a small file system")
	}
	_, dir := folder(t)
	cmd := job(t, "full disk", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // seen by the writer only
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(string(out), "operation not permitted") && os.Getenv("HERMES_TEST_REQUIRE") == "" {
		t.Skip("skipped: needs the right to mount")
	}
	if err != nil || !strings.Contains(string(out), "audit decision: audit-000001.jsonl: no space left on device") {
		t.Errorf("%v: %s", err, out)
	}
}

// What is not an ordinary file is an error at once, for readers and writers.
func TestNotAFile(t *testing.T) {
	for _, what := range []string{first, headName} {
		for _, kind := range []string{"pipe", "link"} {
			root, dir := folder(t)
			begin(t, root, Options{}).Close()
			name := filepath.Join(dir, what)
			var err error
			if kind == "pipe" {
				err = errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600))
			} else {
				err = errors.Join(os.Rename(name, name+".moved"), os.Symlink(what+".moved", name))
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(root); err == nil || !strings.Contains(err.Error(), what+": not an ordinary file") {
				t.Errorf("Verify, %s as %s: %v", what, kind, err)
			}
			if l, err := Open(root, Options{Now: clock()}); err == nil || !strings.Contains(err.Error(), what+": not an ordinary file") {
				t.Errorf("Open, %s as %s: %v, %v", what, kind, l, err)
			}
		}
	}
}
