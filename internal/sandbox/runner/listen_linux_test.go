package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/native/seccomp"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/sandbox/snapshot"
)

// program returns the test binary as a runner's program.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args, cmd.Env, cmd.Dir, cmd.Stderr = append([]string{Marker}, args...), []string{}, "/", os.Stderr
	return cmd
}

// listening leaves a runner behind that listens, and returns how to reach it. It is killed at the end if it is still there.
func listening(t testing.TB, change func(*Listen)) (Listen, Inside) {
	t.Helper()
	l := Listen{Socket: filepath.Join(private(t), "runner.sock"), Token: make([]byte, 32), Detach: true}
	_, _ = rand.Read(l.Token)
	if change != nil {
		change(&l)
	}
	message, err := l.Message()
	if err != nil {
		t.Fatal(err)
	}
	cmd := program(t, ListenMode)
	cmd.Stdin = bytes.NewReader(message)
	out, bad := cmd.Output()
	in, err := Listening(out)
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	t.Cleanup(func() {
		if alive(in.PID) {
			_ = syscall.Kill(in.PID, syscall.SIGTERM)
		}
		soon(t, func() bool { return !alive(in.PID) })
		if _, err := os.Lstat(l.Socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	return l, in
}

// alive tells whether a process is there and is a runner.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(text), Marker)
}

// private returns a new directory that is closed to others.
func private(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40)) // more than an address holds
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func options(t testing.TB, l Listen) Options {
	return Options{Backend: "test", Search: "/usr/bin:/bin", Token: l.Token, State: snapshot.New(snapshot.Config{
		Shell: "/bin/bash", Dir: t.TempDir(), Lasts: true, Judge: effect.Judge, Prelude: PreludeFD, Write: StateFD, Env: sandboxtest.Spec(t, "/").Env,
	})}
}

func join(t testing.TB, l Listen) *Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := Connect(ctx, l.Socket, options(t, l))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// says runs a text and returns what it says.
func says(t testing.TB, c *Client, text string) (string, sandbox.Status) {
	t.Helper()
	var out bytes.Buffer
	s, err := c.Run(context.Background(), sandbox.Command{Text: text, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), s
}

// A client that came over a socket has everything that one has which started its runner.
func TestSuiteListening(t *testing.T) {
	l, _ := listening(t, nil)
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox { return box{join(t, l)} },
		sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true, Here: true, Dir: t.TempDir()})
}

// Two clients of one runner do not see what the other has; what one started ends with it, and only that.
func TestClientsApart(t *testing.T) {
	l, in := listening(t, nil)
	one, two := join(t, l), join(t, l)
	marks := []string{"6" + newMark(), fmt.Sprintf("5%07d", os.Getpid())}
	for i, c := range []*Client{one, two} {
		says(t, c, fmt.Sprintf("export MINE=%d; cd /usr; (setsid sleep %s &)", i, marks[i]))
	}
	for i, c := range []*Client{one, two} {
		if out, _ := says(t, c, "echo $MINE"); out != fmt.Sprintln(i) {
			t.Errorf("%d has %q", i, out)
		}
		if left := c.Left(); len(left) != 1 || !strings.Contains(left[0].Command, marks[i]) {
			t.Errorf("%d left %+v", i, left)
		}
	}
	if err := one.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if found := sandboxtest.Running(marks[0]); len(found) > 0 {
		t.Errorf("after the close: %q", found)
	}
	if found := sandboxtest.Running(marks[1]); len(found) != 1 {
		t.Errorf("of the other: %q", found)
	}
	if out, _ := says(t, two, "echo $MINE; pwd"); out != "1\n/usr\n" {
		t.Errorf("%q", out)
	}
	// A client that is cut off, without a word.
	_ = two.conn.close()
	soon(t, func() bool { return len(sandboxtest.Running(marks[1])) == 0 })
	if out, _ := says(t, join(t, l), "echo [$MINE]"); out != "[]\n" || !alive(in.PID) {
		t.Errorf("%q", out)
	}
}

