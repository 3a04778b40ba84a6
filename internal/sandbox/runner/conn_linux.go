package runner

import (
	"bytes"
	"crypto/hmac"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// conn is one client of a runner.
type conn struct {
	s        *server
	fd       int // read, and written where it is a socket
	to       int // written
	socket   bool
	tag      uint64 // of what is started through it; see tagBase
	in       splitter
	out      []outgoing
	setUp    bool   // it may not say again what the runner shall be
	proof    []byte // what it has to show before it is listened to
	greeted  bool
	dead     bool
	over     bool // everything of it is being killed, and what would start meanwhile too: nothing does any more
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

// connect takes a client: of a socket fd and to are the same.
func (s *server) connect(fd, to int) (*conn, error) {
	c := &conn{s: s, fd: fd, to: to, socket: fd == to, tag: newTag(), commands: map[uint32]*command{}}
	if err := s.add(fd, unix.EPOLLIN|unix.EPOLLRDHUP, c.ready); err != nil {
		return nil, err
	}
	if fd != to {
		if err := s.add(to, 0, c.room); err != nil {
			return nil, err
		}
	}
	s.conns[fd] = c
	return c, nil
}

// room writes what is possible now, where that is not what is read. When nobody reads any more, which is told whether or not
// it was asked for, nobody is there to work for.
func (c *conn) room(events uint32) {
	if events&unix.EPOLLOUT != 0 {
		c.flush()
	}
	if events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		c.close()
	}
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
		err := c.receive()
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
		if c.in.at == len(c.in.buf) {
			return // level triggered: if there is more, it says so
		}
	}
}

func (c *conn) receive() error {
	if c.socket {
		return receive(c.fd, &c.in)
	}
	return readStream(c.fd, &c.in)
}

func (c *conn) write(b []byte, fds []int) (int, error) {
	switch {
	case c.socket:
		return send(c.to, b, fds)
	case len(fds) > 0:
		return 0, errNoFiles
	}
	return writeStream(c.to, b)
}

// await waits for what the client says, and for room to say more if there was none.
func (c *conn) await(room bool) {
	switch {
	case c.socket && room:
		c.s.change(c.to, unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLOUT)
	case c.socket:
		c.s.change(c.to, unix.EPOLLIN|unix.EPOLLRDHUP)
	case room:
		c.s.change(c.to, unix.EPOLLOUT)
	default:
		c.s.change(c.to, 0)
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
	case stopKind:
		c.s.quit = true
		return nil
	case endKind:
		grace := r.num()
		if cmd != nil && r.err == nil {
			c.s.end(cmd, grace)
		}
	case signalKind:
		sig, all := r.num(), r.flag()
		if cmd != nil && r.err == nil && sig > 0 && sig < 65 {
			cmd.signal(syscall.Signal(sig), all)
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

// hello takes the first frames of a client: what the runner shall do to itself, where it serves only this one; the greeting;
// and the proof that it knows the token, where there is one.
func (c *conn) hello(f frame) error {
	switch {
	case f.kind == setupKind && !c.setUp && c.s.listener < 0 && c.proof == nil:
		c.setUp = true
		var s setup
		if err := s.decode(f.body); err != nil {
			return err
		}
		return c.s.harden(s.Harden)
	case f.kind == proofKind && c.proof != nil:
		if !hmac.Equal(f.body, c.proof) {
			return errors.New("the client does not know the token")
		}
		c.greeted = true
		return nil
	case f.kind != helloKind || c.proof != nil:
		return errors.New("the first frame is no greeting")
	}
	var h hello
	if err := h.decode(f.body); err != nil {
		return err
	}
	if h.version != Version {
		return fmt.Errorf("the client speaks version %d, this runner version %d", h.version, Version)
	}
	answer := hello{version: Version, tag: c.tag, inside: Inside{PID: c.s.self}}
	if h.tell {
		answer.inside = c.s.inside()
	}
	if token := c.s.token; token != nil {
		if len(h.nonce) != nonceSize {
			return errors.New("the client has no token")
		}
		answer.nonce = newNonce()
		answer.proof = prove(token, runnerSide, h.nonce, answer.nonce)
		c.proof = prove(token, clientSide, h.nonce, answer.nonce)
	}
	c.greeted = c.proof == nil
	c.send(frame{kind: helloKind, id: f.id, body: answer.encode()})
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

// keep lets what was queued last be sent later: n bytes of the scratch memory, which go along, or are copied when they are few.
func (c *conn) keep(n int) {
	if n > piece/4 {
		c.s.scratch = nil
		return
	}
	last := &c.out[len(c.out)-1]
	last.bytes = bytes.Clone(last.bytes)
}

func (c *conn) flush() {
	for len(c.out) > 0 && !c.dead {
		o := &c.out[0]
		n, err := c.write(o.bytes, o.fds)
		if err == unix.EAGAIN {
			c.full = true
			c.await(true)
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
		c.await(false)
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
	if !c.socket {
		c.s.drop(c.to)
	}
	for _, cmd := range c.commands {
		c.s.end(cmd, 0)
	}
	c.s.gone(c)
}
