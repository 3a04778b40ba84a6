package winsh

import (
	"strconv"
	"strings"
)

// number reports whether the word at the cursor is a number and not a command such as 7z.
func (p *psParser) number() bool {
	i := p.pos
	for i < len(p.src) && (isIdent(p.src[i]) || p.src[i] == '.') {
		i++
	}
	w := strings.ToLower(p.src[p.pos:i])
	w = strings.TrimRight(w, "bkmgtpdlu")
	if dots := strings.Index(w, ".."); dots > 0 {
		w = w[:dots]
	}
	if _, err := strconv.ParseFloat(w, 64); err == nil {
		return true
	}
	_, err := strconv.ParseInt(w, 0, 64)
	return err == nil
}

// operator reports whether a word operator such as -join or -not is at the cursor.
func (p *psParser) operator() bool {
	switch p.word() {
	case "-join", "-split", "-csplit", "-isplit", "-not", "-bnot":
		return true
	}
	return false
}

// word is the -word at the cursor, lower case.
func (p *psParser) word() string {
	if p.peek(0) != '-' {
		return ""
	}
	i := p.pos + 1
	for i < len(p.src) && i-p.pos < 16 && isLetter(p.src[i]) {
		i++
	}
	return strings.ToLower(p.src[p.pos:i])
}

// expression reads operands joined by operators, from left to right; , binds tighter than all of them.
func (p *psParser) expression() value {
	v := p.operands()
	for {
		p.blanks(false)
		op := p.binary()
		if op == "" {
			return v
		}
		p.pos += len(op)
		p.blanks(true)
		if op == "++" || op == "--" {
			if old, ok := p.scope.vars[v.name]; ok {
				old.known = false
				p.scope.vars[v.name] = old
			}
			v.known = false
			continue
		}
		right := p.operands()
		v = p.apply(v, strings.ToLower(op), right)
	}
}

// binary is the operator at the cursor, "" for none.
func (p *psParser) binary() string {
	switch c := p.peek(0); c {
	case '+', '*', '/', '%':
		switch p.peek(1) {
		case '=':
			return ""
		case c:
			return p.src[p.pos : p.pos+2]
		}
		return p.src[p.pos : p.pos+1]
	case '.':
		if p.peek(1) == '.' {
			return ".."
		}
	case '?':
		if p.peek(1) == '?' && p.peek(2) != '=' {
			return "??"
		}
	case '-':
		if w := p.word(); len(w) > 1 {
			return p.src[p.pos : p.pos+len(w)]
		}
		if p.peek(1) == '-' {
			return "--"
		}
		if p.peek(1) != '=' {
			return "-"
		}
	}
	return ""
}

// operands reads a list joined by commas.
func (p *psParser) operands() value {
	v, ours := p.unary(), false
	for {
		at := p.pos
		p.blanks(false)
		if p.peek(0) != ',' {
			p.pos = max(at, min(p.pos, len(p.src)))
			return v
		}
		p.pos++
		p.blanks(true)
		w := p.unary()
		if !ours {
			v.list, ours = append([]string(nil), v.items()...), true
		}
		v.list = append(v.list, w.items()...)
		v = value{list: v.list, array: true, known: v.known && w.known, remote: v.remote || w.remote}
		if len(v.list) > 0 {
			v.s = v.list[0]
		}
	}
}

// unary reads prefixes and an operand with what hangs on it.
func (p *psParser) unary() value {
	if p.deep() {
		return value{}
	}
	p.depth++
	defer func() { p.depth-- }()
	switch c := p.peek(0); {
	case c == '!' || c == '+' || c == ',':
		p.pos++
		p.blanks(true)
		v := p.unary()
		v.known, v.name = v.known && c != '!', ""
		return v
	case c == '-':
		op := p.word()
		if len(op) > 1 {
			p.pos += len(op)
			p.blanks(true)
			return p.apply(value{}, op, p.unary())
		}
		p.pos++
		v := p.unary()
		v.s, v.name = "-"+v.s, ""
		return v
	case c == '[':
		return p.typed()
	}
	return p.postfix(p.primary())
}

