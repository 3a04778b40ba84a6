// Package proxy is the one way out of a sandbox that has no route: an HTTP proxy with CONNECT, and a name server, which ask a
// policy about every host, port, TLS name and address, and tell what was decided.
//
// It holds no list and knows no class of addresses (see guard/egress), makes no sandbox (see sandbox), and cannot look into
// TLS: a host on the list can still be a front for what stands behind it.
//
// Failure direction: refuse. What cannot be read exactly one way is refused, and so is what no policy allows; a proxy that has
// ended leaves its sandboxes without any network.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// Policy decides; egress.Exit is one. It must be safe for concurrent use.
type Policy interface {
	// Judge judges before any name is looked up. Ask is refused, unless a person says otherwise.
	Judge(egress.Request) egress.Ruling
	// Answers judges all addresses of a host that Judge allowed, just before one of them is dialled. Port 0 is any: the
	// addresses are told to a client, and judged again when they are dialled.
	Answers(h egress.Host, port uint16, addrs []netip.Addr) guard.Verdict
}

// Question is a refused target that a person may allow.
type Question struct {
	Client  string // the sandbox, or the user of a stand-alone proxy
	Command string // id of the command that asks, where it is known
	Target  egress.Request
	Ruling  egress.Ruling
}

// Decision is what came of one target. It is told once, when it ended.
type Decision struct {
	Client, Command string
	Target          egress.Request
	Addr            netip.AddrPort // that was reached; invalid if none
	Verdict         guard.Verdict  // of the policy, or of the proxy itself
	Asked           bool           // a person allowed it
	Err             error          // why it failed though it was allowed
	Up, Down        int64          // bytes from and to the client
	Took            time.Duration
}

// Options says what a Server works with.
type Options struct {
	Policy  Policy                                                       // nil refuses everything
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error) // addresses of a name; nil: no name resolves
	Ask     func(ctx context.Context, q Question) bool                   // nil: nobody can be asked
	Tell    func(Decision)                                               // nil: nobody hears
	Limits  Limits
}

// Limits bounds what one client may hold. Zero values are the defaults.
type Limits struct {
	Conns int           // connections of a client at once; 512
	Head  time.Duration // for a request's head or a TLS hello to be complete; 10 s
	Idle  time.Duration // between two requests of a connection; 90 s
	Dial  time.Duration // to look up and reach a host; 20 s
	Ask   time.Duration // for a person to answer; 5 min
}

func (l Limits) filled() Limits {
	l.Conns = or(l.Conns, 512)
	l.Head = or(l.Head, 10*time.Second)
	l.Idle = or(l.Idle, 90*time.Second)
	l.Dial = or(l.Dial, 20*time.Second)
	l.Ask = or(l.Ask, 5*time.Minute)
	return l
}

func or[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// maxAddrs is how many addresses of one name are tried, or told. All are judged.
const maxAddrs = 8

// Client is one user of the proxy: a sandbox, say. It is safe for concurrent use. Close it with the sandbox.
type Client struct {
	o       Options
	name    string
	token   string // that a request must carry; "" where the connection itself tells who it is
	command atomic.Pointer[string]
	plain   *http.Transport // for requests that are no tunnels

	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex // guards open, closed
	open   map[net.Conn]struct{}
	closed bool
	wait   sync.WaitGroup
}

// New makes a client. Name is told in decisions.
func New(name string, o Options) *Client {
	o.Limits = o.Limits.filled()
	if o.Tell == nil {
		o.Tell = func(Decision) {}
	}
	c := &Client{o: o, name: name, open: map[net.Conn]struct{}{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.plain = &http.Transport{
		DialContext:            c.dialPlain,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        30 * time.Second,
		ResponseHeaderTimeout:  5 * time.Minute,
		MaxResponseHeaderBytes: MaxHead,
	}
	return c
}

// NewWithToken makes a client whose requests must carry a token (Proxy-Authorization: Bearer, or Basic as the password).
func NewWithToken(name, token string, o Options) *Client {
	c := New(name, o)
	c.token = token
	return c
}

// Run says which command is running now, for decisions and questions. With several at once, "" is the honest answer.
func (c *Client) Run(command string) { c.command.Store(&command) }

func (c *Client) running() string {
	if s := c.command.Load(); s != nil {
		return *s
	}
	return ""
}

// Serve takes connections from l until the client is closed or l fails; it closes l. It returns nil after Close.
func (c *Client) Serve(l net.Listener) error { return c.accept(l, c.ServeConn) }

// Listen serves at a unix socket that it makes, which only this user can reach, and returns at once. Whoever asked for it
// removes it; it is closed with the client.
func (c *Client) Listen(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false) // by then there may be another one
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, l.Close(), os.Remove(path))
	}
	go func() { _ = c.Serve(l) }()
	return nil
}

func (c *Client) accept(l net.Listener, handle func(net.Conn)) error {
	stop := context.AfterFunc(c.ctx, func() { _ = l.Close() })
	defer stop()
	defer l.Close()
	for wait := time.Duration(0); ; {
		conn, err := l.Accept()
		if err == nil {
			wait = 0
			go handle(conn)
			continue
		}
		var again interface{ Temporary() bool }
		if c.ctx.Err() != nil {
			return nil
		}
		// A process that is out of descriptors gets over it.
		if !errors.As(err, &again) || !again.Temporary() {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
		}
	}
}

// ServeConn serves one connection to its end, and closes it.
func (c *Client) ServeConn(conn net.Conn) {
	if !c.enter(conn) {
		busy(conn)
		return
	}
	defer c.leave(conn)
	in := newInput(conn)
	defer in.release()
	c.serve(in, nil)
}

// input is a connection with a reader before it, which is given back before a tunnel idles.
type input struct {
	net.Conn
	r *bufio.Reader
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

func newInput(conn net.Conn) *input {
	r := readers.Get().(*bufio.Reader)
	r.Reset(conn)
	return &input{conn, r}
}

// buffered takes what the reader holds.
func (in *input) buffered() []byte {
	b, _ := in.r.Peek(in.r.Buffered())
	return append([]byte(nil), b...)
}

func (in *input) release() {
	if in.r != nil {
		in.r.Reset(nil)
		readers.Put(in.r)
		in.r = nil
	}
}

func (c *Client) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.open) >= c.o.Limits.Conns {
		return false
	}
	c.open[conn] = struct{}{}
	c.wait.Add(1)
	return true
}

func (c *Client) leave(conn net.Conn) {
	_ = conn.Close()
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	c.wait.Done()
}

// count returns how many connections are open.
func (c *Client) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// shut ends every connection, and takes no more.
func (c *Client) shut() error {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
	return nil
}

// Close ends every connection and waits for what serves them. It may be called twice.
func (c *Client) Close() error {
	err := c.shut()
	c.wait.Wait()
	c.plain.CloseIdleConnections()
	return err
}

// Attach serves two sockets that were made inside a sandbox: a listening stream one for the proxy, and a datagram one for the
// name server, or nil. It takes them over and returns at once; they are served until Close.
func (c *Client) Attach(stream, names *os.File) error {
	l, err := net.FileListener(stream)
	_ = stream.Close() // the listener has its own
	if err != nil {
		if names != nil {
			_ = names.Close()
		}
		return fmt.Errorf("attach proxy: %w", err)
	}
	if names != nil {
		pc, err := net.FilePacketConn(names)
		_ = names.Close()
		if err != nil {
			_ = l.Close()
			return fmt.Errorf("attach name server: %w", err)
		}
		go func() { _ = c.ServeNames(pc) }()
	}
	go func() { _ = c.Serve(l) }()
	return nil
}
