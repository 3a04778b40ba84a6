package code

import "strconv"

// prefix reads an expression that starts with an operator or a bracket.
func (s *scanner) prefix(t token) value {
	switch t.text {
	case "(":
		s.pos++
		vs, comma := s.list(")")
		v := value{k: kList, list: vs}
		if len(vs) == 1 && !comma && s.lang != Perl || len(vs) > 0 && s.lang == Node {
			v = vs[len(vs)-1]
		}
		v.name = ""
		return s.postfix(v.at(t.a, s.last()))
	case "[":
		s.pos++
		vs, _ := s.list("]")
		return s.postfix(value{k: kList, list: vs, a: t.a, b: s.last()})
	case "{":
		return s.postfix(s.braces())
	case ")", "]", "}", ",":
		return value{a: t.a, b: t.a}
	}
	if t.sigil != 0 {
		return s.deref(t)
	}
	s.pos++
	n := s.peek()
	switch t.text {
	case "-", "+":
		if s.lang == Perl && t.text == "-" && n.kind == tIdent && len(n.text) == 1 && !n.space {
			s.pos++
			s.eff(Read)
			s.expr(7)
			return value{}
		}
		v := s.expr(7)
		if v.k == kNum && t.text == "-" {
			v.n = -v.n
			v.s = strconv.Itoa(v.n)
			return v.at(t.a, v.b)
		}
		return value{a: t.a, b: v.b}
	case "&":
		if s.lang == Ruby {
			return s.blockArgument(n)
		}
	case "*", "...", "**":
		if s.pos < s.end {
			v := s.expr(7)
			v.name = ""
			if v.k == kList {
				return v
			}
			return value{k: kList, list: []value{{k: kStr, s: unknown, a: v.a, b: v.b}}, a: t.a, b: v.b}
		}
		return value{}
	case "\\":
		v := s.expr(7)
		v.name = ""
		return v
	case "@":
		if s.lang == PHP { // errors off
			return s.raw(7)
		}
	case "::":
		return s.primary()
	case "->":
		if s.lang == Ruby {
			s.expr(7)
			return value{code: true}
		}
	case "!", "~", "$", "++", "--", "<", "?", "%":
	default:
		return value{a: t.a, b: t.b}
	}
	v := s.expr(7)
	if t.text == "$" {
		return s.postfix(value{a: t.a, b: v.b})
	}
	return value{a: t.a, b: v.b}
}

// deref reads a Perl dereference: ${…}, @$x, &{…}.
func (s *scanner) deref(t token) value {
	s.pos++
	var v value
	if s.isOp(s.pos, "{") {
		at := s.pos
		s.pos++
		if n := s.peek(); n.kind == tIdent && s.isOp(s.pos+1, "}") { // ${name}
			s.pos += 2
			return s.postfix(s.variable(token{kind: tVar, sigil: t.sigil, text: n.text, a: t.a, b: n.b}))
		}
		vs, _ := s.list("}")
		if s.pos == at {
			s.pos++
		}
		if len(vs) == 1 {
			v = vs[0]
		}
	} else {
		v = s.primaryVar()
	}
	if v.k == kStr || t.sigil == '&' || t.sigil == '*' {
		s.eff(Unknown | Eval) // a symbolic reference
		if n, known := v.str(); known && t.sigil == '&' {
			return s.postfix(value{k: kName, s: n, a: t.a, b: v.b})
		}
	}
	if v.k == kList && t.sigil == '@' {
		return s.postfix(v)
	}
	return s.postfix(value{a: t.a, b: v.b})
}

func (s *scanner) primaryVar() value {
	t := s.peek()
	if t.kind == tVar {
		s.pos++
		return s.variable(t)
	}
	if t.sigil != 0 {
		return s.deref(t)
	}
	return value{}
}

// blockArgument reads &:name or &something in a Ruby argument list.
func (s *scanner) blockArgument(n token) value {
	if n.kind == tStr && n.sigil == ':' {
		s.pos++
		name := s.str(n).s
		if !s.method(name) && !isOperator(name) {
			s.eff(Unknown)
		}
		return value{a: n.a, b: n.b}
	}
	s.eff(Unknown)
	return s.expr(7)
}

func isOperator(name string) bool { return name != "" && !isAlpha(name[0]) && name[0] != '`' }

