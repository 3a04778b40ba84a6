//go:build linux || darwin

package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/guard/environ"
)

// env is an environment that an owner wrote down.
func env(pairs ...string) environ.List { return taken(environ.Parse(pairs)) }

func taken(vars map[string]string) environ.List {
	list, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.MCP, Server: vars})
	return list
}

const search = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// sh is a spec of a shell that runs a text.
func sh(text string) Spec {
	return Spec{Program: "sh", Search: search, Args: []string{"-c", text}, Env: env("PATH=" + search), Dir: "/"}
}

// TestMain lets the test binary be a parent that dies: it starts a sleeper that should die with it, and tells its pid.
func TestMain(m *testing.M) {
	if os.Getenv("CHILD_TEST_PARENT") == "" {
		os.Exit(m.Run())
	}
	spec := Spec{Program: "sleep", Search: search, Args: []string{"1000"}, Dir: "/", DieWithParent: true}
	if note := os.Getenv("CHILD_TEST_NOTE"); note != "" {
		spec.Program, spec.DeathSignal = "sh", syscall.SIGTERM
		spec.Args = []string{"-c", "trap 'echo told >" + note + "; exit' TERM; echo >" + note + "; while :; do sleep 0.02; done"}
	}
	p, err := Start(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.Pid())
	<-p.Done()
}

func TestWhatTheChildSees(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		what string
		spec Spec
		want string
	}{
		{"no environment but what is given", Spec{Program: "env", Search: search}, ""},
		{"what is given", Spec{Program: "env", Search: search, Env: env("A=1", "B=x=y", "C=")}, "A=1\nB=x=y\nC=\n"},
		{"its arguments, unsplit", Spec{Program: "/bin/sh", Args: []string{"-c", `printf '<%s>' "$@"`, "x", "a b", "", "*"}}, "<a b><><*>"},
		{"its name", Spec{Program: "/bin/sh", Name: "other", Args: []string{"-c", "echo $0"}}, "other\n"},
		{"its directory", Spec{Program: "/bin/pwd", Dir: dir}, dir + "\n"},
		{"a reader as its input", Spec{Program: "cat", Search: search, Stdio: Stdio{In: strings.NewReader("in")}}, "in"},
		{"an empty input otherwise", Spec{Program: "cat", Search: search}, ""},
	}
	for _, row := range rows {
		if row.spec.Dir == "" {
			row.spec.Dir = "/"
		}
		var out bytes.Buffer
		row.spec.Stdio.Out = &out
		if status, err := Run(t.Context(), row.spec); err != nil || status.Code != 0 || out.String() != row.want {
			t.Errorf("%s: %q, %+v, %v, want %q", row.what, out.String(), status, err, row.want)
		}
	}
}

func TestStatus(t *testing.T) {
	rows := []struct {
		text   string
		code   int
		signal syscall.Signal
		exit   int
	}{
		{"exit 0", 0, 0, 0},
		{"exit 7", 7, 0, 7},
		{"exit 255", 255, 0, 255},
		{"kill -TERM $$", -1, syscall.SIGTERM, 143},
		{"kill -KILL $$", -1, syscall.SIGKILL, 137},
	}
	for _, row := range rows {
		s, err := Run(t.Context(), sh(row.text))
		if err != nil || s.Code != row.code || s.Signal != row.signal || s.Exit() != row.exit {
			t.Errorf("%s: %+v, %v", row.text, s, err)
		}
	}
}

