package code

// command calls v when it is the name of a function that takes its arguments without brackets.
func (s *scanner) command(v value, t token) value {
	if s.lang != Ruby && s.lang != Perl && s.lang != PHP && !(s.lang == Python && (t.text == "exec" || t.text == "print")) {
		return v
	}
	n := s.peek()
	if s.pos >= s.end || s.isOp(s.pos, "(") && (!n.space || s.lang != Ruby) || n.line && s.lang != Perl && s.lang != PHP {
		return v
	}
	if s.lang == Python {
		if n.kind == tStr && t.text == "exec" {
			return s.call(v, []value{s.expr(0)}, s.last())
		}
		return v
	}
	if s.lang == PHP && !phpStatement(t.text) {
		return v
	}
	if s.lang == Perl && t.text == "eval" && s.isOp(s.pos, "{") { // a block, not a string
		s.braces()
		return value{a: v.a, b: s.last()}
	}
	if v.k == kAny && s.lang == Perl && v.name == "" && s.starts(n) { // print STDERR …
		return value{a: v.a, b: v.b}
	}
	if v.k != kName || !s.starts(n) {
		return v
	}
	args := s.words()
	return s.call(v, args, s.last())
}

// starts reports whether t can begin an argument of a command call.
func (s *scanner) starts(t token) bool {
	switch t.kind {
	case tStr, tNum, tVar, tShell, tWords, tRegex, tRaw, tHandle:
		return true
	case tIdent:
		if s.lang == Perl && (t.text == "x" || t.text == "eq" || t.text == "ne" || t.text == "lt" || t.text == "gt" || t.text == "le" || t.text == "ge" || t.text == "cmp") {
			return false
		}
		return !breaks(t.text)
	case tOp:
		if t.sigil != 0 {
			return true
		}
		next := s.pos+1 < s.end && s.toks[s.pos+1].space
		switch t.text {
		case "\\", "!", "(":
			return true
		case "[":
			return t.space
		case "{":
			return s.lang == Perl
		case "-", "*", "&", "::", "->", "**", "+":
			return t.space && !next && (s.lang == Ruby || t.text == "-" && s.lang == Perl)
		}
	}
	return false
}

// breaks reports words that end the arguments of a command call.
func breaks(w string) bool {
	switch w {
	case "if", "unless", "while", "until", "and", "or", "do", "end", "then", "rescue", "for", "foreach", "in", "xor", "else":
		return true
	}
	return false
}

// words reads arguments without brackets.
func (s *scanner) words() []value {
	var vs []value
	for s.pos < s.end {
		at := s.pos
		if s.isOp(s.pos, "{") && s.lang == Perl {
			s.braces()
			s.accept(",")
			continue
		}
		v := s.element()
		vs = append(vs, v)
		if s.accept(",") || s.accept("=>") {
			continue
		}
		if s.pos == at || !s.starts(s.peek()) || s.peek().line && s.lang == Ruby || s.isOp(s.pos, "(") {
			break
		}
		if s.lang == PHP {
			break
		}
		vs[len(vs)-1] = value{a: v.a, b: v.b}
	}
	return vs
}

// autoCall calls the member m where the language calls without brackets.
func (s *scanner) autoCall(m value, t token) value {
	if s.lang != Ruby && s.lang != Perl {
		return m
	}
	n := s.peek()
	if s.pos < s.end && s.isOp(s.pos, "(") && (!n.space || s.lang == Perl) {
		return m
	}
	if m.k == kName && (s.isOp(s.pos, "::") || s.isOp(s.pos, ".") && s.lookup(m.s).do == module) {
		return m
	}
	if m.k != kName && m.k != kMethod {
		return m
	}
	if s.lang == Ruby && t.text != "" && t.text[0] >= 'A' && t.text[0] <= 'Z' {
		return m
	}
	if s.lang == Ruby && s.pos < s.end && !n.line && n.space && s.starts(n) {
		args := s.words()
		return s.call(m, args, s.last())
	}
	if s.lang == Ruby && s.isOp(s.pos, "=") {
		return m
	}
	r := s.call(m, nil, m.b)
	if s.isOp(s.pos, "{") && !n.line && s.lang == Ruby {
		s.braces()
	}
	return r
}
