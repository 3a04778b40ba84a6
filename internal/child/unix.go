//go:build linux || darwin

package child

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// programSuffixes returns what may follow a bare name.
func programSuffixes(string) []string { return []string{""} }

// mayRun tells whether this process may execute a file.
func mayRun(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}

// endedBy returns the signal that ended a program, if one did.
func endedBy(state *os.ProcessState) (syscall.Signal, bool) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal(), ws.CoreDump()
	}
	return 0, false
}

// signalGroup signals the program and what shares its group. The caller holds p.mu.
func (p *Process) signalGroup(sig syscall.Signal) error {
	err := unix.Kill(-p.pid, sig)
	if err == unix.EPERM && runtime.GOOS == "darwin" {
		return nil // how macOS answers for a group in which only the ended leader is left
	}
	return err
}

// release lets go of what a program that was waited for needed: here nothing.
func (p *Process) release() {}

// readNow reads what a descriptor has to give without waiting, in whatever mode it is.
func readNow(fd uintptr, buf []byte) (int, error) {
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, 0); err != nil || n == 0 {
		return 0, nil
	}
	n, err := unix.Read(int(fd), buf)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0:
		return 0, syscall.EIO // the end; pour takes it as such
	}
	return n, nil
}

// terminal is a pseudo terminal: our side and the child's.
type terminal struct{ ours, child *os.File }

func newTerminal(size Size) (*terminal, error) {
	blocking, child, err := pty.Open()
	if err != nil {
		return nil, err
	}
	ours, err := pollable(blocking)
	if err != nil {
		child.Close()
		return nil, err
	}
	t := &terminal{ours, child}
	if err := t.resize(size); err != nil {
		ours.Close()
		child.Close()
		return nil, err
	}
	return t, nil
}

// pollable returns the file in a form whose reads end with their deadline, and closes the one it was given.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func (t *terminal) resize(size Size) error {
	conn, err := t.ours.SyscallConn() // holds the descriptor while it is used: the end may close it at any time
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	})
	return errors.Join(err, failed)
}

// attributes returns what is the same on every Unix.
func (p *Process) attributes(spec *Spec) *syscall.SysProcAttr {
	session := spec.Session || p.term != nil
	return &syscall.SysProcAttr{Setsid: session, Setpgid: !session, Setctty: p.term != nil}
}
