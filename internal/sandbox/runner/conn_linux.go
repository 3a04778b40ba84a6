package runner

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// conn is one client of a runner.
type conn struct {
	s        *server
	fd       int
	in       splitter
	buf      []byte
	out      []outgoing
	greeted  bool
	dead     bool
	full     bool // waits for the socket to take more
	commands map[uint32]*command
	files    handles
	asked    atomic.Int32 // questions under way
}

// outgoing is a frame that the socket did not take yet.
type outgoing struct {
	bytes []byte
	fds   []int // closed when they are sent
}

// maxAsked bounds the questions a client may have under way.
const maxAsked = 256

func (s *server) connect(fd int) error {
	c := &conn{s: s, fd: fd, buf: make([]byte, 64<<10), commands: map[uint32]*command{}}
	if err := s.add(fd, unix.EPOLLIN|unix.EPOLLRDHUP, c.ready); err != nil {
		return err
	}
	s.conns[fd] = c
	return nil
}

// ready reads and writes what is possible now.
func (c *conn) ready(events uint32) {
	if events&unix.EPOLLOUT != 0 {
		c.flush()
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	for !c.dead {
		err := receive(c.fd, c.buf, &c.in)
		if err == unix.EAGAIN {
			return
		} else if err != nil {
			c.close()
			return
		}
		if err := c.frames(); err != nil {
			c.refuse(err)
			return
		}
		if len(c.in.bytes) == 0 {
			c.in.bytes = c.in.bytes[:0]
			if cap(c.in.bytes) > 256<<10 {
				c.in.bytes = nil
			}
			return // level triggered: if there is more, it says so
		}
	}
}

func (c *conn) frames() error {
	for !c.dead {
		f, ok, err := c.in.next()
		if err != nil || !ok {
			return err
		}
		err = c.frame(f)
		closeAll(f.fds) // whoever keeps one has taken a copy
		if err != nil {
			return err
		}
	}
	return nil
}

// frame acts on one frame. An error ends the connection.
func (c *conn) frame(f frame) error {
	if !c.greeted {
		return c.hello(f)
	}
	cmd := c.commands[f.id]
	r := reader{b: f.body}
	switch f.kind {
	case runKind:
		return c.run(f)
	case askKind:
		return c.ask(f)
	case byeKind:
		c.close()
		return nil
	case endKind:
		grace := r.num()
		if cmd != nil && r.err == nil {
			c.s.end(cmd, grace)
		}
	case signalKind:
		sig := syscall.Signal(r.num())
		if cmd != nil && r.err == nil && sig > 0 && sig < 65 {
			_ = unix.Kill(-cmd.pid, sig)
		}
	case resizeKind:
		rows, cols := r.num(), r.num()
		if cmd != nil && r.err == nil {
			cmd.resize(uint16(rows), uint16(cols))
		}
	case inputKind:
		if cmd != nil {
			return cmd.input(f.body)
		}
		return nil
	case creditKind:
		stream, n := r.num(), r.num()
		if cmd != nil && r.err == nil {
			return cmd.credit(stream, n)
		}
	default:
		return fmt.Errorf("a client does not send frames of kind %d", f.kind)
	}
	return r.done()
}

func (c *conn) hello(f frame) error {
	r := reader{b: f.body}
	word, version := r.str(), r.num()
	switch {
	case f.kind != helloKind || word != magic:
		return errors.New("the first frame is no greeting")
	case version != Version:
		return fmt.Errorf("the client speaks version %d, this runner version %d", version, Version)
	}
	if err := r.done(); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	c.greeted = true
	w := writer{}
	w.str(magic)
	w.num(Version)
	w.num(uint64(c.s.self))
	w.num(c.s.tag)
	c.send(frame{kind: helloKind, id: f.id, body: w.b})
	return nil
}

// send sends a frame, now or when the socket takes it. Its descriptors are closed then.
func (c *conn) send(f frame) {
	if c.dead {
		closeAll(f.fds)
		return
	}
	c.queue(outgoing{appendFrame(make([]byte, 0, headSize+len(f.body)), f), f.fds})
}

// queue sends bytes in their turn. It tells whether they are all sent and may be used again.
func (c *conn) queue(o outgoing) bool {
	if c.dead {
		return true
	}
	c.out = append(c.out, o)
	if len(c.out) == 1 {
		c.flush()
	}
	return len(c.out) == 0
}

func (c *conn) flush() {
	for len(c.out) > 0 && !c.dead {
		o := &c.out[0]
		n, err := send(c.fd, o.bytes, o.fds)
		if err == unix.EAGAIN {
			c.full = true
			c.s.change(c.fd, unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLOUT)
			return
		} else if err != nil {
			c.close()
			return
		}
		closeAll(o.fds)
		o.bytes, o.fds = o.bytes[n:], nil
		if len(o.bytes) == 0 {
			c.out = c.out[1:]
		}
	}
	if c.full && !c.dead {
		c.full = false
		c.s.change(c.fd, unix.EPOLLIN|unix.EPOLLRDHUP)
	}
}

// refuse tells why the connection is over.
func (c *conn) refuse(err error) {
	c.send(frame{kind: refuseKind, body: []byte(err.Error())})
	c.close()
}

// close ends the connection and everything that was started through it.
func (c *conn) close() {
	if c.dead {
		return
	}
	c.dead = true
	delete(c.s.conns, c.fd)
	closeAll(c.in.fds)
	for _, o := range c.out {
		closeAll(o.fds)
	}
	c.files.close()
	c.s.drop(c.fd)
	for _, cmd := range c.commands {
		c.s.end(cmd, 0)
	}
}
