package code

import "strings"

// What a keyword does in an expression.
const (
	kwSkip  = 1 + iota // nothing: what follows is read on its own
	kwPass             // the value is that of what follows
	kwConst            // a value
	kwCode             // what follows is a function
)

// statement reads what only a statement can be; false when t starts an expression.
func (s *scanner) statement(t token) bool {
	switch s.lang {
	case Python:
		switch t.text {
		case "import":
			s.pos++
			s.pyImport()
			return true
		case "from":
			if s.pos+1 < s.end && (s.toks[s.pos+1].kind == tIdent || s.isOp(s.pos+1, ".")) {
				s.pos++
				s.pyFrom()
				return true
			}
		case "def", "class":
			s.pos += 2
			return true
		}
	case Node:
		return s.jsStatement(t)
	case Perl:
		return s.perlStatement(t)
	case PHP:
		switch t.text {
		case "function", "class", "interface", "trait", "namespace", "use", "const", "goto":
			s.pos++
			for n := s.peek(); n.kind == tIdent || s.isOp(s.pos, "&") || s.isOp(s.pos, ",") && t.text != "function"; n = s.peek() {
				s.pos++
			}
			if t.text == "goto" || t.text == "use" {
				s.eff(Unknown)
			}
			return true
		}
	case Lua:
		if t.text == "local" || t.text == "function" {
			s.pos++
			if t.text == "local" && !s.isIdent(s.pos, "function") {
				return true
			}
			for n := s.peek(); n.kind == tIdent || s.isOp(s.pos, ".") || s.isOp(s.pos, ":"); n = s.peek() {
				s.pos++
			}
			return true
		}
		if t.text == "goto" {
			s.pos += 2
			return true
		}
	case Ruby:
		switch t.text {
		case "def", "class", "module":
			s.pos++
			for n := s.peek(); (n.kind == tIdent || s.isOp(s.pos, ".") || s.isOp(s.pos, "::")) && !n.line; n = s.peek() {
				s.pos++
			}
			return true
		case "alias", "undef":
			s.eff(Unknown)
			s.pos++
			return true
		}
	}
	return false
}

// keyword reads an expression behind the keyword t.
func (s *scanner) keyword(t token, k int) value {
	switch k {
	case kwConst:
		v := value{k: kBool, s: strings.ToLower(t.text), a: t.a, b: t.b}
		return v
	case kwPass:
		return s.primary()
	case kwCode:
		if s.lang == Node && t.text == "class" || t.text == "function" && s.lang != R {
			for s.peek().kind == tIdent || s.isOp(s.pos, "*") || s.isOp(s.pos, ".") {
				s.pos++
			}
		}
		if s.isOp(s.pos, "(") {
			s.pos++
			s.list(")")
			if s.isOp(s.pos, ":") && s.lang == PHP {
				s.pos += 2
			}
			if s.isIdent(s.pos, "use") {
				s.pos++
				if s.accept("(") {
					s.list(")")
				}
			}
		}
		if s.isOp(s.pos, "{") {
			s.braces()
		} else if s.lang == Python {
			for s.pos < s.end && !s.isOp(s.pos, ":") && s.peek().kind != tEnd && !s.isOp(s.pos, ")") {
				p := s.pos
				s.expr(1)
				s.accept(",")
				if s.pos == p {
					s.pos++
				}
			}
			if s.accept(":") {
				s.expr(0)
			}
		}
		return value{code: true, a: t.a, b: s.last()}
	}
	if t.text == "do" && s.lang == Perl && !s.isOp(s.pos, "{") {
		s.eff(Import | Eval)
	}
	if n := s.peek(); n.kind == tEnd || s.pos >= s.end || n.kind == tOp && (n.text == "{" || n.text == "}" || n.text == ")") {
		return value{a: t.a, b: t.b}
	}
	if n := s.peek(); n.kind == tIdent && s.statement(n) {
		return value{a: t.a, b: t.b}
	}
	v := s.expr(0)
	return value{a: t.a, b: v.b, wild: v.wild}
}

func (s *scanner) dotted() string {
	a := s.pos
	path := ""
	for s.peek().kind == tIdent {
		path = s.src[s.toks[a].a:s.toks[s.pos].b]
		s.pos++
		if !s.accept(".") {
			break
		}
	}
	if strings.ContainsAny(path, " \t\n\\") {
		path = strings.Join(strings.Fields(strings.ReplaceAll(path, "\\", "")), "")
	}
	return path
}

func (s *scanner) alias(name, path string) {
	s.name(name, binding{val: value{k: kName, s: path}, alias: true, sets: s.names[name].sets})
}

// pyModule is the path of an imported module; one outside the standard library runs its own code.
func (s *scanner) pyModule(path string) string {
	root, _, _ := strings.Cut(path, ".")
	if s.lookup(path).do != none || s.lookup(root).do == module {
		return path
	}
	s.eff(Import)
	return outside + path
}

func (s *scanner) pyImport() {
	for s.pos < s.end {
		path := s.dotted()
		if path == "" {
			return
		}
		mod := s.pyModule(path)
		if s.isIdent(s.pos, "as") && s.pos+1 < s.end {
			s.alias(s.toks[s.pos+1].text, mod)
			s.pos += 2
		} else {
			root, _, _ := strings.Cut(path, ".")
			if s.foreign(mod) {
				s.alias(root, outside+root)
			} else {
				s.alias(root, root)
			}
		}
		if !s.accept(",") {
			return
		}
	}
}