// What cannot be started as asked is refused, and says why.
func TestRefusals(t *testing.T) {
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("changed my mind"))
	rows := []struct {
		what string
		ctx  context.Context
		spec Spec
		want string
	}{
		{"nothing", t.Context(), Spec{}, "start: no program"},
		{"no directory", t.Context(), Spec{Program: "/bin/true"}, `start /bin/true: directory "" is not absolute`},
		{"a relative directory", t.Context(), Spec{Program: "/bin/true", Dir: "x"}, `start /bin/true: directory "x" is not absolute`},
		{"a missing directory", t.Context(), Spec{Program: "/bin/sh", Dir: "/does/not/exist"}, "start /bin/sh: no such file or directory"},
		{"a relative program", t.Context(), Spec{Program: "./x", Dir: "/"}, "start ./x: look up ./x: a relative path"},
		{"an unknown program", t.Context(), Spec{Program: "nope-x", Search: "/bin", Dir: "/"}, `start nope-x: look up nope-x: not in "/bin"`},
		{"no search path", t.Context(), Spec{Program: "sh", Dir: "/"}, `start sh: look up sh: not in ""`},
		{"a NUL byte", t.Context(), Spec{Program: "/bin/sh", Dir: "/", Args: []string{"a\x00b"}}, `start /bin/sh: a NUL byte in "a\x00b"`},
		{"a nil file", t.Context(), Spec{Program: "/bin/sh", Dir: "/", Stdio: Stdio{Files: []*os.File{nil}}}, "start /bin/sh: a file to hand over is nil"},
		{"a terminal with two outputs", t.Context(), Spec{Program: "/bin/sh", Dir: "/", Stdio: Stdio{Terminal: &Size{}, Err: io.Discard}}, "start /bin/sh: a terminal has one output"},
		{"an ended context", gone, Spec{Program: "/bin/sh", Dir: "/"}, "start /bin/sh: changed my mind"},
	}
	for _, row := range rows {
		_, err := Start(row.ctx, row.spec)
		if err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", row.what, err, row.want)
		}
	}
}

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	rows := []struct{ name, search, want string }{
		{"tool", "/nowhere:" + dir, filepath.Join(dir, "tool")},
		{"/bin/tool", "", "/bin/tool"}, // absolute paths are taken at their word
		// Never the current directory, however the list spells it.
		{"tool", ".", ""},
		{"tool", "", ""},
		{"tool", "::", ""},
		{"tool", filepath.Base(dir), ""},
		{"./tool", dir, ""},
		{"../tool", dir, ""},
		// Only what can run.
		{"data", dir, ""},
		{"folder", dir, ""},
		{"", dir, ""},
		{".", dir, ""},
		{"..", dir, ""},
	}
	for _, row := range rows {
		got, err := Lookup(row.name, row.search)
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("Lookup(%q, %q) = %q, %v, want %q", row.name, row.search, got, err, row.want)
		}
	}
	if _, err := Lookup("nope", dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing program is %v", err)
	}
}

func TestSameWriterKeepsOrder(t *testing.T) {
	var out bytes.Buffer
	spec := sh("for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done")
	spec.Stdio.Out, spec.Stdio.Err = &out, &out
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := 1; i < 10; i++ {
		want += fmt.Sprintf("o%d\ne%d\n", i, i)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestOutput(t *testing.T) {
	rows := []struct{ text, want, err string }{
		{"echo hello", "hello\n", ""},
		{"echo a; echo one >&2; echo two >&2; exit 3", "a\n", "run sh: exit code 3: two"},
		{"kill -9 $$", "", "run sh: ended by signal 9 (killed)"},
		{"echo 0123456789; echo 0123456789", "0123456789\n01234", "run sh: write output: more than 16 bytes"},
	}
	for _, row := range rows {
		got, err := Output(t.Context(), sh(row.text), 16)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if string(got) != row.want || text != row.err {
			t.Errorf("%s: %q, %q, want %q, %q", row.text, got, text, row.want, row.err)
		}
	}
}

// A descriptor that this process got without the close-on-exec mark does not reach the child; a named one does.
func TestDescriptors(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	leaky, err := syscall.Dup(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leaky)
	spec := sh("ls /dev/fd/ 2>/dev/null | tr '\\n' ' '; echo named >&3")
	spec.Stdio.Files = []*os.File{w}
	var out bytes.Buffer
	spec.Stdio.Out = &out
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for _, fd := range strings.Fields(out.String()) {
		if n, _ := strconv.Atoi(fd); n > 4 { // 3 is named, 4 is the directory that ls reads
			t.Errorf("the child has descriptors %s", out.String())
		}
	}
	buf := make([]byte, 16)
	if n, err := r.Read(buf); err != nil || string(buf[:n]) != "named\n" {
		t.Errorf("descriptor 3 got %q, %v", buf[:n], err)
	}
}

// pidsIn reads pids that a program writes into a file, once it has written n of them.
func pidsIn(t *testing.T, name string, n int) []int {
	t.Helper()
	for range 2000 {
		text, _ := os.ReadFile(name)
		if words := strings.Fields(string(text)); len(words) >= n && strings.HasSuffix(string(text), "\n") {
			pids := []int{}
			for _, word := range words {
				pid, err := strconv.Atoi(word)
				if err != nil || pid <= 1 {
					t.Fatalf("%s holds %q", name, text)
				}
				pids = append(pids, pid)
			}
			return pids
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s never had %d pids", name, n)
	return nil
}

// gone fails for each process that still runs, and ends it.
func gone(t *testing.T, pids []int) {
	t.Helper()
	table, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range table {
		for _, pid := range pids {
			if e.pid == pid && e.state != ended {
				t.Errorf("process %d (%s) is still there", pid, e.name)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
