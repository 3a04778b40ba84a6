package code

import "strings"

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool  { return isAlpha(c) || isDigit(c) }
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'
}

// lexer cuts src[i:b] into tokens at the end of s.toks.
type lexer struct {
	*scanner
	i, b  int
	from  int // first token of this run
	open  int // open ( and [
	space bool
	line  bool
	docs  []heredoc
	ctl   uint64 // for each open (, whether it follows if, while, for or with; the innermost last
	was   bool   // the same for the ( that was closed last
}

// heredoc is one announced by << whose body starts on the next line.
type heredoc struct {
	tok    int
	tag    string
	raw    bool
	indent bool
}

func (s *scanner) lex(a, b int) {
	l := lexer{scanner: s, i: a, b: b, from: len(s.toks), line: true}
	if s.lang == PHP && a == 0 && s.nest == 0 {
		l.phpProlog()
	}
	for l.i < l.b {
		l.next()
	}
	if len(l.docs) > 0 {
		s.eff(Unknown)
	}
}

func (l *lexer) at(i int) byte {
	if i < l.b {
		return l.src[i]
	}
	return 0
}

func (l *lexer) has(p string) bool { return strings.HasPrefix(l.src[l.i:l.b], p) }

func (l *lexer) emit(t token) {
	t.space, t.line = l.space, l.line
	l.space, l.line = false, false
	l.toks = append(l.toks, t)
}

func (l *lexer) op(n int) {
	l.emit(token{kind: tOp, text: l.src[l.i : l.i+n], a: l.i, b: l.i + n})
	l.i += n
}

// last is the token before this place, if any.
func (l *lexer) last() *token {
	if len(l.toks) > l.from {
		return &l.toks[len(l.toks)-1]
	}
	return nil
}

// operand reports whether a value is expected here, so that / starts a pattern and % or & a variable.
func (l *lexer) operand() bool {
	t := l.last()
	if t == nil {
		return true
	}
	switch t.kind {
	case tEnd:
		return true
	case tOp:
		return t.text != ")" && t.text != "]" && t.text != "}" && t.text != "++" && t.text != "--"
	case tIdent:
		return operandAfter(l.lang, t.text)
	}
	return false
}

func (l *lexer) next() {
	c := l.src[l.i]
	switch {
	case c == '\n':
		l.newline()
		return
	case isSpace(c):
		l.space = true
		l.i++
		return
	case c == '\\' && (l.at(l.i+1) == '\n' || l.at(l.i+1) == '\r'):
		l.i += 2
		l.space = true
		return
	case c == 0:
		l.eff(Unknown)
		l.emit(token{kind: tStr, a: l.i, b: l.i + 1, n: len(l.parts), m: len(l.parts) + 1})
		l.parts = append(l.parts, part{wild: true})
		l.i++
		return
	}
	if l.comment(c) || l.quoted(c) || l.variable(c) {
		return
	}
	switch {
	case isDigit(c) || c == '.' && isDigit(l.at(l.i+1)) && l.operand():
		l.number()
	case isAlpha(c):
		l.word()
	case c == ';':
		l.emit(token{kind: tEnd, a: l.i, b: l.i + 1})
		l.i++
	default:
		l.operator(c)
	}
}

func (l *lexer) newline() {
	l.i++
	l.line, l.space = true, true
	if len(l.docs) > 0 {
		l.bodies()
	}
	if (l.lang == Python || l.lang == Ruby || l.lang == R) && l.open <= 0 {
		if t := l.last(); t != nil && t.kind != tEnd {
			l.emit(token{kind: tEnd, a: l.i - 1, b: l.i})
			l.line, l.space = true, true
		}
	}
}

// skipLine moves to the next line break.
func (l *lexer) skipLine() {
	if n := strings.IndexByte(l.src[l.i:l.b], '\n'); n >= 0 {
		l.i += n
	} else {
		l.i = l.b
	}
	l.space = true
}

// skipTo moves behind the next occurrence of end.
func (l *lexer) skipTo(end string) {
	if n := strings.Index(l.src[l.i:l.b], end); n >= 0 {
		l.i += n + len(end)
	} else {
		l.i = l.b
		l.eff(Unknown)
	}
	l.space = true
}

func (l *lexer) comment(c byte) bool {
	switch l.lang {
	case Python, R, Perl, Ruby:
		if c == '#' {
			l.skipLine()
			return true
		}
		start := l.i == 0 || l.src[l.i-1] == '\n'
		if l.lang == Perl && c == '=' && start && isAlpha(l.at(l.i+1)) {
			if n := strings.Index(l.src[l.i:l.b], "\n=cut"); n >= 0 {
				l.i += n + 5
				l.skipLine()
			} else {
				l.i = l.b
			}
			return true
		}
		if l.lang == Ruby && start && l.has("=begin") {
			l.skipTo("\n=end")
			l.skipLine()
			return true
		}
	case PHP, Node:
		switch {
		case l.has("//"), c == '#' && l.lang == PHP && l.at(l.i+1) != '[', l.i == 0 && l.has("#!"):
			from := l.i
			l.skipLine()
			if n := strings.Index(l.src[from:l.i], "?>"); l.lang == PHP && n >= 0 {
				l.i = from + n
			}
			return true
		case l.has("/*"):
			l.i += 2
			l.skipTo("*/")
			return true
		case l.lang == PHP && l.has("?>"):
			l.i += 2
			l.emit(token{kind: tEnd, a: l.i - 2, b: l.i})
			l.phpText()
			return true
		case l.has("<!--") || l.has("-->") && l.line:
			l.eff(Unknown)
			return false
		}
	case Lua:
		if l.has("--") {
			l.i += 2
			if n := l.longBracket(); n >= 0 {
				l.skipTo("]" + strings.Repeat("=", n) + "]")
			} else {
				l.skipLine()
			}
			return true
		}
	}
	return false
}

