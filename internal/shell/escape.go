package shell

import (
	"strings"
)

// How octal escapes are written differs: \101 in $'…' and printf's format, \0101 behind echo -e, both for printf's %b.
const (
	formatOctal = iota
	echoOctal
	bothOctal
)

// unescapeDouble removes the backslashes that count inside double quotes, or in a here-document when quotes is false.
func unescapeDouble(s string, quotes bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch c := s[i+1]; {
			case c == '\n':
				i++
				continue
			case c == '$' || c == '`' || c == '\\' || c == '"' && quotes:
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the escapes of $'…'.
func ansiC(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		var stop bool
		out, i, stop = escape(out, s, i, formatOctal)
		if stop {
			break
		}
	}
	if i := strings.IndexByte(string(out), 0); i >= 0 {
		out = out[:i]
	}
	return string(out)
}

// escape decodes one escape whose letter is s[i]. It returns the index of the last byte used; stop means \c.
func escape(out []byte, s string, i, octal int) (_ []byte, at int, stop bool) {
	switch c := s[i]; c {
	case 'a':
		out = append(out, 7)
	case 'b':
		out = append(out, 8)
	case 'e', 'E':
		out = append(out, 27)
	case 'f':
		out = append(out, 12)
	case 'n':
		out = append(out, '\n')
	case 'r':
		out = append(out, '\r')
	case 't':
		out = append(out, '\t')
	case 'v':
		out = append(out, 11)
	case '\\', '\'', '"', '?':
		out = append(out, c)
	case 'c':
		if octal != formatOctal {
			return out, i, true
		}
		if i+1 < len(s) {
			i++
			out = append(out, s[i]&0x1f)
		}
	case 'x':
		n, k := digits(s[i+1:], 16, 2)
		if k == 0 {
			return append(out, '\\', 'x'), i, false
		}
		out = append(out, byte(n))
		i += k
	case 'u', 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		n, k := digits(s[i+1:], 16, most)
		if k == 0 {
			return append(out, '\\', c), i, false
		}
		out = append(out, string(rune(n))...)
		i += k
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if octal == echoOctal && c != '0' {
			return append(out, '\\', c), i, false
		}
		most := 3
		if octal != formatOctal && c == '0' {
			most = 4
		}
		n, k := digits(s[i:], 8, most)
		out = append(out, byte(n))
		i += k - 1
	default:
		out = append(out, '\\', c)
	}
	return out, i, false
}

func digits(s string, base, most int) (n, count int) {
	for count < most && count < len(s) {
		d := strings.IndexByte("0123456789abcdef", s[count]|0x20)
		if s[count] >= '0' && s[count] <= '9' {
			d = int(s[count] - '0')
		}
		if d < 0 || d >= base {
			break
		}
		n = n*base + d
		count++
	}
	return n, count
}
