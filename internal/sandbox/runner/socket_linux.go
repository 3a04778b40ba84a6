package runner

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Pair returns the two ends of a new connection. Both are close-on-exec; the second is for the runner, as SocketFD.
func Pair() (client, runner *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a connection: %w", err)
	}
	for _, fd := range fds {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20) // as far as the system allows
	}
	return os.NewFile(uintptr(fds[0]), "runner"), os.NewFile(uintptr(fds[1]), "runner"), nil
}

// send sends bytes and descriptors as far as the socket takes them now. The descriptors go with the first byte.
func send(fd int, b []byte, fds []int) (int, error) {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for {
		n, err := unix.SendmsgN(fd, b, oob, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// receive reads what is there. The end of the connection is io.EOF.
func receive(fd int, into *splitter) error {
	var oob [1 << 8]byte
	for {
		n, oobn, flags, _, err := unix.Recvmsg(fd, into.room(), oob[:], unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECONNRESET:
			return io.EOF
		case err != nil:
			return err
		}
		if oobn > 0 {
			fds, err := rights(oob[:oobn])
			into.fds = append(into.fds, fds...)
			if err != nil {
				return err
			}
		}
		if flags&unix.MSG_CTRUNC != 0 {
			return errors.New("more descriptors than a frame may have")
		}
		if n == 0 {
			return io.EOF
		}
		into.grew(n)
		return nil
	}
}

// readStream is receive for what is no socket.
func readStream(fd int, into *splitter) error {
	for {
		n, err := unix.Read(fd, into.room())
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return io.EOF
		}
		into.grew(n)
		return nil
	}
}

// writeStream is send for what is no socket.
func writeStream(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Write(fd, b)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

func rights(oob []byte) (all []int, err error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return all, err
		}
		all = append(all, fds...)
	}
	return all, nil
}
