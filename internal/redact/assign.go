package redact

import "strings"

// assignment is a name, an operator and where the value begins.
type assignment struct {
	start, end  int // the name
	op          byte
	value       int  // where the value begins
	quotedName  bool // "name": or 'name':
	blankBefore bool
	blankAfter  bool
}

// key looks at a word that ends like a credential name and is followed by something that may lead to a value.
func (sc *scanner) key(start, end int) {
	s := sc.line
	next := s[end]
	if is(s[end-1], digit) {
		switch {
		case next == ':' && end-start >= 8:
			sc.telegram(start, end)
			return
		case next != '=' || !is(s[start], letter|under):
			return
		}
	}
	if next == ' ' || next == '\t' {
		i := end + 1
		for i < len(s) && i-end < 32 && is(s[i], space) {
			i++
		}
		if i >= len(s) {
			return
		}
		if s[i] != '=' && s[i] != ':' {
			sc.spaced(start, end, i)
			return
		}
	}
	a, ok := parseAssignment(s, start, end)
	if !ok || sc.header(a) || sc.mode == Off {
		return
	}
	n := s[start:end]
	strength, kind := name(n)
	if strength == noName {
		return
	}
	if kind == kindAPIKey && strength == weak && apiBefore(s, start) {
		strength = strong
	}
	if n == "AccountKey" || n == "SharedAccessKey" {
		sc.assign(a, strength, kindStorage)
		return
	}
	if sc.mode.assigns() || a.quotedName && errorLine(s) {
		sc.assign(a, strength, kind)
	}
}

// telegram: 123456789:AA…, with "bot" before it in the addresses of the API.
func (sc *scanner) telegram(start, colon int) {
	if strings.HasPrefix(sc.line[start:colon], "bot") {
		start += 3
	}
	if e := matchTelegram(sc.line, start, colon); e > 0 {
		sc.add(kindTelegram, start, start, e)
	}
}

// parseAssignment reads what follows the name s[start:end].
func parseAssignment(s string, start, end int) (a assignment, ok bool) {
	a = assignment{start: start, end: end}
	i := end
	for i < len(s) && s[i] == '\\' && i-end < 8 {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') && start > 0 && s[start-1] == s[i] {
		a.quotedName = true
		i++
	} else if i > end {
		return a, false
	}
	before := i
	i = blanks(s, i)
	a.blankBefore = i > before
	if i >= len(s) {
		return a, false
	}
	rest := s[i:]
	a.op = s[i]
	switch {
	case strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, ":="):
		i += 2
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "://"), strings.HasPrefix(rest, "=~"):
		return a, false
	case a.op == '=', a.op == ':':
		i++
	case a.op == '>' && start > 0 && s[start-1] == '<':
		i++
	default:
		return a, false
	}
	a.value = blanks(s, i)
	a.blankAfter = a.value > i
	return a, a.value < len(s)
}

// blanks skips at most 32 blanks.
func blanks(s string, i int) int {
	e := i
	for e < len(s) && e-i < 32 && (s[e] == ' ' || s[e] == '\t') {
		e++
	}
	return e
}

// apiBefore: "API key:", "app.api.key=".
func apiBefore(s string, start int) bool {
	if start < 4 || s[start-1] != ' ' && s[start-1] != '.' {
		return false
	}
	switch lastWord(s[max(0, start-12) : start-1]) {
	case "api", "access", "secret", "auth":
		return true
	}
	return false
}

// errorLine: a line of a test report or an exception, where values of variables are printed in every mode.
func errorLine(s string) bool {
	head := s[:min(len(s), 200)]
	return strings.HasPrefix(head, "E  ") || strings.Contains(head, "Error") || strings.Contains(head, "Exception")
}

// assign masks the value of a if its form, its place and its looks say that it is a secret.
func (sc *scanner) assign(a assignment, s strength, kind Kind) {
	if a.op == '>' {
		sc.element(a, s, kind)
		return
	}
	from, to, quoted := sc.value(a.value)
	if from >= to {
		return
	}
	v := sc.line[from:to]
	if u := has(v[:min(len(v), 64)]); a.quotedName && kind == kindToken && len(v) >= 20 && u&lower != 0 && u&upper != 0 && only(v[:min(len(v), 64)], word) {
		s = strong // a field called token, and one long word in it
	}
	if !sc.secretValue(v, s, quoted) || strings.EqualFold(v, sc.line[a.start:a.end]) {
		return
	}
	if s == weak && kind == kindAPIKey && uuid(v) {
		return // identifiers are called keys, too
	}
	switch {
	case a.quotedName:
		if !quoted {
			return
		}
	case quoted && s != pass && strings.Contains(v, " "):
		return // a sentence
	case a.op == '=':
		if !sc.plainAssign(a, v, quoted) {
			return
		}
	default:
		if !sc.colonAssign(a, &to, quoted) {
			return
		}
	}
	sc.add(kind, a.start, from, to)
}