// longBracket reports the level of the Lua bracket [==[ here, or -1.
func (l *lexer) longBracket() int {
	if l.at(l.i) != '[' {
		return -1
	}
	n := 0
	for l.at(l.i+1+n) == '=' {
		n++
	}
	if l.at(l.i+1+n) == '[' {
		return n
	}
	return -1
}

// phpProlog skips the text before <?php of a file; a text that is code from the start (php -r) has none.
func (l *lexer) phpProlog() {
	t := strings.TrimLeft(l.src[l.i:l.b], " \t\r\n")
	if strings.HasPrefix(t, "<") || strings.HasPrefix(t, "#!") {
		l.phpText()
	}
}

// phpText skips text outside <? … ?>.
func (l *lexer) phpText() {
	n := strings.Index(l.src[l.i:l.b], "<?")
	if n < 0 {
		l.i = l.b
		return
	}
	l.i += n + 2
	if strings.HasPrefix(strings.ToLower(l.src[l.i:min(l.b, l.i+3)]), "php") {
		l.i += 3
	} else if l.at(l.i) == '=' {
		l.i++
	}
}

func (l *lexer) number() {
	a := l.i
	for l.i < l.b {
		c := l.src[l.i]
		if !isWord(c) && (c != '.' || l.at(l.i+1) == '.' || l.i > a && l.src[l.i-1] == '.' || isAlpha(l.at(l.i+1))) {
			break
		}
		l.i++
	}
	l.emit(token{kind: tNum, text: l.src[a:l.i], a: a, b: l.i})
}

func (l *lexer) word() {
	a := l.i
	for l.i < l.b && isWord(l.src[l.i]) ||
		l.i < l.b && l.src[l.i] == '$' && l.lang == Node ||
		l.i < l.b && l.src[l.i] == '.' && l.lang == R && l.i > a ||
		l.i < l.b && l.src[l.i] == '\\' && l.lang == PHP && isAlpha(l.at(l.i+1)) ||
		l.lang == Perl && l.has("::") && isAlpha(l.at(l.i+2)) && l.step(2) {
		l.i++
	}
	w := l.src[a:l.i]
	t := l.last()
	member := t != nil && t.kind == tOp && (t.text == "." || t.text == "->" || t.text == "?." || t.text == "::" || t.text == "&.")
	switch l.lang {
	case Perl:
		if !member && l.perlQuote(w, a) {
			return
		}
		if (w == "__END__" || w == "__DATA__") && l.line {
			l.i = l.b
			return
		}
	case Ruby:
		if c := l.at(l.i); (c == '?' || c == '!') && l.at(l.i+1) != '=' && (c == '!' || !l.ternary()) {
			l.i++
			w = l.src[a:l.i]
		}
		if w == "__END__" && l.line && (l.i == l.b || l.src[l.i] == '\n') {
			l.i = l.b
			return
		}
	case Python:
		if c := l.at(l.i); (c == '"' || c == '\'') && len(w) <= 2 && l.pyPrefix(w, a) {
			return
		}
	case R:
		if (w == "r" || w == "R") && (l.at(l.i) == '"' || l.at(l.i) == '\'') {
			l.eff(Unknown)
		}
	}
	l.emit(token{kind: tIdent, text: w, a: a, b: l.i})
}

func (l *lexer) step(n int) bool {
	l.i += n - 1
	return true
}

// ternary tells x?1:2 from the method name x? before it.
func (l *lexer) ternary() bool {
	c := l.at(l.i + 1)
	return isWord(c) || c == '"' || c == '\''
}

var ops = [...]string{"<=>", "===", "!==", "**=", "||=", "&&=", "??=", "<<=", ">>=", "...", "?->", "->", "=>", "==", "!=",
	"<=", ">=", "&&", "||", "??", "**", "<<", ">>", "+=", "-=", "*=", "/=", "%=", ".=", "|=", "&=", "^=", ":=", "::",
	"=~", "!~", "++", "--", "..", "?.", "&.", "<-", "|>", "//"}

func (l *lexer) operator(c byte) {
	switch c {
	case '(', '[':
		l.open++
		if c == '(' {
			l.ctl <<= 1
			if t := l.last(); t != nil && t.kind == tIdent && (t.text == "if" || t.text == "while" || t.text == "for" || t.text == "with") {
				l.ctl |= 1
			}
		}
	case ')', ']':
		l.open--
		if c == ')' {
			l.was = l.ctl&1 != 0 || l.open > 60
			l.ctl >>= 1
		}
	}
	if c != '(' && c != ')' && c != '{' && c != '}' && c != '[' && c != ']' && c != ',' {
		d := l.at(l.i + 1)
		if d == '=' || d == c || d == '>' || d == '.' || d == '~' || d == '-' {
			for _, o := range ops {
				if o[0] == c && l.has(o) && l.has2(o) {
					l.op(len(o))
					return
				}
			}
		}
	}
	l.op(1)
}

// has2 rejects operators that the language does not have and that would swallow the start of something else.
func (l *lexer) has2(o string) bool {
	switch o {
	case "::":
		return l.lang != Python && l.lang != Node
	case "<-":
		return l.lang == R
	case "|>", "||=":
		return l.lang != Python
	case "&.":
		return l.lang == Ruby
	case "?.", "?->":
		return l.lang == Node || l.lang == PHP && o == "?->"
	case "++", "--":
		return l.lang == Node || l.lang == PHP || l.lang == Perl
	case "//":
		return l.lang == Python || l.lang == Perl || l.lang == Lua
	}
	return true
}