// typed reads [type]: a cast, or a class whose members follow.
func (p *psParser) typed() value {
	lo := p.pos
	for level := 0; p.more(); {
		c := p.src[p.pos]
		p.pos++
		if c == '[' {
			level++
		} else if c == ']' {
			if level--; level == 0 {
				break
			}
		} else if c == '\n' || p.pos-lo > 200 {
			break
		}
	}
	name := strings.ToLower(strings.ReplaceAll(p.src[lo+1:max(lo+1, p.pos-1)], " ", ""))
	name = strings.TrimPrefix(name, "system.")
	at := p.pos
	p.blanks(false)
	if p.peek(0) == ':' && p.peek(1) == ':' || p.peek(0) == '.' {
		return p.postfix(value{s: "[" + name + "]"})
	}
	if c := p.peek(0); c == 0 || strings.IndexByte("'\"$(@[{-+", c) < 0 && !isDigit(c) {
		p.pos = at
		return value{s: "[" + name + "]"}
	}
	v := p.unary()
	switch name {
	case "char":
		if n, err := strconv.ParseInt(v.s, 0, 32); err == nil && !v.array && v.known {
			v.s = string(rune(n))
		} else if !v.known || v.array || len(v.s) != 1 {
			v.known = false
		}
	case "char[]":
		if v.known && v.array {
			for i, s := range v.list {
				n, err := strconv.ParseInt(strings.TrimSpace(s), 0, 32)
				if err != nil {
					v.known = false
					break
				}
				v.list[i] = string(rune(n))
			}
		} else {
			v.known = false
		}
	case "string", "scriptblock", "object", "array", "void", "string[]", "object[]", "int", "io.fileinfo":
	default:
		v.known = v.known && strings.HasPrefix(name, "parameter")
	}
	return v
}

// primary reads one operand.
func (p *psParser) primary() value {
	c := p.peek(0)
	switch {
	case c == '\'' || c == '"':
		return p.quoted()
	case c == '$' && p.peek(1) == '(':
		p.pos += 2
		v := p.statements(')')
		v.name = ""
		return v
	case c == '$':
		return p.variable()
	case c == '(':
		p.pos++
		v := p.statements(')')
		v.name = ""
		return v
	case c == '@' && p.peek(1) == '(':
		p.pos += 2
		v := p.statements(')')
		if !v.array && v.s != "" {
			v.list, v.array = []string{v.s}, true
		}
		v.name = ""
		return v
	case c == '@' && p.peek(1) == '{':
		return p.hash()
	case c == '@' && (p.peek(1) == '\'' || p.peek(1) == '"'):
		return p.hereString()
	case c == '{':
		p.pos++
		lo := p.pos
		v := p.statements('}')
		return value{s: p.src[lo:max(lo, p.pos-1)], block: true, known: true, remote: v.remote}
	case c == 0:
		return value{}
	}
	lo := p.pos
	for p.more() && (isIdent(p.src[p.pos]) || p.src[p.pos] == '.' && p.peek(1) != '.') {
		p.pos++
	}
	if p.pos == lo && p.more() && strings.IndexByte(")};|&\n,", c) < 0 {
		p.pos++
	}
	return literal(p.src[lo:p.pos])
}

// hash reads @{ key = value; … }, also as parameters.
func (p *psParser) hash() value {
	if p.deep() {
		return value{}
	}
	p.depth++
	defer func() { p.depth-- }()
	lo := p.pos
	p.pos += 2
	v := value{known: true, splat: []string{}}
	for p.blanks(true); p.more() && p.peek(0) != '}'; p.blanks(true) {
		before := p.pos
		key := p.argumentUntil("=")
		p.blanks(true)
		if p.peek(0) != '=' {
			if p.pos == before {
				p.pos++
			}
			continue
		}
		p.pos++
		p.blanks(true)
		item := p.pipeline()
		v.remote = v.remote || item.remote
		v.known = v.known && item.known
		if len(v.splat) < 64 && p.m.spend(len(item.s)+len(item.list)) {
			v.splat = append(v.splat, "-"+strings.ToLower(key.s)+":"+strings.Join(item.items(), ","))
		}
	}
	p.pos = min(p.pos+1, len(p.src))
	v.s = p.src[lo:p.pos]
	return v
}

