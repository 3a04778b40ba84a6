package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// tunnel serves CONNECT, to the connection's end.
func (c *Client) tunnel(in *input, h *head) {
	conn := in.Conn
	d := Decision{Client: c.name, Command: c.running(), Target: egress.Request{Method: h.Method}}
	began := time.Now()
	defer func() { d.Took = time.Since(began); c.o.Tell(d) }()

	t, err := connectTarget(h)
	if err != nil {
		d.Target.Host, d.Verdict = h.Target, denied("malformed", err.Error())
		_ = refuse(conn, answer{status: http.StatusBadRequest, why: err.Error()}, true)
		return
	}
	d.Target = t
	ruling, asked := c.admit(c.ctx, t)
	d.Verdict, d.Asked = ruling.Verdict, asked
	if ruling.Verdict.Action != guard.Allow {
		_ = refuse(conn, denial(t, ruling.Verdict), true)
		return
	}
	up, err := c.reach(c.ctx, ruling.Host, t.Port)
	if err != nil {
		c.unreached(conn, &d, err, true)
		return
	}
	defer up.Close()
	d.Addr = remote(up)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		d.Err = err
		return
	}
	first, v := c.greet(in, ruling)
	if v.Action != guard.Allow {
		d.Verdict = v
		return
	}
	in.release()
	d.Up, d.Down, d.Err = relay(conn, up, first)
}

// connectTarget reads what a CONNECT is for. The Host field must say the same: two readers must not see two hosts.
func connectTarget(h *head) (egress.Request, error) {
	if h.Length != 0 {
		return egress.Request{}, errors.New("a CONNECT with a body")
	}
	host, port, ok := authority(h.Target, 0)
	if !ok {
		return egress.Request{}, fmt.Errorf("target %q is not HOST:PORT", h.Target)
	}
	if h.Host != "" {
		// Some clients leave the port out of the field.
		same, samePort, ok := authority(h.Host, port)
		if !ok || !strings.EqualFold(same, host) || samePort != port {
			return egress.Request{}, fmt.Errorf("the Host field %q is not the target %q", h.Host, h.Target)
		}
	}
	return egress.Request{Method: h.Method, Host: host, Port: port}, nil
}

// unreached tells that an allowed target was not reached, and why.
func (c *Client) unreached(conn net.Conn, d *Decision, err error, last bool) {
	var r *reachError
	var timeout net.Error
	var gone *net.DNSError
	switch {
	case errors.As(err, &r) && r.err == nil:
		d.Verdict = r.verdict
		_ = refuse(conn, denial(d.Target, r.verdict), last)
	case errors.As(err, &gone):
		d.Err = err
		_ = refuse(conn, answer{status: http.StatusBadGateway, why: err.Error(), denial: "dns_error"}, last)
	case errors.As(err, &timeout) && timeout.Timeout():
		d.Err = err
		_ = refuse(conn, answer{status: http.StatusGatewayTimeout, why: err.Error(), denial: "connection_timeout"}, last)
	default:
		d.Err = err
		_ = refuse(conn, answer{status: http.StatusBadGateway, why: err.Error(), denial: "destination_unavailable"}, last)
	}
}

// greet reads what a client says first in a tunnel, where the ruling wants to see it: a TLS hello that names the very host of
// the CONNECT. It returns what was read. A tunnel that may carry anything is not held up: there the server may speak first.
func (c *Client) greet(in *input, ruling egress.Ruling) ([]byte, guard.Verdict) {
	if ruling.Opaque {
		return in.buffered(), guard.Allowed()
	}
	_ = in.SetReadDeadline(time.Now().Add(c.o.Limits.Head))
	defer func() { _ = in.SetReadDeadline(time.Time{}) }()
	buf := make([]byte, 0, 2048)
	for {
		h, err := readHello(buf)
		switch {
		case err == nil:
			v := judgeHello(h, ruling)
			if v.Action != guard.Allow {
				_, _ = in.Write(alertUnrecognizedName)
			}
			return append(buf, in.buffered()...), v
		case !errors.Is(err, errShort):
			return nil, denied("not-tls", "the tunnel does not begin with TLS: "+err.Error())
		case len(buf) > 2*MaxHello:
			return nil, denied("not-tls", "the TLS hello does not end")
		}
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := in.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil && n == 0 {
			return nil, denied("not-tls", "the tunnel ended before its TLS hello")
		}
	}
}

// alertUnrecognizedName is a TLS record with a fatal alert, which clients tell apart from a broken connection.
var alertUnrecognizedName = []byte{21, 3, 3, 0, 2, 2, 112}

func judgeHello(h hello, ruling egress.Ruling) guard.Verdict {
	_, literal := ruling.Host.Addr()
	switch {
	case h.ECH && !ruling.ECH:
		return denied("ech", "the TLS hello is encrypted, so that its name cannot be compared")
	case h.Name == "" && !literal:
		return denied("no-sni", "the TLS hello names no server")
	case h.Name != "" && !same(h.Name, ruling.Host):
		return denied("sni", fmt.Sprintf("the TLS hello names %q, the CONNECT %q", h.Name, ruling.Host))
	}
	return guard.Allowed()
}

// same tells whether a TLS name is that of the host. Addresses have no place there.
func same(name string, host egress.Host) bool {
	h, err := egress.ParseHost(name)
	return err == nil && h == host && h.Name() != ""
}

// closeWriter is what can end one direction.
type closeWriter interface{ CloseWrite() error }

// relay carries bytes both ways until both ways have ended; one that ends leaves the other open.
func relay(client, up net.Conn, first []byte) (sent, received int64, err error) {
	if len(first) > 0 {
		n, err := up.Write(first)
		sent = int64(n)
		if err != nil {
			return sent, 0, err
		}
	}
	var wait sync.WaitGroup
	var upErr, downErr error
	wait.Go(func() {
		var n int64
		n, upErr = carry(up, client)
		sent += n
	})
	received, downErr = carry(client, up)
	wait.Wait()
	return sent, received, errors.Join(ordinary(upErr), ordinary(downErr))
}

// carry copies one direction and passes its end on. After an error the other direction is of no use, and both ends learn that it
// was one: an orderly end would make a part look whole.
func carry(to, from net.Conn) (int64, error) {
	n, err := io.Copy(to, from)
	half, ok := to.(closeWriter)
	if err != nil {
		reset(to)
		reset(from)
		return n, err
	}
	if !ok {
		_ = to.Close()
		_ = from.Close()
		return n, nil
	}
	if err := half.CloseWrite(); err != nil {
		_ = to.Close()
	}
	return n, nil
}

// reset closes a connection so that its other end sees an error.
func reset(c net.Conn) {
	if l, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}

// ordinary drops the errors that are how connections end.
func ordinary(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func remote(conn net.Conn) netip.AddrPort {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}
