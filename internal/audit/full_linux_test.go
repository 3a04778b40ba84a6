package audit

import (
	"os"
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
