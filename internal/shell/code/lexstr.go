package code

import (
	"strings"
	"unicode/utf8"
)

// How the inside of a string is read.
type quoting struct {
	raw    bool   // no escapes at all
	simple bool   // only the delimiter and the backslash can be escaped
	interp string // "", "{" (Python f), "#{" (Ruby), "${" (JavaScript), "$" (PHP, Perl)
	open   byte   // opening delimiter where they nest
	regex  bool   // keep escapes as written
	lines  bool   // may not span lines
}

// quoted reads any string, pattern or word list that starts with c here.
func (l *lexer) quoted(c byte) bool {
	a := l.i
	switch c {
	case '\'', '"':
		return l.plainString(c)
	case '`':
		switch l.lang {
		case Node:
			l.i++
			l.str(tStr, a, "`", quoting{interp: "${"})
		case PHP, Perl:
			l.i++
			l.str(tShell, a, "`", quoting{interp: "$"})
		case Ruby:
			l.i++
			l.str(tShell, a, "`", quoting{interp: "#{"})
		case R:
			l.i++
			l.str(tStr, a, "`", quoting{})
			l.eff(Unknown)
		default:
			return false
		}
		return true
	case '/':
		return l.slash()
	case '[':
		if l.lang == Lua {
			if n := l.longBracket(); n >= 0 {
				l.i += n + 2
				if l.at(l.i) == '\n' {
					l.i++
				}
				l.str(tStr, a, "]"+strings.Repeat("=", n)+"]", quoting{raw: true})
				return true
			}
		}
	case '<':
		return l.angle()
	case '%', '?', ':':
		if l.lang == Ruby {
			return l.rubyQuote(c)
		}
	}
	return false
}

func (l *lexer) plainString(c byte) bool {
	a := l.i
	q := quoting{}
	end := string(rune(c))
	switch l.lang {
	case Python:
		l.pyString(a, "")
		return true
	case PHP, Perl:
		q.simple = c == '\''
		if c == '"' {
			q.interp = "$"
		}
	case Ruby:
		q.simple = c == '\''
		if c == '"' {
			q.interp = "#{"
		}
	case Node, Lua, R:
		q.lines = l.lang != R
	}
	l.i++
	l.str(tStr, a, end, q)
	return true
}

func (l *lexer) pyPrefix(w string, a int) bool {
	for i := range len(w) {
		if !strings.ContainsRune("rRbBuUfFtT", rune(w[i])) {
			return false
		}
	}
	l.pyString(a, strings.ToLower(w))
	return true
}

func (l *lexer) pyString(a int, prefix string) {
	c := l.src[l.i]
	q := quoting{raw: strings.Contains(prefix, "r"), lines: true}
	if strings.ContainsAny(prefix, "ft") {
		q.interp = "{"
	}
	end := l.src[l.i : l.i+1]
	if l.at(l.i+1) == c && l.at(l.i+2) == c {
		end = l.src[l.i : l.i+3]
		q.lines = false
	}
	l.i += len(end)
	l.str(tStr, a, end, q)
}

// str reads up to end and emits a token of the given kind that starts at a.
func (l *lexer) str(k tkind, a int, end string, q quoting) {
	n := len(l.parts)
	l.body(end, q)
	l.emit(token{kind: k, a: a, b: l.i, n: n, m: len(l.parts)})
}

// body reads the inside of a string, up to and past end, into parts.
func (l *lexer) body(end string, q quoting) {
	start, depth := l.i, 0
	var buf []byte
	flush := func() {
		if buf == nil {
			if l.i > start {
				l.parts = append(l.parts, part{lit: l.src[start:l.i]})
			}
			return
		}
		l.parts = append(l.parts, part{lit: string(append(buf, l.src[start:l.i]...))})
		buf = nil
	}
	for l.i < l.b {
		c := l.src[l.i]
		switch {
		case c == end[0] && depth == 0 && l.has(end):
			flush()
			l.i += len(end)
			return
		case q.open != 0 && c == q.open:
			depth++
		case q.open != 0 && c == end[0]:
			depth--
		case c == '\n' && q.lines:
			flush()
			l.eff(Unknown)
			return
		case c == 0:
			flush()
			l.parts = append(l.parts, part{wild: true})
			l.i++
			start = l.i
			continue
		case c == '\\' && l.i+1 < l.b:
			if q.raw || q.regex {
				l.i += 2
				continue
			}
			if buf == nil {
				buf = make([]byte, 0, 32)
			}
			buf = append(buf, l.src[start:l.i]...)
			buf = l.escape(buf, end[0], q)
			start = l.i
			continue
		case q.interp != "" && l.interpolation(q, end[0]):
			flush()
			l.i = l.interpolate(q)
			start = l.i
			continue
		}
		l.i++
	}
	l.i = l.b
	flush()
	l.eff(Unknown)
}

