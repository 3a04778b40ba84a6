package egress

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURL is the longest URL that is looked at, in bytes.
const MaxURL = 8192

// URL is an http or https URL in the one form in which it is judged and sent. Only ParseURL makes one.
type URL struct {
	scheme string
	host   Host
	port   uint16
	tail   string // path, query and fragment, percent-encoded
}

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return u.scheme }

// Host returns the host.
func (u URL) Host() Host { return u.host }

// Port returns the port, the scheme's own if the URL names none.
func (u URL) Port() uint16 { return u.port }

// IsZero tells whether u was never parsed.
func (u URL) IsZero() bool { return u.scheme == "" }

// Origin returns scheme, host and port: what a credential is bound to.
func (u URL) Origin() string {
	return u.scheme + "://" + u.host.inURL() + ":" + strconv.Itoa(int(u.port))
}

// String returns the URL as it is sent.
func (u URL) String() string {
	if u.IsZero() {
		return ""
	}
	s := u.scheme + "://" + u.host.inURL()
	if u.port != defaultPort(u.scheme) {
		s += ":" + strconv.Itoa(int(u.port))
	}
	return s + u.tail
}

// URL returns the URL as net/url has it. The caller owns it.
func (u URL) URL() *url.URL {
	parsed, err := url.Parse(u.String())
	if err != nil {
		return &url.URL{} // ParseURL has parsed it; an empty URL reaches nothing
	}
	return parsed
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// ParseURL reads a URL that is to be fetched. It takes what every reader takes for the same: a scheme, two slashes, a host
// without a user, a port, a path. What readers disagree about is refused.
func ParseURL(raw string) (URL, error) {
	raw = strings.TrimSpace(raw)
	switch {
	case raw == "":
		return URL{}, refuse("url/syntax", raw, "is empty")
	case len(raw) > MaxURL:
		return URL{}, refuse("url/length", raw, "is longer than "+strconv.Itoa(MaxURL)+" bytes")
	case !utf8.ValidString(raw):
		return URL{}, refuse("url/syntax", raw, "is not UTF-8")
	case strings.ContainsFunc(raw, unprintable):
		return URL{}, refuse("url/character", raw, "has a control character or a line break")
	}
	scheme, rest, found := cutScheme(raw)
	switch {
	case !found:
		e := refuse("url/scheme", raw, "has no scheme")
		e.Remedy = "begin with https://"
		return URL{}, e
	case scheme != "http" && scheme != "https":
		return URL{}, refuse("url/scheme", raw, "has the scheme "+scheme+", and only http and https are fetched")
	case !strings.HasPrefix(rest, "//"):
		return URL{}, refuse("url/syntax", raw, "has no // after its scheme")
	}
	rest = rest[2:]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	path, _, _ := strings.Cut(tail, "?")
	path, _, _ = strings.Cut(path, "#")
	if strings.ContainsRune(authority+path, '\\') {
		return URL{}, refuse("url/character", raw, "has a backslash, which some readers take for a slash")
	}
	u := URL{scheme: scheme, tail: encode(tail)}
	if err := u.authority(raw, authority); err != nil {
		return URL{}, err
	}
	if again, err := url.Parse(u.String()); err != nil || again.Hostname() != u.host.String() || again.User != nil {
		return URL{}, refuse("url/syntax", raw, "is read in different ways")
	}
	return u, nil
}

// authority reads host and port into u.
func (u *URL) authority(raw, authority string) error {
	switch {
	case authority == "":
		return refuse("url/host", raw, "has no host")
	case strings.ContainsRune(authority, '@'):
		e := refuse("url/userinfo", raw, "has a user name before its host")
		e.Remedy = "leave out what stands before the @"
		return e
	}
	host, port := authority, ""
	if at := strings.LastIndexByte(authority, ':'); at >= 0 && !strings.HasSuffix(authority, "]") {
		host, port = authority[:at], authority[at+1:]
		if strings.ContainsRune(host, ':') && !strings.HasPrefix(host, "[") {
			return refuse("url/host", raw, "has an IPv6 address without brackets, or two ports")
		}
	}
	u.port = defaultPort(u.scheme)
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' || port[0] == '+' {
			return refuse("url/port", raw, "has no port from 1 to 65535 after its host")
		}
		u.port = uint16(n)
	}
	var err error
	u.host, err = ParseHost(host)
	return err
}

// cutScheme splits a URL at the colon after its scheme.
func cutScheme(raw string) (scheme, rest string, found bool) {
	scheme, rest, found = strings.Cut(raw, ":")
	if !found || scheme == "" {
		return "", "", false
	}
	scheme = strings.ToLower(scheme)
	for i := range len(scheme) {
		c := scheme[i]
		if !('a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return "", "", false
		}
	}
	return scheme, rest, true
}

func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// encode percent-encodes what does not stand in a URL as it is. What is encoded stays.
func encode(tail string) string {
	clean := true
	for i := range len(tail) {
		clean = clean && !needsEncoding(tail, i)
	}
	if clean {
		return tail
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(tail) {
		if c := tail[i]; needsEncoding(tail, i) {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func needsEncoding(s string, i int) bool {
	switch c := s[i]; c {
	case ' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}':
		return true
	case '%':
		return i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])
	default:
		return c >= 0x80
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
