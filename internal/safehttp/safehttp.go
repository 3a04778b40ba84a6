// Package safehttp is the only HTTP client of the program: it asks a policy before a name is looked up, about all addresses the
// name has, and connects to an address that was judged and to nothing else, for each redirect anew.
//
// It decides nothing itself (see guard/egress), understands no content, and is not what commands in a sandbox go through (see
// proxy).
//
// Failure direction: refuse. Without a policy nothing is fetched; a name that does not resolve, an answer that cannot be
// judged, a redirect that leads elsewhere than allowed end the request.
package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"hermes/internal/guard/egress"
)

// Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits bound what one request may take. Zero fields are the defaults; a negative one is no limit.
type Limits struct {
	Body      int64         // bytes of a response, unpacked: 64 MiB
	Header    int64         // bytes of its header: 256 KiB
	Redirects int           // 10
	Timeout   time.Duration // of everything, the body included: 5 minutes
	Idle      time.Duration // between two reads of the body, and until the header: 2 minutes
	Lookup    time.Duration // of a name: 10 seconds
	Connect   time.Duration // to one address: 10 seconds
}

// Trust says which certificates are believed. The zero value believes those of the system.
type Trust struct {
	CAFile   string // certificates to believe instead, in PEM; one that cannot be read is told, and the system's count
	Insecure bool   // believe all: the owner has set ssl_verify: false
}

// Options says what a client is for.
type Options struct {
	Policy   func() *egress.Policy // asked for each request, so that settings count at once
	Resolver Resolver              // nil: the system's
	Origins  []string              // base URLs the owner has set: they may be private, each for exactly its scheme, host and port
	Hosts    []string              // if any, no other host is reached: "files.example.com", "*.example.com"
	Proxy    string                // egress.proxy; those of the environment are never used
	Agent    string                // the User-Agent of requests that have none
	Trust    Trust
	Limits   Limits
	Tell     func(text string) // hears what the owner should know; nil: nobody
	Heard    func(Hop)         // hears of each request, redirects too, when it is over; nil: nobody
}

// Client fetches URLs. It is an http.RoundTripper, and safe for concurrent use. Whoever made it closes it.
type Client struct {
	o       Options
	origins []string
	hosts   *egress.Sites // as a list of what is reached, nil: all
	proxy   *url.URL
	at      egress.Target // of the proxy

	// Connections to trusted origins are never used for anything else: a page that redirects to one finds no open door.
	direct, trusted, proxied *http.Transport
	last                     atomic.Pointer[egress.Policy]

	connect func(ctx context.Context, d *net.Dialer, address string) (net.Conn, error) // tests connect elsewhere
}

// New returns a client that follows a policy.
func New(o Options) (*Client, error) {
	if o.Policy == nil {
		return nil, errors.New("make HTTP client: no policy")
	}
	if o.Resolver == nil {
		o.Resolver = &net.Resolver{}
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	o.Limits.fill()
	c := &Client{o: o, connect: func(ctx context.Context, d *net.Dialer, address string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", address)
	}}
	for _, text := range o.Origins {
		u, err := egress.ParseURL(text)
		if err != nil {
			return nil, fmt.Errorf("make HTTP client: base URL %w", err)
		}
		c.origins = append(c.origins, u.Origin())
	}
	if err := errors.Join(c.readHosts(), c.readProxy()); err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	trust := o.Trust.config(o.Tell)
	c.direct, c.trusted, c.proxied = c.transport(trust), c.transport(trust), c.transport(trust)
	c.proxied.Proxy = http.ProxyURL(c.proxy)
	return c, nil
}

func (c *Client) readHosts() error {
	if len(c.o.Hosts) == 0 {
		return nil
	}
	b := egress.NewBuilder()
	for _, host := range c.o.Hosts {
		b.Rule(host, "hosts")
	}
	if b.Left > 0 {
		return errors.New(b.Notes[0].Entry + " is no host")
	}
	c.hosts = b.Sites()
	return nil
}

func (c *Client) readProxy() error {
	if c.o.Proxy == "" {
		return nil
	}
	u, err := url.Parse(c.o.Proxy)
	if err != nil || u.Hostname() == "" {
		return errors.New("egress.proxy is no URL of a proxy")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return fmt.Errorf("egress.proxy: the scheme %q is none of http, https and socks5", u.Scheme)
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	c.at = egress.Target{Scheme: u.Scheme, Port: proxyPort(u)}
	if c.at.Host, err = egress.ParseHost(host); err != nil || c.at.Port == 0 {
		return fmt.Errorf("egress.proxy: %q is no host and port", u.Host)
	}
	c.proxy = u
	return nil
}

// HTTP returns the client as libraries want it. All of them share its connections, limits and rules.
func (c *Client) HTTP() *http.Client {
	h := &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error {
		return nil // each hop is judged in RoundTrip, which also counts them
	}}
	if c.o.Limits.Timeout > 0 {
		h.Timeout = c.o.Limits.Timeout
	}
	return h
}

// Get fetches one URL. The caller closes the body.
func (c *Client) Get(ctx context.Context, rawURL string) (*http.Response, error) {
	u, err := egress.ParseURL(rawURL)
	if err != nil {
		return nil, denied(rawURL, egress.Refusal(err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	return c.HTTP().Do(req)
}

// Close closes connections that wait for more requests. Requests under way go on.
func (c *Client) Close() error {
	for _, t := range [...]*http.Transport{c.direct, c.trusted, c.proxied} {
		t.CloseIdleConnections()
	}
	return nil
}

func (l *Limits) fill() {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&l.Timeout, 5*time.Minute)
	set(&l.Idle, 2*time.Minute)
	set(&l.Lookup, 10*time.Second)
	set(&l.Connect, 10*time.Second)
	if l.Body == 0 {
		l.Body = 64 << 20
	}
	if l.Header <= 0 {
		l.Header = 256 << 10
	}
	if l.Redirects == 0 {
		l.Redirects = 10
	}
}
