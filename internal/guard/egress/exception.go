package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// exception lets one target be reached although its addresses are private.
type exception struct {
	host   Host         // zero: any
	prefix netip.Prefix // invalid: any
	port   uint16       // 0: any
}

func (e exception) covers(h Host, port uint16, a netip.Addr) bool {
	return (e.port == 0 || e.port == port) && (e.host.IsZero() || e.host == h) && (!e.prefix.IsValid() || e.prefix.Contains(a))
}

// parseException reads "HOST[:PORT]", "HOST[:PORT] NETWORK" or "NETWORK[:PORT]"; an address is a network of one. A network of
// IPv6 with a port stands in brackets.
func parseException(text string) (exception, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return exception{}, errors.New("want a host or a network, a port, and a network")
	}
	target, port, err := cutPort(fields[0])
	if err != nil {
		return exception{}, err
	}
	e := exception{port: port}
	if p, err := parseNetwork(target); err == nil {
		e.prefix = p
	} else if e.host, err = ParseHost(target); err != nil {
		return exception{}, err
	}
	if len(fields) == 2 {
		if e.prefix.IsValid() {
			return exception{}, errors.New("has two networks")
		}
		if e.prefix, err = parseNetwork(fields[1]); err != nil {
			return exception{}, fmt.Errorf("%q is no network", fields[1])
		}
	}
	if floorName(e.host.Name()) {
		return exception{}, errors.New("names what hands out the credentials of machines")
	}
	if e.prefix.IsValid() {
		return e, overlap(e.prefix, Class.exceptional)
	}
	return e, nil
}

// cutPort splits "host:port" and "[network]:port".
func cutPort(s string) (target string, port uint16, err error) {
	target = s
	at := strings.LastIndexByte(s, ':')
	switch {
	case strings.HasPrefix(s, "["):
		inner, rest, closed := strings.Cut(s[1:], "]")
		if !closed || rest != "" && rest[0] != ':' {
			return "", 0, errors.New("has a bracket without its other")
		}
		if target = inner; rest == "" {
			return target, 0, nil
		}
		at = len(s) - len(rest)
	case at < 0 || strings.Count(s, ":") > 1:
		return target, 0, nil
	default:
		target = s[:at]
	}
	n, err := strconv.ParseUint(s[at+1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%q is no port", s[at+1:])
	}
	return target, uint16(n), nil
}

// parseNetwork reads a network, with or without bits set behind it, or one address.
func parseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, err
	}
	return p.Masked(), nil
}

// overlap says which region a network reaches that may not be opened this way, nil if there is none. Single addresses of
// the floor inside a larger network are no reason: they stay refused.
func overlap(p netip.Prefix, may func(Class) bool) error {
	for _, r := range &special {
		in := netip.MustParsePrefix(r.prefix)
		if may(r.class) || !p.Overlaps(in) {
			continue
		}
		if r.class == Metadata && p.Bits() < in.Bits() || in.Bits() < p.Bits() && inside(p, in.Bits(), may) {
			continue
		}
		return fmt.Errorf("overlaps %s (%s)", r.prefix, r.name)
	}
	return nil
}

// inside tells whether a network lies within a region that may be opened and is smaller than the one it also lies in.
func inside(p netip.Prefix, bits int, may func(Class) bool) bool {
	for _, r := range &special {
		if in := netip.MustParsePrefix(r.prefix); may(r.class) && in.Bits() > bits && in.Bits() <= p.Bits() && in.Overlaps(p) {
			return true
		}
	}
	return false
}
