package command

import "strings"

// reachesMetadata holds when a word names the address at which a cloud hands out the credentials of its machines.
func reachesMetadata(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		t := w.Text
		if t == "" || t[0] == '-' && !strings.Contains(t, "=") {
			continue
		}
		if metadataHost(hostOf(t)) {
			return at(w), true
		}
		if strings.Contains(t, "169.254.169.254") && (strings.Contains(t, "nip.io") || strings.Contains(t, "sslip.io") || strings.Contains(t, "::")) {
			return at(w), true
		}
	}
	return span{}, false
}

func metadataHost(host string) bool {
	switch host {
	case "metadata", "metadata.goog", "instance-data", "instance-data.ec2.internal", "metadata.google.internal.", "fd00:ec2::254", "fd20:ce::254":
		return true
	}
	if rest, ok := strings.CutPrefix(host, "::ffff:"); ok {
		if hi, lo, ok := cut(rest, ':'); ok {
			h, ok1 := number("0x" + hi)
			l, ok2 := number("0x" + lo)
			return ok1 && ok2 && metadataAddress(h<<16|l)
		}
		host = rest
	}
	ip, ok := looseIPv4(host)
	return ok && metadataAddress(ip)
}

// metadataAddress knows the link-local and provider addresses by number.
func metadataAddress(ip uint64) bool {
	switch ip {
	case 0xa9fea9fe, 0xa9feaa02, 0xa9feaa17, 0x646464c8, 0xa83f8110, 0xc0000cc0: // .169.254, ECS, EKS, Alibaba, Azure, Oracle
		return true
	}
	return false
}

// looseIPv4 reads an address as old resolvers do: one to four parts, each decimal, octal or hexadecimal, the last one
// filling what is left.
func looseIPv4(s string) (uint64, bool) {
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 4 || s == "" {
		return 0, false
	}
	var ip uint64
	for k, p := range parts {
		n, ok := number(p)
		if !ok {
			return 0, false
		}
		if k < len(parts)-1 {
			if n > 255 {
				return 0, false
			}
			ip |= n << (24 - 8*k)
		} else {
			ip |= n & (1<<(32-8*k) - 1)
		}
	}
	return ip, true
}

// number reads a decimal, octal or hexadecimal number of at most ten digits.
func number(s string) (uint64, bool) {
	base := uint64(10)
	switch {
	case strings.HasPrefix(s, "0x"):
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	}
	if s == "" || len(s) > 12 {
		return 0, false
	}
	var n uint64
	for k := range len(s) {
		d := uint64(99)
		switch b := s[k] | 0x20; {
		case s[k] >= '0' && s[k] <= '9':
			d = uint64(s[k] - '0')
		case b >= 'a' && b <= 'f':
			d = uint64(b-'a') + 10
		}
		if d >= base {
			return 0, false
		}
		n = n*base + d
	}
	return n, true
}
