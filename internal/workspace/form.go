package workspace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how a file's bytes are text.
type Encoding uint8

// The encodings.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
	Latin1 // a guess: the bytes are text, and not UTF-8
)

// String returns the encoding's name.
func (e Encoding) String() string {
	return [...]string{UTF8: "UTF-8", UTF16LE: "UTF-16LE", UTF16BE: "UTF-16BE", Latin1: "ISO-8859-1"}[e]
}

// Form is what is kept of a file when its text changes.
type Form struct {
	Encoding Encoding
	BOM      bool
	CRLF     bool // every line ends with CR LF; Text then has LF alone
	Mixed    bool // some lines end with CR LF; Text has them as they are
	Unended  bool // the last line has no line end
}

// String returns what is unusual about a form; "" if nothing is.
func (f Form) String() string {
	var out []string
	if f.Encoding != UTF8 {
		out = append(out, f.Encoding.String())
	}
	if f.BOM && f.Encoding == UTF8 {
		out = append(out, "byte order mark")
	}
	if f.CRLF {
		out = append(out, "CR LF line ends")
	}
	if f.Mixed {
		out = append(out, "mixed line ends")
	}
	return strings.Join(out, ", ")
}

// decode makes text of bytes. What is not text is ErrBinary.
func decode(b []byte) (string, Form, error) {
	var f Form
	var s string
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		f.BOM, f.Encoding = true, UTF16LE
		if b[0] == 0xfe {
			f.Encoding = UTF16BE
		}
		if len(b)%2 != 0 {
			return "", f, ErrBinary
		}
		units := make([]uint16, 0, len(b)/2)
		for i := 2; i < len(b); i += 2 {
			units = append(units, f.Encoding.order().Uint16(b[i:]))
		}
		s = string(utf16.Decode(units))
		if back, err := f.bytes(s); err != nil || !bytes.Equal(back, b) || strings.ContainsRune(s, 0) {
			return "", f, ErrBinary
		}
	case bytes.IndexByte(b, 0) >= 0:
		return "", f, ErrBinary
	case utf8.Valid(b):
		rest, bom := bytes.CutPrefix(b, []byte("\xef\xbb\xbf"))
		s, f.BOM = string(rest), bom
	default:
		f.Encoding = Latin1
		runes, odd := make([]rune, len(b)), 0
		for i, c := range b {
			runes[i] = rune(c)
			if c < 0x20 && !strings.ContainsRune("\t\n\r\f\v\b\x1b", rune(c)) || c >= 0x7f && c < 0xa0 {
				odd++
			}
		}
		if odd*20 > len(b) {
			return "", f, ErrBinary
		}
		s = string(runes)
	}
	all, crlf := strings.Count(s, "\n"), strings.Count(s, "\r\n")
	f.CRLF, f.Mixed = crlf > 0 && crlf == all, crlf > 0 && crlf < all
	f.Unended = s != "" && !strings.HasSuffix(s, "\n")
	if f.CRLF {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s, f, nil
}

func (e Encoding) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if e == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// encode makes bytes of text, in a form.
func (f Form) encode(s string) ([]byte, error) {
	if f.CRLF {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
	}
	return f.bytes(s)
}

func (f Form) bytes(s string) ([]byte, error) {
	switch f.Encoding {
	case Latin1:
		out := make([]byte, 0, len(s))
		for i, r := range s {
			if r > 0xff {
				return nil, fmt.Errorf("the file is %s, which has no %q (line %d): convert it to UTF-8 first", f.Encoding, r, 1+strings.Count(s[:i], "\n"))
			}
			out = append(out, byte(r))
		}
		return out, nil
	case UTF16LE, UTF16BE:
		units := utf16.Encode([]rune(s))
		out := make([]byte, 0, 2+2*len(units))
		if f.BOM {
			out = f.Encoding.order().AppendUint16(out, 0xfeff)
		}
		for _, u := range units {
			out = f.Encoding.order().AppendUint16(out, u)
		}
		return out, nil
	}
	if f.BOM {
		s = "\xef\xbb\xbf" + s
	}
	return []byte(s), nil
}
