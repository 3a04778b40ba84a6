package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

const (
	maxDialled = 8   // addresses of one name that are tried
	maxAnswers = 256 // addresses of one name that are looked at
)

// transport returns a transport that dials what was judged.
func (c *Client) transport(trust trustConfig) *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // never what the environment says
		DialContext:            c.dial,
		TLSClientConfig:        trust(),
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  max(0, c.o.Limits.Idle),
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: c.o.Limits.Header,
	}
}

// dial connects to the target of the request in ctx: it looks the name up once, has all answers judged, and tries them.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, fmt.Errorf("dial %s %s: Unix sockets and the like are not reached", network, address)
	}
	j, ok := ctx.Value(judgedKey{}).(*judged)
	if !ok {
		return nil, fmt.Errorf("dial %s: nobody has judged it", address)
	}
	target, judge := j.target, j.answers
	if j.proxy {
		target = c.at
		judge = func(addrs []netip.Addr) guard.Verdict { return j.policy.Trusted(target, addrs) }
	}
	if want := net.JoinHostPort(target.Host.String(), fmt.Sprint(target.Port)); want != address {
		return nil, fmt.Errorf("dial %s: %s was judged", address, want)
	}
	addrs, err := c.lookup(ctx, target)
	if err != nil {
		return nil, err
	}
	if v := judge(addrs); v.Action != guard.Allow {
		return nil, &guard.DeniedError{Op: "connect", Subject: address, Verdict: v}
	}
	return c.try(ctx, target, addrs, judge)
}

// answers judges the addresses of the request's own target.
func (j *judged) answers(addrs []netip.Addr) guard.Verdict {
	if j.trust {
		return j.policy.Trusted(j.target, addrs)
	}
	return j.policy.Answers(j.target, addrs)
}

// try connects to one address after the other, in the order of the answers.
func (c *Client) try(ctx context.Context, target egress.Target, addrs []netip.Addr, judge func([]netip.Addr) guard.Verdict) (net.Conn, error) {
	d := c.dialer(judge)
	var errs []error
	var tried []netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		if len(tried) == maxDialled || slices.Contains(tried, a) {
			continue
		}
		tried = append(tried, a)
		conn, err := c.connect(ctx, d, netip.AddrPortFrom(a, target.Port).String())
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// dialer returns a dialer that judges once more what the system is about to connect to. Only ControlContext is set: where both
// are, Control is not called.
func (c *Client) dialer(judge func([]netip.Addr) guard.Verdict) *net.Dialer {
	return &net.Dialer{
		Timeout: max(0, c.o.Limits.Connect),
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !strings.HasPrefix(network, "tcp") {
				return fmt.Errorf("connect %s %s: no address that was judged", network, address)
			}
			if v := judge([]netip.Addr{at.Addr()}); v.Action != guard.Allow {
				return &guard.DeniedError{Op: "connect", Subject: address, Verdict: v}
			}
			return nil
		},
	}
}

// lookup finds the addresses of a target. An address is its own answer.
func (c *Client) lookup(ctx context.Context, target egress.Target) ([]netip.Addr, error) {
	return lookup(ctx, c.o.Resolver, target.Host, c.o.Limits.Lookup)
}

// Lookup returns how the program looks names up, for who dials by itself (see proxy): all addresses at once, within a time. What
// comes back has not been judged. A nil resolver is the system's.
func Lookup(r Resolver, within time.Duration) func(ctx context.Context, host string) ([]netip.Addr, error) {
	if r == nil {
		r = &net.Resolver{}
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		h, err := egress.ParseHost(host)
		if err != nil {
			return nil, fmt.Errorf("look up %w", err)
		}
		return lookup(ctx, r, h, within)
	}
}

func lookup(ctx context.Context, r Resolver, host egress.Host, within time.Duration) ([]netip.Addr, error) {
	if a, ok := host.Addr(); ok {
		return []netip.Addr{a}, nil
	}
	name := host.Name()
	if strings.Contains(name, ".") {
		name += "." // as it is, without the domains that resolvers try behind a name
	}
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	addrs, err := r.LookupNetIP(ctx, "ip", name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up %s: DNS resolution failed: %w", host, err)
	case len(addrs) == 0:
		return nil, fmt.Errorf("look up %s: no results", host)
	case len(addrs) > maxAnswers:
		return nil, fmt.Errorf("look up %s: more than %d addresses", host, maxAnswers)
	}
	out := make([]netip.Addr, len(addrs))
	for i, a := range addrs {
		out[i] = a.Unmap() // resolvers write IPv4 as IPv6, which a person would not
	}
	return out, nil
}

// judgeProxied judges a request that goes through the owner's proxy. Unless the proxy is said to resolve names, they are looked
// up and judged here first.
func (c *Client) judgeProxied(ctx context.Context, j *judged) error {
	if _, literal := j.target.Host.Addr(); literal || j.policy.Resolves() {
		return nil
	}
	addrs, err := c.lookup(ctx, j.target)
	if err != nil {
		return fmt.Errorf("%w (if the proxy resolves names for you, set egress.proxy_resolves: true)", err)
	}
	if v := j.answers(addrs); v.Action != guard.Allow {
		return denied(j.target.Host.String(), v)
	}
	return nil
}
