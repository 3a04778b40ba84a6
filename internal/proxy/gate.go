package proxy

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// User is one who may use a stand-alone proxy.
type User struct{ Name, Token string }

// Gate is a stand-alone proxy. Where it has users, it finds out by the token of a connection's first request whose it is. It is
// safe for concurrent use. Whoever made it closes it.
type Gate struct {
	door    *Client // holds connections until they are known; serves them all where there are no users
	clients []*Client
	sums    [][sha256.Size]byte // of the clients' tokens

	mu     sync.Mutex // guards listen, ending
	listen []net.Listener
	ending bool
}

// NewGate makes a stand-alone proxy. Without users everybody who can connect is one client, "anyone".
func NewGate(users []User, o Options) (*Gate, error) {
	o.Limits = o.Limits.filled()
	g := &Gate{}
	for _, u := range users {
		if u.Name == "" || u.Token == "" {
			return nil, errors.New("a user needs a name and a token")
		}
		sum := sha256.Sum256([]byte(u.Token))
		for i := range g.sums {
			if g.sums[i] == sum {
				return nil, fmt.Errorf("users %q and %q have the same token", g.clients[i].name, u.Name)
			}
		}
		g.clients = append(g.clients, NewWithToken(u.Name, u.Token, o))
		g.sums = append(g.sums, sum)
	}
	name := "anyone"
	if len(users) > 0 {
		name, o.Limits.Conns = "unknown", o.Limits.Conns*(len(users)+1)
	}
	g.door = New(name, o)
	return g, nil
}

// Serve takes connections from l until the gate is closed or l fails; it closes l. It returns nil after Shutdown and Close.
func (g *Gate) Serve(l net.Listener) error {
	g.mu.Lock()
	ending := g.ending
	g.listen = append(g.listen, l)
	g.mu.Unlock()
	if ending {
		return l.Close()
	}
	handle := g.door.ServeConn
	if len(g.clients) > 0 {
		handle = g.serveConn
	}
	err := g.door.accept(l, handle)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ending {
		return nil
	}
	return err
}

// ServeNames answers DNS questions. They carry no token: whoever can send one is "anyone" or "unknown".
func (g *Gate) ServeNames(pc net.PacketConn) error { return g.door.ServeNames(pc) }

// serveConn finds out whose a connection is, and serves it to its end.
func (g *Gate) serveConn(conn net.Conn) {
	if !g.door.enter(conn) {
		busy(conn)
		return
	}
	defer g.door.leave(conn)
	in := newInput(conn)
	defer in.release()
	h, ok := g.door.next(in, g.door.o.Limits.Head)
	if !ok {
		return
	}
	c := g.find(h.Token)
	if c == nil {
		g.door.stranger(conn, h)
		return
	}
	if !c.enter(conn) {
		busy(conn)
		return
	}
	defer c.leave(conn)
	c.serve(in, h)
}

// find returns the client that a token is of. It takes as long for every token.
func (g *Gate) find(token string) *Client {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range g.sums {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], g.sums[i][:]), i, found)
	}
	if found < 0 || token == "" {
		return nil
	}
	return g.clients[found]
}

// Shutdown takes no more connections, waits until those that are open have ended or ctx has, and closes the gate.
func (g *Gate) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.ending = true
	for _, l := range g.listen {
		_ = l.Close()
	}
	g.mu.Unlock()
	for wait := time.Millisecond; g.door.count() > 0 && ctx.Err() == nil; wait = min(2*wait, 100*time.Millisecond) {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return g.Close()
}

// Close ends every connection and waits for what serves them. It may be called twice.
func (g *Gate) Close() error {
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	errs := []error{g.door.shut()}
	for _, c := range g.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(append(errs, g.door.Close())...)
}

// Loopback tells whether an address to listen on can be reached from this machine only. It must be numeric.
func Loopback(addr string) (bool, error) {
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		return false, fmt.Errorf("listen on %q: not ADDRESS:PORT", addr)
	}
	return a.Addr().Unmap().IsLoopback(), nil
}

// Listen opens a listener for Serve.
func Listen(addr string) (net.Listener, error) {
	var l net.ListenConfig
	l.SetMultipathTCP(false)
	return l.Listen(context.Background(), "tcp", addr)
}

// ListenNames opens a socket for ServeNames.
func ListenNames(addr string) (net.PacketConn, error) { return net.ListenPacket("udp", addr) }

// busy turns a connection away that is one too many.
func busy(conn net.Conn) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = refuse(conn, answer{status: http.StatusServiceUnavailable, why: "too many connections at once"}, true)
	_ = conn.Close()
}
