package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/approval"
	"hermes/internal/launch"
	"hermes/internal/rigtest"
)

// world is a home, an environment, and what the owner was told.
type world struct {
	home string
	env  map[string]string
	mu   sync.Mutex
	told []string
}

func newWorld(t *testing.T, settings string) *world {
	t.Helper()
	w := &world{home: t.TempDir(), env: map[string]string{}}
	w.env["HOME"], w.env["PATH"] = w.home, rigtest.Guarded(t, os.Getenv("PATH"))
	if settings != "" {
		w.write(t, "config.yaml", settings)
	}
	return w
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	dir := filepath.Join(w.home, ".hermes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) open(t *testing.T) *App {
	t.Helper()
	a, err := Open(Process{
		Env: func(name string) string { return w.env[name] },
		Environ: func() (out []string) {
			for k, v := range w.env {
				out = append(out, k+"="+v)
			}
			return out
		},
		Tell: func(text string) { w.mu.Lock(); defer w.mu.Unlock(); w.told = append(w.told, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func (w *world) run(t *testing.T, a *App, text string) (launch.Result, string, error) {
	t.Helper()
	session, err := a.Session("exec")
	if err != nil {
		t.Fatal(err)
	}
	place, err := a.Place(Where{Session: session, Start: w.home})
	if err != nil {
		return launch.Result{}, "", err
	}
	defer place.Close(t.Context())
	var out bytes.Buffer
	r, err := a.Door().Run(t.Context(), launch.Call{Session: session, Place: place, Text: text, Env: a.Environment(place), Stdout: &out, Stderr: &out})
	return r, out.String(), err
}

// Without any configuration the defaults are in force, and what is needed is made, for the owner alone.
func TestEmptyHome(t *testing.T) {
	w := newWorld(t, "")
	a := w.open(t)
	r, out, err := w.run(t, a, "echo $((1+1)); exit 4")
	if err != nil || r.Refused() || out != "2\n" || r.Status.Code != 4 || r.Backend != "local" {
		t.Errorf("%v %q %+v", err, out, r)
	}
	if r, _, err := w.run(t, a, "git reset --hard"); err != nil || r.Decision.Outcome != approval.NoOne {
		t.Errorf("%v %s", err, r.Decision.Outcome)
	}
	info, err := os.Stat(filepath.Join(w.home, ".hermes"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", err, info)
	}
}

func TestSettingsReachTheDoor(t *testing.T) {
	for _, row := range []struct {
		what, settings, env string
		text                string
		want                approval.Outcome
	}{
		{"deny", "approvals:\n  deny: ['ls *']\n", "", "ls -l", approval.Refused},
		{"allow-list", "command_allowlist: ['git reset *']\n", "", "git reset --hard", approval.Listed},
		{"mode off", "approvals:\n  mode: off\n", "", "git reset --hard", approval.ModeOff},
		{"YOLO", "", "HERMES_YOLO_MODE=1", "git reset --hard", approval.YOLO},
		{"required", "approvals:\n  command_approval_required: ['ls *']\n  mode: off\n", "", "ls -l", approval.NoOne},
	} {
		w := newWorld(t, row.settings)
		if name, value, ok := strings.Cut(row.env, "="); ok {
			w.env[name] = value
		}
		if r, _, err := w.run(t, w.open(t), row.text); err != nil || r.Decision.Outcome != row.want {
			t.Errorf("%s: %v %s, want %s", row.what, err, r.Decision.Outcome, row.want)
		}
	}
}

// Settings count for the next command; a broken edit leaves the last good ones in force and is told once.
func TestSettingsChange(t *testing.T) {
	w := newWorld(t, "approvals:\n  deny: ['ls *']\n")
	a := w.open(t)
	want := func(outcome approval.Outcome) {
		t.Helper()
		if r, _, err := w.run(t, a, "ls -d ."); err != nil || r.Decision.Outcome != outcome {
			t.Errorf("%v %s, want %s", err, r.Decision.Outcome, outcome)
		}
	}
	want(approval.Refused)
	w.write(t, "config.yaml", "approvals:\n  deny: [\n")
	want(approval.Refused)
	want(approval.Refused)
	if n := strings.Count(strings.Join(w.told, "\n"), "last good ones"); n != 1 {
		t.Errorf("told %d times: %q", n, w.told)
	}
	w.write(t, "config.yaml", "approvals:\n  deny: []\n")
	want(approval.Clean)
	// YOLO is what it was at the start.
	w.env["HERMES_YOLO_MODE"] = "1"
	if r, _, err := w.run(t, a, "git reset --hard"); err != nil || r.Decision.Outcome != approval.NoOne {
		t.Errorf("%v %s", err, r.Decision.Outcome)
	}
}

// What is approved for good is added to what stands there, also by several at once, and comments stay.
func TestAllowlist(t *testing.T) {
	w := newWorld(t, "# mine\ncommand_allowlist:\n  - 'podman *' # yes\n")
	a := w.open(t)
	var all sync.WaitGroup
	want := []string{"podman *"}
	for _, entry := range []string{"git push --force origin main", "python3 - <<E\nx\nE", "docker restart *", "it's \"quoted\" # not a comment"} {
		want = append(want, entry)
		all.Go(func() {
			if err := Allowlist(a.dir, a.store).Add(entry); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := Allowlist(a.dir, a.store).List()
	less := func(list []string) map[string]bool {
		set := map[string]bool{}
		for _, e := range list {
			set[e] = true
		}
		return set
	}
	if diff := cmp.Diff(less(want), less(got)); err != nil || diff != "" || len(got) != len(want) {
		t.Errorf("%v %s", err, diff)
	}
	text, err := os.ReadFile(filepath.Join(w.home, ".hermes", "config.yaml"))
	if err != nil || !strings.Contains(string(text), "# mine") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, entry := range want {
		if err := Allowlist(a.dir, a.store).Remove(entry); err != nil {
			t.Error(err)
		}
	}
	if got, err := Allowlist(a.dir, a.store).List(); err != nil || len(got) != 0 {
		t.Errorf("%v %q", err, got)
	}
}

func TestWhere(t *testing.T) {
	w := newWorld(t, "terminal:\n  timeout: 7\n")
	a := w.open(t)
	if got := a.Timeout(); got != 7*time.Second {
		t.Error(got)
	}
	session, err := a.Session("exec")
	if err != nil {
		t.Fatal(err)
	}
	for dir, ok := range map[string]bool{"": true, "sub": true, "~/x": true, "/srv": true, "a;b": false, "$(id)": false} {
		if _, err := a.Place(Where{Session: session, Dir: dir, Start: w.home}); (err == nil) != ok {
			t.Errorf("%q: %v", dir, err)
		}
	}
	if _, err := a.Place(Where{Session: session, Backend: "dokcer", Start: w.home}); err == nil {
		t.Error("a backend that does not exist")
	}
	// A link has two directories above it: commands are judged from the one that ".." leads to.
	real, link := filepath.Join(realPath(t, w.home), "real"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	for _, where := range []Where{{Dir: link}, {Start: link}} {
		where.Session = session
		p, err := a.Place(where)
		if err != nil || p.Dir() != real {
			t.Errorf("%+v: %v, %v", where, p, err)
		}
	}
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
