package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
)

// Client is the outer end of a connection to a runner. It is safe for concurrent use.
type Client struct {
	opt   Options
	conn  *os.File
	raw   syscall.RawConn
	pid   int
	tag   uint64
	slots chan struct{}

	boot   sync.Mutex // held by the command that starts the session
	booted bool

	write sync.Mutex // one frame after the other

	mu     sync.Mutex
	last   uint32
	calls  map[uint32]chan<- frame // closed when the connection is over
	ending bool                    // Close was called
	closed bool                    // Close has done its work
	stop   chan struct{}           // closed by Close

	done   chan struct{} // closed when the connection is over
	clean  chan struct{} // closed when nothing is left of it
	broken error         // set before done is closed
	pumps  sync.WaitGroup
	once   sync.Once
}

// Dial greets the runner at the other end of conn, which belongs to the client from now on, also when Dial fails. ctx bounds
// the greeting.
func Dial(ctx context.Context, conn *os.File, o Options) (*Client, error) {
	c := &Client{
		opt: o, conn: conn, calls: map[uint32]chan<- frame{}, stop: make(chan struct{}), done: make(chan struct{}),
		clean: make(chan struct{}),
	}
	if c.opt.Queue <= 0 {
		c.opt.Queue = defaultQueue
	}
	if c.opt.Grace == 0 {
		c.opt.Grace = defaultGrace
	}
	c.slots = make(chan struct{}, c.opt.Queue)
	raw, err := conn.SyscallConn()
	if err == nil {
		c.raw = raw
		err = c.greet(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, c.breaks(err)
	}
	return c, nil
}

func (c *Client) breaks(err error) error {
	return &sandbox.BrokenError{Backend: c.opt.Backend, Cause: err}
}

// greet exchanges the hellos and starts the reading.
func (c *Client) greet(ctx context.Context) error {
	hello := writer{}
	hello.str(magic)
	hello.num(Version)
	answer, err := c.expect(0)
	if err != nil {
		return err
	}
	go c.receive()
	if err := c.send(frame{kind: helloKind, body: hello.b}); err != nil {
		c.fail(err)
	}
	select {
	case <-ctx.Done():
		c.fail(context.Cause(ctx))
		return fmt.Errorf("greet the runner: %w", context.Cause(ctx))
	case <-c.done:
		return c.broken
	case f, ok := <-answer:
		if !ok {
			<-c.done
			return c.broken
		}
		c.forget(0)
		r := reader{b: f.body}
		word, version, pid, tag := r.str(), r.num(), r.num(), r.num()
		if err := r.done(); err != nil || f.kind != helloKind || word != magic || version != Version {
			err := fmt.Errorf("greet the runner: it is no runner of version %d", Version)
			c.fail(err)
			return err
		}
		c.pid, c.tag = int(pid), tag
	}
	return nil
}

// PID returns the runner's process id, as the runner sees it.
func (c *Client) PID() int { return c.pid }

// Done is closed when the connection is over: closed or broken.
func (c *Client) Done() <-chan struct{} { return c.done }

// expect makes a place for frames of an id; of a new one when id is 0 and the greeting is over.
func (c *Client) expect(size int) (chan frame, error) {
	_, ch, err := c.place(true, size)
	return ch, err
}

func (c *Client) place(greeting bool, size int) (uint32, chan frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, nil, sandbox.ErrClosed
	}
	select {
	case <-c.done:
		return 0, nil, c.breaks(c.broken)
	default:
	}
	id := uint32(0)
	for !greeting {
		if c.last++; c.last != 0 && c.calls[c.last] == nil {
			id = c.last
			break
		}
	}
	ch := make(chan frame, max(size, 1))
	c.calls[id] = ch
	return id, ch, nil
}

