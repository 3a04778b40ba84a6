package docker_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/sandboxtest"
)

// plainly takes the helper away: commands are run by exec.
func (r *rig) plainly(t testing.TB) docker.Config {
	t.Helper()
	c := r.conf(t, kept())
	c.Runner = func(string) (string, error) { return "", errors.New("there is none for this test") }
	return c
}

// Without the helper, a process is ours while it has the variables it was started with; files are not offered, and what a
// terminal shows of its size comes from the engine's client.
var bare = sandboxtest.Traits{Bash: true, Lasts: true, Heavy: 4 << 20}

// TestPlain runs the contract by docker exec alone, of which each command costs one or two.
func TestPlain(t *testing.T) {
	long(t)
	plainSuite(t, rootful(t))
}

func TestPlainPodman(t *testing.T) {
	long(t)
	plainSuite(t, podman(t))
}

func plainSuite(t *testing.T, r *rig) {
	b := r.backend(t, r.plainly(t))
	traits := bare
	traits.Dir = "/workspace"
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		box, err := b.Open(t.Context(), spec(t))
		if err != nil {
			t.Fatal(err)
		}
		if box.Exposure().Runner != exposure.Plain {
			t.Fatal("there is a helper")
		}
		return box
	}, traits)
}

// long skips what takes minutes, unless HERMES_TEST_ROUNDS is set by hand.
func long(t testing.TB) {
	t.Helper()
	if os.Getenv("HERMES_TEST_ROUNDS") == "" {
		t.Skip("skipped: takes minutes; set HERMES_TEST_ROUNDS")
	}
}

