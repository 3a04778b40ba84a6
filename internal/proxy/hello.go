package proxy

import (
	"encoding/binary"
	"errors"
)

// The numbers of RFC 8446 and RFC 6066, and of the encrypted hello (RFC 9849).
const (
	recordHandshake = 22
	helloMessage    = 1

	extensionServerName = 0
	extensionECH        = 0xfe0d
	serverNameHost      = 0

	recordHead  = 5
	maxRecord   = 1 << 14
	messageHead = 4
)

// MaxHello is how many bytes of handshake a first message may have. Hellos with post-quantum keys have about 1,800 bytes.
const MaxHello = 1 << 14

// hello is what the proxy wants to know of a client's first TLS message.
type hello struct {
	Name string // the server name asked for; "" if none
	ECH  bool   // an encrypted hello is inside: Name may be a front. Clients that only grease send one too
}

// Reading a hello ends with one of these, or well.
var (
	errShort    = errors.New("more bytes are needed")
	errNotTLS   = errors.New("no TLS handshake")
	errBadHello = errors.New("malformed TLS hello")
)

// readHello reads the ClientHello at the start of b: errShort asks for more bytes. A hello may be spread over several
// records, which is a way to hide its name from readers that look at one.
func readHello(b []byte) (hello, error) {
	var message []byte
	for want := messageHead; ; {
		switch {
		case len(b) > 0 && b[0] != recordHandshake:
			return hello{}, firstOr(message, errNotTLS)
		case len(b) > 1 && b[1] != 3:
			return hello{}, firstOr(message, errNotTLS)
		case len(b) < recordHead:
			return hello{}, errShort
		}
		size := int(binary.BigEndian.Uint16(b[3:]))
		if size == 0 || size > maxRecord {
			return hello{}, errBadHello
		}
		part := b[recordHead:min(len(b), recordHead+size)]
		message = append(message, part...)
		if len(message) > 0 && message[0] != helloMessage {
			return hello{}, errBadHello
		}
		if len(message) >= messageHead {
			want = messageHead + int(message[1])<<16 + int(binary.BigEndian.Uint16(message[2:]))
			if want > MaxHello {
				return hello{}, errBadHello
			}
		}
		if len(message) >= want && len(message) >= messageHead {
			return parseHello(message[messageHead:want])
		}
		if len(part) < size {
			return hello{}, errShort
		}
		b = b[recordHead+size:]
	}
}

// firstOr makes a wrong record after the first one a malformed hello.
func firstOr(message []byte, err error) error {
	if len(message) > 0 {
		return errBadHello
	}
	return err
}

// parseHello reads the body of a ClientHello.
func parseHello(b []byte) (hello, error) {
	r := reader{rest: b}
	r.skip(2 + 32)      // version, random
	r.take(r.number(1)) // session
	r.take(r.number(2)) // cipher suites
	r.take(r.number(1)) // compression
	var h hello
	if r.bad {
		return hello{}, errBadHello
	}
	if len(r.rest) == 0 {
		return h, nil // no extensions at all: TLS 1.2 may do so
	}
	all := reader{rest: r.take(r.number(2))}
	if r.bad || len(r.rest) > 0 {
		return hello{}, errBadHello
	}
	named := false
	for len(all.rest) > 0 {
		kind := all.number(2)
		data := all.take(all.number(2))
		if all.bad {
			return hello{}, errBadHello
		}
		switch kind {
		case extensionECH:
			h.ECH = true
		case extensionServerName:
			// Two of them: who reads the first and who reads the last would see different names.
			if named {
				return hello{}, errBadHello
			}
			named = true
			name, ok := serverName(data)
			if !ok {
				return hello{}, errBadHello
			}
			h.Name = name
		}
	}
	return h, nil
}

// serverName reads the list of names: it must hold exactly one host name.
func serverName(b []byte) (string, bool) {
	r := reader{rest: b}
	list := reader{rest: r.take(r.number(2))}
	if r.bad || len(r.rest) > 0 {
		return "", false
	}
	kind := list.number(1)
	name := list.take(list.number(2))
	if list.bad || len(list.rest) > 0 || kind != serverNameHost || len(name) == 0 || len(name) > 255 {
		return "", false
	}
	return string(name), true
}

// reader takes bytes off a message; after the first that is missing it only says bad.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) skip(n int) { r.take(n) }

// number reads a number of so many bytes.
func (r *reader) number(bytes int) int {
	n := 0
	for _, b := range r.take(bytes) {
		n = n<<8 | int(b)
	}
	return n
}
