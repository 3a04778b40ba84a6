package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// judged is a request on its way: dialling finds it in the context, and without one it refuses.
type judged struct {
	policy *egress.Policy
	target egress.Target
	trust  bool // an origin of the owner's
	proxy  bool // goes to the proxy instead
}

type judgedKey struct{}

// RoundTrip judges one request and sends it. Redirects come here again, one by one.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := c.roundTrip(req)
	if err != nil && req.Body != nil {
		_ = req.Body.Close() // ours to close, also of a request that is not sent
	}
	if c.o.Heard != nil {
		c.hear(req, resp, err, began)
	}
	return resp, err
}

func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	u, err := egress.ParseURL(req.URL.String())
	if err != nil {
		return nil, denied(req.URL.Redacted(), egress.Refusal(err))
	}
	h, err := follow(req, u, c.o.Limits.Redirects)
	if err != nil {
		return nil, err
	}
	j := &judged{policy: c.o.Policy(), target: u.Target(), trust: h.same && c.owns(u)}
	c.changed(j.policy)
	if v := c.judge(j); v.Action != guard.Allow {
		return nil, denied(shown(u), v)
	}
	transport := c.direct
	switch {
	case c.proxy != nil && !(j.trust && j.target.Internal()):
		if err := c.judgeProxied(req.Context(), j); err != nil {
			return nil, err
		}
		j.proxy, transport = true, c.proxied
	case j.trust:
		transport = c.trusted
	}
	ctx, watch := c.watch(context.WithValue(req.Context(), judgedKey{}, j))
	resp, err := transport.RoundTrip(c.outgoing(req.WithContext(ctx), u, h))
	if err != nil {
		return nil, watch.failed(err)
	}
	resp.Request = req // whose chain of redirects the next hop follows
	if err := c.limit(resp, watch); err != nil {
		return nil, err // one of the two: net/http complains on standard error about both
	}
	return resp, nil
}

// outgoing is the request as it is sent: to the host that was judged, under that name, and after a redirect to another origin
// with nothing that was meant for the first.
func (c *Client) outgoing(req *http.Request, u egress.URL, h hops) *http.Request {
	out := req.Clone(req.Context())
	out.URL, out.Host = u.URL(), ""
	if !h.same {
		for name := range out.Header {
			if !harmless(name) {
				delete(out.Header, name)
			}
		}
	}
	if c.o.Agent != "" && out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", c.o.Agent)
	}
	return out
}

// changed lets go of connections that were made under another policy.
func (c *Client) changed(p *egress.Policy) {
	if old := c.last.Swap(p); old != nil && old != p {
		_ = c.Close()
	}
}

// judge judges what can be judged before a name is looked up.
func (c *Client) judge(j *judged) guard.Verdict {
	if c.hosts != nil {
		if _, listed := c.hosts.Match(j.target.Host); !listed {
			return guard.Verdict{Tier: guard.Egress, Rule: "host/unlisted", Reason: j.target.Host.String() + " is none of the hosts this client is for"}
		}
	}
	if j.trust {
		return j.policy.TrustedName(j.target)
	}
	return j.policy.Before(j.target)
}

// owns tells whether a URL is of an origin that the owner has set.
func (c *Client) owns(u egress.URL) bool {
	for _, origin := range c.origins {
		if origin == u.Origin() {
			return true
		}
	}
	return false
}

// hops is what is known of the redirects that led to a request.
type hops struct {
	count int
	same  bool // all of them, and this one, were of one origin
}

// follow walks back over the redirects that led here.
func follow(req *http.Request, u egress.URL, most int) (hops, error) {
	h := hops{same: true}
	for r := req; r.Response != nil && r.Response.Request != nil; {
		r = r.Response.Request
		if h.count++; most >= 0 && h.count > most {
			return h, fmt.Errorf("fetch %s: more than %d redirects", shown(u), most)
		}
		before, err := egress.ParseURL(r.URL.String())
		h.same = h.same && err == nil && before.Origin() == u.Origin()
	}
	if h.count > 0 && !h.same && req.Body != nil && req.Body != http.NoBody {
		return h, fmt.Errorf("fetch %s: a redirect would send what was meant for another origin", shown(u))
	}
	return h, nil
}

// harmless tells whether a header may go to an origin it was not written for.
func harmless(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "If-Modified-Since", "If-None-Match", "If-Range", "Range", "User-Agent":
		return true
	}
	return false
}

func denied(subject string, v guard.Verdict) error {
	return &guard.DeniedError{Op: "fetch", Subject: subject, Verdict: v}
}

// shown is a URL as errors name it: without its query, which may hold what is nobody's business.
func shown(u egress.URL) string {
	text, _, _ := strings.Cut(u.String(), "?")
	text, _, _ = strings.Cut(text, "#")
	return text
}

func proxyPort(u *url.URL) uint16 {
	switch {
	case u.Port() != "":
		n, _ := strconv.ParseUint(u.Port(), 10, 16)
		return uint16(n)
	case u.Scheme == "https":
		return 443
	case u.Scheme == "http":
		return 80
	}
	return 1080
}

// ErrTooLarge is what reading a response ends with that is larger than the client takes.
var ErrTooLarge = errors.New("response is larger than allowed")

// ErrIdle is what a response ends with that sends nothing for too long.
var ErrIdle = errors.New("nothing was received for too long")
