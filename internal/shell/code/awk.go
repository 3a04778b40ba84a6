package code

import "strings"

// awkProgram reads an awk program as a run of tokens; statements need no structure to be judged.
type awkProgram struct {
	*scanner
	toks []awkToken
}

type awkToken struct {
	kind tkind // tIdent, tNum, tStr, tRegex, tOp, tEnd
	text string
	a, b int
}

func (s *scanner) awk(a, b int) {
	p := awkProgram{scanner: s}
	p.cut(a, b)
	p.judge()
}

// cut splits src[i:b] into tokens.
func (p *awkProgram) cut(i, b int) {
	for i < b {
		c := p.src[i]
		at := i
		switch {
		case c == '\n' || c == ';':
			i++
			p.add(tEnd, ";", at, i)
		case isSpace(c) || c == '\\':
			i++
		case c == '#':
			i += lineEnd(p.src[i:b])
		case c == '"':
			var t string
			t, i = p.awkString(i+1, b)
			p.add(tStr, t, at, i)
		case c == '/' && p.operand():
			i = p.awkRegex(i+1, b)
			p.add(tRegex, "", at, i)
		case isAlpha(c):
			for i < b && isWord(p.src[i]) {
				i++
			}
			p.add(tIdent, p.src[at:i], at, i)
		case isDigit(c):
			for i < b && (isWord(p.src[i]) || p.src[i] == '.') {
				i++
			}
			p.add(tNum, p.src[at:i], at, i)
		default:
			if c == 0 {
				p.eff(Unknown)
			}
			i++
			if i < b && strings.Contains(">> || && |& == != >= <= += -= *= /= %= ++ -- ** !~", p.src[at:i+1]) && c != ' ' && p.src[i] != ' ' {
				i++
			}
			p.add(tOp, p.src[at:i], at, i)
		}
	}
}

func (p *awkProgram) add(k tkind, t string, a, b int) {
	p.toks = append(p.toks, awkToken{k, t, a, b})
}

// operand reports whether a slash here begins a pattern.
func (p *awkProgram) operand() bool {
	if len(p.toks) == 0 {
		return true
	}
	switch t := p.toks[len(p.toks)-1]; t.kind {
	case tEnd:
		return true
	case tOp:
		return t.text != ")" && t.text != "]" && t.text != "$" && t.text != "++" && t.text != "--"
	case tIdent:
		return t.text == "print" || t.text == "return" || t.text == "in" || t.text == "printf" || t.text == "case"
	}
	return false
}

func (p *awkProgram) awkString(i, b int) (string, int) {
	l := lexer{scanner: p.scanner, i: i, b: b}
	n := len(p.parts)
	l.body(`"`, quoting{})
	v := p.str(token{n: n, m: len(p.parts), a: i, b: l.i})
	p.parts = p.parts[:n]
	return v.s, l.i
}

func (p *awkProgram) awkRegex(i, b int) int {
	class := false
	for ; i < b && p.src[i] != '\n'; i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '[' && !class:
			class = true
			if i+1 < b && (p.src[i+1] == ']' || p.src[i+1] == '^' && i+2 < b && p.src[i+2] == ']') {
				i++
				if p.src[i] == '^' {
					i++
				}
			}
		case c == ']':
			class = false
		case c == '/' && !class:
			return i + 1
		case c == '/':
			p.eff(Unknown) // some awks end the pattern here
		}
	}
	p.eff(Unknown)
	return min(i, b)
}

func (p *awkProgram) is(i int, text string) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].text == text && p.toks[i].kind != tStr
}

// judge walks over the tokens.
func (p *awkProgram) judge() {
	consts := map[string]string{}
	for i, t := range p.toks { // names set once to a string
		if t.kind == tIdent && p.is(i+1, "=") {
			if _, twice := consts[t.text]; !twice && i+2 < len(p.toks) && p.toks[i+2].kind == tStr && p.ends(i+3) {
				consts[t.text] = p.toks[i+2].text
			} else {
				consts[t.text] = unknown
			}
		} else if t.kind == tIdent && (p.is(i+1, "[") || i+1 < len(p.toks) && strings.HasSuffix(p.toks[i+1].text, "=") && p.toks[i+1].kind == tOp && p.toks[i+1].text != "==") {
			consts[t.text] = unknown
		}
	}
	paren, printing, from := 0, -1, 0
	for i, t := range p.toks {
		switch t.kind {
		case tEnd:
			printing, from = -1, i+1
		case tIdent:
			if t.text == "print" || t.text == "printf" {
				printing = paren
			}
			p.word(i, consts)
		case tOp:
			switch t.text {
			case "(", "[":
				paren++
			case ")", "]":
				paren--
			case "{", "}":
				printing, from = -1, i+1
			case ">", ">>":
				if printing >= 0 && paren <= printing {
					p.target(i+1, consts)
				}
			case "|", "|&":
				if p.is(i+1, "getline") {
					p.addShell(p.before(from, i, consts))
				} else {
					p.addShell(p.value(i+1, consts))
				}
			case "<":
				if p.is(i-1, "getline") || i >= 2 && p.is(i-2, "getline") {
					p.paths(Read, p.value(i+1, consts))
				}
			case "@":
				p.eff(Eval | Unknown)
			}
		}
	}
}

