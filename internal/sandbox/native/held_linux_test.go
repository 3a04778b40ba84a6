package native_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// replace puts another file in a file's place, as git does with its settings.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".lock", text)
	if err := os.Rename(path+".lock", path); err != nil {
		t.Fatal(err)
	}
}

// When the host replaces what is held, the kernel uncovers it inside. The sandbox ends, whatever runs in it, and the next one
// holds the new file.
func TestReplacedByHost(t *testing.T) {
	for _, row := range []struct {
		what string
		do   func(t *testing.T, tree string)
	}{
		{"settings", func(t *testing.T, tree string) {
			replace(t, filepath.Join(tree, ".git/config"), "[core]\n\tbare = true\n")
		}},
		{"settings below", func(t *testing.T, tree string) { replace(t, filepath.Join(tree, "sub/.git/config"), "") }},
		{"hooks", func(t *testing.T, tree string) {
			if err := os.Rename(filepath.Join(tree, ".git/hooks"), filepath.Join(tree, ".git/old")); err != nil {
				t.Fatal(err)
			}
		}},
		{"agent", func(t *testing.T, tree string) { replace(t, filepath.Join(tree, ".mcp.json"), "{}") }},
		{"leading elsewhere", func(t *testing.T, tree string) { write(t, filepath.Join(tree, ".git/commondir"), "../evil") }},
	} {
		s, conf := spec(t)
		conf.Probe = []string{}
		tree := s.Workdir.String()
		repository(t, tree)
		repository(t, filepath.Join(tree, "sub"))
		write(t, filepath.Join(tree, ".mcp.json"), "{}")
		b := backend(t, conf)
		p := open(t, b, s)
		if out, code := run(t, p, "echo x > .git/index && echo x > file && rm file .git/index && sleep 1000 & echo fine"); code != 0 || out != "fine" {
			t.Errorf("%s: ordinary work: %d %q", row.what, code, out)
		}
		row.do(t, tree)
		var broken *sandbox.BrokenError
		ended := soon(func() bool {
			_, err := p.Run(t.Context(), sandbox.Command{Argv: []string{"true"}})
			return errors.As(err, &broken)
		})
		if !ended || !strings.Contains(broken.Error(), "the sandbox was open") {
			t.Errorf("%s: %v", row.what, broken)
		}
		if _, err := os.Lstat(filepath.Join(tree, ".git/commondir")); err == nil {
			t.Errorf("%s: git is led elsewhere", row.what)
		}
		if row.what == "hooks" {
			continue
		}
		again := open(t, b, s)
		if out, code := run(t, again, "echo x >> .git/config"); code == 0 || !strings.Contains(out, "Read-only") {
			t.Errorf("%s: the next one: %q", row.what, out)
		}
	}
}

// From inside, git cannot be led to settings elsewhere.
func TestLedElsewhere(t *testing.T) {
	s, conf := spec(t)
	conf.Probe = []string{}
	tree := s.Workdir.String()
	repository(t, tree)
	p := open(t, backend(t, conf), s)
	_, _ = p.Run(t.Context(), sandbox.Command{Text: "echo ../evil > .git/commondir; sleep 10"})
	if !soon(func() bool { _, err := os.Lstat(filepath.Join(tree, ".git/commondir")); return err != nil }) {
		t.Error("it is there")
	}
	if _, err := p.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); err == nil {
		t.Error("the sandbox goes on")
	}
}

// A work tree made by git worktree works, and what its repository starts programs from is held. One that only says so is not
// believed.
func TestWorktree(t *testing.T) {
	rigtest.Program(t, "git")
	s, conf := spec(t)
	conf.Probe = []string{}
	main, linked := filepath.Join(conf.Home, "main"), filepath.Join(conf.Home, "linked")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + conf.Home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
	}
	write(t, filepath.Join(conf.Home, ".gitconfig"), "[user]\n\tname = A\n\temail = a@example.com\n")
	git("init", "-q", main)
	git("-C", main, "commit", "-q", "--allow-empty", "-m", "first")
	git("-C", main, "worktree", "add", "-q", linked)
	s.Workdir = workdir(t, linked)
	b := backend(t, conf)
	p := open(t, b, s)
	if out, code := run(t, p, "echo x > f && git add f && git commit -q -m second && git log --format=%s | head -1"); code != 0 || out != "second" {
		t.Errorf("%d %s", code, out)
	}
	for _, command := range []string{"echo x > $M/hooks/pre-commit", "echo x >> $M/config", "git config user.name B", "mv $M $M.old", "echo x > $M/worktrees/linked/commondir",
		"echo x > .git"} {
		if out, code := run(t, p, "M="+main+"/.git; "+command); code == 0 {
			t.Errorf("%s: %q", command, out)
		}
	}
	// The same from a tree that the repository does not know.
	for what, text := range map[string]string{"a stranger's": "gitdir: " + main + "/.git/worktrees/linked\n", "the whole": "gitdir: " + main + "/.git\n"} {
		liar := filepath.Join(conf.Home, "liar")
		write(t, filepath.Join(liar, ".git"), text)
		s.Workdir = workdir(t, liar)
		if out, code := run(t, open(t, b, s), "ls "+main); code == 0 {
			t.Errorf("%s repository is shown: %s", what, out)
		}
	}
}

