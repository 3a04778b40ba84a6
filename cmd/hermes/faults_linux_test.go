package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// marked returns the processes that have a text among their arguments or in their environment, but for this one.
func marked(text string) (found []string) {
	for _, pid := range processes() {
		for _, name := range []string{"cmdline", "environ"} {
			b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
			if pid != os.Getpid() && bytes.Contains(b, []byte(text)) {
				line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
				found = append(found, strconv.Itoa(pid)+" "+strings.ReplaceAll(string(line), "\x00", " "))
				break
			}
		}
	}
	return found
}

// groups lists the control groups that are named after hermes.
func groups() (out []string) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), "hermes") {
			out = append(out, name)
		}
		return nil
	})
	return out
}

// However and whenever hermes is killed, nothing of the run stays: no process, no mount, no control group, no half of a file;
// the log is whole, and the next command runs.
func TestKilledAnywhere(t *testing.T) {
	home, tree := t.TempDir(), t.TempDir()
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	pids := map[string]bool{}
	hermes := func(args ...string) *exec.Cmd {
		cmd := exec.Command("hermes", args...)
		cmd.Dir, cmd.Env = tree, env
		return cmd
	}
	const rounds = 100
	for _, backend := range []string{"local", "native"} {
		began := time.Now()
		text := "echo begun >>" + backend + "; (sleep 47.41 & setsid sleep 47.41 &) ; sleep 0.02; echo done >>" + backend
		if out, err := hermes("exec", "--backend", backend, "sh", "--version").CombinedOutput(); err == nil {
			t.Errorf("%s", out)
		}
		if out, err := hermes("exec", "--backend", backend, "true").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", backend, err, out)
		}
		span := time.Since(began) + 30*time.Millisecond
		for range rounds {
			cmd := hermes("exec", "--backend", backend, text)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pids[strconv.Itoa(cmd.Process.Pid)] = true
			time.Sleep(rand.N(span))
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		begun, _ := os.ReadFile(filepath.Join(tree, backend))
		t.Logf("%s: of %d killed, %d had begun and %d had ended", backend, rounds, bytes.Count(begun, []byte("begun\n")), bytes.Count(begun, []byte("done\n")))
	}
	killed := map[string]bool{} // their groups
	for _, g := range groups() {
		if maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(g), "hermes-"), "-"); pids[maker] {
			killed[g] = true
		}
	}
	var left []string
	for tries := 0; ; tries++ {
		left = append(marked(home), marked(tree)...)
		for name := range killed {
			members, _ := os.ReadFile(filepath.Join(name, "cgroup.procs"))
			left = append(left, strings.Fields(string(members))...)
		}
		if len(left) == 0 && len(sleeping("sleep 47.41")) == 0 {
			break
		}
		if tries > 200 {
			t.Fatalf("still there: %q %v", left, sleeping("sleep 47.41"))
		}
		time.Sleep(25 * time.Millisecond)
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	if bytes.Contains(mounts, []byte(home)) || bytes.Contains(mounts, []byte(tree)) {
		t.Errorf("a mount is left:\n%s", mounts)
	}
	// What a kill leaves empty is taken away later, by whoever comes next.
	later := time.Now().Add(-time.Hour)
	stages, _ := filepath.Glob(filepath.Join(home, ".hermes/sandboxes/native/probe-*"))
	for _, name := range append(slices.Collect(maps.Keys(killed)), stages...) {
		_ = os.Chtimes(name, later, later)
	}
	t.Logf("%d control groups and %d stages of probes to take away", len(killed), len(stages))
	if out, err := hermes("exec", "--backend", "native", "true").CombinedOutput(); err != nil {
		t.Errorf("the next command does not run: %v\n%s", err, out)
	}
	if out, err := hermes("sandbox", "verify", "--backend", "native").CombinedOutput(); len(out) == 0 {
		t.Errorf("the sandbox cannot be looked at: %v", err)
	}
	for _, g := range groups() {
		if killed[g] {
			t.Errorf("a control group is left: %s", g)
		}
	}
	if out, err := hermes("audit", "verify").CombinedOutput(); err != nil {
		t.Errorf("the log is not whole: %s", out)
	}
	wholeFiles(t, filepath.Join(home, ".hermes"))
}

// wholeFiles fails for a draft that was left, and for a line of the log that is cut off.
func wholeFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		switch {
		case err != nil:
			return err
		case strings.Contains(e.Name(), ".tmp-"):
			t.Errorf("a draft is left: %s", name)
		case strings.HasSuffix(name, ".jsonl"):
			for line := range bytes.Lines(text) {
				if !json.Valid(line) {
					t.Errorf("%s has half a line: %s", name, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// On a full disk a command is refused before anything of it runs, and what was there stays whole.
func TestFullHome(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: needs root to mount a small file system")
	}
	dir := t.TempDir()
	for _, name := range []string{"home", "tree"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
mount -t tmpfs -o size=256k,mode=700 none "$HOME" || exit 77
cd "$W/tree"
hermes exec 'touch first' || exit 11
hermes config set terminal.timeout 77 >/dev/null || exit 12
cp "$HOME/.hermes/config.yaml" "$W/before"
dd if=/dev/zero of="$HOME/fill" bs=1k 2>/dev/null
refused=no
for i in 1 2 3 4 5 6 7 8 9; do # what is left of the last page has room for a few records
	hermes exec "touch ran$i" 2>"$W/said"
	refused=$?
	[ $refused = 0 ] && continue
	[ -e ran$i ] && exit 13
	break
done
[ $refused = 125 ] || exit 14
hermes exec --json 'touch second' >"$W/json" 2>/dev/null; [ $? = 125 ] || exit 20
hermes config set approvals.smart_policy "$(head -c 9000 /dev/zero | tr '\0' x)" 2>"$W/set" && exit 15
cmp -s "$HOME/.hermes/config.yaml" "$W/before" || exit 16
rm "$HOME/fill"
hermes audit verify >"$W/verify" || exit 17
hermes exec 'touch third' || exit 18
rm -r "$HOME/.hermes"
dd if=/dev/zero of="$HOME/fill" bs=1k 2>/dev/null
hermes exec 'touch fourth' 2>>"$W/said"; [ $? = 125 ] || exit 19
`
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = []string{"W=" + dir, "HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 77 && os.Getenv("HERMES_TEST_REQUIRE") == "" {
		t.Skip("skipped: needs the right to mount")
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	if err != nil {
		t.Fatalf("%v: %s\n%s%s%s%s", err, out, read("said"), read("json"), read("set"), read("verify"))
	}
	for name, want := range map[string]bool{"first": true, "second": false, "third": true, "fourth": false} {
		if _, err := os.Stat(filepath.Join(dir, "tree", name)); (err == nil) != want {
			t.Errorf("%s has run: %v", name, err == nil)
		}
	}
	if said := read("said"); !strings.Contains(said, "no space left") {
		t.Errorf("it does not say why: %s", said)
	}
	if said := read("json"); !strings.Contains(said, `"ran":false`) || !strings.Contains(said, "no space left") {
		t.Errorf("--json does not say why: %s", said)
	}
}
