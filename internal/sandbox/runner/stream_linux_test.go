package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/sandbox/snapshot"
)

// process is the stream to a program's standard input and output.
type process struct {
	io.WriteCloser
	io.ReadCloser
	wait func() error
}

func (p process) Close() error {
	return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close(), p.wait())
}

// overStdio starts a runner as something else would that has only bytes to offer, and greets it.
func overStdio(t testing.TB, change func(*Options)) (*Client, error) {
	t.Helper()
	return over(t, program(t, StdioMode), change)
}

// over greets the runner that a program is or leads to.
func over(t testing.TB, cmd *exec.Cmd, change func(*Options)) (*Client, error) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := options(t, Listen{})
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := DialStream(ctx, process{in, out, cmd.Wait}, o)
	t.Cleanup(func() {
		if c != nil {
			_ = c.Close(context.Background())
		}
	})
	return c, err
}

// A machine with which nothing is shared but a stream of bytes: its directories are its own, and there are no descriptors.
func TestSuiteStream(t *testing.T) {
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		remote := t.TempDir()
		c, err := overStdio(t, func(o *Options) {
			o.State = snapshot.New(snapshot.Config{
				Shell: "/bin/bash", Dir: remote, Lasts: true, Prelude: PreludeFD, Write: StateFD, Judge: effect.Judge,
				Env: sandboxtest.Spec(t, remote).Env,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return box{c}
	}, sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true, Here: true, Dir: t.TempDir(), Heavy: heavy()})
}

// A machine whose files are not ours: the directory that commands run in is not here, and what is here is not there.
func TestSuiteElsewhere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: needs root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	try := exec.Command("/bin/true")
	try.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if err := try.Run(); err != nil {
		rigtest.Need(t, "mount namespaces: "+err.Error())
	}
	here := t.TempDir()
	const there = "/srv/hermes-test-elsewhere"
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		cmd := exec.Command("/bin/bash", "-c", `mount -t tmpfs none /srv && mkdir -p "$1/home" "$1/work" && mount --bind "$1/home" "$2" && exec -a `+
			Marker+` "$0" `+StdioMode, self, there, here)
		cmd.Env, cmd.Dir, cmd.Stderr = []string{"PATH=/usr/bin:/bin"}, "/", os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
		c, err := over(t, cmd, func(o *Options) {
			o.State = snapshot.New(snapshot.Config{
				Shell: "/bin/bash", Dir: there + "/home", Lasts: true, Prelude: PreludeFD, Write: StateFD, Judge: effect.Judge,
				Env: sandboxtest.Spec(t, there+"/home").Env,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return box{c}
	}, sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true, Dir: there + "/work"})
	if _, err := os.Stat(there); err == nil {
		t.Error("it is here")
	}
}

// heavy is how much the large output is.
func heavy() int {
	if testing.Short() {
		return 0
	}
	return 1 << 30
}

// When the other end of the stream is gone, whatever it was, the runner ends with all that it started.
func TestStreamCut(t *testing.T) {
	mark := "3" + newMark()
	c, err := overStdio(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	says(t, c, "(setsid sleep "+mark+" >/dev/null 2>&1 &)")
	if len(sandboxtest.Running(mark)) != 1 {
		t.Error("nothing was started")
	}
	pid := c.PID()
	_ = c.conn.close()
	soon(t, func() bool { return len(sandboxtest.Running(mark)) == 0 && !alive(pid) })
	var broken *sandbox.BrokenError
	if _, err := c.Run(t.Context(), sandbox.Command{Argv: []string{"true"}}); !errors.As(err, &broken) {
		t.Error(err)
	}
}

func newMark() string {
	const digits = "0123456789"
	b := newNonce()[:7]
	for i := range b {
		b[i] = digits[b[i]%10]
	}
	return string(b)
}