// A control file that a command makes is told with its result; one that is made later, when the sandbox is closed.
func TestMadeInside(t *testing.T) {
	s, conf := spec(t)
	var log []string
	conf.Launcher, conf.Log = executable(t), func(text string) { log = append(log, text) }
	b := native.New(conf)
	defer b.Close()
	p := open(t, b, s)
	status, err := p.Run(t.Context(), sandbox.Command{Text: "mkdir .claude && echo x > AGENTS.md && echo x > README.md"})
	if text := strings.Join(status.Notices, "\n"); err != nil || len(status.Notices) != 2 || !strings.Contains(text, ".claude was made") || !strings.Contains(text, "AGENTS.md was made") {
		t.Errorf("the command's result: %q %v", status.Notices, err)
	}
	if status, err = p.Run(t.Context(), sandbox.Command{Text: "(sleep 0.3; mkdir .vscode; echo x > .vscode/tasks.json) & sleep 0.1; true"}); err != nil || len(status.Notices) != 0 {
		t.Errorf("told twice: %q %v", status.Notices, err)
	}
	if !soon(func() bool {
		_, err := os.Lstat(filepath.Join(s.Workdir.String(), ".vscode/tasks.json"))
		return err == nil
	}) {
		t.Fatal("it was not made")
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, told := range map[string]bool{".vscode/tasks.json was made": true, "README.md": false, "AGENTS.md": false, ".envrc": false} {
		if strings.Contains(strings.Join(log, "\n"), name) != told {
			t.Errorf("%s: %q", name, log)
		}
	}
}

// As root, what others may not read stays closed when the host puts another file in its place, and so does what the host puts
// there later.
func TestSecretsReplaced(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("an ordinary user reads none of it anywhere")
	}
	dir, err := os.MkdirTemp("/etc", "hermes-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "secret"), "PRIVATE")
	write(t, filepath.Join(dir, "deep/secret"), "PRIVATE")
	public := filepath.Join(dir, "public")
	write(t, public, "anybody's")
	if err := os.Chmod(public, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	s, conf := spec(t)
	conf.Probe, s.BestEffort = []string{}, os.Getenv(kernelVariable) != ""
	b := backend(t, conf)
	for range 2 { // the second time from what was remembered
		p := open(t, b, s)
		all := "cd " + dir + "; cat public; cat secret link deep/secret later new/secret 2>&1 | grep -c PRIVATE"
		if out, _ := run(t, p, all); out != "anybody's0" && out != "anybody's\n0" {
			t.Errorf("before: %q", out)
		}
		replace(t, filepath.Join(dir, "secret"), "PRIVATE")
		if os.Getenv(kernelVariable) != "" { // only covered: the sandbox ends
			if !soon(func() bool { _, err := p.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); return err != nil }) {
				t.Error("a cover fell off, and the sandbox goes on")
			}
			continue
		}
		replace(t, filepath.Join(dir, "deep/secret"), "PRIVATE")
		write(t, filepath.Join(dir, "later"), "PRIVATE")
		write(t, filepath.Join(dir, "new/secret"), "PRIVATE")
		if out, _ := run(t, p, all); out != "anybody's0" && out != "anybody's\n0" {
			t.Errorf("after: %q", out)
		}
		for _, path := range []string{"later", "new"} {
			_ = os.RemoveAll(filepath.Join(dir, path))
		}
	}
	if os.Getenv(kernelVariable) == "" {
		aged(t, "5.10", "TestSecretsReplaced")
	}
}

// A home that is kept in memory is the owner's all the same: what he names of it is told as shown, with and without a probe.
func TestHomeInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "hermes-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home := filepath.Join(dir, "home")
	write(t, filepath.Join(home, ".ssh/id_ed25519"), "PRIVATE")
	write(t, filepath.Join(home, "docs/note"), "x")
	for _, row := range []struct {
		what, path   string
		write        bool
		keys, writes exposure.Reach
	}{
		{"nothing", "", false, exposure.Shut, exposure.Shut},
		{"documents", "docs", false, exposure.Shut, exposure.Shut},
		{"the home to read", ".", false, exposure.Open, exposure.Shut},
		{"keys to read", ".ssh", false, exposure.Open, exposure.Shut},
		{"one key to read", ".ssh/id_ed25519", false, exposure.Open, exposure.Shut},
		{"the home to write", ".", true, exposure.Open, exposure.Open},
	} {
		for _, probed := range []bool{false, true} {
			s, conf := spec(t)
			conf.Home, s.BestEffort = home, true
			if !probed {
				conf.Probe = []string{}
			}
			if path := filepath.Join(home, row.path); row.write {
				s.Write = []string{path}
			} else if row.path != "" {
				s.Read = []string{path}
			}
			p := open(t, backend(t, conf), s)
			e := p.Exposure()
			if got := e.Doors.At(exposure.KeyFiles).Force; got != row.keys {
				t.Errorf("%s, probed %v: key files %v, want %v", row.what, probed, got, row.keys)
			}
			if got := e.Doors.At(exposure.HomeWrite).Force; got != row.writes {
				t.Errorf("%s, probed %v: home %v, want %v", row.what, probed, got, row.writes)
			}
			if want := row.keys == exposure.Shut; e.Boundary() != want && probed {
				t.Errorf("%s: a boundary: %v", row.what, e.Boundary())
			}
			out, _ := run(t, p, "cat "+home+"/.ssh/id_ed25519")
			if read := out == "PRIVATE"; read != (row.keys == exposure.Open) {
				t.Errorf("%s: the key: %q", row.what, out)
			}
		}
	}
}
