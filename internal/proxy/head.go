package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxHead is how many bytes a request's line and fields may have.
const MaxHead = 64 << 10

// maxFields is how many fields a request may have.
const maxFields = 256

// field is one header field, as it was sent.
type field struct{ Name, Value string }

// head is a request without its body, read so strictly that no two readers can understand it differently.
type head struct {
	Method, Target string
	Minor          int // of HTTP/1
	Fields         []field

	Host    string // of the Host field
	Length  int64  // of the body; -1: chunked
	Close   bool   // the client wants no further request
	Token   string // of Proxy-Authorization, Basic or Bearer
	Expect  bool   // the client waits for 100 Continue
	Upgrade bool   // the client wants to leave HTTP
}

// headError says what is wrong with a request's head, and which status it gets.
type headError struct {
	Status int
	Why    string
}

func (e *headError) Error() string { return e.Why }

func bad(format string, args ...any) error {
	return &headError{Status: 400, Why: fmt.Sprintf(format, args...)}
}

// errNoRequest says that the client went away between two requests.
var errNoRequest = errors.New("no request")

// readHead reads the next request's head, and nothing after it.
func readHead(r *bufio.Reader) (*head, error) {
	left := MaxHead
	line, err := readLine(r, &left)
	if err != nil {
		return nil, err
	}
	h := &head{}
	if err := h.line(line); err != nil {
		return nil, err
	}
	for {
		line, err := readLine(r, &left)
		if errors.Is(err, errNoRequest) {
			return nil, bad("the request ends in its fields")
		}
		if err != nil {
			return nil, err
		}
		if line == "" {
			return h, h.understand()
		}
		if len(h.Fields) == maxFields {
			return nil, &headError{431, fmt.Sprintf("more than %d fields", maxFields)}
		}
		f, err := parseField(line)
		if err != nil {
			return nil, err
		}
		h.Fields = append(h.Fields, f)
	}
}

// readLine reads a line that ends with CR LF, without it. left is what the head may still have.
func readLine(r *bufio.Reader, left *int) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if *left -= len(part); *left < 0 {
			return "", &headError{431, fmt.Sprintf("the head is larger than %d bytes", MaxHead)}
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(line) == 0:
			return "", errNoRequest
		case err != nil:
			return "", err
		}
		text, found := bytes.CutSuffix(line, []byte("\r\n"))
		if !found {
			return "", bad("a line that does not end with CR LF")
		}
		if i := bytes.IndexFunc(text, control); i >= 0 {
			return "", bad("control character %#02x in a line", text[i])
		}
		return string(text), nil
	}
}

// control tells whether a byte has no place in a line. Bytes above ASCII are judged where they matter.
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// line reads the request line.
func (h *head) line(line string) error {
	method, rest, ok := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	switch {
	case !ok || !ok2 || strings.ContainsAny(version, " \t") || strings.Contains(target, "\t"):
		return bad("the request line is not METHOD TARGET VERSION")
	case !token(method):
		return bad("method %q is not a token", method)
	case target == "":
		return bad("the target is empty")
	case version == "HTTP/1.1":
		h.Minor = 1
	case version != "HTTP/1.0":
		return &headError{505, fmt.Sprintf("version %q is neither HTTP/1.1 nor HTTP/1.0", version)}
	}
	for i := 0; i < len(target); i++ {
		if target[i] <= ' ' || target[i] > '~' {
			return bad("byte %#02x in the target", target[i])
		}
	}
	h.Method, h.Target = method, target
	return nil
}

// parseField reads one field. No folded lines, no space before the colon.
func parseField(line string) (field, error) {
	if line[0] == ' ' || line[0] == '\t' {
		return field{}, bad("a folded field")
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !token(name) {
		return field{}, bad("a field without a proper name")
	}
	return field{name, strings.Trim(value, " \t")}, nil
}

// token tells whether s is a token of RFC 9110.
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

// understand reads the fields that say how long the body is, and whom the request is for.
func (h *head) understand() error {
	h.Close = h.Minor == 0
	var hosts, lengths, codings int
	for _, f := range h.Fields {
		switch strings.ToLower(f.Name) {
		case "host":
			hosts++
			h.Host = f.Value
		case "content-length":
			lengths++
			n, err := strconv.ParseUint(f.Value, 10, 63)
			if err != nil || f.Value[0] == '+' {
				return bad("content length %q is not a number", f.Value)
			}
			h.Length = int64(n)
		case "transfer-encoding":
			codings++
			if !strings.EqualFold(f.Value, "chunked") {
				return &headError{501, fmt.Sprintf("transfer coding %q is not understood", f.Value)}
			}
			h.Length = -1
		case "connection", "proxy-connection":
			for _, option := range strings.Split(f.Value, ",") {
				switch option = strings.Trim(option, " \t"); {
				case strings.EqualFold(option, "close"):
					h.Close = true
				case strings.EqualFold(option, "keep-alive") && h.Minor == 0:
					h.Close = false
				case strings.EqualFold(option, "upgrade"):
					h.Upgrade = true
				}
			}
		case "expect":
			if !strings.EqualFold(f.Value, "100-continue") {
				return &headError{417, fmt.Sprintf("expectation %q", f.Value)}
			}
			h.Expect = true
		case "proxy-authorization":
			h.Token = credential(f.Value)
		}
	}
	switch {
	case hosts > 1:
		return bad("more than one Host field")
	case hosts == 0 && h.Minor == 1:
		return bad("no Host field")
	case lengths > 1:
		return bad("more than one content length")
	case codings > 1 || codings > 0 && lengths > 0:
		return bad("the length of the body is said twice")
	case codings > 0 && h.Minor == 0:
		return bad("a transfer coding in HTTP/1.0")
	}
	return nil
}
