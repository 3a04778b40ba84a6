package egress

import (
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Host is a name or an address in the one form in which hosts are judged, compared and sent: a name in lower-case ASCII
// without a final dot, or an address. Only ParseHost makes one.
type Host struct {
	name string
	addr netip.Addr
}

// Name returns the name, "" for an address.
func (h Host) Name() string { return h.name }

// Addr returns the address, if it is one.
func (h Host) Addr() (netip.Addr, bool) { return h.addr, h.addr.IsValid() }

// IsZero tells whether h was never parsed.
func (h Host) IsZero() bool { return h.name == "" && !h.addr.IsValid() }

// String returns the host as it stands in a URL without its brackets.
func (h Host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// inURL returns the host as it stands in a URL.
func (h Host) inURL() string {
	if h.addr.Is6() {
		return "[" + h.addr.String() + "]"
	}
	return h.String()
}

const (
	maxName  = 253
	maxLabel = 63
	maxHost  = 1024 // of what is looked at; names grow shorter by folding, not longer without bounds
)

// profile is the fold: what browsers and net/http do to a name before they look it up.
var profile = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(false), idna.CheckJoiners(true),
		idna.StrictDomainName(false), idna.Transitional(false), idna.VerifyDNSLength(false))
})

// ParseHost reads a host as it stands in a URL: a name in any script, an IPv4 address of four decimal numbers, or an IPv6
// address in brackets. Other spellings of addresses are refused whatever they mean, and so are names that pass for others.
func ParseHost(s string) (Host, error) {
	if len(s) > maxHost {
		return Host{}, refuse("host/length", s, "is longer than a host name can be")
	}
	if !utf8.ValidString(s) {
		return Host{}, refuse("host/character", s, "is not UTF-8")
	}
	if strings.HasPrefix(s, "[") {
		return bracketed(s)
	}
	name, err := fold(s)
	if err != nil {
		return Host{}, err
	}
	if endsInNumber(name) {
		return quad(s, name)
	}
	if trouble := lookalike(s, name); trouble != nil {
		return Host{}, trouble
	}
	return Host{name: name}, nil
}

// bracketed reads an IPv6 address in brackets.
func bracketed(s string) (Host, error) {
	inner, closed := strings.CutSuffix(s[1:], "]")
	if strings.ContainsRune(inner, '%') {
		return Host{}, refuse("host/zone", s, "is an address bound to an interface of this machine (zone)")
	}
	a, err := netip.ParseAddr(inner)
	if !closed || err != nil || !a.Is6() {
		return Host{}, refuse("host/address", s, "is no IPv6 address in brackets")
	}
	return Host{addr: a}, nil
}

// quad reads a name that resolvers would take for an address. Only the plain spelling is one.
func quad(s, name string) (Host, error) {
	if a, err := netip.ParseAddr(name); err == nil && a.Is4() && a.String() == strings.TrimSuffix(s, ".") {
		return Host{addr: a}, nil
	}
	e := refuse("host/numeric", s, "is an odd spelling of a number, which resolvers read as an address")
	if a, ok := inetAton(name); ok {
		e.Cause = "is an odd spelling of the address " + a.String()
		if classify(a).Class == Public {
			e.Remedy = "write " + a.String()
		}
	}
	return Host{}, e
}

// fold brings a name to lower-case ASCII: width and compatibility forms, invisible characters, other scripts, one final dot.
// What comes out has only letters, digits, - and _ between its dots.
func fold(s string) (string, error) {
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			return "", refuse("host/character", s, "has a control character")
		case unicode.IsSpace(r):
			return "", refuse("host/character", s, "has a blank")
		case r == '%':
			return "", refuse("host/character", s, "has a percent sign")
		case r == '\\':
			return "", refuse("host/character", s, "has a backslash")
		}
	}
	name := s
	if !plain(s) {
		var err error
		if name, err = profile().ToASCII(s); err != nil {
			return "", refuse("host/name", s, "is no name that can be looked up (IDNA)")
		}
	}
	name = strings.TrimSuffix(name, ".")
	if cause := nameTrouble(name); cause != "" {
		return "", refuse("host/name", s, cause)
	}
	return name, nil
}

// plain tells whether folding would change nothing: lower-case ASCII that is not encoded.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' || c == '-' && i >= 3 && s[i-1] == '-' && s[i-2] == 'n' && s[i-3] == 'x' {
			return false
		}
	}
	return true
}

// nameTrouble says what is wrong with a folded name, "" if nothing is.
func nameTrouble(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return "is longer than " + strconv.Itoa(maxName) + " characters"
	}
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			c := name[i]
			if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
				return "has a character that names do not have"
			}
			continue
		}
		switch n := i - start; {
		case n == 0:
			return "has an empty part between dots"
		case n > maxLabel:
			return "has a part longer than " + strconv.Itoa(maxLabel) + " characters"
		case name[start] == '-' || name[i-1] == '-':
			return "has a part that begins or ends with a dash"
		}
		start = i + 1
	}
	return ""
}

// endsInNumber tells whether resolvers may read a folded name as an IPv4 address: its last part is a number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, ok := number(last)
	return ok || allDigits(last)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// number reads one part of an address as the C library does: decimal, octal after 0, hexadecimal after 0x.
func number(s string) (uint64, bool) {
	base, digits := 10, s
	switch {
	case strings.HasPrefix(s, "0x"):
		base, digits = 16, s[2:]
		if digits == "" {
			return 0, true // "0x" is zero
		}
	case len(s) > 1 && s[0] == '0':
		base, digits = 8, s[1:]
	}
	for i := range len(digits) {
		c := digits[i]
		if !('0' <= c && c <= '9' || base == 16 && 'a' <= c && c <= 'f') {
			return 0, false
		}
	}
	if digits == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 1 << 63, base == 16 // too large, or an octal number with 8 or 9
	}
	return n, true
}

// inetAton reads an address in the spellings of the C library, to name it in an error.
func inetAton(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, ok := number(part)
		limit := uint64(256)
		if i == len(parts)-1 {
			limit = 1 << (8 * (4 - i))
		}
		if !ok || n >= limit {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			sum |= n
		} else {
			sum |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// quote shows a text that may hold anything, on one line and not endlessly.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.QuoteToGraphic(s)
}
