package code

// bind notes the names the tokens [a, b) define, so that they can be told from names nobody knows.
func (s *scanner) bind(a, b int) {
	for i := a; i < b; i++ {
		t := &s.toks[i]
		switch t.kind {
		case tIdent:
			s.bindWord(i, a, b)
		case tVar:
			if i+1 < b && assigns(s.toks[i+1]) {
				s.set(s.varName(t))
			} else if i > a && (s.toks[i-1].text == "as" || s.toks[i-1].text == "foreach" || s.isOp(i-1, "&") || s.isOp(i-1, "\\")) {
				s.set(s.varName(t))
				s.set(s.varName(t))
			}
			if i+1 < b && (s.toks[i+1].text == "=~" || s.toks[i+1].text == "<<") {
				s.flow = true
				s.set(s.varName(t))
				s.set(s.varName(t))
			}
		case tOp:
			switch t.text {
			case "=>":
				if s.lang == Node {
					s.flow = true
					s.arrow(i, a)
				}
				if s.lang == Ruby && i+1 < b && s.toks[i+1].kind == tIdent {
					s.set(s.toks[i+1].text)
				}
			case "?", "&&", "||":
				s.flow = true
			case "->":
				if s.lang == Ruby && s.isOp(i+1, "(") {
					s.flow = true
					s.params(i+1, b)
				}
			case "|":
				if s.lang == Ruby && i > a && (s.toks[i-1].text == "{" || s.toks[i-1].text == "do") {
					s.flow = true
					s.until(i+1, b, "|")
				}
			case "<<":
				s.flow = s.flow || s.lang == Ruby
			}
		}
	}
}

func (s *scanner) varName(t *token) string {
	if t.sigil == '@' || t.sigil == '%' {
		return s.src[t.a:t.b]
	}
	return t.text
}

func assigns(t token) bool {
	if t.kind != tOp {
		return false
	}
	switch t.text {
	case "=", "+=", "-=", "*=", "/=", ".=", ":=", "||=", "??=", "<-", "|=", "&=", "%=", "**=", "<<=", "&&=", "^=", ">>=":
		return true
	}
	return false
}

func (s *scanner) set(name string) {
	if s.names == nil {
		s.names = make(map[string]binding, 8)
	}
	b := s.names[name]
	b.sets++
	s.names[name] = b
}

// until sets every name up to the token stop.
func (s *scanner) until(i, b int, stop string) {
	for far := i + 60; i < b && i < far && s.toks[i].text != stop && s.toks[i].kind != tEnd; i++ {
		if s.toks[i].kind == tIdent && !s.isOp(i-1, "=") && !s.isOp(i-1, ".") && keyword(s.lang, s.toks[i].text) == 0 {
			s.set(s.toks[i].text)
		}
	}
}

// params sets the parameters between the brackets that open at i.
func (s *scanner) params(i, b int) {
	depth := 0
	for stop := i + 200; i < b && i < stop; i++ {
		t := &s.toks[i]
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return
			}
		}
		prev := s.toks[max(i-1, 0)].text
		if t.kind == tIdent && (prev == "(" || prev == "," || prev == "*" || prev == "**" || prev == "&" || prev == "..." ||
			prev == "{" || prev == "[" || prev == ":" && s.lang == Node) || t.kind == tVar {
			s.set(t.text)
		}
	}
}

// arrow sets the parameters left of the => at i.
func (s *scanner) arrow(i, a int) {
	if i == a {
		return
	}
	if s.toks[i-1].kind == tIdent {
		s.set(s.toks[i-1].text)
		return
	}
	depth := 0
	for j := i - 1; j >= a && j > i-100; j-- {
		switch s.toks[j].text {
		case ")":
			depth++
		case "(":
			if depth--; depth == 0 {
				s.params(j, i)
				return
			}
		}
	}
}

func (s *scanner) bindWord(i, a, b int) {
	t := &s.toks[i]
	if i+1 < b && assigns(s.toks[i+1]) {
		if s.isOp(i-1, ".") {
			s.set("." + t.text)
		} else {
			s.set(t.text)
			for j := i; j-2 >= a && j > i-40 && s.isOp(j-1, ",") && s.toks[j-2].kind == tIdent; j -= 2 {
				s.set(s.toks[j-2].text)
			}
		}
		return
	}
	if branches(t.text) {
		s.flow = true
	}
	next := ""
	if i+1 < b {
		next = s.toks[i+1].text
	}
	switch t.text {
	case "for":
		switch s.lang {
		case Python, Lua, Ruby:
			j := i + 1
			for j < b && j < i+20 && !s.isIdent(j, "in") && !s.isOp(j, "=") && s.toks[j].kind != tEnd {
				j++
			}
			s.until(i+1, j, "in")
		case R:
			s.until(i+1, b, "in")
		}
	case "as":
		if s.lang == Python && i+1 < b {
			s.set(next)
		}
	case "lambda":
		if s.lang == Python {
			s.until(i+1, b, ":")
		}
	case "def", "class", "function", "sub", "fn", "catch", "module":
		j := i + 1
		if s.isOp(j, "(") {
			s.params(j, b)
			return
		}
		for j < b && j < i+20 && (s.toks[j].kind == tIdent || s.isOp(j, ".") || s.isOp(j, ":") || s.isOp(j, "*") || s.isOp(j, "&")) {
			if s.toks[j].kind == tIdent && (t.text != "class" || j == i+1) {
				if !s.isOp(j+1, ".") {
					s.set(s.toks[j].text)
				}
				if s.isOp(j-1, ".") {
					s.set("." + s.toks[j].text)
				}
			}
			j++
			if j < b && s.toks[j].line || t.text == "class" {
				break
			}
		}
		if s.isOp(j, "(") && t.text != "class" {
			s.params(j, b)
		}
	case "const", "let", "var", "local":
		switch {
		case s.lang == Node && (next == "{" || next == "["):
			s.params(i+1, b)
		case i+2 < b && assigns(s.toks[i+2]):
		case s.lang == Node, s.lang == Lua && next != "function":
			for j := i + 1; j < b && s.toks[j].kind == tIdent; j += 2 {
				s.set(s.toks[j].text)
				if !s.isOp(j+1, ",") {
					break
				}
			}
		}
	case "rescue":
		s.flow = true
	}
}

// branches reports words after which a statement may run never, later or more than once.
func branches(w string) bool {
	switch w {
	case "if", "for", "while", "def", "lambda", "function", "try", "unless", "until", "foreach", "sub", "fn", "each", "map",
		"loop", "times", "do", "switch", "case", "begin", "and", "or", "goto", "repeat", "grep", "class", "match", "proc",
		"sapply", "lapply", "replace", "insert", "concat", "prepend", "clear", "setbyte", "sub!", "gsub!", "chop", "chomp",
		"substr", "tr", "forEach":
		return true
	}
	return false
}
