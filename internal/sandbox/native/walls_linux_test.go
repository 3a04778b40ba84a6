package native_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// repository makes a repository with a hook in a directory.
func repository(t testing.TB, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, ".git/config"), "[core]\n\tbare = false\n")
	write(t, filepath.Join(dir, ".git/hooks/pre-commit"), "#!/bin/sh\n")
	for _, sub := range []string{"objects", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// Each row: what a command tries, and what it must hear. Nothing of the host's user is visible; there is no way out; the
// commands do not get at what runs on the host later.
var walls = []struct{ what, command, want string }{
	{"key file", "cat ~/.ssh/id_ed25519", "No such file"},
	{"another's home", "ls /home /root", "No such file"},
	{"environment", "env | grep -c SECRET", "0"},
	{"system's passwords", "cat /etc/shadow", "denied"},
	{"host's folder", "ls $OUTSIDE", "No such file"},
	{"engine socket", "ls /var/run/docker.sock /run/docker.sock", "No such file"},

	{"write the system", "touch /usr/bin/x", "Read-only"},
	{"write /", "touch /x", "Read-only"},
	{"write the kernel's settings", "echo x > /proc/sys/kernel/core_pattern", "ermission|Read-only"},
	{"a device of its own", "mknod /tmp/sda b 8 0", "ermission|ermitted"},
	{"a git hook", "echo x > .git/hooks/post-commit", "Read-only"},
	{"an existing hook", "echo x >> .git/hooks/pre-commit", "Read-only"},
	{"git settings", "echo x >> .git/config", "Read-only"},
	{"git settings by renaming", "echo x > .git/c && mv .git/c .git/config", "busy|denied|Invalid"},
	{"the hooks' folder moved away", "mv .git/hooks .git/h", "busy|denied|Invalid"},
	{"the repository moved away", "mv .git .g", "busy|denied|Invalid"},
	{"the repository below moved away", "mv sub/.git sub/g", "busy|denied|Invalid"},
	{"git settings below", "echo x >> sub/.git/config", "Read-only"},
	{"agent's settings", "echo x >> .claude/settings.json", "Read-only"},

	{"tcp", "echo > /dev/tcp/192.0.2.1/80", "unreachable"},
	{"udp", "echo > /dev/udp/192.0.2.1/53", "unreachable"},
	{"metadata", "echo > /dev/tcp/169.254.169.254/80", "unreachable"},
	{"names", "getent hosts example.com; echo code $?", "code 2"},
	{"host's processes", "ls /proc | grep -cE '^[0-9]+$' | awk '{print ($1 < 10) ? \"few\" : \"many\"}'", "few"},
	{"signal to init's namesake", "kill -9 1; echo still here", "still here"},
	{"user namespace", "unshare -U true", "not permitted|denied"},
	{"mount", "mount -t tmpfs x /tmp", "denied|permi|must be superuser"},
	{"another root", "chroot / true", "not permitted|denied"},
	{"privileges", "grep NoNewPrivs /proc/self/status", "1"},
	{"capabilities", "grep -c 'Cap.*:.*0000000000000000' /proc/self/status", "5"},
}

func TestWalls(t *testing.T) {
	s, conf := spec(t)
	tree := s.Workdir.String()
	repository(t, tree)
	repository(t, filepath.Join(tree, "sub"))
	write(t, filepath.Join(tree, ".claude/settings.json"), "{}")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "note"), "x")
	p := open(t, backend(t, conf), s)
	for _, row := range walls {
		out, _ := run(t, p, "OUTSIDE="+outside+"\n"+row.command)
		if !anyOf(out, row.want) {
			t.Errorf("%s: %s\n\tsaid %q, want %s", row.what, row.command, out, row.want)
		}
	}
	if out, code := run(t, p, "echo data > file && mkdir -p d && mv file d/ && cat d/file && rm -r d && touch /tmp/x ~/x /dev/shm/x && echo fine"); code != 0 || !strings.HasSuffix(out, "fine") {
		t.Errorf("ordinary work: %d %q", code, out)
	}
	e := p.Exposure()
	if !e.Boundary() {
		t.Error(e.Summary())
	}
	for _, row := range e.Rows() {
		if !row.OK {
			t.Errorf("%s: asked %s, in force %s %s", row.Name, row.Asked, row.Force, row.Note)
		}
	}
	if e.Probed.IsZero() {
		t.Error("nobody tried the doors")
	}
}

