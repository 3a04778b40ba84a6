package runner

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
)

// pipes makes the pipes whose other ends are passed to the runner.
func (s *stdio) pipes(in io.Reader, outs ...io.Writer) error {
	if in != nil {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.remote = append(s.remote, r)
		if err := unix.SetNonblock(w, true); err != nil {
			_ = unix.Close(w)
			return err
		}
		s.in = file(w, "stdin")
	}
	for _, out := range outs {
		if out == nil {
			continue
		}
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.remote = append(s.remote, w)
		if err := unix.SetNonblock(r, true); err != nil {
			_ = unix.Close(r)
			return err
		}
		f := file(r, "output")
		s.outs = append(s.outs, f)
		s.pump(f, out)
	}
	return nil
}

// pipe returns the two ends of a pipe that block, as a command expects of them.
func pipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], err
}

// file makes a file of a descriptor that does not block.
func file(fd int, name string) *os.File { return os.NewFile(uintptr(fd), name) }

// terminal takes the master of the command's terminal.
func (s *stdio) terminal(f frame) {
	if len(f.fds) != 1 || s.cmd.Terminal == nil {
		closeAll(f.fds)
		return
	}
	_ = unix.SetNonblock(f.fds[0], true)
	s.master = file(f.fds[0], "terminal")
	out := s.cmd.Stdout
	if out == nil {
		out = null{}
	}
	s.pump(s.master, out)
	if s.cmd.Stdin != nil {
		go func() {
			_, _ = io.Copy(s.master, s.cmd.Stdin)
			_, _ = s.master.Write([]byte{4}) // end of input, as typed
		}()
	}
}

// resizeMaster gives a terminal another size.
func resizeMaster(master *os.File, size sandbox.Size) {
	if raw, err := master.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = resize(int(fd), size.Rows, size.Cols) })
	}
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// waiting tells how many bytes there are to be read.
func waiting(f *os.File) (n int) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return n
}