// Whoever does not know the token gets nowhere, on either side.
func TestToken(t *testing.T) {
	l, _ := listening(t, nil)
	if info, err := os.Stat(l.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	wrong := l
	wrong.Token = bytes.Repeat([]byte{7}, 32)
	if _, err := Connect(t.Context(), l.Socket, options(t, wrong)); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("with another token: %v", err)
	}
	wrong.Token = nil
	if _, err := Connect(t.Context(), l.Socket, options(t, wrong)); err == nil {
		t.Error("without a token")
	}
	q := request{argv: []string{"/bin/touch", filepath.Join(t.TempDir(), "started")}, dir: "/"}
	run := appendFrame(nil, frame{kind: runKind, id: 1, body: q.encode()})
	h := hello{version: Version, nonce: newNonce()}
	setup := setup{}
	for what, text := range map[string][]byte{
		"no nonce":     greeting(Version),
		"no proof":     appendFrame(nil, frame{kind: helloKind, body: h.encode()}),
		"a bad proof":  appendFrame(appendFrame(nil, frame{kind: helloKind, body: h.encode()}), frame{kind: proofKind, body: make([]byte, 32)}),
		"proof first":  appendFrame(nil, frame{kind: proofKind}),
		"a setup":      appendFrame(nil, frame{kind: setupKind, body: setup.encode()}),
		"stop at once": appendFrame(nil, frame{kind: stopKind}),
	} {
		conn, err := connect(l.Socket)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = conn.Write(append(text, run...))
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		var last frame
		for s := (splitter{buf: answer}); ; {
			f, ok, err := s.next()
			if err != nil || !ok {
				break
			}
			last = f
		}
		if last.kind != refuseKind {
			t.Errorf("%s: kind %d", what, last.kind)
		}
	}
	if _, err := os.Stat(q.argv[1]); err == nil {
		t.Error("something was started")
	}
	says(t, join(t, l), "true") // it is still there

	// Somebody else listens in its place.
	fake := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", fake)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 4096))
		h := hello{version: Version, nonce: newNonce(), proof: make([]byte, 32)}
		_, _ = conn.Write(appendFrame(nil, frame{kind: helloKind, body: h.encode()}))
		_, _ = io.Copy(io.Discard, conn)
	}()
	if _, err := Connect(t.Context(), fake, options(t, l)); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("an impostor: %v", err)
	}
}

// A place that others can enter, a short token or a message of another version is no place to listen.
func TestListenRefuses(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*Listen)
		want   string
	}{
		"an open directory":  {func(l *Listen) { _ = os.Chmod(filepath.Dir(l.Socket), 0o755) }, "others can enter"},
		"no directory":       {func(l *Listen) { l.Socket = "/no/such/dir/s" }, "no such file"},
		"a filter of noise":  {func(l *Listen) { l.Harden.Filter = []byte("no filter") }, "filter"},
		"a relative socket":  {func(l *Listen) { l.Socket = "s" }, "not absolute"},
		"a short token":      {func(l *Listen) { l.Token = l.Token[:8] }, "token"},
		"an invalid program": {func(l *Listen) { l.Harden.Filter = make([]byte, 8) }, "filter"},
	} {
		for _, detach := range []bool{true, false} {
			l := Listen{Socket: filepath.Join(private(t), "s"), Token: make([]byte, 32), Detach: detach}
			row.change(&l)
			s := setup{l}
			cmd := program(t, ListenMode)
			cmd.Stdin = bytes.NewReader(appendFrame(nil, frame{kind: setupKind, body: s.encode()}))
			out, bad := cmd.Output()
			if _, err := Listening(out); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), row.want) || bad == nil {
				t.Errorf("%s: %v, %v", what, err, bad)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Socket), "*")); filepath.IsAbs(l.Socket) && len(left) > 0 {
				t.Errorf("%s left %q", what, left)
			}
		}
	}
	if _, err := Listening(nil); err == nil {
		t.Error("nothing is an answer")
	}
	if _, err := Listening([]byte("sh: hermes-runner: not found\n")); err == nil {
		t.Error("an error of a shell is an answer")
	}
}

// It ends when it is told to, and when nobody has come for long enough; not while somebody is there.
func TestListenEnds(t *testing.T) {
	l, in := listening(t, func(l *Listen) { l.Idle = 2 * time.Second })
	c := join(t, l)
	if _, s := says(t, c, "sleep 3; exit 3"); s.Code != 3 {
		t.Errorf("%+v", s)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	soon(t, func() bool { return !alive(in.PID) })
	if _, err := Connect(t.Context(), l.Socket, options(t, l)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nobody listens: %v", err)
	}

	l, in = listening(t, nil)
	other, c := join(t, l), join(t, l)
	mark := "4" + newMark()
	says(t, other, "(setsid sleep "+mark+" &)")
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	soon(t, func() bool { return !alive(in.PID) })
	soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 })
	var broken *sandbox.BrokenError
	if _, err := other.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
}

