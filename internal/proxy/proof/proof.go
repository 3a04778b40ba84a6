// Package proof tries a way out from inside a sandbox: what must pass passes, what must be refused is refused and told, and
// past the proxy nothing is reached.
//
// It opens no sandbox and does not judge what else one holds back (see sandbox/probe and guard/exposure): it is given a way to
// open connections from inside. It reaches only servers of its own on this machine's loopback.
//
// Failure direction: what could not be tried, and what was refused without a word in the log, counts as not in force.
package proof

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/proxy"
)

// The names that a proof uses. None is known to any name server: the proof answers itself.
const (
	listed   = "open.verify.test"    // on the list, at a server of the proof
	unlisted = "closed.verify.test"  // not on the list, at the same server
	rebound  = "rebound.verify.test" // on the list, and its address is where machines get their credentials
	mixed    = "mixed.verify.test"   // on the list, with one good and one forbidden address
)

var here = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Proof holds the servers that stand outside, and the client whose proxy is tried. Whoever made it closes it, after the sandbox.
type Proof struct {
	client *proxy.Client
	told   chan proxy.Decision
	word   string        // what only the servers know
	wait   time.Duration // for what may never come: a datagram, a decision
	bound  time.Duration // of one exchange
	stage  *stage
}

// New opens the servers and makes the client.
func New() (*Proof, error) {
	var word [16]byte
	_, _ = rand.Read(word[:])
	p := &Proof{told: make(chan proxy.Decision, 64), word: hex.EncodeToString(word[:]), wait: time.Second, bound: 8 * time.Second}
	var err error
	if p.stage, err = open(p.word); err != nil {
		return nil, err
	}
	web, secure := p.stage.web, p.stage.secure
	routes, problems := egress.ParseRoutes([]string{
		"http://" + listed + web, "https://" + listed + secure, "https://" + rebound + secure, "https://" + mixed + secure,
	})
	if len(problems) > 0 {
		return nil, errors.Join(errors.Join(problems...), p.stage.close())
	}
	rules, _ := egress.New(egress.Config{Sites: egress.NoSites()})
	p.client = proxy.New("verify", proxy.Options{
		Policy: policy{egress.Exit{Routes: routes, Policy: rules}}, Resolve: resolve, Tell: p.tell, Limits: proxy.Limits{Head: 3 * time.Second},
	})
	return p, nil
}

// Client is the proxy's side of the way out.
func (p *Proof) Client() *proxy.Client { return p.client }

// Close ends the client and the servers.
func (p *Proof) Close() error { return errors.Join(p.client.Close(), p.stage.close()) }

// tell keeps a decision for whoever waits for it. One that nobody waits for does not hold the proxy up.
func (p *Proof) tell(d proxy.Decision) {
	select {
	case p.told <- d:
	default:
	}
}

// policy is the policy of every sandbox, but for one exception: the listed name is at this machine's loopback, which no
// setting allows.
type policy struct{ egress.Exit }

// Answers is proxy.Policy's.
func (p policy) Answers(h egress.Host, port uint16, addrs []netip.Addr) guard.Verdict {
	if h.Name() == listed && len(addrs) == 1 && addrs[0] == here {
		return guard.Allowed()
	}
	return p.Exit.Answers(h, port, addrs)
}

// resolve answers for the names of the proof.
func resolve(_ context.Context, name string) ([]netip.Addr, error) {
	metadata := netip.AddrFrom4([4]byte{169, 254, 169, 254})
	switch name {
	case listed, unlisted:
		return []netip.Addr{here}, nil
	case rebound:
		return []netip.Addr{metadata}, nil
	case mixed:
		return []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 1}), metadata}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: strings.Clone(name), IsNotFound: true}
}
