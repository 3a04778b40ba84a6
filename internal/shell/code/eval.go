package code

import (
	"strconv"
	"strings"
)

// program reads src[a:b] as code of s.lang, in the scope of what was read before.
func (s *scanner) program(a, b int) {
	pos, end, base := s.pos, s.end, len(s.toks)
	if s.toks == nil {
		s.toks = s.buf[:0]
	}
	s.lex(a, b)
	s.pos, s.end = base, len(s.toks)
	s.bind(s.pos, s.end)
	for s.pos < s.end {
		s.stmt()
	}
	s.pos, s.end = pos, end
	s.toks = s.toks[:base]
}

func (s *scanner) peek() token {
	if s.pos < s.end {
		return s.toks[s.pos]
	}
	return token{}
}

func (s *scanner) isOp(i int, op string) bool {
	return i >= 0 && i < s.end && s.toks[i].kind == tOp && s.toks[i].text == op
}

func (s *scanner) isIdent(i int, name string) bool {
	return i >= 0 && i < s.end && s.toks[i].kind == tIdent && s.toks[i].text == name
}

// accept moves past op if it is next.
func (s *scanner) accept(op string) bool {
	if s.isOp(s.pos, op) {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) stmt() {
	at := s.pos
	t := s.peek()
	if t.kind == tEnd {
		s.pos++
		return
	}
	if t.kind == tIdent && s.statement(t) {
		return
	}
	if v := s.raw(0); !v.set {
		s.settle(v)
	}
	if s.pos == at {
		s.pos++
	}
}

// expr reads one expression; a harmful or unknown name that stays a mere value is counted.
func (s *scanner) expr(min int) value { return s.settle(s.raw(min)) }

// raw is expr for places where a name may be passed on as a name, such as the right side of an assignment.
func (s *scanner) raw(min int) value {
	if s.depth >= maxDepth {
		s.eff(Unknown)
		s.pos++
		return value{}
	}
	s.depth++
	v := s.operation(min)
	s.depth--
	return v
}

// operation reads an operand and the binary operators that bind tighter than min.
func (s *scanner) operation(min int) value {
	v := s.primary()
	for {
		t := s.peek()
		if t.kind != tOp && t.kind != tIdent {
			return v
		}
		p := precedence(s.lang, t)
		if p == 0 || p <= min && p != 1 || p == 1 && min > 1 || s.pos >= s.end {
			return v
		}
		if p == 9 && t.line && s.lang != Perl { // a new line begins with it
			p = 6
		}
		before := s.pos
		s.pos++
		v = s.binary(v, t, p, before)
	}
}

// precedence is 0 for what is no binary operator.
func precedence(lang Lang, t token) int {
	switch t.text {
	case "=", "+=", ".=", "<<=", ":=", "||=", "??=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "**=", ">>=", "&&=", "<-", "=>", "?", ":":
		if t.kind != tOp || t.text == "<-" && lang != R {
			return 0
		}
		return 1
	case "and", "or", "&&", "||", "??", "xor":
		return 2
	case "==", "!=", "===", "!==", "<", ">", "<=", ">=", "<=>", "=~", "!~", "in", "is", "instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "not":
		if t.kind == tIdent {
			switch lang {
			case Python:
				if t.text != "in" && t.text != "is" && t.text != "not" {
					return 0
				}
			case Node:
				if t.text != "in" && t.text != "instanceof" {
					return 0
				}
			case PHP:
				if t.text != "instanceof" {
					return 0
				}
			case Perl:
				if t.text == "in" || t.text == "is" || t.text == "instanceof" || t.text == "not" {
					return 0
				}
			default:
				return 0
			}
		}
		return 3
	case "|", "&", "^", "|>":
		return 4
	case "<<", ">>":
		return 5
	case "+", "-":
		return 6
	case ".":
		if lang == PHP || lang == Perl {
			return 6
		}
	case "..":
		if lang == Lua {
			return 6
		}
		return 4
	case "...":
		return 4
	case "*", "/", "%", "//":
		return 7
	case "x":
		if lang == Perl && t.kind == tIdent {
			return 7
		}
	case "**":
		return 8
	}
	return 0
}

func (s *scanner) binary(v value, t token, p, at int) value {
	switch t.text {
	case "=", ":=", "||=", "??=", "<-":
		return s.assign(v, s.raw(0), at)
	case "+=", ".=", "..=":
		r := s.expr(0)
		if s.lang == PHP && t.text == "+=" || s.lang == Perl && t.text == "+=" {
			r = value{}
		}
		return s.assign(v, s.concat(v, r), at)
	case "-=", "*=", "/=", "%=", "|=", "&=", "^=", "**=", ">>=", "&&=", "<<=":
		s.expr(0)
		return s.assign(v, value{}, at)
	case "=>":
		r := s.raw(0)
		if s.lang == Node {
			s.settle(r)
			return value{code: true, a: v.a, b: r.b}
		}
		if v.code {
			s.settle(r)
			return v
		}
		s.settle(v)
		return s.settle(r)
	case "?", ":":
		s.settle(v)
		s.expr(1)
		return value{a: v.a, b: s.last()}
	}
	s.settle(v)
	right := p
	if p == 2 {
		right = 2
	}
	r := s.expr(right)
	switch t.text {
	case "+":
		if s.lang == Python || s.lang == Node || s.lang == Ruby {
			if v.k == kList && r.k == kList {
				return value{k: kList, list: append(v.list[:len(v.list):len(v.list)], r.list...), a: v.a, b: r.b}
			}
			return s.concat(v, r)
		}
	case ".", "..":
		if s.lang == PHP || s.lang == Perl || s.lang == Lua {
			if v.k == kNum || v.k == kStr || r.k == kNum || r.k == kStr {
				if v.k == kNum {
					v.k = kStr
				}
				return s.concat(v, r)
			}
		}
	case "<<":
		if s.lang == Ruby {
			return s.concat(v, r)
		}
	case "/":
		if s.lang == Python && v.k == kStr { // pathlib
			return s.concat(v, s.concat(text("/"), r)).at(v.a, r.b)
		}
	case "*", "x":
		if v.k == kStr && r.k == kNum && (s.lang != PHP && s.lang != Node && s.lang != Lua) && (s.lang != Perl || t.text == "x") {
			return s.repeat(v, r.n)
		}
	case "%":
		if v.k == kStr && (s.lang == Python || s.lang == Ruby) {
			args := []value{r}
			if r.k == kList {
				args = r.list
			}
			return s.sprintf(v, args).at(v.a, r.b)
		}
	case "-", "^":
		if v.k == kNum && r.k == kNum {
			n := v.n - r.n
			if t.text == "^" {
				n = v.n ^ r.n
			}
			return value{k: kNum, n: n, s: strconv.Itoa(n), a: v.a, b: r.b}
		}
	}
	if v.k == kNum && r.k == kNum && t.text == "+" {
		return value{k: kNum, n: v.n + r.n, s: strconv.Itoa(v.n + r.n), a: v.a, b: r.b}
	}
	return value{a: v.a, b: r.b}
}

func (s *scanner) concat(x, y value) value {
	if len(x.s)+len(y.s) > maxString {
		return value{a: x.a, b: y.b}
	}
	if x.k == kNum && y.k == kNum && s.lang != Lua {
		return value{k: kNum, n: x.n + y.n, s: strconv.Itoa(x.n + y.n), a: x.a, b: y.b}
	}
	s.budget -= len(x.s) + len(y.s)
	if s.budget < 0 {
		s.eff(Unknown)
		return value{a: x.a, b: y.b}
	}
	v := concat(x, y)
	s.keyString(v.s)
	return v
}

func (s *scanner) repeat(v value, n int) value {
	if n < 0 {
		n = 0
	}
	if n > maxString || n*len(v.s) > maxString || s.budget < n*len(v.s) {
		return value{a: v.a, b: v.b}
	}
	s.budget -= n * len(v.s)
	return text(strings.Repeat(v.s, n)).at(v.a, v.b)
}

// last is the end of the token before the next one.
func (s *scanner) last() int {
	if s.pos > 0 && s.pos <= len(s.toks) {
		return s.toks[s.pos-1].b
	}
	return 0
}

// assign binds the name v was read from to r. at is the place of the operator.
func (s *scanner) assign(v, r value, at int) value {
	if v.wild {
		s.eff(Unknown)
	}
	if r.wild {
		s.eff(Unknown)
	}
	if v.k == kName && v.name == "" {
		if e := s.lookup(v.s); e.do != ok {
			s.eff(e.eff)
		}
	}
	s.assigned(v, r)
	if v.name == "" {
		return s.settle(r)
	}
	b := s.names[v.name]
	if b.alias { // an import: what the name means from here on depends on the order things run in
		s.eff(Unknown)
		return s.settle(r)
	}
	many := b.sets > 1 && s.flow
	if s.isOp(s.pos, ",") || s.before(at, ",") || many {
		s.settle(r)
		r = value{}
	}
	if s.flow && r.k == kList {
		r = value{}
	}
	r.name, r.kw, r.set = "", "", false
	b.val = r
	s.name(v.name, b)
	r.set = true
	return r
}

// before reports whether the variable left of the operator at i follows op, as in a, b = 1, 2.
func (s *scanner) before(i int, op string) bool { return s.isOp(i-2, op) || s.isOp(i-1, ")") }

func (s *scanner) name(n string, b binding) {
	if s.names == nil {
		s.names = make(map[string]binding, 8)
	}
	s.names[n] = b
}

// settle counts a name that is used as a value and not called.
func (s *scanner) settle(v value) value {
	switch v.k {
	case kName:
		e := s.lookup(v.s)
		switch e.do {
		case ok:
		case none:
			if !s.foreign(v.s) {
				s.eff(Unknown)
			}
		default:
			s.eff(e.eff | Unknown)
		}
	case kMethod:
		s.attribute(v)
	}
	return v
}

func (s *scanner) primary() value {
	t := s.peek()
	switch t.kind {
	case tStr:
		s.pos++
		v := s.str(t)
		for n := s.peek(); n.kind == tStr && (s.lang == Python || s.lang == Ruby) && n.sigil == 0; n = s.peek() {
			s.pos++
			v = s.concat(v, s.str(n))
		}
		return s.postfix(v)
	case tNum:
		s.pos++
		return s.postfix(number(t))
	case tVar:
		s.pos++
		return s.postfix(s.variable(t))
	case tShell:
		s.pos++
		s.addShell(s.str(t))
		return s.postfix(value{a: t.a, b: t.b})
	case tWords:
		s.pos++
		v := value{k: kList, a: t.a, b: t.b}
		for _, w := range strings.Fields(t.text) {
			v.list = append(v.list, text(w).at(t.a, t.b))
		}
		return s.postfix(v)
	case tRegex:
		s.pos++
		s.str(t)
		return s.postfix(value{a: t.a, b: t.b})
	case tRaw:
		s.pos++
		s.sub(t.n, t.m)
		return value{a: t.a, b: t.b}
	case tHandle:
		s.pos++
		if t.text == "" || t.text == "ARGV" || t.text == "<>" {
			s.eff(Read)
		}
		return value{a: t.a, b: t.b}
	case tIdent:
		return s.postfix(s.ident(t))
	case tOp:
		return s.prefix(t)
	}
	return value{a: t.a, b: t.b}
}

// sub runs src[a:b], code inside a string, in the scope of the text around it.
func (s *scanner) sub(a, b int) {
	s.depth += 4
	if s.depth > maxDepth {
		s.eff(Unknown)
	} else {
		s.program(a, b)
	}
	s.depth -= 4
}

// subValue is sub for the value of one expression.
func (s *scanner) subValue(a, b int) value {
	s.depth += 4
	defer func() { s.depth -= 4 }()
	if s.depth > maxDepth {
		s.eff(Unknown)
		return value{}
	}
	pos, end, base := s.pos, s.end, len(s.toks)
	s.lex(a, b)
	s.pos, s.end = base, len(s.toks)
	s.bind(s.pos, s.end)
	v := s.expr(0)
	if s.pos < s.end {
		v = value{}
	}
	for s.pos < s.end {
		s.stmt()
	}
	s.pos, s.end = pos, end
	s.toks = s.toks[:base]
	return v
}

// str is the value of a string token; code inside it is read.
func (s *scanner) str(t token) value {
	v := value{k: kStr, a: t.a, b: t.b}
	if t.m == t.n {
		return v
	}
	if t.m == t.n+1 && !s.parts[t.n].code && !s.parts[t.n].wild {
		v.s = s.parts[t.n].lit
		s.keyString(v.s)
		return v
	}
	var b strings.Builder
	for i := t.n; i < t.m; i++ {
		p := s.parts[i]
		x := value{k: kStr, s: p.lit}
		if p.wild && !p.code {
			x = value{}
			if p.lit != "" {
				x = s.constant(p.lit)
				s.sensitive(p.lit)
			}
		}
		if p.code {
			x = s.subValue(p.a, p.b)
			if p.wild {
				x = value{}
			}
		}
		if x.k == kList && s.lang == Perl && len(x.list) == 1 {
			x = x.list[0]
		}
		if b.Len()+len(x.s) > maxString {
			s.eff(Unknown)
			b.Reset()
			b.WriteString(unknown)
			continue
		}
		b.WriteString(piece(x))
	}
	v.s = b.String()
	s.keyString(v.s)
	return v
}

func number(t token) value {
	v := value{k: kNum, s: t.text, a: t.a, b: t.b}
	n, err := strconv.ParseInt(strings.ReplaceAll(t.text, "_", ""), 0, 32)
	if err != nil {
		return value{a: t.a, b: t.b}
	}
	v.n = int(n)
	v.s = strconv.Itoa(v.n)
	return v
}

// list reads up to the closing bracket; comma tells whether there was one. The opening one is already read.
func (s *scanner) list(end string) (vs []value, comma bool) {
	for s.pos < s.end {
		at := s.pos
		if s.accept(end) {
			return vs, comma
		}
		if s.accept(",") {
			comma = true
			continue
		}
		if s.peek().kind == tEnd || s.isOp(s.pos, ")") || s.isOp(s.pos, "]") || s.isOp(s.pos, "}") {
			if s.peek().kind != tEnd {
				return vs, comma // not ours: the bracket was never closed
			}
			s.pos++
			continue
		}
		v := s.element()
		if s.pos == at {
			s.pos++
		}
		if s.isOp(s.pos, ",") || s.isOp(s.pos, end) || s.pos >= s.end {
			vs = append(vs, v)
			continue
		}
		if f, good := s.generator(v); good {
			vs = append(vs, f)
			continue
		}
		for s.pos < s.end && !s.isOp(s.pos, ",") && !s.isOp(s.pos, end) {
			p := s.pos
			if s.isOp(p, ")") || s.isOp(p, "]") || s.isOp(p, "}") {
				break
			}
			s.stmt()
			if s.pos == p {
				s.pos++
			}
		}
		vs = append(vs, value{a: v.a, b: s.last()})
	}
	return vs, comma
}

// element is one argument or list item: an expression, perhaps named.
func (s *scanner) element() value {
	t := s.peek()
	if t.kind == tIdent || t.kind == tStr {
		sep := s.pos + 1
		named := false
		switch s.lang {
		case Python, R:
			named = s.isOp(sep, "=") && t.kind == tIdent
		case Ruby, PHP:
			named = s.isOp(sep, ":") && !s.toks[sep].space
		case Lua:
			named = s.isOp(sep, "=")
		}
		if named {
			s.pos += 2
			if s.pos >= s.end || s.isOp(s.pos, ",") || s.isOp(s.pos, ")") {
				return value{a: t.a, b: t.b}
			}
			v := s.expr(0)
			v.kw = t.text
			if t.kind == tStr {
				v.kw = "?"
			}
			return v
		}
	}
	return s.expr(0)
}

// braces reads { … }: a block, a hash or an object. The opening one is next.
func (s *scanner) braces() value {
	a := s.peek().a
	s.pos++
	s.depth++
	defer func() { s.depth-- }()
	for s.pos < s.end && !s.isOp(s.pos, "}") {
		at := s.pos
		s.label()
		if s.depth > maxDepth {
			s.eff(Unknown)
			s.pos++
		} else if s.pos == at {
			s.stmt()
		}
		if s.pos == at {
			s.pos++
		}
	}
	s.pos++
	return value{k: kDict, a: a, b: s.last()}
}

// label skips the key of an object or hash, which is a name only in form.
func (s *scanner) label() {
	t := s.peek()
	if s.lang == Python || !s.isOp(s.pos-1, "{") && !s.isOp(s.pos-1, ",") {
		return
	}
	next := s.pos + 1
	if t.kind == tIdent && s.lang == Perl && s.isOp(next, "}") && s.isOp(s.pos-1, "{") {
		return
	}
	if t.kind == tIdent || t.kind == tNum {
		if s.isOp(next, ":") && s.lang != Perl || s.isOp(next, "=>") && (s.lang == Perl) || s.isOp(next, "=") && s.lang == Lua {
			s.keyString(t.text)
			s.pos += 2
		}
		return
	}
	if s.lang == Node && t.kind == tOp && t.text == "[" {
		s.pos++
		vs, _ := s.list("]")
		if s.isOp(s.pos, ":") && (len(vs) != 1 || !vs[0].known()) {
			s.eff(Unknown)
		}
		s.postfix(value{k: kList, list: vs})
	}
}