// ends reports whether an expression cannot go on at token i.
func (p *awkProgram) ends(i int) bool {
	if i >= len(p.toks) {
		return true
	}
	t := p.toks[i]
	return t.kind == tEnd || t.kind == tOp && (t.text == "}" || t.text == ")" || t.text == "," || t.text == "|" || t.text == "|&" || t.text == "{")
}

// value is the string that begins at token i.
func (p *awkProgram) value(i int, consts map[string]string) value {
	v := value{k: kStr}
	if i < len(p.toks) {
		v.a, v.b = p.toks[i].a, p.toks[i].b
	} else {
		return value{}
	}
	depth := 0
	for far := i + 100; i < len(p.toks); i++ {
		t := p.toks[i]
		if i > far {
			return value{a: v.a, b: t.b}
		}
		if p.is(i, "(") {
			depth++
			if i > 0 && p.toks[i-1].kind == tIdent {
				v = concat(v, value{})
			}
			continue
		}
		if p.is(i, ")") && depth > 0 {
			depth--
			continue
		}
		if p.ends(i) && depth == 0 {
			break
		}
		switch {
		case t.kind == tStr || t.kind == tNum:
			v = concat(v, text(t.text))
		case t.kind == tIdent && consts[t.text] != "" && !p.is(i+1, "("):
			v = concat(v, text(consts[t.text]))
		default:
			v = concat(v, value{})
			if t.text == "$" && i+1 < len(p.toks) && !p.is(i+1, "(") {
				i++
			}
		}
		if v.k != kStr {
			return value{a: v.a, b: t.b}
		}
		v.b = t.b
	}
	return v
}

// before is the string that ends before token i, in the statement that starts at from.
func (p *awkProgram) before(from, i int, consts map[string]string) value {
	j := i
	for j > from && (p.toks[j-1].kind == tStr || p.toks[j-1].kind == tNum || p.toks[j-1].kind == tIdent && consts[p.toks[j-1].text] != "" && p.toks[j-1].text != "while") {
		j--
	}
	if j == i-1 && p.is(j-1, "$") {
		return value{a: p.toks[j-1].a, b: p.toks[j].b}
	}
	if j > from && p.is(j-1, ")") || j == i {
		k := max(i-1, 0)
		if p.is(i-1, ")") && i-from < 200 {
			for k = i - 1; k > from && !p.is(k, "("); k-- {
			}
			if v := p.value(k, consts); v.k == kStr {
				return v
			}
		}
		return value{a: p.toks[k].a, b: p.toks[i].a}
	}
	v := p.value(j, consts)
	if j > from {
		switch t := p.toks[j-1]; {
		case t.kind == tOp && (t.text == "(" || t.text == "{" || t.text == "=" || t.text == "}" || t.text == "!" || t.text == "&&" || t.text == "||"), t.kind == tEnd:
		default:
			return concat(value{k: kStr, s: unknown}, v).at(v.a, v.b) // something is glued in front
		}
	}
	return v
}

// target is the file after > of a print.
func (p *awkProgram) target(i int, consts map[string]string) {
	v := p.value(i, consts)
	if v.s == "/dev/stdout" || v.s == "/dev/stderr" || v.s == "-" {
		return
	}
	if strings.HasPrefix(v.s, "/inet") {
		p.paths(Connect, v)
		return
	}
	p.paths(Write, v)
}

// word judges a name.
func (p *awkProgram) word(i int, consts map[string]string) {
	t := p.toks[i]
	switch t.text {
	case "system":
		if p.is(i+1, "(") {
			p.addShell(p.value(i+2, consts))
		} else {
			p.eff(Spawn | Unknown)
		}
	case "ENVIRON":
		p.eff(Env)
	case "ARGV", "ARGC":
		for j := i + 1; j < len(p.toks) && j < i+50 && !p.ends(j); j++ {
			if p.is(j, "=") {
				p.eff(Read) // another file is read
			}
		}
	case "getline":
		p.eff(Read)
	case "load", "include":
		if p.is(i-1, "@") {
			p.eff(Import)
		}
	case "SYMTAB", "PROCINFO", "FUNCTAB":
		p.eff(Unknown)
	default:
		if p.is(i+1, "(") && t.b == p.toks[i+1].a && !awkFunction(t.text) {
			if !p.defined(t.text) {
				p.eff(Unknown)
			}
		}
	}
}

// defined reports whether the program has a function of that name.
func (p *awkProgram) defined(name string) bool {
	if p.names == nil {
		p.names = map[string]binding{}
		for i, t := range p.toks {
			if t.kind == tIdent && (t.text == "function" || t.text == "func") && i+1 < len(p.toks) {
				p.names[p.toks[i+1].text] = binding{}
			}
		}
	}
	_, found := p.names[name]
	return found
}

func awkFunction(name string) bool {
	switch name {
	case "print", "printf", "sprintf", "length", "substr", "index", "split", "sub", "gsub", "gensub", "match", "tolower", "toupper", "int", "sqrt", "exp", "log",
		"sin", "cos", "atan2", "rand", "srand", "close", "fflush", "strftime", "systime", "mktime", "asort", "asorti", "patsplit", "and", "or", "xor", "lshift",
		"rshift", "compl", "strtonum", "isarray", "typeof", "if", "while", "for", "return", "exit", "in", "switch", "delete", "do", "else", "nextfile", "next", "function", "func", "case", "BEGIN", "END":
		return true
	}
	return false
}