// postfix reads members, calls and indexes behind an operand.
func (p *psParser) postfix(v value) value {
	start := p.pos
	for p.more() {
		c := p.src[p.pos]
		switch {
		case c == '?' && (p.peek(1) == '.' || p.peek(1) == '['):
			p.pos++
			continue
		case c == '[':
			p.pos++
			i := p.statements(']')
			if p.peek(0) == ']' {
				p.pos++
			}
			v = element(v, i)
			continue
		case c == '.' && p.peek(1) != '.' && p.peek(1) != 0 && !isBlank(p.peek(1)):
			p.pos++
		case c == ':' && p.peek(1) == ':':
			p.pos += 2
		default:
			return v
		}
		var member value
		switch c := p.peek(0); {
		case c == '\'' || c == '"':
			member = p.quoted()
		case c == '$' && p.peek(1) != '(':
			member = p.variable()
		case c == '$' || c == '(':
			member = p.primary()
		default:
			lo := p.pos
			for p.more() && isIdent(p.src[p.pos]) {
				p.pos++
			}
			member = literal(p.src[lo:p.pos])
		}
		name := strings.ToLower(member.s)
		if p.peek(0) == '(' {
			v = p.call(v, name, member.known, start)
			continue
		}
		spelled := v.s
		if len(spelled) > 256 {
			spelled = ""
		}
		v = value{s: spelled + "." + name, remote: v.remote}
	}
	return v
}

// call reads the arguments of a method and lists the call as a command.
func (p *psParser) call(on value, name string, known bool, start int) value {
	p.pos++
	c := Command{Dialect: PowerShell, Known: known, Sub: p.depth > 1}
	if strings.HasPrefix(on.s, "[") && !on.known {
		c.Name = on.s + "::" + name
	} else {
		c.Name = "." + name
	}
	c.Raw = c.Name
	c.remote = on.remote
	var args []value
	for p.blanks(true); p.more() && p.peek(0) != ')'; p.blanks(true) {
		before := p.pos
		for _, a := range p.list() {
			args = append(args, a)
			c.remote = c.remote || a.remote
			p.addArgs(&c, a)
		}
		if p.pos == before {
			if strings.IndexByte("}", p.src[p.pos]) >= 0 {
				break
			}
			p.pos++
		}
	}
	p.pos = min(p.pos+1, len(p.src))
	c.Start, c.End = p.org.at(span{min(start, p.pos), p.pos})
	if v, ok := p.method(on, name, args); ok && len(v.s) < maxValue && p.m.spend(len(v.s)) {
		return v
	}
	if !on.block || name != "invoke" {
		in := input{items: on.items(), known: on.known, any: true, remote: c.remote}
		p.m.carry(&c, in, p.src, span{min(start, p.pos), p.pos}, p.org, p.scope)
		p.out = append(p.out, c)
	}
	return value{s: "$(" + c.Name + ")", remote: c.remote || fetches(&c)}
}

// list reads the arguments of a method; unlike in operands each may be an array of its own.
func (p *psParser) list() (out []value) {
	for {
		v := p.unary()
		for {
			p.blanks(true)
			op := p.binary()
			if op == "" {
				break
			}
			p.pos += len(op)
			p.blanks(true)
			v = p.apply(v, strings.ToLower(op), p.unary())
		}
		out = append(out, v)
		if p.peek(0) != ',' {
			return out
		}
		p.pos++
		p.blanks(true)
	}
}
