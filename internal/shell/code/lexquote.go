package code

import "strings"

// slash reads a pattern between slashes where one can start.
func (l *lexer) slash() bool {
	if l.lang != Node && l.lang != Perl && l.lang != Ruby {
		return false
	}
	t := l.last()
	after := l.at(l.i + 1)
	ok := l.operand()
	if !ok && t.kind == tIdent && l.lang != Node && l.space && !isSpace(after) && after != '=' {
		ok = true
		l.eff(Unknown) // x /y/ may be a call or two divisions
	}
	if !ok {
		if t.kind == tOp && t.text != "]" && (t.text != ")" || l.was) {
			l.doubtful()
		}
		return false
	}
	a := l.i
	l.i++
	if l.lang == Node {
		l.jsRegex(a)
		return true
	}
	l.regex(a, "/", 0)
	return true
}

// doubtful marks the text as not understood when a slash read as division could also begin a pattern that hides a quote.
func (l *lexer) doubtful() {
	rest := l.src[l.i+1 : l.b]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	rest = rest[:min(len(rest), 512)]
	n := strings.LastIndexByte(rest, '/')
	if n >= 0 && strings.ContainsAny(rest[:n], "'\"`#/") {
		l.eff(Unknown)
	}
}

func (l *lexer) jsRegex(a int) {
	n, class := len(l.parts), false
	for l.i < l.b && (l.src[l.i] != '/' || class) {
		switch l.src[l.i] {
		case '[':
			class = true
		case ']':
			class = false
		case '\\':
			l.i++
		case '\n':
			l.eff(Unknown)
			l.emit(token{kind: tRegex, a: a, b: l.i, n: n, m: n})
			return
		}
		l.i++
	}
	if l.i >= l.b {
		l.i = l.b
		l.eff(Unknown)
	} else {
		l.i++
	}
	for isAlpha(l.at(l.i)) {
		l.i++
	}
	l.emit(token{kind: tRegex, a: a, b: l.i, n: n, m: n})
}

// regex reads the rest of a Perl or Ruby pattern, with its flags.
func (l *lexer) regex(a int, end string, open byte) {
	n := len(l.parts)
	from := l.i
	q := quoting{interp: "$", regex: true, open: open}
	if l.lang == Ruby {
		q.interp = "#{"
	}
	if end == "'" {
		q.interp = ""
	}
	l.body(end, q)
	l.codeInPattern(from)
	for isAlpha(l.at(l.i)) {
		l.i++
	}
	l.emit(token{kind: tRegex, a: a, b: l.i, n: n, m: len(l.parts)})
}

// codeInPattern notices (?{ code }) in the pattern src[from:l.i].
func (l *lexer) codeInPattern(from int) {
	p := l.src[from:l.i]
	if l.lang == Perl && (strings.Contains(p, "(?{") || strings.Contains(p, "(??{") || strings.Contains(p, "(*{")) {
		l.eff(Eval | Unknown)
	}
}

func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return c
}

// perlQuote reads q qq qx qw qr m s tr y, if w is one of them used as such; l.i stands behind w, which starts at a.
func (l *lexer) perlQuote(w string, a int) bool {
	switch w {
	case "q", "qq", "qx", "qw", "qr", "m", "s", "tr", "y":
	default:
		return false
	}
	if t := l.last(); t != nil && (t.kind == tOp && t.text == "{" && l.at(l.i) == '}' || t.kind == tIdent && t.text == "sub") {
		return false
	}
	i := l.i
	for i < l.b && isSpace(l.src[i]) {
		i++
	}
	if i >= l.b || l.src[i] == '=' && l.at(i+1) == '>' || l.src[i] == '#' && i > l.i || isWord(l.src[i]) && i == l.i {
		return false
	}
	if l.src[i] == ',' || l.src[i] == ';' || isWord(l.src[i]) {
		l.eff(Unknown)
	}
	l.i = i + 1
	l.perlBody(w, a, l.src[i])
	return true
}

