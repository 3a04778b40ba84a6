package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
)

// socket is a link over a unix socket, which carries descriptors.
type socket struct {
	f     *os.File
	raw   syscall.RawConn
	bytes []byte
}

// Dial greets the runner at the other end of conn, which belongs to the client from now on, also when Dial fails. ctx bounds
// the greeting. Linux only, as all of passing descriptors.
func Dial(ctx context.Context, conn *os.File, o Options) (*Client, error) {
	if o.Greeted && (o.Framed || len(o.Token) > 0 || o.Harden != nil || o.Build != "") {
		_ = conn.Close()
		return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: errors.New("greet the runner: it was asked for less")}
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		_ = conn.Close()
		return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: err}
	}
	return dial(ctx, &socket{f: conn, raw: raw}, o)
}

// Greet sends ahead what Dial would say, to a process that is going to be a runner: it answers as soon as it is one. Dial, with
// Options.Greeted, is for later. What is asked of a runner with a token, a program or something to do to itself cannot be sent ahead.
func Greet(conn *os.File) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	ask := hello{version: Version}
	return (&socket{f: conn, raw: raw}).send(frame{kind: helloKind, body: ask.encode()})
}

// Connect greets a runner that listens, over the socket at a path here. Options.Token is the one it was started with. Several
// clients may be connected to one runner, of one or more processes: what is started through one is not seen by the others,
// and ends with it. ctx bounds the greeting.
//
// An error that is fs.ErrNotExist or ECONNREFUSED says that nobody listens; one that is errors.ErrUnsupported, that descriptors
// cannot be passed here: DialStream is the other way in.
func Connect(ctx context.Context, path string, o Options) (*Client, error) {
	if len(o.Token) < leastToken {
		return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: errors.New("connect: no token")}
	}
	if o.Harden != nil {
		return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: errors.New("connect: a runner that listens has done to itself what it should")}
	}
	conn, err := connect(path)
	if err != nil {
		return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: fmt.Errorf("connect to runner: %w", err)}
	}
	return Dial(ctx, conn, o)
}

func connect(path string) (*os.File, error) {
	// The path may be longer than an address: it is the name in the open directory.
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	defer unix.Close(dir)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20) // as far as the system allows
	name := "/proc/self/fd/" + strconv.Itoa(dir) + "/" + filepath.Base(path)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		_ = unix.Close(fd)
		return nil, &os.PathError{Op: "connect", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), "runner"), nil
}

func (s *socket) send(f frame) error {
	s.bytes = appendFrame(s.bytes[:0], f)
	bytes, fds := s.bytes, f.fds
	if cap(s.bytes) > 2*piece {
		s.bytes = nil
	}
	var failed error
	err := s.raw.Write(func(fd uintptr) bool {
		for len(bytes) > 0 {
			n, err := send(int(fd), bytes, fds)
			if err == unix.EAGAIN {
				return false
			} else if err != nil {
				failed = err
				return true
			}
			bytes, fds = bytes[n:], nil
		}
		return true
	})
	return errors.Join(err, failed)
}

func (s *socket) receive(into *splitter) error {
	var failed error
	err := s.raw.Read(func(fd uintptr) bool {
		failed = receive(int(fd), into)
		return failed != unix.EAGAIN
	})
	if failed != nil {
		return failed
	}
	return err
}

func (s *socket) close() error { return s.f.Close() }
