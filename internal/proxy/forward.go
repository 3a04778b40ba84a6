package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// forward serves a plain request, and tells whether the connection may have another.
func (c *Client) forward(in *input, h *head) (again bool) {
	conn := in.Conn
	d := Decision{Client: c.name, Command: c.running(), Target: egress.Request{Method: h.Method}}
	began := time.Now()
	defer func() { d.Took = time.Since(began); c.o.Tell(d) }()

	t, u, err := plainTarget(h)
	if err != nil {
		d.Target.Host, d.Verdict = h.Target, denied("malformed", err.Error())
		_ = refuse(conn, answer{status: http.StatusBadRequest, why: err.Error()}, true)
		return false
	}
	d.Target = t
	ruling, asked := c.admit(c.ctx, t)
	d.Verdict, d.Asked = ruling.Verdict, asked
	// A body that nobody reads would be taken for the next request.
	last := h.Close || h.Length != 0
	if ruling.Verdict.Action != guard.Allow {
		return refuse(conn, denial(t, ruling.Verdict), last) == nil && !last
	}
	u.Host = net.JoinHostPort(ruling.Host.String(), strconv.Itoa(int(t.Port)))
	ctx, cancel := context.WithCancel(c.ctx)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { d.Addr = remote(i.Conn) }})
	req := (&http.Request{Method: h.Method, URL: u, Host: h.Host, Header: forwarded(h), ContentLength: h.Length}).WithContext(ctx)
	body := newBody(in, h)
	if h.Length != 0 {
		req.Body = body
	}
	resp, err := c.plain.RoundTrip(req)
	if err != nil {
		c.unreached(conn, &d, err, true)
	} else {
		body.wanted()
		d.Down, err = respond(conn, h, resp, h.Close || !body.done.Load())
		_ = resp.Body.Close()
		d.Err = err
	}
	cancel()
	again = err == nil && !h.Close && body.done.Load()
	if h.Length != 0 {
		if !again {
			_ = conn.Close() // a server that answered early may leave somebody reading the rest
		}
		<-body.closed
	}
	d.Up = body.n.Load()
	return again
}