func (l *lexer) perlBody(w string, a int, c byte) {
	end := string([]byte{closing(c)})
	var open byte
	if closing(c) != c {
		open = c
	}
	full := quoting{interp: "$", open: open}
	if c == '\'' {
		full.interp = ""
	}
	switch w {
	case "q":
		l.str(tStr, a, end, quoting{simple: true, open: open})
	case "qq":
		full.interp = "$"
		l.str(tStr, a, end, full)
	case "qx":
		l.str(tShell, a, end, full)
	case "qw":
		from := l.i
		n := len(l.parts)
		l.body(end, quoting{raw: true, open: open})
		l.parts = l.parts[:n]
		l.emit(token{kind: tWords, text: l.src[from:max(from, l.i-1)], a: a, b: l.i})
	case "m", "qr":
		l.regex(a, end, open)
	default:
		l.perlSubst(w, a, c, open)
	}
}

// perlSubst reads s/// and tr///.
func (l *lexer) perlSubst(w string, a int, c, open byte) {
	n := len(l.parts)
	from := l.i
	end := string([]byte{closing(c)})
	q := quoting{interp: "$", regex: true, open: open}
	if w != "s" || c == '\'' {
		q.interp = ""
	}
	l.body(end, q)
	l.codeInPattern(from)
	if open != 0 {
		for l.i < l.b && isSpace(l.src[l.i]) {
			l.i++
		}
		if l.i >= l.b {
			l.eff(Unknown)
			return
		}
		c = l.src[l.i]
		if open = 0; closing(c) != c {
			open = c
		}
		end = string([]byte{closing(c)})
		l.i++
	}
	from, m := l.i, len(l.parts)
	if w != "s" || c == '\'' {
		q.interp = ""
	}
	q.open, q.regex = open, true
	before := l.rep.Effects
	l.body(end, q)
	stop := max(from, l.i-1)
	flags := l.i
	for isAlpha(l.at(l.i)) {
		l.i++
	}
	f := l.src[flags:l.i]
	if w == "s" && strings.Contains(f, "e") {
		l.parts = l.parts[:m]
		if l.i < l.b {
			l.rep.Effects = before
		}
		l.emit(token{kind: tRegex, a: a, b: from, n: n, m: m})
		l.emit(token{kind: tRaw, a: from, b: l.i, n: from, m: stop})
		if strings.Count(f, "e") > 1 {
			l.eff(Eval | Unknown)
		}
		return
	}
	l.emit(token{kind: tRegex, a: a, b: l.i, n: n, m: len(l.parts)})
}

// rubyQuote reads %q %Q %w %i %x %r %( ) literals, ?c and :symbols.
func (l *lexer) rubyQuote(c byte) bool {
	a, d := l.i, l.at(l.i+1)
	switch c {
	case ':':
		if t := l.last(); t != nil && !l.space && (t.kind == tIdent || t.kind == tStr) || d == ':' {
			return false
		}
		if d == '"' || d == '\'' {
			l.i += 2
			q := quoting{}
			if d == '"' {
				q.interp = "#{"
			}
			l.str(tStr, a, string([]byte{d}), q)
			l.toks[len(l.toks)-1].sigil = ':'
			return true
		}
		if !isAlpha(d) && !strings.ContainsRune("+-*/<=>[!%&|^~", rune(d)) || d == 0 {
			return false
		}
		j := l.i + 1
		if isAlpha(d) {
			for isWord(l.at(j)) {
				j++
			}
			if e := l.at(j); (e == '?' || e == '!') && l.at(j+1) != '=' {
				j++
			}
		} else if !l.operand() {
			return false
		} else {
			for strings.IndexByte("+-*/<=>[]!%&|^~", l.at(j)) >= 0 && j < l.b && j < l.i+4 {
				j++
			}
		}
		l.parts = append(l.parts, part{lit: l.src[l.i+1 : j]})
		l.i = j
		l.emit(token{kind: tStr, sigil: ':', a: a, b: j, n: len(l.parts) - 1, m: len(l.parts)})
		return true
	case '?':
		if l.operand() && d != 0 && !isSpace(d) && !isWord(l.at(l.i+2)) {
			l.parts = append(l.parts, part{lit: l.src[l.i+1 : l.i+2]})
			if d == '\\' {
				l.eff(Unknown)
			}
			l.i += 2
			l.emit(token{kind: tStr, a: a, b: l.i, n: len(l.parts) - 1, m: len(l.parts)})
			return true
		}
		return false
	}
	return l.rubyPercent(d)
}

