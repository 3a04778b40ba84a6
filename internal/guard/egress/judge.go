package egress

import (
	"fmt"
	"net/netip"
	"strings"

	"hermes/internal/guard"
)

// Target is where a connection goes: the end of a URL that is judged.
type Target struct {
	Scheme string
	Host   Host
	Port   uint16
}

// Target returns where the URL leads.
func (u URL) Target() Target { return Target{Scheme: u.scheme, Host: u.host, Port: u.port} }

// At returns the target as it is asked for in settings: host and port.
func (t Target) at() string { return fmt.Sprintf("%s:%d", t.Host.inURL(), t.Port) }

// Before judges what can be judged before a name is looked up: names nobody may reach, names of this network, sites, ports, and
// addresses in full. A name that passes must not be connected to before Answers has judged its addresses.
func (p *Policy) Before(t Target) guard.Verdict {
	switch {
	case p == nil:
		return refused("policy", "no policy is in force", "")
	case t.Host.IsZero():
		return refused("url/host", "no host", "")
	}
	name := t.Host.Name()
	if name != "" && floorName(name) {
		return floor("host/metadata", name+" is the name of a cloud metadata address or of what runs the cluster: no setting allows it")
	}
	if v := p.sites.check(t.Host); v.Action != guard.Allow {
		return v
	}
	if a, ok := t.Host.Addr(); ok {
		if v := p.address(t, a, true); v.Action != guard.Allow {
			return v
		}
	}
	named := p.named(t)
	if name != "" && internalName(name) && !p.private && !named {
		remedy := fmt.Sprintf("to allow it, add %q to %s", t.at(), keyHosts)
		if localhost(t.Host) {
			remedy = openHome
		}
		return refused("host/internal", name+" is a name of this machine or its network (private/internal)", remedy)
	}
	if badPort(t.Port) && !named {
		return refused("url/port", fmt.Sprintf("port %d belongs to another protocol than HTTP", t.Port),
			fmt.Sprintf("to allow it, add %q to %s", t.at(), keyHosts))
	}
	return guard.Allowed()
}

// named tells whether an exception names the target's host and port.
func (p *Policy) named(t Target) bool {
	a, literal := t.Host.Addr()
	for _, e := range p.exceptions {
		switch {
		case e.port != 0 && e.port != t.Port:
		case !e.host.IsZero() && e.host == t.Host:
			return true
		case literal && e.host.IsZero() && e.port != 0 && e.prefix.Contains(a):
			return true
		}
	}
	return false
}

// Answers judges the addresses that a name was found to have. All of them have to pass, whichever is connected to.
func (p *Policy) Answers(t Target, addrs []netip.Addr) guard.Verdict {
	if v := p.Before(t); v.Action != guard.Allow {
		return v
	}
	if len(addrs) == 0 {
		return refused("dns", t.Host.String()+": DNS resolution failed, it has no address", "")
	}
	worst := guard.Allowed()
	for _, a := range addrs {
		v := p.address(t, a, false)
		if v.Tier == guard.Hardline {
			return v
		}
		if v.Action != guard.Allow && worst.Action == guard.Allow {
			worst = v
		}
	}
	return worst
}

// Trusted judges the addresses of an origin that the owner has set himself, such as a model on the local network: private
// ones pass, the floor does not.
func (p *Policy) Trusted(t Target, addrs []netip.Addr) guard.Verdict {
	if p == nil || t.Host.IsZero() {
		return p.Before(t)
	}
	if name := t.Host.Name(); name != "" && floorName(name) {
		return p.Before(t)
	}
	open := *p
	open.private = true
	for _, a := range addrs {
		_, literal := t.Host.Addr()
		if v := open.address(t, a, literal); v.Action != guard.Allow {
			return v
		}
	}
	if len(addrs) == 0 {
		return refused("dns", t.Host.String()+": DNS resolution failed, it has no address", "")
	}
	return guard.Allowed()
}

// Lookup finds the addresses of a name.
type Lookup func(name string) ([]netip.Addr, error)

// Check judges a URL in full: its text, its target, and the addresses that lookup finds. A nil lookup leaves the addresses
// to the moment of the connection.
func (p *Policy) Check(raw string, lookup Lookup) (URL, guard.Verdict) {
	u, err := ParseURL(raw)
	if err != nil {
		return u, verdict(err)
	}
	t := u.Target()
	v := p.Before(t)
	if _, literal := t.Host.Addr(); v.Action != guard.Allow || literal || lookup == nil || p.resolves {
		return u, v
	}
	addrs, err := lookup(t.Host.Name())
	if err != nil {
		return u, refused("dns", t.Host.String()+": DNS resolution failed: "+err.Error(), "")
	}
	return u, p.Answers(t, addrs)
}

