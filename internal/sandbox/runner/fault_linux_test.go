package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/sandbox/snapshot"
)

// talk starts a runner and returns the bare connection.
func talk(t *testing.T) (*os.File, *exec.Cmd) {
	t.Helper()
	ours, theirs, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args, cmd.Env, cmd.ExtraFiles = []string{Marker}, []string{}, []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	t.Cleanup(func() {
		_ = ours.Close()
		_ = cmd.Wait()
	})
	_ = ours.SetDeadline(time.Now().Add(20 * time.Second))
	return ours, cmd
}

func greeting(version uint64) []byte {
	h := hello{version: version}
	return appendFrame(nil, frame{kind: helloKind, body: h.encode()})
}

// A frame that cannot be read ends the connection, with the reason, and nothing was started.
func TestGarbage(t *testing.T) {
	dir := t.TempDir()
	q := request{argv: []string{"/bin/touch", dir + "/started"}, dir: "/"}
	run := appendFrame(nil, frame{kind: runKind, id: 1, body: q.encode()})
	random := make([]byte, 4096)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	random[3] = 0xff
	hello := greeting(Version)
	for _, row := range []struct {
		what   string
		bytes  []byte
		reason string
	}{
		{"another version", greeting(Version + 1), "version"},
		{"no greeting", run, "no greeting"},
		{"random bytes", random, "frame"},
		{"a frame too large", append(bytes.Clone(hello), 0xff, 0xff, 0xff, 0xff, byte(runKind), 0, 1, 0, 0, 0), "frame of"},
		{"an unknown kind", append(bytes.Clone(hello), appendFrame(nil, frame{kind: 99})...), "unknown kind"},
		{"a runner's kind", append(bytes.Clone(hello), appendFrame(nil, frame{kind: exitKind})...), "does not send"},
		{"half a request", append(bytes.Clone(hello), appendFrame(nil, frame{kind: runKind, id: 1, body: q.encode()[:20]})...), "run:"},
		{"more than a request", append(bytes.Clone(hello), appendFrame(nil, frame{kind: runKind, id: 1, body: append(q.encode(), 7)})...), "too many"},
		{"no program", append(bytes.Clone(hello), appendFrame(nil, frame{kind: runKind, id: 1, body: (&request{}).encode()})...), "no program"},
		{"an unknown question", append(bytes.Clone(hello), appendFrame(nil, frame{kind: askKind, body: []byte{99}})...), "unknown question"},
		{"input for nobody's", append(bytes.Clone(hello), appendFrame(nil, frame{kind: askKind})...), "empty question"},
	} {
		conn, _ := talk(t)
		if _, err := conn.Write(append(row.bytes, run...)); err != nil && !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%s: %v", row.what, err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", row.what, err)
		}
		var last frame
		for s := (splitter{buf: answer}); ; {
			f, ok, err := s.next()
			if err != nil || !ok {
				break
			}
			last = f
		}
		if last.kind != refuseKind || !strings.Contains(string(last.body), row.reason) {
			t.Errorf("%s: kind %d, %q", row.what, last.kind, last.body)
		}
	}
	if _, err := os.Stat(dir + "/started"); err == nil {
		t.Error("something was started")
	}
}

// Whatever bytes come, reading them ends and takes no more than there is.
func FuzzFrames(f *testing.F) {
	f.Add(greeting(Version))
	q := request{argv: []string{"a"}, env: []string{"A=b"}, prelude: []byte("x")}
	f.Add(appendFrame(nil, frame{kind: runKind, id: 1, body: q.encode()}))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := splitter{buf: text}
		for {
			fr, ok, err := s.next()
			if err != nil || !ok {
				return
			}
			var q request
			if q.decode(fr.body) == nil {
				var again request
				if err := again.decode(q.encode()); err != nil || fmt.Sprint(again) != fmt.Sprint(q) {
					t.Fatalf("%+v came back as %+v, %v", q, again, err)
				}
			}
			var e result
			_ = e.decode(fr.body)
		}
	})
}

func TestVersion(t *testing.T) {
	ours, theirs, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = theirs.Write(greeting(Version + 1))
	}()
	_, err = Dial(t.Context(), ours, Options{Backend: "test", State: snapshot.New(snapshot.Config{})})
	var broken *sandbox.BrokenError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "version") {
		t.Error(err)
	}
	_ = theirs.Close()
}

// A runner that is killed takes nothing with it: the client sees to what it had started, at whatever point that is, and tells
// everybody.
func TestKilledRunner(t *testing.T) {
	var marks []string
	for range 20 {
		mark := fmt.Sprintf("8%07d", rand.IntN(10_000_000))
		marks = append(marks, mark)
		c := start(t, nil)
		done := make(chan error, 1)
		go func() {
			_, err := c.Run(context.Background(), sandbox.Command{Text: "(setsid sleep " + mark + " &); sleep " + mark})
			done <- err
		}()
		soon(t, func() bool { return len(sandboxtest.Running("sleep "+mark)) >= 2 })
		if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var broken *sandbox.BrokenError
		if err := <-done; !errors.As(err, &broken) || broken.Backend != "test" {
			t.Error(err)
		}
		if _, err := c.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); !errors.As(err, &broken) {
			t.Error(err)
		}
		<-c.clean
		soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 })
	}
	for _, mark := range marks { // one that was about to become its program was not seen by its name
		if found := sandboxtest.Running(mark); len(found) > 0 {
			t.Errorf("it came back: %q", found)
		}
	}
}

