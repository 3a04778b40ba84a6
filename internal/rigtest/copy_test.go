package rigtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What vanishes while /etc is copied is no trouble, everything else is.
func TestCopyEtc(t *testing.T) {
	const (
		gone     = "cp: cannot stat '/etc/./hermes-test-1/secret': No such file or directory"
		replaced = "cp: skipping file '/etc/./group', as it was replaced while being copied"
		full     = "cp: error writing 'passwd': No space left on device"
	)
	for _, row := range []struct {
		what, trouble string
		copies, fine  bool
	}{
		{"nothing", "", true, true},
		{"a file that is gone", gone, true, true},
		{"gone and replaced", gone + "\n" + replaced, true, true},
		{"no room", full, true, false},
		{"gone, and no room", gone + "\n" + full, true, false},
		{"nothing copied", gone, false, false},
	} {
		bin, to := t.TempDir(), t.TempDir()
		cp := "#!/bin/sh\n"
		if row.copies {
			cp += `: >"$3/passwd"` + "\n"
		}
		if row.trouble != "" {
			cp += "cat >&2 <<'END'\n" + row.trouble + "\nEND\nexit 1\n"
		}
		if err := os.WriteFile(filepath.Join(bin, "cp"), []byte(cp), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-ec", CopyEtc, "sh", to)
		cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if (err == nil) != row.fine || !row.fine && !strings.Contains(string(out), row.trouble) {
			t.Errorf("%s: %v, %q", row.what, err, out)
		}
	}
}
