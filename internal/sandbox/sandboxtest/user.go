package sandboxtest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hermes/internal/rigtest"
)

// nobody is an ordinary user without any rights of its own.
const nobody = "65534"

// childMark is set in the environment of a test that was started again.
const childMark = "HERMES_TEST_AS_USER"

// AsUser runs another test of the same binary as an ordinary user, in a process of its own, and fails if that does. It needs
// root. In that process it does nothing: a test never starts a test that starts a test.
func AsUser(t *testing.T, name string) {
	t.Helper()
	if os.Getuid() != 0 || os.Getenv(childMark) != "" {
		t.Skip("skipped: needs root")
	}
	setpriv := rigtest.Program(t, "setpriv")
	dir, err := os.MkdirTemp("", "hermes-user-") // t.TempDir is below a directory that only root can enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "suite.test")
	if err := copyProgram(program); err != nil {
		t.Fatal(err)
	}
	tmp := filepath.Join(dir, "tmp")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tmp, 0o1777); err != nil {
		t.Fatal(err)
	}
	args := []string{"--reuid", nobody, "--regid", nobody, "--clear-groups", "--bounding-set", "-all", program,
		"-test.run", "^" + name + "$", "-test.timeout", "300s", "-test.count", "1"}
	cmd := exec.CommandContext(t.Context(), setpriv, args...)
	cmd.Dir = tmp
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + tmp, "TMPDIR=" + tmp, childMark + "=1",
		"HERMES_TEST_REQUIRE=" + os.Getenv("HERMES_TEST_REQUIRE")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as user %s: %v\n%s", nobody, err, out)
	}
}

func copyProgram(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
