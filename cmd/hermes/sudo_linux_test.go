package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/rigtest"
)

// sudoWorld is a machine with one more user, who may become root with a password. All of /etc is a copy that only the
// processes of the test see; it is gone with the last of them.
type sudoWorld struct {
	dir, home string
	password  string
}

const sudoUser = "54321"

// The script reads the user's password from its input, and runs its arguments as that user.
const sudoScript = `set -e
IFS= read -r password
mount -t tmpfs -o mode=755 none "$W/etc"
copy() {
` + rigtest.CopyEtc + `}
copy "$W/etc"
mount --bind "$W/etc" /etc
useradd -u ` + sudoUser + ` -U -M -d "$W/home" -s /bin/bash hermestest
printf 'hermestest:%s\n' "$password" | chpasswd
printf 'Defaults:hermestest timestamp_timeout=0, lecture=never, !syslog\nhermestest ALL=(ALL) ALL\n' >/etc/sudoers.d/hermestest
chmod 440 /etc/sudoers.d/hermestest
exec </dev/null setpriv --reuid ` + sudoUser + ` --regid ` + sudoUser + ` --clear-groups env -i "HOME=$W/home" "PATH=$PATH" "LC_ALL=C" "$@"
`

func newSudoWorld(t *testing.T) *sudoWorld {
	t.Helper()
	lack := ""
	for _, name := range []string{"sudo", "useradd", "chpasswd", "setpriv", "bash"} {
		if _, err := exec.LookPath(name); err != nil {
			lack = name
		}
	}
	switch {
	case os.Getuid() != 0:
		t.Skip("skipped: needs root, sudo")
	case lack != "" && os.Getenv("HERMES_TEST_REQUIRE") != "":
		t.Fatalf("%s is required", lack)
	case lack != "":
		t.Skipf("skipped: needs %s", lack)
	}
	dir, err := os.MkdirTemp("", "hermes-sudo-") // t.TempDir is below a directory that only root can enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &sudoWorld{dir: dir, home: filepath.Join(dir, "home"), password: fmt.Sprintf("Planted+%d+%d", os.Getpid(), time.Now().UnixNano())}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.MkdirAll(filepath.Join(w.home, ".hermes"), 0o700), os.Mkdir(filepath.Join(dir, "etc"), 0o755),
		os.WriteFile(filepath.Join(dir, "hermes"), self, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.say(t, w.password)
	return w
}

// say writes the password that Hermes shall use.
func (w *sudoWorld) say(t *testing.T, password string) {
	t.Helper()
	name := filepath.Join(w.home, ".hermes", ".env")
	if err := os.WriteFile(name, []byte("SUDO_PASSWORD="+password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(sudoUser)
	if err := filepath.WalkDir(w.home, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, uid, uid)
	}); err != nil {
		t.Fatal(err)
	}
}

// start runs hermes as the user.
func (w *sudoWorld) start(t *testing.T, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", sudoScript, "-", filepath.Join(w.dir, "hermes")}, args...)...)
	cmd.Dir, cmd.Env = w.home, []string{"W=" + w.dir, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(w.password+"\n"), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "" {
			t.Skipf("skipped: needs the right to mount: %v", err)
		}
		t.Fatal(err)
	}
	return cmd
}

func (w *sudoWorld) run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd := w.start(t, &out, args...)
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.ExitCode()
}

// A real sudo gets the password that Hermes holds, and nobody else does.
func TestSudo(t *testing.T) {
	w := newSudoWorld(t)
	if out, code := w.run(t, "exec", "sudo id -un; env FOO=bar sudo id -u"); code != 0 || out != "root\n0\n" {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := w.run(t, "exec", "--json", "sudo id -un"); code != 0 || !strings.Contains(out, `"stdout":{"text":"root\n"`) {
		t.Errorf("--json: exit code %d: %s", code, out)
	}

	// Nothing shows it while it is used.
	var out bytes.Buffer
	cmd := w.start(t, &out, "exec", "sudo sleep 47.31")
	for tries := 0; len(sleeping("sleep 47.31")) == 0; tries++ {
		if tries > 400 {
			t.Fatalf("the command did not start: %s", out.String())
		}
		time.Sleep(25 * time.Millisecond)
	}
	for _, pid := range processes() {
		for _, name := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
			if err == nil && bytes.Contains(text, []byte(w.password)) {
				t.Errorf("%s of process %d holds the password: %q", name, pid, text)
			}
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()

	// A wrong one is told as what it is, and is not shown either.
	wrong := "Wrong+" + w.password
	w.say(t, wrong)
	said, code := w.run(t, "exec", "sudo id -un; sudo id -u")
	if code == 0 || !strings.Contains(said, "SUDO_PASSWORD") {
		t.Errorf("wrong password: exit code %d: %s", code, said)
	}
	said, _ = w.run(t, "exec", "cat; sudo -n true; cat")
	for _, s := range []string{w.password, wrong} {
		if strings.Contains(said+out.String(), s) {
			t.Errorf("the output shows it: %s", said+out.String())
		}
	}
	kept := 0
	_ = filepath.WalkDir(filepath.Join(w.home, ".hermes"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == ".env" {
			return err
		}
		kept++
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte(w.password)) {
			t.Errorf("%s holds it: %v", name, err)
		}
		return nil
	})
	if kept == 0 {
		t.Error("nothing was written down")
	}
}
