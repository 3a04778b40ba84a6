package native_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"hermes/internal/sandbox/native"
)

// A group is somebody's as long as there is somebody in it. An empty one is left: at once when nobody with its maker's number is
// there, and at last also when there is, since that may be somebody else, or its maker be in another namespace.
func TestSweep(t *testing.T) {
	dirs := native.GroupDirs()
	if len(dirs) == 0 {
		t.Skip("no groups can be made here")
	}
	nobody := exec.Command("/bin/true")
	if err := nobody.Run(); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("/bin/sleep", "1234567")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	for _, row := range []struct {
		name  string
		maker int
		age   time.Duration
		used  bool
		stays bool
	}{
		{name: "just made by nobody", maker: nobody.Process.Pid, stays: true},
		{name: "old, of nobody", maker: nobody.Process.Pid, age: 2 * time.Minute},
		{name: "old, of somebody", maker: os.Getpid(), age: 2 * time.Minute, stays: true},
		{name: "very old, of somebody", maker: os.Getpid(), age: 2 * time.Hour},
		{name: "very old, of nobody, in use", maker: nobody.Process.Pid, age: 2 * time.Hour, used: true, stays: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(dirs[0], fmt.Sprintf("hermes-%d-test", row.maker))
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(path)
			if row.used {
				home, pid := filepath.Join(dirs[0], "cgroup.procs"), fmt.Appendln(nil, sleeper.Process.Pid)
				if err := os.WriteFile(filepath.Join(path, "cgroup.procs"), pid, 0); err != nil {
					t.Skip(err)
				}
				defer func() {
					if err := os.WriteFile(home, pid, 0); err != nil {
						t.Error(err)
					}
				}()
			}
			at := time.Now().Add(-row.age)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Skip(err)
			}
			if _, err := native.Clean(t.TempDir()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); os.IsNotExist(err) == row.stays {
				t.Errorf("it stays: %v, want %v", !row.stays, row.stays)
			}
		})
	}
}
