package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/command"
	"hermes/internal/rigtest"
)

// tree makes a repository with files and what they hold; those below the names in tracked are added.
func tree(t *testing.T, files map[string]string, tracked ...string) string {
	t.Helper()
	rigtest.Program(t, "git")
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q")
	for _, name := range tracked {
		git(t, dir, "add", "-f", name)
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + search(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestFacts(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore": "/out/\n*.log\n/mixed/\n/other/\n/*.txt\n!keep.txt\n", "src/a.go": "", "out/x/y": "", "a.log": "", "b.log": "",
		"mixed/kept": "", "mixed/made": "", "new.go": "", "sub/.gitignore": "gen\n", "sub/gen/a": "", "odd [x]*.log": "", "keep.txt": "", "lost.txt": "",
	}, "src", ".gitignore", "mixed/kept", "b.log")
	git(t, dir, "init", "-q", "other")
	outside := t.TempDir()
	for name, to := range map[string]string{"away": outside, "near": "out"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	const no, yes, unknown = command.No, command.Yes, command.NotKnown
	for _, row := range []struct {
		path             string
		tracked, ignored command.Fact
	}{
		{"src", yes, no},
		{"src/a.go", yes, no},
		{"SRC", yes, no}, // on some disks it is the same
		{dir + "/src/../src/a.go", yes, no},
		{"~/src", yes, no},
		{"out", no, yes},
		{"out/", no, yes},
		{"out/x/y", no, yes},
		{"a.log", no, yes},
		{"b.log", yes, no}, // tracked although a pattern names it
		{"mixed", yes, no}, // it holds something tracked
		{"mixed/made", no, yes},
		{"new.go", no, no},
		{"sub/gen", no, yes},
		{"sub/gen/a", no, yes},
		{"nowhere", no, no},
		{"nowhere/at/all", unknown, unknown},
		{"keep.txt", no, no},
		{"lost.txt", no, yes},
		{".", unknown, unknown}, // its folder is not in the work tree
		{"*.log", unknown, unknown},
		{"odd [x]*.log", no, yes}, // such a file is there
		{"other", no, unknown},    // ignored, but with a history of its own
		{"away", no, unknown},
		{"away/x", unknown, unknown},
		{"near", no, unknown},
		{"near/x", no, yes},
		{"../elsewhere", unknown, unknown},
		{"/etc", unknown, unknown},
		{"", unknown, unknown},
		{"~other/x", unknown, unknown},
		{"a\nb", unknown, unknown},
		{"-z", no, no},
		{":(top)src", no, no},
	} {
		f := New(Options{Dir: dir, Home: dir})
		if got, want := (answer{f.Tracked(row.path), f.Ignored(row.path)}), (answer{row.tracked, row.ignored}); got != want {
			t.Errorf("%q: tracked, ignored %v, want %v", row.path, got, want)
		}
	}
}

func TestNotKnown(t *testing.T) {
	dir := tree(t, map[string]string{"a": ""}, "a")
	for name, o := range map[string]Options{
		"no directory":       {},
		"not absolute":       {Dir: "x"},
		"not there":          {Dir: dir + "/gone"},
		"not a repository":   {Dir: t.TempDir()},
		"no time":            {Dir: dir, Wait: 1},
		"another's settings": {Dir: dir, Home: brokenHome(t)},
	} {
		f := New(o)
		if f.Tracked("a") != command.NotKnown || f.Ignored("a") != command.NotKnown {
			t.Errorf("%s: there is an answer", name)
		}
	}
	f := New(Options{Dir: dir, Wait: time.Minute})
	for i := range maxQuestions {
		f.Tracked(strings.Repeat("x", i+1))
	}
	if f.Tracked("a") != command.NotKnown {
		t.Error("there is no end to questions")
	}
}

func brokenHome(t *testing.T) string {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// A work tree whose settings name programs for everything gets none of them run.
func TestNothingRuns(t *testing.T) {
	dir := tree(t, map[string]string{"a": "", "b.x": "", ".gitattributes": "* filter=f diff=f merge=f\n", ".gitignore": "b.x\n"}, "a")
	mark := filepath.Join(dir, "ran")
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $@\" >>"+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor", "core.askPass", "core.alternateRefsCommand",
		"credential.helper", "diff.external", "diff.f.textconv", "diff.f.command", "filter.f.clean", "filter.f.smudge", "filter.f.process",
		"merge.f.driver", "gpg.program", "alias.ls-files", "alias.check-ignore", "pager.ls-files", "pager.check-ignore", "sequence.editor",
		"remote.origin.uploadpack", "uploadpack.packObjectsHook", "interactive.diffFilter",
	} {
		value := program
		if strings.HasPrefix(key, "alias") {
			value = "!" + program
		}
		git(t, dir, "config", key, value)
	}
	hooks := filepath.Join(dir, "hooks")
	if err := os.Mkdir(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"post-index-change", "post-checkout", "fsmonitor-watchman", "reference-transaction", "query-watchman"} {
		if err := os.Symlink(program, filepath.Join(hooks, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range [][]string{
		{"core.hooksPath", hooks}, {"core.fsmonitorHookVersion", "2"}, {"core.repositoryFormatVersion", "1"}, {"extensions.partialClone", "origin"},
		{"remote.origin.promisor", "true"}, {"remote.origin.url", "ext::" + program + " x"}, {"protocol.ext.allow", "always"},
		{"core.untrackedCache", "true"}, {"index.version", "4"},
	} {
		git(t, dir, "config", set[0], set[1])
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", program)
	t.Setenv("GIT_EXTERNAL_DIFF", program)
	if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	f := New(Options{Dir: dir, Home: dir})
	if f.Tracked("a") != command.Yes || f.Ignored("b.x") != command.Yes {
		t.Error("git gave no answer")
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("programs of the work tree ran:\n%s", text)
	}
	// The test can fail: without our settings, the first of them runs.
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = dir
	_ = cmd.Run()
	if _, err := os.Stat(mark); err != nil {
		t.Error("git itself runs none of these programs: the test shows nothing")
	}
}

// A program called git in the work tree is not git, wherever PATH leads.
func TestGitOfTheWorkTree(t *testing.T) {
	dir := tree(t, map[string]string{"a": "", "git": "#!/bin/sh\n>ran\n"}, "a")
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if New(Options{Dir: dir}).Tracked("a") != command.Yes {
		t.Error("git gave no answer")
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
}
