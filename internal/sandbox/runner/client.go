package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"syscall"
	"time"

	"hermes/internal/sandbox"
)

// Client is the outer end of a connection to a runner. It is safe for concurrent use.
type Client struct {
	opt    Options
	conn   link
	inside Inside
	tag    uint64
	slots  chan struct{}

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

// DialStream greets the runner at the other end of a stream of bytes, which belongs to the client from now on, also when
// DialStream fails: it is closed with the client. Options.Framed is implied. ctx bounds the greeting. Reading and writing go
// on at the same time; Close of the stream has to end both.
//
// The other end is "hermes-runner stdio", started by whatever leads there: docker exec -i, a channel of ssh.
func DialStream(ctx context.Context, conn io.ReadWriteCloser, o Options) (*Client, error) {
	o.Framed = true
	return dial(ctx, &stream{rw: conn}, o)
}

func dial(ctx context.Context, conn link, o Options) (*Client, error) {
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
	if err := c.greet(ctx); err != nil {
		_ = conn.close()
		return nil, c.breaks(err)
	}
	return c, nil
}

func (c *Client) breaks(err error) error {
	return &sandbox.BrokenError{Backend: c.opt.Backend, Cause: err}
}

// greet exchanges the hellos and starts the reading.
func (c *Client) greet(ctx context.Context) error {
	ask := hello{version: Version, tell: c.opt.Framed || len(c.opt.Token) > 0 || c.opt.Harden != nil || c.opt.Build != ""}
	if len(c.opt.Token) > 0 {
		ask.nonce = newNonce()
	}
	answer, err := c.expect(0)
	if err != nil {
		return err
	}
	go c.receive()
	if c.opt.Harden != nil {
		s := setup{Listen: Listen{Harden: *c.opt.Harden}}
		err = c.send(frame{kind: setupKind, body: s.encode()})
	}
	if err == nil && !c.opt.Greeted {
		err = c.send(frame{kind: helloKind, body: ask.encode()})
	}
	if err != nil {
		select { // the runner may have said why it ended the connection
		case <-c.done:
		case <-time.After(refuseTime):
			c.fail(err)
		}
	}
	var got hello
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
		err := got.decode(f.body)
		if err == nil && got.version != Version {
			err = fmt.Errorf("%w: it speaks version %d, this client version %d", ErrOther, got.version, Version)
		} else if f.kind != helloKind {
			err = fmt.Errorf("%w: it is no runner of version %d", ErrOther, Version)
		}
		if err == nil {
			err = c.trust(ask, got)
		}
		if err != nil {
			err = fmt.Errorf("greet the runner: %w", err)
			c.fail(err)
			return err
		}
	}
	c.mu.Lock() // the connection may end at once, and be cleaned up after
	c.inside, c.tag = got.inside, got.tag
	c.mu.Unlock()
	return nil
}

// trust looks at what the runner answered: whether it knows the token, is the one that was meant, and did to itself what it
// was asked to. Then it proves that this side knows the token.
func (c *Client) trust(ask, got hello) error {
	if len(c.opt.Token) > 0 {
		if !proves(c.opt.Token, runnerSide, ask.nonce, got.nonce, got.proof) {
			return errors.New("whoever listens there does not know the token")
		}
		proof := prove(c.opt.Token, clientSide, ask.nonce, got.nonce)
		if err := c.send(frame{kind: proofKind, body: proof}); err != nil {
			return err
		}
	}
	if c.opt.Build != "" && got.inside.Build != c.opt.Build {
		return fmt.Errorf("%w: its program is %.12s, not %.12s", ErrOther, got.inside.Build, c.opt.Build)
	}
	if h := c.opt.Harden; h != nil {
		return h.holds(got.inside)
	}
	return nil
}

// PID returns the runner's process id, as the runner sees it.
func (c *Client) PID() int { return c.inside.PID }

// Inside returns what the runner told of itself when it was greeted. Of a runner whose descriptors are passed it is the PID
// alone, unless Options.Harden or Build asked.
func (c *Client) Inside() Inside { return c.inside }

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
	c.write.Lock()
	defer c.write.Unlock()
	return c.conn.send(f)
}

// receive deals out the frames until the connection is over.
func (c *Client) receive() {
	var s splitter
	if c.opt.Framed {
		s.size = piece + 64<<10
	}
	defer func() { closeAll(s.fds) }()
	for {
		if err := c.conn.receive(&s); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the runner is gone")
			}
			c.fail(err)
			return
		}
		for {
			f, ok, err := s.next()
			if err == nil && ok {
				err = c.deal(&s, f)
			}
			if err != nil {
				c.fail(err)
				return
			}
			if !ok {
				break
			}
		}
	}
}

// keepSize is from which length on a body is left where it was read, with the whole buffer; a shorter one is copied, so that
// it does not hold much more memory than it has.
const keepSize = 64 << 10

// deal hands a frame to whoever waits for it.
func (c *Client) deal(s *splitter, f frame) error {
	if f.kind == refuseKind {
		closeAll(f.fds)
		return fmt.Errorf("%w: %s", ErrRefused, f.body)
	}
	if len(f.body) >= keepSize && s.own != nil {
		s.keep(&f)
	} else {
		f.body = bytes.Clone(f.body)
	}
	c.mu.Lock()
	ch := c.calls[f.id]
	c.mu.Unlock()
	if ch == nil { // whoever asked does not wait any more
		closeAll(f.fds)
		f.held.free()
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
		_ = c.conn.close()
		go c.cleanup()
	})
}

// cleanup sees to what the runner should have seen to: if it was killed, what it had started is still there. A runner with
// other clients goes on, and is not looked for.
func (c *Client) cleanup() {
	defer close(c.clean)
	c.mu.Lock()
	tag := c.tag
	c.mu.Unlock()
	if tag != 0 && !c.opt.Framed && !c.opt.Walled && len(c.opt.Token) == 0 {
		killTagged(tag)
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
	r, fds, err := c.askFor(ctx, what, body)
	closeAll(fds)
	return r, err
}

// askFor asks a question whose answer may come with descriptors, which are the caller's.
func (c *Client) askFor(ctx context.Context, what uint8, body []byte) (*reader, []int, error) {
	id, ch, err := c.place(false, 1)
	if err != nil {
		return nil, nil, err
	}
	defer c.forget(id)
	if err := c.send(frame{kind: askKind, id: id, body: append([]byte{what}, body...)}); err != nil {
		c.fail(err)
		return nil, nil, c.over()
	}
	select {
	case f := <-ch:
		r := &reader{b: f.body}
		if code := r.num(); code != 0 {
			text := r.str()
			closeAll(f.fds)
			return nil, nil, fault(code, text)
		}
		return r, f.fds, nil
	case <-c.done:
		return nil, nil, c.over()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
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

// Is tells the errors that package fs has names for. The numbers are Linux's, whatever this system is.
func (e *remoteError) Is(target error) bool {
	switch e.errno {
	case 1, 13:
		return target == fs.ErrPermission
	case 2:
		return target == fs.ErrNotExist
	case 17:
		return target == fs.ErrExist
	}
	return runtime.GOOS == "linux" && target == e.errno
}

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

// Shutdown ends the runner itself, with everything that was started through it, also by other clients. The client is closed
// then. It is for whoever removes what the runner runs in.
func (c *Client) Shutdown(ctx context.Context) error {
	if err := c.send(frame{kind: stopKind}); err == nil {
		select {
		case <-c.done:
		case <-time.After(answerTime):
		case <-ctx.Done():
		}
	}
	return c.Close(ctx)
}

// Close kills everything that was started through this client, ends the runner and the connection. It may be called twice. An error says
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
