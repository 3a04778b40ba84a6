package egress

import (
	"encoding/binary"
	"net/netip"
)

// Class is what kind of address something is. The zero value is refused.
type Class uint8

// The classes.
const (
	Unknown        Class = iota // no address at all
	Public                      // somebody's on the Internet: the only class that passes without a setting
	Metadata                    // where a cloud hands out its credentials; nothing lifts it
	LinkLocal                   // nothing lifts it
	Zoned                       // bound to one interface of this machine; nothing lifts it
	Unspecified                 // 0.0.0.0/8 and ::, which reach this machine
	Loopback                    // this machine
	Private                     // RFC 1918
	Shared                      // behind a carrier's NAT; VPNs use it
	UniqueLocal                 // the private addresses of IPv6
	SiteLocal                   // the same, before 2004
	Benchmark                   // where fake-ip proxies answer
	Documentation               // examples in texts
	Protocol                    // IETF protocol assignments
	Infrastructure              // anycast of name servers and tunnels
	Multicast                   //
	Broadcast                   //
	Reserved                    // 240.0.0.0/4
	Discard                     //
	Unassigned                  // outside 2000::/3
	Mapped                      // an IPv4 address in IPv6 form: judged by the address inside
	Translated                  // the same, by the rules of RFC 2765
	Compatible                  // the same, as it was in 1998
	NAT64                       // reaches the IPv4 address inside through a translator
	LocalNAT64                  // the same, where the place of the inner address is not known
	SixToFour                   // a tunnel to the IPv4 address inside
	Teredo                      // the same
	ISATAP                      // the same, behind any prefix
)

var classNames = [...]string{
	Unknown: "unknown", Public: "public", Metadata: "metadata", LinkLocal: "link-local", Zoned: "zoned", Unspecified: "unspecified",
	Loopback: "loopback", Private: "private", Shared: "shared", UniqueLocal: "unique-local", SiteLocal: "site-local",
	Benchmark: "benchmark", Documentation: "documentation", Protocol: "protocol", Infrastructure: "infrastructure",
	Multicast: "multicast", Broadcast: "broadcast", Reserved: "reserved", Discard: "discard", Unassigned: "unassigned",
	Mapped: "mapped", Translated: "translated", Compatible: "compatible", NAT64: "nat64", LocalNAT64: "local-nat64",
	SixToFour: "6to4", Teredo: "teredo", ISATAP: "isatap",
}

// String returns the stable name that rules are called by.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Floor tells whether no setting lifts the class because of what answers there.
func (c Class) Floor() bool { return c == Metadata || c == LinkLocal || c == Zoned || c == Unknown }

// local tells whether allow_private_urls lifts the class.
func (c Class) local() bool { return c == Loopback || c.exceptional() }

// exceptional tells whether an exception for one host or network lifts the class. Loopback is not for exceptions: what
// listens there trusts whoever reaches it.
func (c Class) exceptional() bool {
	switch c {
	case Private, Shared, UniqueLocal, SiteLocal, Benchmark, Documentation:
		return true
	}
	return false
}

// fake tells whether a local proxy may answer with addresses of the class.
func (c Class) fake() bool { return c == Benchmark || c == Documentation || c == Reserved }

// Region is where an address lies.
type Region struct {
	Class  Class
	Prefix string     // "10.0.0.0/8", "" for what no registry sets aside
	Name   string     // what the registry calls it
	Inner  netip.Addr // the IPv4 address inside that counts, if there is one
}

// row is one line of special.txt.
type row struct {
	class        Class
	prefix, name string
}

type span4 struct {
	from, to uint32
	row      uint8
}

type span6 struct {
	from, fromLow, to, toLow uint64
	row                      uint8
}

// classify says where an address lies. An IPv4 address in IPv6 form is where the inner one is; one that wraps an address of
// the floor in any form is of the floor. It allocates nothing.
func classify(a netip.Addr) Region {
	if !a.IsValid() {
		return Region{}
	}
	if a.Zone() != "" {
		if r := classify(a.WithZone("")); r.Class.Floor() {
			return r
		}
		return Region{Class: Zoned, Name: "bound to an interface"}
	}
	if a.Is4() || a.Is4In6() {
		b := a.As4()
		return region4(b)
	}
	b := a.As16()
	r := region6(b)
	if r.Class == Public && !isatap(b) {
		return r
	}
	for _, inner := range wrapped(r.Class, b) {
		if !inner.IsValid() {
			continue
		}
		in := region4(inner.As4())
		switch {
		case in.Class.Floor():
			return Region{Class: in.Class, Prefix: in.Prefix, Name: in.Name, Inner: inner}
		case r.Class == Public && in.Class != Public:
			return Region{Class: ISATAP, Prefix: in.Prefix, Name: "ISATAP", Inner: inner}
		case !r.Inner.IsValid() && r.Class != Public:
			r.Inner = inner
		}
	}
	return r
}

// isatap tells whether an interface is one of ISATAP, whatever the prefix.
func isatap(b [16]byte) bool {
	return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

func region4(b [4]byte) Region {
	n := binary.BigEndian.Uint32(b[:])
	low, high := 0, len(special4)
	for low < high {
		if mid := (low + high) / 2; special4[mid].to < n {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(special4) || special4[low].from > n {
		return Region{Class: Public}
	}
	return special[special4[low].row].region()
}

func region6(b [16]byte) Region {
	n, tail := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	low, high := 0, len(special6)
	for low < high {
		mid := (low + high) / 2
		if s := &special6[mid]; s.to < n || s.to == n && s.toLow < tail {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(special6) {
		return Region{Class: Public}
	}
	if s := &special6[low]; s.from > n || s.from == n && s.fromLow > tail {
		return Region{Class: Public}
	}
	return special[special6[low].row].region()
}

func (r row) region() Region { return Region{Class: r.class, Prefix: r.prefix, Name: r.name} }

// wrapped returns the IPv4 addresses that an IPv6 address of a class carries.
func wrapped(c Class, b [16]byte) [2]netip.Addr {
	last := netip.AddrFrom4([4]byte(b[12:]))
	switch c {
	case Translated, NAT64, Compatible, LocalNAT64:
		// Of a local prefix the place of the inner address is not known; the last bits are the usual one.
		return [2]netip.Addr{last}
	case SixToFour:
		return [2]netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case Teredo:
		return [2]netip.Addr{
			netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), // the client
			netip.AddrFrom4([4]byte(b[4:8])),                         // its server
		}
	}
	if isatap(b) {
		return [2]netip.Addr{last}
	}
	return [2]netip.Addr{}
}