func (c *Client) forget(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// send writes one frame. The descriptors stay the caller's.
func (c *Client) send(f frame) error {
	bytes := appendFrame(make([]byte, 0, headSize+len(f.body)), f)
	c.write.Lock()
	defer c.write.Unlock()
	fds := f.fds
	var failed error
	err := c.raw.Write(func(fd uintptr) bool {
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

// receive deals out the frames until the connection is over.
func (c *Client) receive() {
	var s splitter
	defer func() { closeAll(s.fds) }()
	buf := make([]byte, window)
	for {
		var failed error
		err := c.raw.Read(func(fd uintptr) bool {
			failed = receive(int(fd), buf, &s)
			return failed != unix.EAGAIN
		})
		if err = errors.Join(err, failed); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the runner is gone")
			}
			c.fail(err)
			return
		}
		for {
			f, ok, err := s.next()
			if err == nil && ok {
				err = c.deal(f)
			}
			if err != nil {
				c.fail(err)
				return
			}
			if !ok {
				break
			}
		}
		s.bytes = append([]byte(nil), s.bytes...) // the bodies that were dealt out stay what they are
	}
}

// deal hands a frame to whoever waits for it.
func (c *Client) deal(f frame) error {
	if f.kind == refuseKind {
		closeAll(f.fds)
		return fmt.Errorf("%w: %s", ErrRefused, f.body)
	}
	c.mu.Lock()
	ch := c.calls[f.id]
	c.mu.Unlock()
	if ch == nil { // whoever asked does not wait any more
		closeAll(f.fds)
		return nil
	}
	select {
	case ch <- f:
	case <-c.stop:
		closeAll(f.fds)
	}
	return nil
}

// fail ends the connection; everybody who waits is told.
func (c *Client) fail(err error) {
	c.once.Do(func() {
		c.broken = err
		close(c.done)
		_ = c.conn.Close()
		go c.cleanup()
	})
}

// cleanup sees to what the runner should have seen to: if it was killed, what it had started is still there.
func (c *Client) cleanup() {
	defer close(c.clean)
	if c.tag != 0 && !c.opt.Framed && !c.opt.Walled {
		_ = killTagged(c.tag)
	}
	if c.opt.Cleanup != nil {
		c.opt.Cleanup()
	}
}

// over returns the error for whoever waited when the connection ended.
func (c *Client) over() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return sandbox.ErrClosed
	}
	return c.breaks(c.broken)
}

// ask asks a question and waits for its answer.
func (c *Client) ask(ctx context.Context, what uint8, body []byte) (*reader, error) {
	id, ch, err := c.place(false, 1)
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	if err := c.send(frame{kind: askKind, id: id, body: append([]byte{what}, body...)}); err != nil {
		c.fail(err)
		return nil, c.over()
	}
	select {
	case f := <-ch:
		r := &reader{b: f.body}
		if code := r.num(); code != 0 {
			text := r.str()
			return nil, fault(code, text)
		}
		return r, nil
	case <-c.done:
		return nil, c.over()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fault makes an error of an answer's code, which is an errno or 1<<16 for all others.
func fault(code uint64, text string) error {
	if code < 1<<16 {
		return &remoteError{text, syscall.Errno(code)}
	}
	return errors.New(text)
}

type remoteError struct {
	text  string
	errno syscall.Errno
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.errno }

// Left lists what earlier commands left running. Of a closed or broken sandbox nothing is left.
func (c *Client) Left() []sandbox.Process {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	r, err := c.ask(ctx, askLeft, nil)
	if err != nil {
		return nil
	}
	return processes(decodeLeft(r))
}

func processes(all []left) []sandbox.Process {
	var out []sandbox.Process
	for _, p := range all {
		out = append(out, sandbox.Process{PID: int(p.pid), Command: p.name, Started: time.UnixMilli(int64(p.started))})
	}
	return out
}

// Probe asks a hook of the runner.
func (c *Client) Probe(ctx context.Context, name string, question []byte) ([]byte, error) {
	w := writer{}
	w.str(name)
	w.raw(question)
	r, err := c.ask(ctx, askProbe, w.b)
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", name, err)
	}
	answer := r.raw()
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("probe %s: %w", name, err)
	}
	return answer, nil
}

// Close kills everything that was started inside, ends the runner and the connection. It may be called twice. An error says
// what could not be killed.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	first := !c.ending
	c.ending = true
	c.mu.Unlock()
	if !first {
		<-c.clean
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var err error
	if !c.opt.Walled {
		_, err = c.ask(ctx, askKillAll, nil)
	}
	broken := (*sandbox.BrokenError)(nil)
	if errors.As(err, &broken) {
		err = nil // cleanup sees to what was left
	}
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	if err == nil {
		_ = c.send(frame{kind: byeKind})
	}
	close(c.stop)
	c.fail(sandbox.ErrClosed)
	<-c.clean
	c.pumps.Wait()
	if err != nil {
		return fmt.Errorf("close %s sandbox: %w", c.opt.Backend, err)
	}
	return nil
}