// Signals that make a program dump what it does do nothing to a runner, and what they are to commands.
func TestSignalsThatDump(t *testing.T) {
	c := start(t, nil)
	for _, s := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGFPE, syscall.SIGBUS, syscall.SIGILL, syscall.SIGTRAP,
		syscall.SIGSYS} {
		if err := syscall.Kill(c.PID(), s); err != nil {
			t.Fatal(err)
		}
		st, err := c.Run(t.Context(), sandbox.Command{Argv: []string{"/bin/dash", "-c", fmt.Sprintf("kill -%d $$", int(s))}})
		if err != nil || st.Signal != int(s) {
			t.Errorf("%v: %v, a command that gets it ends with %+v", s, err, st)
		}
	}
}

// On the other side of a stream nothing is left either, when the runner is killed or the process above it, nor are those two.
func TestKilledStdio(t *testing.T) {
	for what, victim := range map[string]func(c *Client, above int) int{
		"the runner":    func(c *Client, _ int) int { return c.PID() },
		"what is above": func(_ *Client, above int) int { return above },
	} {
		mark := "9" + newMark()
		cmd := program(t, StdioMode)
		c, err := over(t, cmd, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.PID() == cmd.Process.Pid {
			t.Fatal("the runner is by itself")
		}
		done := make(chan error, 1)
		go func() {
			_, err := c.Run(context.Background(), sandbox.Command{
				Text: "(setsid sleep " + mark + " &); (env -i setsid nohup sleep " + mark + " &); sleep " + mark,
			})
			done <- err
		}()
		soon(t, func() bool { return len(sandboxtest.Running("sleep "+mark)) >= 3 })
		if err := syscall.Kill(victim(c, cmd.Process.Pid), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var broken *sandbox.BrokenError
		err = <-done // a runner that is asked to end may still tell how the command did
		if <-c.Done(); !errors.As(err, &broken) && (err != nil || what == "the runner") {
			t.Errorf("%s: %v", what, err)
		}
		soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 && !alive(c.PID()) && !alive(cmd.Process.Pid) })
	}
}

// It goes the usual ways too: asked by a signal, and with its client.
func TestStdioEnds(t *testing.T) {
	for what, end := range map[string]func(c *Client, above int) error{
		"a signal": func(_ *Client, above int) error { return syscall.Kill(above, syscall.SIGTERM) },
		"a close":  func(c *Client, _ int) error { return c.Close(context.Background()) },
		"a cut":    func(c *Client, _ int) error { _ = c.conn.close(); return nil },
	} {
		mark := "1" + newMark()
		cmd := program(t, StdioMode)
		c, err := over(t, cmd, nil)
		if err != nil {
			t.Fatal(err)
		}
		says(t, c, "(setsid sleep "+mark+" &)")
		if len(sandboxtest.Running(mark)) == 0 {
			t.Fatal("it does not run")
		}
		if err := end(c, cmd.Process.Pid); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		<-c.Done()
		soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 && !alive(c.PID()) && !alive(cmd.Process.Pid) })
	}
}

func soon(t testing.TB, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never")
		}
	}
}

// parent is a process that starts a runner and then commands without end, until it is killed.
func parent(mark string) {
	t := &testing.T{}
	c := start(t, nil)
	fmt.Println(c.PID())
	for range 4 {
		go func() {
			for {
				_, _ = c.Run(context.Background(), sandbox.Command{
					Text: "(setsid sleep " + mark + " &); (sleep " + mark + " & export X=1); sleep 0.0$RANDOM", Stdout: io.Discard, Stdin: strings.NewReader("x"),
				})
			}
		}()
	}
	select {}
}

// Whenever the parent is killed, the runner ends, and with it all that it had started.
func TestKilledParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		mark := fmt.Sprintf("7%07d", rand.IntN(10_000_000))
		cmd := exec.Command(self)
		cmd.Env = []string{parentMark + "=" + mark, "TMPDIR=" + t.TempDir()}
		pid := rigtest.Start(t, cmd)
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 })
		soon(t, func() bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return err != nil || !strings.Contains(string(text), Marker)
		})
	}
}

// The runner itself has no environment, and nothing of a command but its own argv can be read from outside.
func TestSecretsStayInside(t *testing.T) {
	secret := fmt.Sprintf("s3cret-%d", rand.Uint64())
	c := start(t, nil)
	if s, err := c.Run(t.Context(), sandbox.Command{Argv: []string{"cat"}, Stdin: strings.NewReader(secret), Stdout: io.Discard}); err != nil || s.Code != 0 {
		t.Fatal(s, err)
	}
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", c.PID(), file))
		if err != nil || strings.Contains(string(text), secret) || file == "environ" && len(text) > 0 {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

func TestProbeAndLimits(t *testing.T) {
	c := start(t, func(o *Options, _ *snapshot.Config) { o.Queue = 3 })
	if answer, err := c.Probe(t.Context(), "echo", []byte("question")); err != nil || string(answer) != "question" {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := c.Probe(t.Context(), "none", nil); err == nil {
		t.Error("a hook that is not there answered")
	}
	// Of commands beyond the limit, the time is counted while they wait.
	for range 3 {
		go func() { _, _ = c.Run(t.Context(), sandbox.Command{Argv: []string{"sleep", "0.3"}}) }()
	}
	soon(t, func() bool { return len(c.slots) == 3 })
	s, err := c.Run(t.Context(), sandbox.Command{Argv: []string{"true"}, Timeout: 50 * time.Millisecond})
	if err != nil || s.Code != 124 || !s.TimedOut {
		t.Errorf("%+v, %v", s, err)
	}
	// The tag is a limit that does not limit.
	var out bytes.Buffer
	if _, err := c.Run(t.Context(), sandbox.Command{Argv: []string{"cat", "/proc/self/limits"}, Stdout: &out}); err != nil {
		t.Error(err)
	}
	var own unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &own)
	if !strings.Contains(out.String(), "Max realtime timeout") || own.Max == 0 {
		t.Error(out.String())
	}
}