// plainAssign: NAME=value anywhere; name=value where the place says that it is an assignment and not prose or a link.
func (sc *scanner) plainAssign(a assignment, v string, quoted bool) bool {
	n := sc.line[a.start:a.end]
	before := byte(' ')
	if a.start > 0 {
		before = sc.line[a.start-1]
	} else if sc.mid {
		before = sc.last
	}
	if before == '?' || before == '&' || before == '#' || before == '%' || sc.inLink(a.start) {
		return false // a parameter: see url.go
	}
	if only(n, upper|digit|under) {
		return true
	}
	if sc.line[a.end] == '\\' || a.blankBefore || a.blankAfter {
		return quoted || sc.lineStart(a.start) && (opaque(v) || sc.mode == Env)
	}
	if quoted || strings.Contains(n, "_") || has(n)&(lower|upper) == lower|upper || strings.HasPrefix(n, "--") {
		return true
	}
	switch before {
	case '.', ',', ';', '(', '{', '[', '"', '\'', '`', ':':
		return true
	}
	return sc.lineStart(a.start) || sc.afterPair(a.start)
}

// colonAssign: name: value at the start of a line, or anywhere if the value is quoted or looks random.
func (sc *scanner) colonAssign(a assignment, to *int, quoted bool) bool {
	from := a.value
	if sc.inLink(a.start) {
		return false
	}
	v := sc.line[from:*to]
	if quoted {
		return !strings.Contains(v, " ")
	}
	if !sc.lineStart(a.start) || !a.blankAfter {
		return opaque(v)
	}
	rest := strings.TrimRight(sc.line[*to:], " \t\r,")
	if rest == "" || strings.HasPrefix(rest, " #") {
		return true
	}
	if e := fourGroups(sc.line, from); e > 0 {
		*to = e
		return true
	}
	return opaque(v)
}

// fourGroups: the shape of an application password, four groups of four letters.
func fourGroups(s string, i int) int {
	for g := range 4 {
		if g > 0 {
			if i >= len(s) || s[i] != ' ' {
				return 0
			}
			i++
		}
		e := run(s, i, lower)
		if e-i != 4 {
			return 0
		}
		i = e
	}
	if i < len(s) && s[i] > ' ' {
		return 0
	}
	return i
}

// element: <password>value</password>.
func (sc *scanner) element(a assignment, s strength, kind Kind) {
	rest := sc.line[a.value:min(len(sc.line), a.value+1024)]
	e := strings.IndexByte(rest, '<')
	if e <= 0 || !strings.HasPrefix(rest[e:], "</") {
		return
	}
	if v := rest[:e]; s != weak && sc.secretValue(v, s, true) || opaque(v) {
		sc.add(kind, a.start, a.value, a.value+e)
	}
}

// lineStart says whether only indentation, a line number, a list sign or words that lead an assignment stand before i.
func (sc *scanner) lineStart(i int) bool {
	if sc.mid || i > 80 {
		return i == 0 && !sc.mid
	}
	p := strings.TrimLeft(sc.line[:i], " \t")
	if q := strings.TrimLeft(p, "0123456789"); q != p {
		q = strings.TrimLeft(q, " \t")
		p = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(q, "|"), ":"), "→"), " \t")
	}
	p = strings.TrimLeft(p, "+-> \t\"'#/;")
	for p != "" {
		word, rest, _ := strings.Cut(p, " ")
		switch word {
		case "export", "set", "setenv", "declare", "typeset", "-x", "-gx", "env", "ENV", "ARG", "const", "let", "var", "final", "private", "public", "static", "local", "readonly", "my", "String", "string", "val", "-":
			p = strings.TrimLeft(rest, " $")
		default:
			i := strings.LastIndexByte(p, '.')
			return i == len(p)-1 && only(p, word16) // the front of a dotted name
		}
	}
	return true
}

const word16 = word | dot

// afterPair: the blank before i is preceded by another name=value, as in the logfmt style.
func (sc *scanner) afterPair(i int) bool {
	s := sc.line[max(0, i-128):i]
	if s == "" || s[len(s)-1] != ' ' {
		return false
	}
	s = strings.TrimRight(s, " ")
	k := strings.LastIndexByte(s, ' ')
	return strings.IndexByte(s[k+1:], '=') > 0
}

// inLink says whether i lies in the address of a web link or its parameters.
func (sc *scanner) inLink(i int) bool {
	s := sc.line
	for j := i - 1; j >= 0 && i-j < 512; j-- {
		sc.work++
		switch c := s[j]; {
		case c <= ' ', c == '"', c == '\'', c == '`', c == '<', c == '>':
			return false
		case c == '?':
			return true
		case c == ':' && strings.HasPrefix(s[j:], "://"):
			return !dsnScheme(s, j)
		}
	}
	return false
}

func uuid(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' && only(v, alnum|hyphen)
}
