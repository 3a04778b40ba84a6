package winsh

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads a '…' or "…" string.
func (p *psParser) quoted() value {
	q := p.src[p.pos]
	p.pos++
	if q == '\'' {
		lo, doubled := p.pos, false
		for p.more() {
			if p.src[p.pos] == '\'' {
				if p.peek(1) != '\'' {
					break
				}
				doubled = true
				p.pos++
			}
			p.pos++
		}
		s := p.src[lo:min(p.pos, len(p.src))]
		p.pos = min(p.pos+1, len(p.src))
		if doubled {
			s = strings.ReplaceAll(s, "''", "'")
		}
		return literal(s)
	}
	return p.expandable(func() bool {
		if p.src[p.pos] != '"' {
			return false
		}
		if p.peek(1) == '"' {
			p.pos++
			return false
		}
		p.pos++
		return true
	})
}

// hereString reads @'…'@ or @"…"@; the closing mark stands at the start of a line.
func (p *psParser) hereString() value {
	q := p.src[p.pos+1]
	p.pos += 2
	if i := strings.IndexByte(p.src[p.pos:], '\n'); i >= 0 && strings.TrimSpace(p.src[p.pos:p.pos+i]) == "" {
		p.pos += i + 1
	}
	closed := func() bool {
		if p.src[p.pos] == q && p.peek(1) == '@' && p.pos > 0 && p.src[p.pos-1] == '\n' {
			p.pos += 2
			return true
		}
		return false
	}
	if q == '"' {
		v := p.expandable(closed)
		v.s = strings.TrimSuffix(strings.TrimSuffix(v.s, "\n"), "\r")
		return v
	}
	lo := p.pos
	for p.more() {
		hi := p.pos
		if closed() {
			return literal(strings.TrimSuffix(strings.TrimSuffix(p.src[lo:hi], "\n"), "\r"))
		}
		p.pos++
	}
	return literal(p.src[lo:])
}

// expandable reads text with escapes, variables and $( ) in it, up to where closed moves past the end of it.
func (p *psParser) expandable(closed func() bool) value {
	v := value{known: true}
	lo := p.pos
	var b strings.Builder
	plain := true
	for p.more() {
		hi := p.pos
		if closed() {
			if plain {
				v.s = p.src[lo:hi]
				return v
			}
			v.s = b.String()
			break
		}
		c := p.src[p.pos]
		if plain && (c == '`' || c == '$' || c == '"' && p.pos > hi) {
			plain = false
			b.WriteString(p.src[lo:hi])
		}
		switch {
		case c == '`':
			p.pos++
			p.escape(&b)
			continue
		case c == '$':
			q := p.primary()
			v.known, v.remote = v.known && q.known, v.remote || q.remote
			b.WriteString(strings.Join(q.items(), " "))
			continue
		case !plain:
			b.WriteByte(c)
		}
		p.pos++
	}
	if plain {
		v.s = p.src[min(lo, len(p.src)):]
	} else if v.s == "" {
		v.s = b.String()
	}
	if !p.m.spend(len(v.s)) {
		v.s, v.known = "", false
	}
	return v
}

// escape reads what follows a backtick in a string.
func (p *psParser) escape(b *strings.Builder) {
	if !p.more() {
		return
	}
	c := p.src[p.pos]
	p.pos++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't', 'v', 'f':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '0', 'a', 'b', 'e':
	case 'u':
		if p.peek(0) == '{' {
			if end := strings.IndexByte(p.src[p.pos:min(p.pos+9, len(p.src))], '}'); end > 0 {
				if n, err := strconv.ParseInt(p.src[p.pos+1:p.pos+end], 16, 32); err == nil {
					b.WriteRune(rune(n))
				}
				p.pos += end + 1
			}
		}
	default:
		b.WriteByte(c)
	}
}

// add is +: joined text, or a longer array.
func (p *psParser) add(a, b value) value {
	r := value{known: a.known && b.known, remote: a.remote || b.remote}
	if a.array {
		r.array, r.list = true, append(a.list[:len(a.list):len(a.list)], b.items()...)
		if !p.m.spend(len(r.list)) {
			r.list, r.known = r.list[:1], false
		}
		if len(r.list) > 0 {
			r.s = r.list[0]
		}
		return r
	}
	n := len(a.s) + len(b.s)
	if n > maxValue || !p.m.spend(n) {
		r.known = false
		return r
	}
	r.s = a.s + b.s
	if x, err := strconv.Atoi(a.s); err == nil && a.known && b.known {
		if y, err := strconv.Atoi(b.s); err == nil { // maybe numbers: text and sum differ
			r.s = strconv.Itoa(x + y)
		}
	}
	return r
}

