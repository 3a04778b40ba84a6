package checked

import "strings"

// Hostname is a host's name in ASCII, lower case, without a final dot. It is never an address, nor anything that a
// resolver would read as one.
type Hostname struct{ text string }

// ParseHostname accepts dot-separated labels of letters, digits, "-" and "_", with no dash at a label's ends. A name in
// another script must be folded to ASCII (IDNA) first; an address is refused, in every spelling that resolvers take.
func ParseHostname(s string) (Hostname, error) {
	const typ = "hostname"
	name := strings.TrimSuffix(s, ".")
	switch {
	case name == "":
		return Hostname{}, refuse(typ, s, -1, "is empty")
	case len(name) > 253:
		return Hostname{}, refuse(typ, s, -1, "is longer than 253 characters")
	}
	pos := 0
	for label := range strings.SplitSeq(name, ".") {
		if at, cause := labelTrouble(label); cause != "" {
			return Hostname{}, refuse(typ, s, pos+at, cause)
		}
		pos += len(label) + 1
	}
	if numeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return Hostname{}, refuse(typ, s, -1, "reads as an address, not a name")
	}
	return Hostname{strings.ToLower(name)}, nil
}

// labelTrouble returns where a label is at fault, and why; no reason means that it is fine.
func labelTrouble(label string) (at int, cause string) {
	last := len(label) - 1
	switch {
	case label == "":
		return 0, "a name between the dots is missing"
	case last >= 63:
		return 63, "a part between dots is longer than 63 characters"
	case label[0] == '-':
		return 0, "a part cannot begin with a dash"
	case label[last] == '-':
		return last, "a part cannot end with a dash"
	}
	for i := range len(label) {
		c := label[i]
		switch {
		case lower(c) || upper(c) || digit(c) || c == '-' || c == '_':
		case c >= 0x80:
			return i, "fold the name to ASCII (IDNA) first"
		default:
			return i, "only letters, digits, - and _ are allowed"
		}
	}
	return 0, ""
}

// numeric tells whether a name's last label makes resolvers read the whole as an IPv4 address: decimal or hexadecimal.
func numeric(label string) bool {
	rest, hex := label, false
	if len(label) >= 2 && label[0] == '0' && label[1]|0x20 == 'x' {
		rest, hex = label[2:], true
	}
	for i := range len(rest) {
		c := rest[i]
		if !digit(c) && !(hex && 'a' <= c|0x20 && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// String returns the name in lower case, "" for the zero value.
func (h Hostname) String() string { return h.text }

// IsZero tells whether h was never parsed.
func (h Hostname) IsZero() bool { return h.text == "" }