// postfix reads the members, calls and subscripts that follow v.
func (s *scanner) postfix(v value) value {
	for steps := 0; s.pos < s.end; steps++ {
		t := s.toks[s.pos]
		switch t.kind {
		case tOp:
			next, more := s.suffix(v, t)
			if !more {
				return next
			}
			v = next
		case tStr:
			if s.lang == Lua && v.callable() || s.lang == Node && s.src[t.a] == '`' && !t.line && v.a != v.b {
				if s.lang == Node && v.k != kName && v.k != kMethod && !v.callable() {
					return v
				}
				s.pos++
				v = s.call(v, []value{s.str(t)}, t.b)
				continue
			}
			return v
		default:
			return v
		}
	}
	return v
}

func (v value) callable() bool { return v.k == kName || v.k == kMethod || v.name != "" }

func (s *scanner) suffix(v value, t token) (value, bool) {
	switch t.text {
	case ".", "?.":
		if s.lang == PHP || s.lang == Perl || s.lang == R {
			return v, false
		}
		s.pos++
		if t.text == "?." && (s.isOp(s.pos, "(") || s.isOp(s.pos, "[")) {
			return v, true
		}
		return s.member(v), true
	case "->", "?->", "::", "&.":
		if s.lang == Python || s.lang == Node || s.lang == Lua || s.lang == Ruby && t.text == "->" {
			return v, false
		}
		s.pos++
		n := s.peek()
		if n.kind == tOp && (n.text == "[" || n.text == "{" || n.text == "(") && s.lang == Perl {
			if n.text == "(" {
				s.pos++
				args, _ := s.list(")")
				return s.call(value{a: v.a, b: v.b, name: v.name, code: v.code}, args, s.last()), true
			}
			return s.index(v, n), true
		}
		return s.member(v), true
	case ":":
		n := s.pos + 1
		if s.lang == Lua && n < s.end && s.toks[n].kind == tIdent {
			s.pos++
			return s.member(v), true
		}
		return v, false
	case "(":
		if t.line && s.lang != Node && s.lang != Lua && s.lang != PHP && s.lang != Perl || t.space && s.lang == Ruby {
			return v, false
		}
		if v.k == kDict && s.lang != Node {
			return v, false
		}
		s.pos++
		args, _ := s.list(")")
		return s.call(v, args, s.last()), true
	case "[":
		if t.line && s.lang != Node || t.space && (s.lang == Ruby || s.lang == Perl) || v.k == kDict && s.lang != Python {
			return v, false
		}
		return s.index(v, t), true
	case "{":
		switch {
		case s.lang == Perl && v.name != "" && !t.space, s.lang == PHP && v.name != "" && !t.space:
			return s.index(v, t), true
		case s.lang == Lua && v.callable():
			return s.call(v, []value{s.braces()}, s.last()), true
		case s.lang == Ruby && !t.line && (v.k == kMethod || v.k == kAny):
			if v.k == kMethod {
				v = s.call(v, nil, v.b)
			}
			s.braces()
			return v, true
		}
	case "++", "--":
		s.pos++
		return value{a: v.a, b: t.b}, true
	}
	return v, false
}

// member reads the name after a dot or arrow.
func (s *scanner) member(v value) value {
	t := s.peek()
	switch {
	case t.kind == tIdent:
		s.pos++
		m := s.attr(v, t.text, t.b)
		return s.autoCall(m, t)
	case t.kind == tVar: // a name that is data: $obj->$name()
		s.pos++
		if s.lang == Perl || s.isOp(s.pos, "(") {
			s.eff(Unknown)
			if c := s.constant(t.text); c.k == kStr {
				return s.attr(v, c.s, t.b)
			}
		}
		return value{a: v.a, b: t.b}
	case t.kind == tOp && (t.text == "{" || t.text == "(") || t.kind == tOp && t.sigil != 0:
		if s.lang == Perl && t.sigil != 0 { // ->@*
			s.pos++
			return value{a: v.a, b: t.b}
		}
		s.eff(Unknown)
	case t.kind == tShell, t.kind == tStr:
		s.eff(Unknown)
	}
	return value{a: v.a, b: t.a}
}