func (l *lexer) rubyPercent(d byte) bool {
	t := l.last()
	if !l.operand() {
		// x %w is a call when there is a space before and none after
		if t.kind != tIdent || !l.space || isSpace(d) || d == '=' {
			return false
		}
	}
	a, k, j := l.i, byte('Q'), l.i+1
	if strings.IndexByte("qQwWiIxrs", d) >= 0 && d != 0 && !isWord(l.at(j+1)) {
		k = d
		j++
	}
	c := l.at(j)
	if c == 0 || isWord(c) || isSpace(c) {
		return false
	}
	l.i = j + 1
	end := string([]byte{closing(c)})
	var open byte
	if closing(c) != c {
		open = c
	}
	switch k {
	case 'Q':
		l.str(tStr, a, end, quoting{interp: "#{", open: open})
	case 'q', 's':
		l.str(tStr, a, end, quoting{simple: true, open: open})
	case 'x':
		l.str(tShell, a, end, quoting{interp: "#{", open: open})
	case 'r':
		l.regex(a, end, open)
	default:
		from, n := l.i, len(l.parts)
		q := quoting{raw: true, open: open}
		if k == 'W' || k == 'I' {
			q.interp = "#{"
		}
		l.body(end, q)
		if m := len(l.parts); m > n+1 {
			l.emit(token{kind: tStr, a: a, b: l.i, n: n, m: m}) // words built by code: one unknown string
			l.toks[len(l.toks)-1].sigil = 'W'
			return true
		}
		l.parts = l.parts[:n]
		l.emit(token{kind: tWords, text: l.src[from:max(from, l.i-1)], a: a, b: l.i})
	}
	return true
}

// angle reads <FH>, <<HEREDOC and <<<HEREDOC.
func (l *lexer) angle() bool {
	if l.lang != Perl && l.lang != Ruby && l.lang != PHP {
		return false
	}
	a := l.i
	if l.lang == Perl && l.operand() && l.at(a+1) != '<' {
		j := a + 1
		for j < l.b && (isWord(l.src[j]) || l.src[j] == '$' || l.src[j] == ':') {
			j++
		}
		switch {
		case l.at(j) == '>':
			l.i = j + 1
			l.emit(token{kind: tHandle, text: l.src[a+1 : j], a: a, b: l.i})
			return true
		default: // a file pattern
			if n := strings.IndexByte(l.src[a:min(l.b, a+512)], '>'); n > 0 {
				l.i++
				l.str(tStr, a, ">", quoting{interp: "$"})
				l.eff(Read)
				return true
			}
		}
		return false
	}
	lead := "<<"
	if l.lang == PHP {
		lead = "<<<"
	}
	if !l.has(lead) {
		return false
	}
	j := a + len(lead)
	d := heredoc{indent: l.lang == PHP}
	for l.at(j) == '~' || l.at(j) == '-' || l.lang == PHP && l.at(j) == ' ' {
		d.indent = true
		j++
	}
	c := l.at(j)
	if c == '"' || c == '\'' || c == '`' {
		n := strings.IndexByte(l.src[j+1:l.b], c)
		if n < 0 {
			return false
		}
		d.tag = l.src[j+1 : j+1+n]
		d.raw = c == '\''
		j += n + 2
	} else {
		if !isAlpha(c) || l.lang == Ruby && !l.operand() && !(c >= 'A' && c <= 'Z') {
			return false
		}
		k := j
		for isWord(l.at(k)) {
			k++
		}
		d.tag = l.src[j:k]
		j = k
	}
	l.i = j
	d.tok = len(l.toks)
	kind := tStr
	if c == '`' {
		kind = tShell
	}
	l.emit(token{kind: kind, a: a, b: j})
	l.docs = append(l.docs, d)
	return true
}

