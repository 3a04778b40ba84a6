package proxy

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// serve answers the requests of one connection, one after another. h is the first if it was read already, or nil.
func (c *Client) serve(in *input, h *head) {
	for wait := c.o.Limits.Head; ; wait = c.o.Limits.Idle {
		if h == nil {
			var ok bool
			if h, ok = c.next(in, wait); !ok {
				return
			}
		}
		if !c.known(h.Token) {
			c.stranger(in.Conn, h)
			return
		}
		if h.Method == http.MethodConnect {
			c.tunnel(in, h)
			return
		}
		if again := c.forward(in, h); !again {
			return
		}
		h = nil
	}
}

// next reads the next request's head. What cannot be read is answered here.
func (c *Client) next(in *input, wait time.Duration) (*head, bool) {
	// The first byte may be long in coming, the rest of the head may not.
	_ = in.SetReadDeadline(time.Now().Add(wait))
	if _, err := in.r.Peek(1); err != nil {
		return nil, false
	}
	_ = in.SetReadDeadline(time.Now().Add(c.o.Limits.Head))
	h, err := readHead(in.r)
	if err != nil {
		c.badHead(in.Conn, err)
		return nil, false
	}
	_ = in.SetReadDeadline(time.Time{})
	return h, true
}

// stranger turns a request away whose token is nobody's.
func (c *Client) stranger(conn net.Conn, h *head) {
	const why = "the proxy's token is missing or wrong"
	c.o.Tell(Decision{Client: c.name, Command: c.running(), Target: egress.Request{Method: h.Method, Host: h.Target}, Verdict: denied("token", why)})
	_ = refuse(conn, answer{status: http.StatusProxyAuthRequired, why: why}, true)
}

// badHead answers a head that could not be read, where there is anything to answer.
func (c *Client) badHead(conn net.Conn, err error) {
	var wrong *headError
	var timeout net.Error
	switch {
	case errors.As(err, &wrong):
		c.o.Tell(Decision{Client: c.name, Command: c.running(), Verdict: denied("malformed", wrong.Why)})
		_ = refuse(conn, answer{status: wrong.Status, why: wrong.Why}, true)
	case errors.As(err, &timeout) && timeout.Timeout():
		_ = refuse(conn, answer{status: http.StatusRequestTimeout, why: "the request's head took too long"}, true)
	}
}

// known tells whether a request carries the client's token.
func (c *Client) known(token string) bool {
	return c.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(c.token)) == 1
}

// credential returns the token of a Proxy-Authorization field, "" if there is none that can be read.
func credential(value string) string {
	scheme, rest, _ := strings.Cut(value, " ")
	rest = strings.Trim(rest, " ")
	switch {
	case strings.EqualFold(scheme, "bearer"):
		return rest
	case strings.EqualFold(scheme, "basic"):
		text, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return ""
		}
		_, password, _ := strings.Cut(string(text), ":")
		return password
	}
	return ""
}

// denied is a refusal of the proxy's own.
func denied(rule, why string) guard.Verdict {
	return guard.Verdict{Action: guard.Block, Rule: "egress/" + rule, Reason: why}
}

// admit asks the policy, and a person where the policy leaves it to one.
func (c *Client) admit(ctx context.Context, t egress.Request) (r egress.Ruling, asked bool) {
	if c.o.Policy == nil {
		return egress.Ruling{Verdict: denied("no-policy", "no policy is in force")}, false
	}
	r = c.o.Policy.Judge(t)
	if r.Verdict.Action != guard.Ask {
		return r, false
	}
	if c.o.Ask != nil {
		ctx, cancel := context.WithTimeout(ctx, c.o.Limits.Ask)
		defer cancel()
		if c.o.Ask(ctx, Question{Client: c.name, Command: c.running(), Target: t, Ruling: r}) {
			r.Verdict = guard.Allowed()
			return r, true
		}
	}
	r.Verdict.Action = guard.Block
	return r, false
}

// reachError says that an allowed host was not reached: refused by its addresses, or by the network.
type reachError struct {
	verdict guard.Verdict // of an address that the policy refused
	err     error
}

func (e *reachError) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return e.verdict.Reason
}

func (e *reachError) Unwrap() error { return e.err }

// reach looks a host up, has its addresses judged, and dials them in turn: what was judged is what is dialled.
func (c *Client) reach(ctx context.Context, host egress.Host, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Limits.Dial)
	defer cancel()
	addrs, err := c.lookup(ctx, host)
	if err != nil {
		return nil, &reachError{err: err}
	}
	if v := c.o.Policy.Answers(host, port, addrs); v.Action != guard.Allow {
		v.Action = guard.Block
		return nil, &reachError{verdict: v}
	}
	addrs = first(addrs) // all were judged
	var cause error
	for i, a := range addrs {
		conn, err := dial(ctx, netip.AddrPortFrom(a, port), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if cause == nil {
			cause = err
		}
	}
	return nil, &reachError{err: cause}
}

// dial dials one address, leaving time for the others.
func dial(ctx context.Context, addr netip.AddrPort, shares int) (net.Conn, error) {
	var d net.Dialer
	// MPTCP is not wanted: what watches TCP does not always see it.
	d.SetMultipathTCP(false)
	if end, ok := ctx.Deadline(); ok {
		d.Timeout = time.Until(end) / time.Duration(shares)
	}
	return d.DialContext(ctx, "tcp", addr.String())
}

// first returns as many addresses as are of use: a name may have any number.
func first(addrs []netip.Addr) []netip.Addr { return addrs[:min(len(addrs), maxAddrs)] }

// lookup returns the addresses of a host, all of them.
func (c *Client) lookup(ctx context.Context, host egress.Host) ([]netip.Addr, error) {
	if a, ok := host.Addr(); ok {
		return []netip.Addr{a}, nil
	}
	if c.o.Resolve == nil {
		return nil, fmt.Errorf("look up %q: no name server", host)
	}
	addrs, err := c.o.Resolve(ctx, host.Name())
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up %q: no address", host)
	}
	return addrs, nil
}

// authority splits HOST:PORT or [ADDRESS]:PORT. Without a port it is otherwise, unless that is 0.
func authority(s string, otherwise uint16) (host string, port uint16, ok bool) {
	host, digits := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, digits = s[:i], s[i+1:]
		if digits == "" {
			return "", 0, false
		}
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		if inner, found = strings.CutSuffix(inner, "]"); !found {
			return "", 0, false
		}
		if a, err := netip.ParseAddr(inner); err != nil || !a.Is6() || a.Zone() != "" {
			return "", 0, false
		}
		host = inner
	} else if host == "" || strings.ContainsAny(host, ":[]@/?#\\%") {
		return "", 0, false
	}
	if digits == "" {
		return host, otherwise, otherwise != 0
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] == '0' || digits[0] == '+' {
		return "", 0, false
	}
	return host, uint16(n), true
}
