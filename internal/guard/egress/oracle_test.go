package egress

import (
	"math/big"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// browserHost reads the host of a URL as the URL standard (WHATWG) has browsers do it, for http and https. It is written from
// the standard's steps, apart from the code it judges.
func browserHost(raw string) (host string, ok bool) {
	raw = strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(raw)
	colon := strings.IndexByte(raw, ':')
	if colon < 0 {
		return "", false
	}
	scheme := strings.ToLower(raw[:colon])
	if scheme != "http" && scheme != "https" {
		return "", false
	}
	rest := strings.TrimLeft(raw[colon+1:], `/\`) // however many
	if cut := strings.IndexAny(rest, `/\?#`); cut >= 0 {
		rest = rest[:cut]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	host = rest
	bracket := false
	for i := range len(rest) {
		switch rest[i] {
		case '[':
			bracket = true
		case ']':
			bracket = false
		case ':':
			if !bracket {
				port := new(big.Int)
				if text := rest[i+1:]; text != "" {
					if strings.Trim(text, "0123456789") != "" {
						return "", false
					}
					if port.SetString(text, 10); port.Cmp(big.NewInt(65535)) > 0 {
						return "", false
					}
				}
				return hostParser(rest[:i])
			}
		}
	}
	return hostParser(host)
}

func hostParser(s string) (string, bool) {
	if s == "" {
		return "", false
	}
	if strings.HasPrefix(s, "[") {
		if !strings.HasSuffix(s, "]") {
			return "", false
		}
		a, err := netip.ParseAddr(s[1 : len(s)-1])
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", false
		}
		return a.String(), true
	}
	decoded := percentDecode(s)
	profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(false), idna.Transitional(false))
	ascii, err := profile.ToASCII(decoded)
	if err != nil || ascii == "" || strings.ContainsAny(ascii, "\x00\t\n\r #%/:<>?@[\\]^|\x7f") || strings.ContainsFunc(ascii, func(r rune) bool { return r < 0x20 }) {
		return "", false
	}
	labels := strings.Split(ascii, ".")
	last := labels[len(labels)-1]
	if last == "" && len(labels) > 1 {
		labels = labels[:len(labels)-1]
		last = labels[len(labels)-1]
	}
	if _, isNumber := hostNumber(last); !isNumber && (last == "" || strings.Trim(last, "0123456789") != "") {
		return strings.TrimSuffix(ascii, "."), true
	}
	if len(labels) > 4 {
		return "", false
	}
	sum := new(big.Int)
	for i, label := range labels {
		n, ok := hostNumber(label)
		if !ok {
			return "", false
		}
		if i < len(labels)-1 {
			if n.Cmp(big.NewInt(255)) > 0 {
				return "", false
			}
			n = new(big.Int).Lsh(n, uint(8*(3-i)))
		} else if n.BitLen() > 8*(5-len(labels)) {
			return "", false
		}
		sum.Add(sum, n)
	}
	b := sum.FillBytes(make([]byte, 4))
	return netip.AddrFrom4([4]byte(b)).String(), true
}

func hostNumber(s string) (*big.Int, bool) {
	if s == "" {
		return nil, false
	}
	base := 10
	switch {
	case len(s) >= 2 && strings.EqualFold(s[:2], "0x"):
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return new(big.Int), true
	}
	if strings.ContainsAny(s, "+-_") {
		return nil, false
	}
	return new(big.Int).SetString(s, base)
}

func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if x, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(x)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// goHost reads the host of a URL as net/url does, and folds it as net/http does before it connects.
func goHost(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", false
	}
	host := u.Hostname()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), true
	}
	return strings.TrimSuffix(strings.ToLower(host), "."), true
}