// bodies reads the here-documents announced on the line that ends here.
func (l *lexer) bodies() {
	docs := l.docs
	l.docs = nil
	for _, d := range docs {
		from, stop := l.i, -1
		for i := l.i; i <= l.b && stop < 0; {
			n := strings.IndexByte(l.src[i:l.b], '\n')
			line := l.src[i:l.b]
			if n >= 0 {
				line = line[:n]
			}
			t := line
			if d.indent {
				t = strings.TrimLeft(line, " \t")
			}
			if t == d.tag || l.lang == PHP && strings.HasPrefix(t, d.tag) && !isWord((t + " ")[len(d.tag)]) {
				stop = i
				l.i = i + len(line) - len(t) + len(d.tag)
			}
			if n < 0 {
				break
			}
			i += n + 1
		}
		if stop < 0 {
			l.eff(Unknown)
			l.i = l.b
			return
		}
		n := len(l.parts)
		in := lexer{scanner: l.scanner, i: from, b: stop}
		q := quoting{interp: "$", raw: d.raw}
		if l.lang == Ruby {
			q.interp = "#{"
		}
		if d.raw {
			q.interp = ""
		}
		before := l.rep.Effects
		in.body("\xff\xff\xff", q)
		l.rep.Effects = before // the body ends without a delimiter
		for _, p := range l.parts[n:] {
			if p.code && p.b >= stop {
				l.eff(Unknown)
			}
		}
		l.toks[d.tok].n, l.toks[d.tok].m = n, len(l.parts)
	}
}

// variable reads the sigil variables of Perl, PHP and Ruby.
func (l *lexer) variable(c byte) bool {
	a := l.i
	switch l.lang {
	case PHP:
		if c == '$' && isAlpha(l.at(a+1)) {
			l.i++
			for isWord(l.at(l.i)) {
				l.i++
			}
			l.emit(token{kind: tVar, sigil: '$', text: l.src[a+1 : l.i], a: a, b: l.i})
			return true
		}
	case Ruby:
		if c == '@' || c == '$' {
			j := a + 1
			for l.at(j) == '@' {
				j++
			}
			if !isWord(l.at(j)) {
				if c != '$' || j >= l.b || isSpace(l.at(j)) {
					return false
				}
				j++
			}
			for isWord(l.at(j)) {
				j++
			}
			l.i = j
			l.emit(token{kind: tVar, sigil: c, text: l.src[a+1 : j], a: a, b: j})
			return true
		}
	case Perl:
		return l.perlVariable(c)
	}
	return false
}

func (l *lexer) perlVariable(c byte) bool {
	a := l.i
	switch c {
	case '$', '@':
	case '%', '&', '*':
		if !l.operand() {
			return false
		}
	default:
		return false
	}
	j := a + 1
	if c == '$' && l.at(j) == '#' && (l.at(j+1) == '{' || l.at(j+1) == '$' || isWord(l.at(j+1))) {
		j++
	}
	d := l.at(j)
	switch {
	case isAlpha(d) || d == ':' && l.at(j+1) == ':':
		for isWord(l.at(j)) || l.at(j) == ':' && l.at(j+1) == ':' && isAlpha(l.at(j+2)) {
			if l.at(j) == ':' {
				j++
			}
			j++
		}
		for l.at(j) == ':' && j < a+3 { // $::x
			j++
			for isWord(l.at(j)) {
				j++
			}
		}
	case isDigit(d):
		for isDigit(l.at(j)) {
			j++
		}
	case d == '{' || d == '$' && (isWord(l.at(j+1)) || l.at(j+1) == '{' || l.at(j+1) == '$'):
		// a dereference: the operand follows as tokens of its own
		if d == '{' && l.at(j+1) == '^' {
			j += 2
		}
		l.i = j
		l.emit(token{kind: tOp, text: l.src[a : a+1], sigil: c, a: a, b: j})
		return true
	case c == '%' && d != '+' && d != '-' && d != '!' && d != '^', c == '&', c == '*', d == 0, isSpace(d):
		return false
	case d == '^' && isAlpha(l.at(j+1)):
		j += 2
	default:
		if c == '@' && d != '-' && d != '+' {
			return false
		}
		j++
	}
	l.i = j
	l.emit(token{kind: tVar, sigil: c, text: l.src[a+1 : j], a: a, b: j})
	return true
}
