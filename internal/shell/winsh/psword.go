package winsh

import "strings"

// argument reads one argument of a command.
func (p *psParser) argument() value {
	switch c := p.peek(0); {
	case c == '\'' || c == '"' || c == '(' || c == '{',
		c == '@' && strings.IndexByte("({'\"", p.peek(1)) >= 0 && p.peek(1) != 0:
		v := p.primary()
		if v.block {
			return v
		}
		return p.postfix(v)
	case c == '$':
		v := p.primary()
		at := p.pos
		if p.pos < len(p.src) && (p.src[p.pos] == '[' || p.src[p.pos] == '.' && isLetter(p.peek(1)) || p.src[p.pos] == ':' && p.peek(1) == ':') {
			v = p.postfix(v)
		}
		if p.ends() {
			v.name = ""
			return v
		}
		if p.pos == at && v.array {
			v.s = strings.Join(v.list, " ")
		}
		rest := p.bareword()
		return value{s: v.s + rest.s, known: v.known && rest.known, remote: v.remote || rest.remote}
	}
	return p.bareword()
}

// ends reports whether a word ends at the cursor.
func (p *psParser) ends() bool {
	return !p.more() || strings.IndexByte(" \t\r\n\v\f;|&(){},<>", p.src[p.pos]) >= 0
}

func (p *psParser) bareword() value { return p.argumentUntil("") }

// argumentUntil reads a word without outer quotes up to a blank, an operator or one of stop.
func (p *psParser) argumentUntil(stop string) value {
	lo := p.pos
	for p.more() && !p.ends() && strings.IndexByte("`'\"$", p.src[p.pos]) < 0 && strings.IndexByte(stop, p.src[p.pos]) < 0 {
		p.pos++
	}
	v := value{s: p.src[lo:p.pos], known: true}
	if p.ends() || strings.IndexByte(stop, p.src[p.pos]) >= 0 {
		return v
	}
	var b strings.Builder
	b.WriteString(v.s)
	for !p.ends() && strings.IndexByte(stop, p.src[p.pos]) < 0 {
		switch c := p.src[p.pos]; {
		case c == '`':
			p.pos++
			if p.more() {
				b.WriteByte(p.src[p.pos])
				p.pos++
			}
		case c == '\'' || c == '"':
			q := p.quoted()
			v.known, v.remote = v.known && q.known, v.remote || q.remote
			b.WriteString(q.s)
		case c == '$':
			q := p.primary()
			v.known, v.remote = v.known && q.known, v.remote || q.remote
			b.WriteString(strings.Join(q.items(), " "))
		default:
			b.WriteByte(c)
			p.pos++
		}
		if b.Len() > maxValue {
			v.known = false
		}
	}
	v.s = b.String()
	if !p.m.spend(len(v.s)) {
		v.s, v.known = "", false
	}
	return v
}

// variable reads $name, ${name} or $drive:name.
func (p *psParser) variable() value {
	lo := p.pos
	p.pos++
	var name string
	if p.peek(0) == '{' {
		end := strings.IndexAny(p.src[p.pos:], "}\n")
		if end < 0 {
			end = len(p.src) - p.pos - 1
		}
		name = p.src[p.pos+1 : p.pos+max(end, 1)]
		p.pos = min(p.pos+end+1, len(p.src))
	} else {
		for p.more() && (isIdent(p.src[p.pos]) || p.src[p.pos] == '?' && p.pos == lo+1 ||
			p.src[p.pos] == ':' && p.pos > lo+1 && isIdent(p.peek(1))) {
			p.pos++
		}
		name = p.src[lo+1 : p.pos]
		if name == "" {
			if c := p.peek(0); c == '$' || c == '^' {
				p.pos++
			}
			return literal(p.src[lo:p.pos])
		}
	}
	name = strings.ToLower(name)
	for _, s := range [...]string{"global:", "script:", "local:", "private:", "variable:", "using:"} {
		name = strings.TrimPrefix(name, s)
	}
	if v, ok := p.scope.vars[name]; ok {
		v.name = name
		if !p.m.spend(len(v.s)) {
			v = value{s: "$" + name, name: name, remote: v.remote}
		}
		return v
	}
	switch name {
	case "null":
		return value{known: true, name: name}
	case "true", "false":
		return value{s: "$" + name, known: true, name: name}
	case "pshome":
		return value{s: `C:\Windows\System32\WindowsPowerShell\v1.0`, known: true, name: name}
	case "shellid":
		return value{s: "Microsoft.PowerShell", known: true, name: name}
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		if s, ok := usualEnv(env); ok {
			return value{s: s, known: true, name: name}
		}
	}
	return value{s: "$" + name, name: name}
}