// interpolation reports whether code starts here inside a string.
func (l *lexer) interpolation(q quoting, end byte) bool {
	c, d := l.src[l.i], l.at(l.i+1)
	switch q.interp {
	case "{":
		return c == '{'
	case "#{":
		return c == '#' && (d == '{' || d == '$' || d == '@')
	case "${":
		return c == '$' && d == '{'
	}
	if l.lang == PHP {
		return c == '$' && (isAlpha(d) || d == '{') || c == '{' && d == '$'
	}
	if q.regex && c == '$' && (d == ')' || d == '|' || d == end) {
		return false
	}
	return c == '$' && (isWord(d) || d == '{' || d == '$' || d == ':' || d == '&' || d == '@' || d == '!' || d == '^' || d == '/') && d != end ||
		c == '@' && (isAlpha(d) || d == '{' || d == '$' || d == ':')
}

// interpolate adds the code that starts here as a part and returns the place behind it.
func (l *lexer) interpolate(q quoting) int {
	i := l.i
	if q.interp == "{" {
		if l.at(i+1) == '{' {
			l.parts = append(l.parts, part{lit: "{"})
			return i + 2
		}
		return l.field(i + 1)
	}
	if q.interp == "#{" && l.at(i+1) != '{' {
		j := i + 2
		for j < l.b && (isWord(l.src[j]) || l.src[j] == '@') {
			j++
		}
		l.parts = append(l.parts, part{wild: true})
		return j
	}
	if q.interp == "#{" || q.interp == "${" || l.lang == PHP && l.src[i] == '{' {
		a := i + len(q.interp)
		if l.lang == PHP {
			a = i + 1
		}
		j := l.bracket(a - 1)
		l.parts = append(l.parts, part{code: true, a: a, b: max(a, j-1)})
		return j
	}
	return l.sigil(i)
}

// sigil adds a $x or @x inside a string, with its subscripts.
func (l *lexer) sigil(i int) int {
	j := i + 1
	for l.at(j) == '$' && isWord(l.at(j+1)) {
		l.parts = append(l.parts, part{wild: true})
		return j + 1 // symbolic or scalar reference: the name after it is read as text
	}
	if l.at(j) == '{' {
		k := l.bracket(j)
		inside := l.src[j+1 : max(j+1, k-1)]
		if isName(inside) {
			l.parts = append(l.parts, part{wild: true, lit: inside})
		} else {
			l.parts = append(l.parts, part{code: true, a: j + 1, b: max(j+1, k-1)})
		}
		return l.subscripts(k)
	}
	if !isWord(l.at(j)) && l.at(j) != ':' {
		l.parts = append(l.parts, part{wild: true})
		return min(j+1, l.b)
	}
	for j < l.b && (isWord(l.src[j]) || l.src[j] == ':' && l.at(j+1) == ':' && isAlpha(l.at(j+2))) {
		if l.src[j] == ':' {
			j++
		}
		j++
	}
	if j == i+1 {
		j++
	}
	k := l.subscripts(j)
	if k == j {
		l.parts = append(l.parts, part{wild: true, lit: l.src[i+1 : j]})
	} else {
		l.parts = append(l.parts, part{code: true, a: i, b: k})
	}
	return k
}

// subscripts returns the end of the [..], {..}, ->[..] and ->x that follow a variable in a string.
func (l *lexer) subscripts(j int) int {
	for j < l.b {
		switch {
		case l.src[j] == '[' && (isWord(l.at(j+1)) || l.at(j+1) == '$' || l.at(j+1) == '\'' || l.at(j+1) == '"' || l.at(j+1) == '-'),
			l.src[j] == '{' && l.lang == Perl:
			j = l.bracket(j)
		case l.src[j] == '-' && l.at(j+1) == '>' && l.lang == PHP && isAlpha(l.at(j+2)):
			j += 2
			for isWord(l.at(j)) {
				j++
			}
			return j
		case l.src[j] == '-' && l.at(j+1) == '>' && (l.at(j+2) == '[' || l.at(j+2) == '{'):
			j = l.bracket(j + 2)
		default:
			return j
		}
	}
	return j
}

