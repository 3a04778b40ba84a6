package safehttp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"hermes/internal/guard"
)

// Hop is one request and what came of it, for a log. It holds no path, which may carry a secret.
type Hop struct {
	Method  string
	Target  string // host and port, as they were asked for
	Verdict guard.Verdict
	Status  int   // of the answer; 0: there was none
	Down    int64 // bytes of its body that were read
	Took    time.Duration
	Err     error // why there was no answer, though it was allowed
}

// hear tells of a request: at once of one that failed, otherwise when its body is done with.
func (c *Client) hear(req *http.Request, resp *http.Response, err error, began time.Time) {
	h := Hop{Method: req.Method, Target: hostPort(req), Verdict: guard.Allowed()}
	if err != nil {
		if refused := (*guard.DeniedError)(nil); errors.As(err, &refused) {
			h.Verdict = refused.Verdict
		} else {
			h.Err = err
		}
		h.Took = time.Since(began)
		c.o.Heard(h)
		return
	}
	h.Status = resp.StatusCode
	if _, both := resp.Body.(io.ReadWriteCloser); both { // 101 Switching Protocols
		h.Took = time.Since(began)
		c.o.Heard(h)
		return
	}
	resp.Body = &heard{ReadCloser: resp.Body, tell: func(n int64) {
		h.Down, h.Took = n, time.Since(began)
		c.o.Heard(h)
	}}
}

func hostPort(req *http.Request) string {
	if port := req.URL.Port(); port != "" {
		return req.URL.Host
	}
	port := map[string]string{"https": "443"}[req.URL.Scheme]
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(req.URL.Hostname(), port)
}

// heard counts a body, and tells once when it is closed.
type heard struct {
	io.ReadCloser
	n    int64
	once sync.Once
	tell func(int64)
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.n += int64(n)
	return n, err
}

func (h *heard) Close() error {
	err := h.ReadCloser.Close()
	h.once.Do(func() { h.tell(h.n) })
	return err
}