func anyOf(out, want string) bool {
	for _, w := range strings.Split(want, "|") {
		if strings.Contains(out, w) {
			return true
		}
	}
	return false
}

// As root, the same must hold for an ordinary user: the test starts itself again as nobody.
func TestOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is one already")
	}
	dir, err := os.MkdirTemp("/var/tmp", "hermes-native-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "native.test")
	text, err := os.ReadFile(executable(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^(TestWalls|TestLeaks|TestLimits|TestRefused|TestHooksLink|TestBestEffort|TestSuite|TestReplacedByHost|TestLedElsewhere|TestInterrupted)$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = asNobody()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"TestWalls", "TestLeaks", "TestSuite", "TestReplacedByHost", "TestInterrupted"} {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not pass", name)
		}
	}
}

// A home, or what holds it, is no work tree unless the owner names it.
func TestRefused(t *testing.T) {
	s, conf := spec(t)
	b := backend(t, conf)
	for _, dir := range []string{conf.Home, filepath.Dir(conf.Home), "/", "/usr/share"} {
		s.Workdir = workdir(t, dir)
		if p, err := b.Open(t.Context(), s); err == nil {
			_ = p.Close(context.Background())
			t.Errorf("%s opened as a work tree", dir)
		}
	}
	s.Workdir = workdir(t, conf.Home)
	s.Write = []string{conf.Home}
	s.BestEffort = true
	p := open(t, b, s)
	if p.Exposure().Boundary() {
		t.Error("a whole home is a boundary")
	}
	if out, _ := run(t, p, "cat ~/.ssh/id_ed25519"); out != "PRIVATE" {
		t.Errorf("the named home: %q", out)
	}
}

// Hooks that are a link (reports: sandbox-runtime 221) do not keep a sandbox from opening; what they lead to is held.
func TestHooksLink(t *testing.T) {
	s, conf := spec(t)
	tree := s.Workdir.String()
	repository(t, tree)
	if err := os.Rename(filepath.Join(tree, ".git/hooks"), filepath.Join(tree, "hooks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../hooks", filepath.Join(tree, ".git/hooks")); err != nil {
		t.Fatal(err)
	}
	p := open(t, backend(t, conf), s)
	for _, command := range []string{"echo x > .git/hooks/post-commit", "echo x > hooks/post-commit", "rm .git/hooks && mkdir .git/hooks",
		"mv .git/hooks .git/h", "ln -sfn /tmp .git/hooks"} {
		if out, code := run(t, p, command); code == 0 {
			t.Errorf("%s: %q", command, out)
		}
	}
	if got := p.Exposure().Doors.At(exposure.GitHooks).Force; got != exposure.Shut {
		t.Errorf("hooks that are a link: %v", got)
	}
	if out, _ := run(t, p, "pwd"); out != tree {
		t.Errorf("started in %s", out)
	}
}

// A path that does not exist is told, and the rest is enforced (reports: OpenShell 803).
func TestMissingPath(t *testing.T) {
	s, conf := spec(t)
	s.Read = []string{filepath.Join(conf.Home, "nothing-here")}
	var log []string
	b := native.New(func() native.Config {
		conf.Launcher, conf.Log = executable(t), func(text string) { log = append(log, text) }
		return conf
	}())
	defer b.Close()
	p := open(t, b, s)
	if !strings.Contains(strings.Join(append(log, p.Exposure().Gaps...), "\n"), "nothing-here does not exist") {
		t.Errorf("nobody says what does not exist: %q %q", log, p.Exposure().Gaps)
	}
	if _, err := p.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil {
		t.Error(err)
	}
}