// attr is the member of v with a known name.
func (s *scanner) attr(v value, name string, b int) value {
	s.keyString(name)
	if v.k == kName {
		v = s.shortcut(v)
		if v.s == "" {
			r := s.resolve(token{kind: tIdent, text: name, a: v.a, b: b}, true)
			return r.at(v.a, b)
		}
		path := s.path(v, name, b)
		if e := s.lookup(path); e.do != none {
			s.use(e)
			return value{k: kName, s: path, a: v.a, b: b}
		}
		switch e := s.lookup(v.s); e.do {
		case ok: // a harmless object
		case none:
			return value{k: kName, s: path, a: v.a, b: b}
		default:
			s.eff(e.eff)
			return value{k: kName, s: path, a: v.a, b: b}
		}
	}
	if s.private(name) {
		s.eff(Unknown | Eval)
	}
	return value{k: kMethod, s: name, list: []value{v}, a: v.a, b: b}
}

// path joins a path and a member, without a copy where the text has it in one piece.
func (s *scanner) path(v value, name string, b int) string {
	n := len(v.s) + 1 + len(name)
	if b <= len(s.src) && b-n >= 0 {
		if p := s.src[b-n : b]; p[:len(v.s)] == v.s && p[len(v.s)] == '.' {
			return p
		}
	}
	if n > 256 {
		s.eff(Unknown)
		return "?"
	}
	return v.s + "." + name
}

// index reads [ … ] or { … } after v.
func (s *scanner) index(v value, t token) value {
	end := closingText(t.text)
	s.pos++
	var vs []value
	reverse := false
	if n := s.peek(); t.text == "{" && (n.kind == tIdent || n.kind == tOp && n.text == "-") && s.isOp(s.pos+1, "}") {
		s.pos += 2
		vs = []value{text(n.text)}
	} else if s.isOp(s.pos, ":") && s.isOp(s.pos+1, ":") && s.isOp(s.pos+2, "-") && s.isOp(s.pos+4, "]") {
		reverse = s.toks[s.pos+3].text == "1"
		s.pos += 5
	} else {
		vs, _ = s.list(end)
	}
	b := s.last()
	switch {
	case reverse && v.k == kStr:
		return text(reversed(v.s)).at(v.a, b)
	case len(vs) == 1 && vs[0].k == kNum:
		return s.element1(v, vs[0].n).at(v.a, b)
	case v.k == kName:
		return s.indexName(v, vs, b)
	case s.lang == Node && len(vs) == 1 && vs[0].known():
		return s.attr(v, vs[0].s, b)
	case s.lang == Node:
		if v.wild || v.code {
			s.eff(Unknown)
		}
		return value{wild: true, a: v.a, b: b}
	case s.lang == Lua && v.name != "" && len(vs) == 1 && vs[0].known():
		return value{a: v.a, b: b, name: ""}
	}
	s.settle(v)
	return value{a: v.a, b: b}
}

// element1 is item n of a known list or string.
func (s *scanner) element1(v value, n int) value {
	if s.lang == Lua || s.lang == R {
		return value{}
	}
	switch v.k {
	case kList:
		if n < 0 {
			n += len(v.list)
		}
		if n >= 0 && n < len(v.list) {
			return v.list[n]
		}
	case kStr:
		if v.known() && s.lang != Perl {
			if n < 0 {
				n += len(v.s)
			}
			if n >= 0 && n < len(v.s) {
				return text(v.s[n : n+1])
			}
		}
	default:
		s.settle(v)
	}
	return value{}
}

func (s *scanner) indexName(v value, vs []value, b int) value {
	v = s.shortcut(v)
	e := entry{do: module}
	if v.s != "" {
		e = s.lookup(v.s)
	}
	if s.lang == Node || s.lang == Lua {
		if len(vs) == 1 && vs[0].known() {
			return s.attr(v, vs[0].s, b)
		}
		if e.do != ok {
			s.eff(Unknown)
		}
		return value{wild: s.lang == Node && e.eff == 0, a: v.a, b: b}
	}
	s.settle(v)
	return value{a: v.a, b: b}
}

func closingText(open string) string {
	switch open {
	case "[":
		return "]"
	case "{":
		return "}"
	}
	return ")"
}

func reversed(t string) string {
	r := []rune(t)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}