func (s *scanner) pyFrom() {
	if s.isOp(s.pos, ".") || s.isOp(s.pos, "..") || s.isOp(s.pos, "...") {
		s.pos++
		s.eff(Import)
	}
	mod := ""
	if !s.isIdent(s.pos, "import") {
		mod = s.dotted()
	}
	mod = s.pyModule(mod)
	if !s.isIdent(s.pos, "import") {
		s.eff(Unknown)
		return
	}
	s.pos++
	s.accept("(")
	for s.pos < s.end {
		t := s.peek()
		if s.isOp(s.pos, "*") {
			s.pos++
			s.stars = append(s.stars, mod)
			if len(s.stars) > 8 {
				s.eff(Unknown)
				s.stars = s.stars[:8]
			}
			if s.lookup(mod).eff != 0 || s.lookup(mod+".open").do > ok || s.foreign(mod) {
				s.eff(Unknown)
			}
			return
		}
		if t.kind != tIdent {
			s.accept(")")
			return
		}
		s.pos++
		name := t.text
		if s.isIdent(s.pos, "as") && s.pos+1 < s.end {
			name = s.toks[s.pos+1].text
			s.pos += 2
		}
		s.alias(name, mod+"."+t.text)
		if e := s.lookup(mod + "." + t.text); e.do == none && !s.foreign(mod) {
			s.eff(Unknown)
		}
		if !s.accept(",") {
			s.accept(")")
			return
		}
	}
}

func (s *scanner) jsStatement(t token) bool {
	switch t.text {
	case "import":
		if s.isOp(s.pos+1, "(") || s.isOp(s.pos+1, ".") {
			return false
		}
		s.pos++
		s.jsImport()
		return true
	case "const", "let", "var":
		s.pos++
		if !s.isOp(s.pos, "{") {
			return true
		}
		pairs := s.pattern()
		if s.accept("=") {
			v := s.raw(0)
			s.destructure(v, pairs)
		}
		return true
	case "function", "class":
		s.pos++
		s.accept("*")
		if s.peek().kind == tIdent {
			s.pos++
		}
		return true
	}
	return false
}

// pattern reads { a, b: c, d = 1 } and returns name and key in turn.
func (s *scanner) pattern() []string {
	var pairs []string
	s.pos++
	for s.pos < s.end && !s.accept("}") {
		t := s.peek()
		if t.kind != tIdent {
			if !s.isOp(s.pos, ",") {
				s.eff(Unknown) // nested, computed or rest: not followed
				s.stmt()
				continue
			}
			s.pos++
			continue
		}
		s.pos++
		s.keyString(t.text)
		name := t.text
		if s.isOp(s.pos, ":") || s.isIdent(s.pos, "as") {
			s.pos++
			if n := s.peek(); n.kind == tIdent {
				name = n.text
				s.pos++
			}
		}
		pairs = append(pairs, name, t.text)
		if s.accept("=") {
			s.expr(0)
		}
	}
	return pairs
}

func (s *scanner) destructure(v value, pairs []string) {
	if v.k != kName {
		s.settle(v)
		return
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m := s.attr(v, pairs[i+1], v.b)
		if m.k == kName {
			if s.lookup(m.s).do == none && !s.foreign(m.s) {
				s.eff(Unknown)
			}
			s.alias(pairs[i], m.s)
		} else {
			s.settle(m)
		}
	}
}

func (s *scanner) jsImport() {
	var pairs []string
	star, plain := "", ""
	for s.pos < s.end && s.peek().kind != tEnd {
		t := s.peek()
		switch {
		case s.isOp(s.pos, "{"):
			pairs = append(pairs, s.pattern()...)
			continue
		case s.isOp(s.pos, "*") && s.isIdent(s.pos+1, "as"):
			s.pos += 2
			star = s.peek().text
		case t.kind == tStr:
			s.pos++
			m := s.jsModule(s.str(t))
			if star != "" {
				s.alias(star, m.s)
			}
			if plain != "" {
				s.alias(plain, m.s)
			}
			s.destructure(m, pairs)
			return
		case t.kind == tIdent && t.text != "from":
			plain = t.text
		}
		s.pos++
	}
	s.eff(Unknown)
}

// jsModule is what require or import of v gives.
func (s *scanner) jsModule(v value) value {
	if !v.known() {
		s.eff(Import | Unknown)
		return value{a: v.a, b: v.b}
	}
	name := strings.TrimPrefix(v.s, "node:")
	if strings.HasSuffix(name, ".json") {
		s.paths(Read, v)
		return value{a: v.a, b: v.b}
	}
	if name == "fs/promises" {
		name = "fs.promises"
	}
	r := value{k: kName, s: name, a: v.a, b: v.b}
	if s.lookup(r.s).do != module {
		s.eff(Import)
		r.s = outside + name
	}
	return r
}

func (s *scanner) perlStatement(t token) bool {
	switch t.text {
	case "package":
		s.pos += 2
		return true
	case "sub":
		if s.pos+1 < s.end && s.toks[s.pos+1].kind == tIdent {
			s.pos += 2
			if s.isOp(s.pos, "(") { // prototype
				for s.pos < s.end && !s.isOp(s.pos, ")") && !s.isOp(s.pos, "{") {
					s.pos++
				}
			}
			return true
		}
	case "use", "no":
		s.pos++
		n := s.peek()
		if n.kind == tIdent {
			s.pos++
			if !perlModule(n.text) {
				s.eff(Import)
			}
			if n.text == "lib" || n.text == "overload" || n.text == "constant" {
				s.expr(0)
			}
			for s.pos < s.end && s.peek().kind != tEnd && s.peek().kind != tIdent {
				s.expr(0)
				if s.peek().kind == tOp {
					s.pos++
				}
			}
		}
		return true
	}
	return false
}
