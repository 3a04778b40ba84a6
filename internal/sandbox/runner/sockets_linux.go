package runner

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// namesPort is where programs ask for names.
const namesPort = 53

// backlog is how many connections may wait to be taken.
const backlog = 512

// sockets makes, inside, a listening stream socket at a port of the loopback address, and a datagram socket where names are
// asked for. The second is left out where this port may not be had: then no names are answered.
func sockets(port int) ([]int, error) {
	stream, err := bound(unix.SOCK_STREAM, port)
	if err == nil {
		if err = unix.Listen(stream, backlog); err != nil {
			_ = unix.Close(stream)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listen at 127.0.0.1:%d: %w", port, err)
	}
	fds := []int{stream}
	if names, err := bound(unix.SOCK_DGRAM, namesPort); err == nil {
		fds = append(fds, names)
	}
	return fds, nil
}

func bound(kind, port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Sockets makes two sockets inside, at 127.0.0.1, and hands them out: a listening one at a port, and one for datagrams at port 53,
// which is nil where it may not be had. Whoever serves them from outside is in the network of the inside with these two alone.
// The caller closes them. Where the two ends do not share a kernel it is errors.ErrUnsupported.
func (c *Client) Sockets(ctx context.Context, port uint16) (stream, names *os.File, err error) {
	if c.opt.Framed {
		return nil, nil, fmt.Errorf("sockets of the inside: %w", errors.ErrUnsupported)
	}
	if port == 0 {
		return nil, nil, errors.New("sockets of the inside: port 0")
	}
	w := writer{}
	w.num(uint64(port))
	_, fds, err := c.askFor(ctx, askSockets, w.b)
	if err != nil {
		return nil, nil, err
	}
	if len(fds) == 0 || len(fds) > 2 {
		closeAll(fds)
		return nil, nil, c.breaks(fmt.Errorf("%d sockets", len(fds)))
	}
	stream = os.NewFile(uintptr(fds[0]), "proxy")
	if len(fds) == 2 {
		names = os.NewFile(uintptr(fds[1]), "names")
	}
	return stream, names, nil
}
