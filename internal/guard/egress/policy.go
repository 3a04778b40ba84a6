package egress

import (
	"fmt"
	"net/netip"
	"strings"
)

// Config is what the owner has set.
type Config struct {
	AllowPrivate bool     // security.allow_private_urls (see AllowPrivate)
	AllowHosts   []string // security.allow_private_hosts: HOST[:PORT] [NETWORK] or NETWORK[:PORT]
	FakeIP       []string // security.fake_ip_ranges: networks a proxy on this machine answers with
	NAT64        bool     // security.nat64
	Resolves     bool     // egress.proxy_resolves: names are looked up by the owner's proxy, not here
	Sites        *Sites   // the site policy; nil: it was not loaded, and everything is refused
}

// Warning is a setting that is not in force as it was written.
type Warning struct {
	Key   string // of the setting
	Entry string
	Cause string
}

func (w Warning) String() string {
	return fmt.Sprintf("%s: %q is ignored: %s", w.Key, w.Entry, w.Cause)
}

// Policy says what may be reached. It never changes and is safe for concurrent use. Only New makes one that lets anything
// pass.
type Policy struct {
	private    bool
	nat64      bool
	resolves   bool
	fake       []netip.Prefix
	exceptions []exception
	sites      *Sites
}

// The settings that errors name.
const (
	keyPrivate = "security.allow_private_urls"
	keyHosts   = "security.allow_private_hosts"
	keyFake    = "security.fake_ip_ranges"
	keyNAT64   = "security.nat64"
	keySites   = "security.website_blocklist"
)

// New makes a policy. An entry that cannot be read, or reaches for what no setting opens, is left out and told; the others
// hold.
func New(c Config) (*Policy, []Warning) {
	p := &Policy{private: c.AllowPrivate, nat64: c.NAT64, resolves: c.Resolves, sites: c.Sites}
	var warnings []Warning
	for _, text := range c.FakeIP {
		prefix, err := parseNetwork(strings.TrimSpace(text))
		if err == nil {
			err = overlap(prefix, Class.fake)
		} else {
			err = fmt.Errorf("is no network")
		}
		if err != nil {
			warnings = append(warnings, Warning{keyFake, text, err.Error()})
			continue
		}
		p.fake = append(p.fake, prefix)
	}
	for _, text := range c.AllowHosts {
		e, err := parseException(text)
		if err == nil && localhost(e.host) && !c.AllowPrivate { // with it, an entry still opens a port that is not the web's
			err = fmt.Errorf("is this machine itself, which only %s opens", keyPrivate)
		}
		if err != nil {
			warnings = append(warnings, Warning{keyHosts, text, err.Error()})
			continue
		}
		p.exceptions = append(p.exceptions, e)
	}
	return p, warnings
}

// WithSites returns the policy with another list of sites.
func (p *Policy) WithSites(s *Sites) *Policy {
	if p == nil {
		return nil
	}
	next := *p
	next.sites = s
	return &next
}

// Private tells whether private addresses are open to every URL, for whoever reports what is in force.
func (p *Policy) Private() bool { return p != nil && p.private }

// Resolves tells whether names are looked up by the owner's proxy.
func (p *Policy) Resolves() bool { return p != nil && p.resolves }

// AllowPrivate decides on private addresses from the three places that may say so: the variable HERMES_ALLOW_PRIVATE_URLS,
// which ends the matter if it is clear, and then security.allow_private_urls or the older browser.allow_private_urls.
func AllowPrivate(variable string, security, browser bool) bool {
	switch strings.ToLower(strings.TrimSpace(variable)) {
	case "true", "1", "yes":
		return true
	case "false", "0", "no":
		return false
	}
	return security || browser
}

// AmbientProxy says, as a warning for the owner, that proxy variables of the environment are not used. It returns "" where
// there is none or the owner has set a proxy.
func AmbientProxy(env func(name string) string, configured bool) string {
	if configured {
		return ""
	}
	for _, name := range [...]string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if env(name) != "" {
			return name + " in the environment is ignored; to send connections through a proxy, set egress.proxy"
		}
	}
	return ""
}