// apply evaluates a operator b where both are literal.
func (p *psParser) apply(a value, op string, b value) value {
	r := value{remote: a.remote || b.remote, known: a.known && b.known}
	unary := a.s == "" && !a.array && !a.known
	if !p.m.spend(len(a.s) + len(b.s) + len(a.list) + len(b.list)) {
		return value{s: "", remote: r.remote}
	}
	switch op {
	case "+":
		return p.add(a, b)
	case "-f":
		s, ok := format(a.s, b.items())
		r.s, r.known = s, r.known && ok && p.m.spend(len(s))
	case "-join":
		if unary {
			r.s, r.known = strings.Join(b.items(), ""), b.known
		} else {
			r.s = strings.Join(a.items(), b.s)
		}
		r.known = r.known && len(r.s) <= maxValue && p.m.spend(len(r.s))
	case "-replace", "-creplace", "-ireplace":
		if items := b.items(); len(items) > 0 && len(items) < 3 && items[0] != "" && !strings.ContainsAny(items[0], `\^$.|?*+()[]{}`) {
			with := ""
			if len(items) == 2 {
				with = items[1]
			}
			r.s = replaceFold(a.s, items[0], with)
			r.known = r.known && !strings.Contains(with, "$") && len(r.s) <= maxValue && p.m.spend(len(r.s))
		} else {
			r.s, r.known = a.s, false
		}
	case "-split", "-csplit", "-isplit":
		text, sep := a.s, b.s
		if unary {
			text, sep, r.known = b.s, " ", b.known
		}
		if sep == "" || len(sep) > 1 || strings.ContainsAny(sep, `\^$.|?*+()[]{}`) || !p.m.spend(len(text)) {
			r.known = false
			break
		}
		r.list, r.array = strings.Split(text, sep), true
		r.s = r.list[0]
	case "*":
		n, err := strconv.Atoi(b.s)
		if err != nil || n < 0 || n*len(a.s) > maxValue || !p.m.spend(n*len(a.s)) {
			r.known = false
			break
		}
		r.s = strings.Repeat(a.s, n)
	case "-as":
		r.s, r.known = a.s, a.known
	default:
		r.s, r.known = a.s, false
	}
	return r
}

// format is -f for {0} without alignment.
func format(pattern string, args []string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(pattern) && pattern[i+1] == c:
			b.WriteByte(c)
			i++
		case c == '{':
			end := strings.IndexByte(pattern[i:min(len(pattern), i+16)], '}')
			if end < 0 {
				return pattern, false
			}
			n, err := strconv.Atoi(strings.TrimSpace(pattern[i+1 : i+end]))
			if err != nil || n < 0 || n >= len(args) || b.Len()+len(args[n]) > maxValue {
				return pattern, false
			}
			b.WriteString(args[n])
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// replaceFold replaces old without regard to case.
func replaceFold(s, old, with string) string {
	low := strings.ToLower(s)
	if len(low) != len(s) {
		return s
	}
	old = strings.ToLower(old)
	var b strings.Builder
	for {
		i := strings.Index(low, old)
		if i < 0 || b.Len() > maxValue {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		b.WriteString(with)
		s, low = s[i+len(old):], low[i+len(old):]
	}
}

// element is v[i] for literal text and lists.
func element(v, i value) value {
	r := value{s: v.s, remote: v.remote}
	if !v.known || !i.known {
		return r
	}
	pick := func(s string) (string, bool) {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return "", false
		}
		size := len(v.s)
		if v.array {
			size = len(v.list)
		}
		if n < 0 {
			n += size
		}
		if n < 0 || n >= size {
			return "", false
		}
		if v.array {
			return v.list[n], true
		}
		return v.s[n : n+1], v.s[n] < utf8.RuneSelf
	}
	items := i.items()
	out := make([]string, 0, len(items))
	for _, s := range items {
		c, ok := pick(s)
		if !ok {
			return r
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return r
	}
	r.s, r.known = out[0], true
	if i.array {
		r.list, r.array = out, true
	}
	return r
}

// method evaluates a text method on literal text. False: the call is a command like any other.
func (p *psParser) method(on value, name string, args []value) (value, bool) {
	r := value{known: on.known, remote: on.remote}
	arg := func(i int) string { return args[i].s }
	for _, a := range args {
		if !a.known || a.block {
			return r, false
		}
		r.remote = r.remote || a.remote
	}
	if !p.m.spend(len(on.s)) {
		return r, false
	}
	switch {
	case on.s == "[string]" && (name == "concat" || name == "join"):
		r.known = true
		sep, rest := "", args
		if name == "join" && len(args) > 1 {
			sep, rest = arg(0), args[1:]
		}
		var all []string
		for _, a := range rest {
			all = append(all, a.items()...)
		}
		r.s = strings.Join(all, sep)
		return r, true
	case !on.known || on.block || on.array:
		return r, false
	}
	switch {
	case name == "replace" && len(args) == 2 && arg(0) != "":
		if len(arg(1)) > 256 {
			return r, false
		}
		r.s = strings.ReplaceAll(on.s, arg(0), arg(1))
	case name == "tolower" || name == "tolowerinvariant":
		r.s = strings.ToLower(on.s)
	case name == "toupper" || name == "toupperinvariant":
		r.s = strings.ToUpper(on.s)
	case name == "tostring" || name == "normalize":
		r.s = on.s
	case name == "trim" && len(args) == 0:
		r.s = strings.TrimSpace(on.s)
	case name == "insert" && len(args) == 2:
		n, err := strconv.Atoi(arg(0))
		if err != nil || n < 0 || n > len(on.s) {
			return r, false
		}
		r.s = on.s[:n] + arg(1) + on.s[n:]
	case name == "substring" && len(args) > 0:
		n, err := strconv.Atoi(arg(0))
		end := len(on.s)
		if len(args) > 1 && err == nil {
			var m int
			m, err = strconv.Atoi(arg(1))
			end = n + m
		}
		if err != nil || n < 0 || end < n || end > len(on.s) {
			return r, false
		}
		r.s = on.s[n:end]
	default:
		return r, false
	}
	return r, true
}