// What commands by exec do differently is seen each time; the rest of the contract is TestPlain's.
func TestPlainInShort(t *testing.T) {
	r := rootful(t)
	box := open(t, r.backend(t, r.plainly(t)), spec(t))
	if _, ok := box.(sandbox.Files); ok {
		t.Error("files are offered, which nobody inside serves")
	}
	for _, row := range []struct{ what, text, want string }{
		{"both outputs in one order", `for i in 1 2 3; do echo out $i; echo err $i >&2; done`, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3"},
		{"bytes that are no text", "export AWKWARD='\xff\xfe'", ""},
		{"and come back", `printf %s "$AWKWARD"`, "\xff\xfe"},
		{"what is taken away", `unset HOME AWKWARD`, ""},
		{"stays away", `echo "[${HOME-none}][${AWKWARD-none}]"`, "[none][none]"},
		{"a directory", `mkdir -p /workspace/a/b; cd /workspace/a/b`, ""},
		{"that is gone", `pwd; rmdir "$PWD"`, "/workspace/a/b"},
		{"leads to the nearest", `pwd`, "/workspace/a"},
		{"a text longer than a pipe", ": '" + strings.Repeat("x", 200_000) + "'\necho end", "end"},
		{"no variable of ours is left", `compgen -v | grep -c '^_hermes'; :`, "0"},
	} {
		if got := say(t, box, row.text); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
	var out bytes.Buffer
	s, err := box.Run(t.Context(), sandbox.Command{Text: `read -r x; echo "$x"; cat; exit 3`, Stdin: strings.NewReader("first\nrest"), Stdout: &out})
	if err != nil || s.Code != 3 || out.String() != "first\nrest" {
		t.Errorf("input: %q, %+v, %v", out.String(), s, err)
	}
	signals := make(chan sandbox.Signal, 1)
	signals <- sandbox.Signal{Number: 15}
	s, err = box.Run(t.Context(), sandbox.Command{Text: `sleep 300`, Signals: signals, Timeout: time.Minute})
	if err != nil || s.Code != 143 || s.TimedOut {
		t.Errorf("a signal: %+v, %v", s, err)
	}
	s, err = box.Run(t.Context(), sandbox.Command{Text: `trap "" TERM; sleep 300`, Timeout: time.Second, Grace: 100 * time.Millisecond})
	if err != nil || s.Code != 124 || !s.TimedOut {
		t.Errorf("a time-out: %+v, %v", s, err)
	}
	if left := box.Left(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

// Values of variables are in none of the files that an engine has, nor in what can be read of processes from outside, when
// commands are run by exec.
func TestPlainValues(t *testing.T) {
	for _, engine := range []struct {
		name string
		rig  func(testing.TB) *rig
	}{{"docker", rootful}, {"podman", podman}} {
		t.Run(engine.name, func(t *testing.T) {
			r := engine.rig(t)
			const value = "planted-8d1f0c52-value"
			c := r.plainly(t)
			c.Plan.Forward = []string{"DEPLOY_TOKEN"}
			c.Plan.Secrets = []string{value}
			sp := spec(t, "DEPLOY_TOKEN="+value)
			sp.Secrets = []string{value}
			box := open(t, r.backend(t, c), sp)
			if got := say(t, box, `export LASTS=${DEPLOY_TOKEN#planted}; echo "$DEPLOY_TOKEN"`); got != value {
				t.Fatalf("inside: %q", got)
			}
			if got := say(t, box, `cat; echo "$LASTS"`); got != strings.TrimPrefix(value, "planted") {
				t.Errorf("what lasts, or input: %q", got)
			}
			var out bytes.Buffer
			s, err := box.Run(t.Context(), sandbox.Command{Text: `read -r x; echo "$x:$DEPLOY_TOKEN"`, Terminal: &sandbox.Size{Rows: 9, Cols: 80},
				Stdin: strings.NewReader("typed\n"), Stdout: &out})
			if err != nil || s.Code != 0 || !strings.Contains(out.String(), "typed:"+value) {
				t.Errorf("on a terminal: %q, %+v, %v", out.String(), s, err)
			}
			// The scan finds what an engine does write down.
			const control = "planted-for-control-77ab"
			seen := ""
			id := r.call(t, "run", "-d", "--rm", "--network=none", "-e", "CONTROL="+control, testImage, "sleep", "300")
			for _, dir := range r.files(t) {
				seen += holding(t, dir, control)
			}
			r.call(t, "rm", "-f", id)
			if seen == "" {
				t.Error("a value in the engine's files is not found: the scan proves nothing")
			}
			// While a command runs as well.
			end := running(t, box, sandbox.Command{Stdin: hold(t)})
			for _, dir := range append(r.files(t), c.State) {
				if found := holding(t, dir, value); found != "" {
					t.Errorf("the value is in %s", found)
				}
			}
			lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range lines {
				if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(value)) {
					t.Errorf("the value is in a command line: %q", text)
				}
			}
			if kept := r.call(t, "inspect", container(box)); strings.Contains(kept, value) {
				t.Error("the engine tells the value")
			}
			_ = box.Close(t.Context())
			<-end
		})
	}
}

// hold is an input that stays open until the test ends.
func hold(t testing.TB) io.Reader {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = w.Close(), r.Close() })
	return r
}

// files are the folders where an engine keeps what it knows.
func (r *rig) files(t testing.TB) []string {
	t.Helper()
	if r.binary == "podman" {
		return []string{r.call(t, "info", "--format", "{{.Store.GraphRoot}}"), r.call(t, "info", "--format", "{{.Store.RunRoot}}")}
	}
	root := r.call(t, "info", "--format", "{{.DockerRootDir}}")
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(root), "*"))
	return all
}

// holding finds a file with a value, "" when there is none. File systems that are mounted below, of running containers, are
// memory or what the container itself wrote.
func holding(t testing.TB, dir, value string) (found string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // gone meanwhile
		case e.IsDir() && (e.Name() == "overlay2" || e.Name() == "overlay" || e.Name() == "merged" || e.Name() == "rootfs"):
			return fs.SkipDir // images
		case e.Type().IsRegular():
			seen++
			if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(value)) {
				found = path
			}
		}
		return nil
	})
	if err != nil || seen == 0 && !strings.HasSuffix(dir, "/s") && !strings.HasSuffix(dir, ".sock") {
		t.Logf("%s: %d files, %v", dir, seen, err)
	}
	return found
}