// plainTarget reads what a request is for: the absolute form, over http, and a Host field that says the same.
func plainTarget(h *head) (egress.Request, *url.URL, error) {
	scheme, rest, ok := strings.Cut(h.Target, "://")
	switch {
	case !ok:
		return egress.Request{}, nil, fmt.Errorf("target %q is not absolute: this is a proxy", h.Target)
	case !strings.EqualFold(scheme, "http"):
		return egress.Request{}, nil, fmt.Errorf("scheme %q: a proxy is asked for http, and by CONNECT for the rest", scheme)
	case h.Method == http.MethodTrace:
		return egress.Request{}, nil, fmt.Errorf("method TRACE is not passed on")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, port, ok := authority(rest[:end], 80)
	if !ok {
		return egress.Request{}, nil, fmt.Errorf("target %q has no proper host", h.Target)
	}
	same, samePort, ok := authority(h.Host, 80)
	if h.Minor == 0 && h.Host == "" {
		same, samePort, ok = host, port, true
		h.Host = rest[:end]
	}
	if !ok || !strings.EqualFold(same, host) || samePort != port {
		return egress.Request{}, nil, fmt.Errorf("the Host field %q is not the host of the target %q", h.Host, h.Target)
	}
	// The parts are read apart, so that net/url never sees an authority.
	path := rest[end:]
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u, err := url.ParseRequestURI(path)
	if err != nil || u.Host != "" || strings.Contains(path, "#") {
		return egress.Request{}, nil, fmt.Errorf("target %q cannot be read", h.Target)
	}
	u.Scheme = "http"
	return egress.Request{Method: h.Method, Host: host, Port: port, Path: u.RequestURI()}, u, nil
}

// forwarded returns the fields that go on: none that is about this connection, none for the proxy.
func forwarded(h *head) http.Header {
	drop := map[string]bool{"Host": true, "Content-Length": true, "Expect": true}
	for _, name := range hopByHop {
		drop[name] = true
	}
	for _, f := range h.Fields {
		if strings.EqualFold(f.Name, "connection") || strings.EqualFold(f.Name, "proxy-connection") {
			for _, name := range strings.Split(f.Value, ",") {
				drop[http.CanonicalHeaderKey(strings.Trim(name, " \t"))] = true
			}
		}
	}
	out := http.Header{}
	for _, f := range h.Fields {
		if name := http.CanonicalHeaderKey(f.Name); !drop[name] {
			out[name] = append(out[name], f.Value)
		}
	}
	if out["User-Agent"] == nil {
		out["User-Agent"] = nil // else the transport would add its own
	}
	return out
}

var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade"}

// dialPlain dials for a request that was admitted: the address that was judged is the one that is dialled.
func (c *Client) dialPlain(ctx context.Context, _, addr string) (net.Conn, error) {
	host, port, ok := authority(addr, 0)
	if !ok {
		return nil, fmt.Errorf("dial %q: no host and port", addr)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	h, err := egress.ParseHost(host)
	if err != nil {
		return nil, err
	}
	return c.reach(ctx, h, port)
}

// body is a request's body: exactly as much as the head said.
type body struct {
	in     *input
	src    io.Reader
	length int64 // -1: chunked
	mu     sync.Mutex
	expect bool // 100 Continue is waited for
	n      atomic.Int64
	done   atomic.Bool
	once   sync.Once
	closed chan struct{} // the transport reads no more
}

func newBody(in *input, h *head) *body {
	b := &body{in: in, expect: h.Expect, length: h.Length, closed: make(chan struct{})}
	b.done.Store(h.Length == 0)
	if b.length < 0 {
		b.src = httputil.NewChunkedReader(in.r)
	} else {
		b.src = io.LimitReader(in.r, h.Length)
	}
	return b
}

func (b *body) Read(p []byte) (int, error) {
	if b.done.Load() {
		return 0, io.EOF
	}
	if b.wanted() {
		if _, err := io.WriteString(b.in, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return 0, err
		}
	}
	n, err := b.src.Read(p)
	switch got := b.n.Add(int64(n)); {
	case b.length >= 0 && got == b.length:
		b.done.Store(true)
		err = io.EOF
	case b.length >= 0 && err == io.EOF:
		err = io.ErrUnexpectedEOF
	case err == io.EOF:
		err = b.end()
	}
	return n, err
}

// wanted tells, once, whether the client waits to be told to send its body. It is false as soon as there is an answer.
func (b *body) wanted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.expect
	b.expect = false
	return was
}

// end reads what follows the last chunk. Trailers are dropped.
func (b *body) end() error {
	for left := MaxHead; ; {
		line, err := readLine(b.in.r, &left)
		if err != nil {
			return err
		}
		if line == "" {
			break
		}
	}
	b.done.Store(true)
	return io.EOF
}

// Close leaves the rest unread: the connection then ends.
func (b *body) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// respond writes a response to the client, and returns how many bytes its body had.
func respond(conn net.Conn, h *head, resp *http.Response, last bool) (int64, error) {
	w := bufio.NewWriterSize(conn, 32<<10)
	fmt.Fprintf(w, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	header := resp.Header
	for _, f := range header["Connection"] {
		for _, name := range strings.Split(f, ",") {
			header.Del(strings.Trim(name, " \t"))
		}
	}
	for _, name := range hopByHop {
		header.Del(name)
	}
	header.Del("Content-Length")
	bodiless := h.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	chunked := false
	switch {
	case resp.ContentLength >= 0 && resp.StatusCode != http.StatusNoContent:
		header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	case bodiless:
	case h.Minor == 1:
		chunked = true
		header.Set("Transfer-Encoding", "chunked")
	default:
		last, h.Close = true, true
	}
	if last || h.Close {
		header.Set("Connection", "close")
	}
	if err := header.Write(w); err != nil {
		return 0, err
	}
	_, _ = w.WriteString("\r\n")
	if bodiless {
		return 0, w.Flush()
	}
	return copyBody(w, resp.Body, chunked)
}

// copyBody copies what there is as it comes: a slow server's first line must not wait for its last.
func copyBody(w *bufio.Writer, from io.Reader, chunked bool) (n int64, err error) {
	var to io.Writer = w
	if chunked {
		c := httputil.NewChunkedWriter(w)
		defer func() {
			if err == nil {
				_ = c.Close()
				_, _ = w.WriteString("\r\n")
				err = w.Flush()
			}
		}()
		to = c
	}
	buf := make([]byte, 32<<10)
	for {
		k, err := from.Read(buf)
		if k > 0 {
			if _, err := to.Write(buf[:k]); err != nil {
				return n, err
			}
			n += int64(k)
			if err := w.Flush(); err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, w.Flush()
		}
		if err != nil {
			return n, err
		}
	}
}