// address judges one address of a target. literal means that the target names the address itself.
func (p *Policy) address(t Target, a netip.Addr, literal bool) guard.Verdict {
	r := classify(a)
	if p.passes(t, a, r, literal) {
		return guard.Allowed()
	}
	where := a.String()
	if !literal {
		where = t.Host.String() + " -> " + where
	}
	if r.Inner.IsValid() {
		where += " (" + r.Inner.String() + " inside)"
	}
	if r.Class.Floor() {
		kind := "link-local address"
		switch {
		case r.Class == Metadata, r.Class == LinkLocal && strings.HasPrefix(r.Prefix, "169."):
			kind = "cloud metadata address"
		case r.Class == Zoned:
			kind = "address bound to one interface"
		case r.Class == Unknown:
			kind = "unparseable IP address"
		}
		return floor("address/"+r.Class.String(), fmt.Sprintf("%s is %s %s%s: no setting allows it", where, article(kind), kind, r.shown()))
	}
	return refused("address/"+r.Class.String(), fmt.Sprintf("%s is a private/internal address%s", where, r.shown()), p.remedy(t, a, r))
}

// shown returns what an error says of a region besides its class.
func (r Region) shown() string {
	switch {
	case r.Prefix == "":
		return ""
	case r.Class == Metadata:
		return " (" + r.Prefix + ")"
	}
	return " (" + r.Name + ", " + r.Prefix + ")"
}

// openHome is what opens this machine itself, for which there are no exceptions.
const openHome = "to allow it, set " + keyPrivate + ": true, which opens this machine and the whole local network"

// remedy names the one setting that would allow an address.
func (p *Policy) remedy(t Target, a netip.Addr, r Region) string {
	switch {
	case r.Class == NAT64 && classify(r.Inner).Class == Public:
		return "if your network reaches IPv4 this way, set " + keyNAT64 + ": true"
	case r.Class == Benchmark && t.Host.Name() != "":
		return fmt.Sprintf("if a proxy on this machine answers with such addresses, add %q to %s", r.Prefix, keyFake)
	case r.Class.exceptional():
		return fmt.Sprintf("to allow it, add %q to %s", t.at(), keyHosts)
	case r.Class.local():
		return openHome
	}
	return "no setting allows it"
}

// passes tells whether an address may be connected to.
func (p *Policy) passes(t Target, a netip.Addr, r Region, literal bool) bool {
	switch {
	case p == nil || r.Class.Floor():
		return false
	case r.Class == Public:
		return true
	case r.Class == NAT64:
		return p.nat64 && p.passes(t, r.Inner, classify(r.Inner), literal)
	case r.Class == Translated:
		in := classify(r.Inner)
		return in.Class != Public && p.passes(t, r.Inner, in, literal)
	case p.private && r.Class.local():
		return true
	}
	a = a.Unmap()
	if !literal && r.Class.fake() {
		for _, prefix := range p.fake {
			if prefix.Contains(a) {
				return true
			}
		}
		if t.Scheme == "https" && r.Class == Benchmark && a.Is4() && t.Host.Name() == "multimedia.nt.qq.com.cn" {
			return true // a public host whose own name servers answer so
		}
	}
	if r.Class.exceptional() {
		for _, e := range p.exceptions {
			if e.covers(t.Host, t.Port, a) {
				return true
			}
		}
	}
	return false
}

// badPort tells whether a port belongs to a protocol that a request over HTTP could be taken for. Browsers refuse the same.
func badPort(port uint16) bool {
	switch port {
	case 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
		113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
		554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
		6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080:
		return true
	}
	return false
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// Internal tells whether a target is on this machine or its network by what it is called.
func (t Target) Internal() bool {
	if a, ok := t.Host.Addr(); ok {
		return classify(a).Class != Public
	}
	return internalName(t.Host.Name())
}

// TrustedName judges the name of an origin that the owner has set himself, before it is looked up.
func (p *Policy) TrustedName(t Target) guard.Verdict {
	if p == nil || t.Host.IsZero() || floorName(t.Host.Name()) {
		return p.Before(t)
	}
	if a, ok := t.Host.Addr(); ok {
		return p.Trusted(t, []netip.Addr{a})
	}
	return guard.Allowed()
}