// As the command of a container it reads its message from a file, which is gone then, and stays what it is.
func TestListenAttached(t *testing.T) {
	l := Listen{Socket: filepath.Join(private(t), "s"), Token: bytes.Repeat([]byte{5}, 32)}
	message, err := l.Message()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(l.Socket), "start")
	if err := os.WriteFile(file, message, 0o644); err != nil {
		t.Fatal(err)
	}
	out, bad := program(t, ListenMode, file).Output()
	if _, err := Listening(out); err == nil || bad == nil || !strings.Contains(err.Error(), "others can read") {
		t.Errorf("a file that others can read: %v, %v", err, bad)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, ListenMode, file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	soon(t, func() bool { _, err := os.Lstat(l.Socket); return err == nil })
	c := join(t, l)
	if c.PID() != cmd.Process.Pid {
		t.Errorf("%d is not %d", c.PID(), cmd.Process.Pid)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the message is still there: %v", err)
	}
	// What a runner holds is not for the commands, whoever they run as.
	for _, name := range []string{"mem", "environ", "fd/3"} {
		if os.Getuid() == 0 {
			break // root may
		}
		if f, err := os.Open(fmt.Sprintf("/proc/%d/%s", c.PID(), name)); err == nil {
			_ = f.Close()
			t.Errorf("%s can be opened", name)
		}
	}
}

// Clients that can be seen from inside are inside.
func TestOutside(t *testing.T) {
	l, _ := listening(t, func(l *Listen) { l.Outside = true })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := Connect(ctx, l.Socket, options(t, l)); err == nil {
		t.Error("a client of the same process namespace came in")
	}
	if os.Getuid() != 0 {
		t.Skip("skipped: needs root")
	}
	// From another namespace of processes the client cannot be seen.
	l, _ = listening(t, nil)
	cmd := program(t, ListenMode)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	l.Outside, l.Detach, l.Socket = true, false, filepath.Join(private(t), "s")
	message, err := l.Message()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(message)
	if err := cmd.Start(); err != nil {
		t.Skip("skipped: needs namespaces of processes: ", err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	soon(t, func() bool { _, err := os.Lstat(l.Socket); return err == nil })
	if c := join(t, l); c.PID() != 1 {
		t.Errorf("%d is not the first process", c.PID())
	}
}

// Walls that a runner was told to put up are in force for its commands, and read back.
func TestHarden(t *testing.T) {
	filter, _ := seccomp.Filter(seccomp.Options{})
	const keep = 1<<unix.CAP_CHOWN | 1<<unix.CAP_FOWNER
	h := Harden{NoNewPrivs: true, Filter: filter, DropCaps: true, Keep: keep}
	l, in := listening(t, func(l *Listen) { l.Harden = h })
	clients := []*Client{join(t, l)}
	c, err := overStdio(t, func(o *Options) { o.Harden = &h })
	if err != nil {
		t.Fatal(err)
	}
	clients = append(clients, c, start(t, func(o *Options, _ *snapshot.Config) { o.Harden = &h }))
	for i, c := range clients {
		if err := h.holds(c.Inside()); err != nil {
			t.Error(i, err)
		}
		out, _ := says(t, c, `grep -E '^(NoNewPrivs|Seccomp|CapEff|CapBnd|CapAmb):' /proc/self/status | tr -s '\t\n' ' '; unshare -U true 2>/dev/null && echo in a new namespace`)
		want := "CapEff: 0000000000000000 CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 "
		if os.Getuid() == 0 {
			want = "CapEff: 0000000000000009 CapBnd: 0000000000000009 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 "
		} else if i := strings.Index(out, "CapBnd"); i > 0 { // without the right to, the bounding set stays
			want = strings.Replace(want, want[strings.Index(want, "CapBnd"):strings.Index(want, "CapAmb")], out[i:strings.Index(out, "CapAmb")], 1)
		}
		if out != want {
			t.Errorf("%d: %q, want %q", i, out, want)
		}
	}
	if in.Seccomp != 2 || !in.NoNewPrivs || len(in.Build) != 64 {
		t.Errorf("%+v", in)
	}
	// What cannot be done is not left out.
	none := Harden{Filter: []byte("noise of sixteen")}
	if _, err := overStdio(t, func(o *Options) { o.Harden = &none }); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "filter") {
		t.Errorf("%v", err)
	}
}

// A runner that was built from something else, or speaks another version, is told apart from one that does not answer.
func TestAnotherBuild(t *testing.T) {
	c, err := overStdio(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	build := c.Inside().Build
	if _, err := overStdio(t, func(o *Options) { o.Build = build }); err != nil {
		t.Error(err)
	}
	if _, err := overStdio(t, func(o *Options) { o.Build = strings.Repeat("0", 64) }); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), build[:12]) {
		t.Errorf("%v", err)
	}
	ours, theirs := net.Pipe()
	go func() {
		_, _ = theirs.Read(make([]byte, 4096))
		_, _ = theirs.Write(greeting(Version + 1))
	}()
	if _, err := DialStream(t.Context(), ours, options(t, Listen{})); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), fmt.Sprint("version ", Version+1)) {
		t.Errorf("%v", err)
	}
	_ = theirs.Close()
}