// bracket returns the place behind the bracket that closes the one at i; quotes inside are respected.
func (l *lexer) bracket(i int) int {
	depth := 0
	for ; i < l.b; i++ {
		switch c := l.src[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			i++
		case '\'', '"', '`':
			j := i + 1
			for j < l.b && l.src[j] != c {
				if l.src[j] == '\\' {
					j++
				}
				j++
			}
			if j >= l.b {
				l.eff(Unknown)
				return l.b
			}
			i = j
		}
	}
	l.eff(Unknown)
	return l.b
}

// field reads a replacement field of a Python f-string: expression, conversion, format.
func (l *lexer) field(a int) int {
	depth, i := 0, a
	for ; i < l.b; i++ {
		c := l.src[i]
		switch {
		case c == '(' || c == '[' || c == '{':
			depth++
			continue
		case depth > 0 && (c == ')' || c == ']' || c == '}'):
			depth--
			continue
		case c == '\'' || c == '"':
			n := strings.IndexByte(l.src[i+1:l.b], c)
			if n < 0 {
				l.eff(Unknown)
				return l.b
			}
			i += n + 1
			continue
		case depth > 0:
			continue
		}
		if c == '}' || c == '=' && l.at(i+1) == '}' || c == ':' && l.at(i+1) != '=' ||
			c == '!' && l.at(i+1) != '=' {
			break
		}
	}
	p := part{code: true, a: a, b: min(i, l.b)}
	if l.at(i) != '}' {
		p.wild = true // formatted: its text is not the value's
	}
	l.parts = append(l.parts, p)
	for i < l.b && l.src[i] != '}' {
		if l.src[i] == '{' {
			j := l.bracket(i)
			l.parts = append(l.parts, part{code: true, wild: true, a: i + 1, b: max(i+1, j-1)})
			i = j
			continue
		}
		i++
	}
	return min(i+1, l.b)
}

func isName(s string) bool {
	if s == "" || !isAlpha(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return true
}

// escape appends what the escape at l.i stands for and moves behind it.
func (l *lexer) escape(buf []byte, end byte, q quoting) []byte {
	c := l.src[l.i+1]
	l.i += 2
	if q.simple {
		if c != end && c != '\\' && (q.open == 0 || c != q.open) {
			buf = append(buf, '\\')
		}
		return append(buf, c)
	}
	switch c {
	case 'n':
		return append(buf, '\n')
	case 't':
		return append(buf, '\t')
	case 'r':
		return append(buf, '\r')
	case 'a':
		return append(buf, '\a')
	case 'b':
		return append(buf, '\b')
	case 'f':
		return append(buf, '\f')
	case 'v':
		return append(buf, '\v')
	case 'e':
		return append(buf, 0x1b)
	case '\n':
		return buf
	case 'z':
		if l.lang == Lua {
			for l.i < l.b && isSpace(l.src[l.i]) {
				l.i++
			}
			return buf
		}
	case 'N', 'c', 'C', 'M', 'Q', 'U', 'L', 'E', 'l':
		if l.lang == Python && c == 'U' {
			return l.hex(buf, 8)
		}
		if c == 'N' || l.lang == Perl || l.lang == Ruby {
			return append(buf, 0)
		}
	case 'x':
		return l.hex(buf, 2)
	case 'u':
		return l.hex(buf, 4)
	}
	if isDigit(c) && (l.lang == Lua || c < '8') {
		base, v := 8, 0
		if l.lang == Lua {
			base = 10
		}
		l.i--
		for n := 0; n < 3 && isDigit(l.at(l.i)) && int(l.src[l.i]-'0') < base; n++ {
			v = v*base + int(l.src[l.i]-'0')
			l.i++
		}
		return appendChar(buf, v)
	}
	return append(buf, c)
}

func (l *lexer) hex(buf []byte, n int) []byte {
	brace := l.at(l.i) == '{'
	if brace {
		l.i++
		n = 8
	}
	v := 0
	for ; n > 0 && l.i < l.b; n-- {
		d := hexDigit(l.src[l.i])
		if d < 0 {
			break
		}
		v = v<<4 | d
		l.i++
	}
	if brace && l.at(l.i) == '}' {
		l.i++
	}
	return appendChar(buf, v)
}

func appendChar(buf []byte, v int) []byte {
	if v < 0x80 {
		return append(buf, byte(v))
	}
	if v > utf8.MaxRune {
		return append(buf, 0)
	}
	return utf8.AppendRune(buf, rune(v))
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
