package redact

import "strings"

// value finds the value that begins at sc.line[i:] and its bounds without quotes.
func (sc *scanner) value(i int) (start, end int, quoted bool) {
	s := sc.line
	q := i
	for q < len(s) && s[q] == '\\' && q-i < 8 {
		q++
	}
	if q < len(s) && (s[q] == '"' || s[q] == '\'' || s[q] == '`') {
		start, end, quoted = quotedValue(s, i, q)
		sc.work += end - i
		return start, end, quoted
	}
	if i < sc.valueEnd { // within a run that has been measured: a=a=a=a= costs one walk
		return i, sc.valueEnd, false
	}
	e := plainValue(s, i)
	sc.work += e - i
	sc.valueEnd = e
	return i, e, false
}

// plainValue gives the end of a value without quotes.
func plainValue(s string, i int) int {
	e := i
	for e < len(s) && s[e] > ' ' && s[e] != 0x7f {
		switch s[e] {
		case '"', '\'', '`', '<':
			if e > i {
				return trimClosers(s, i, e)
			}
		case '&', ',', ';':
			if nextIsName(s, e+1) {
				return trimClosers(s, i, e)
			}
		case 0xe2:
			if n := markAt(s, e); n > 0 {
				e += n
				continue
			}
		}
		e++
	}
	return trimClosers(s, i, e)
}

// quotedValue: s[open:q] are backslashes, s[q] is the quote. The value ends at the same quote with the same backslashes.
func quotedValue(s string, open, q int) (start, end int, quoted bool) {
	depth := q - open
	quote := s[q]
	run := 0
	for e := q + 1; e < len(s); e++ {
		switch {
		case s[e] == '\\':
			run++
			continue
		case s[e] == quote && run <= depth:
			return q + 1, e - run, true
		}
		run = 0
	}
	return q + 1, len(s), true
}

// nextIsName says whether s[i:] reads "name=" or "name:", so that the separator before it ended the value.
func nextIsName(s string, i int) bool {
	if i == len(s) || s[i] == ' ' {
		return true
	}
	e := i
	for e < len(s) && e-i < 48 && (is(s[e], word|dot) || s[e] == '"' || s[e] == '\'' || s[e] == '%') {
		e++
	}
	return e > i && e < len(s) && (s[e] == '=' || s[e] == ':')
}

// trimClosers takes off brackets and punctuation that close something opened before the value.
func trimClosers(s string, i, e int) int {
	for n := 0; n < 6 && e > i && e-i <= 512; n++ {
		opens := ""
		switch s[e-1] {
		case ',', ';', '\\':
		case ')':
			opens = "("
		case ']':
			opens = "["
		case '}':
			opens = "{"
		default:
			return e
		}
		if opens != "" && strings.Count(s[i:e], opens) >= strings.Count(s[i:e], s[e-1:e]) {
			return e
		}
		e--
	}
	return e
}

// secretValue decides whether a value under a credential name is masked.
func (sc *scanner) secretValue(v string, s strength, quoted bool) bool {
	if len(v) > 256 {
		v = v[:256] // enough to judge by
	}
	sc.work += len(v)
	if v == "" || len(v) < 4 && has(v)&alnum == 0 || hasMark(v) || placeholder(v) || literal(v) || lookup(v) {
		return false
	}
	if sc.mode != Env && !quoted && codeLike(v) {
		return false
	}
	if pathLike(v) && s != pass && !randomSegment(v) {
		return false
	}
	switch {
	case s == weak && sc.mode == Env:
		return len(v) >= 8 && (opaque(v) || has(v)&digit != 0 && has(v)&letter != 0)
	case s == weak:
		return opaque(v)
	case len(v) < 3 && !quoted:
		return false
	}
	return s == pass || !shortNumber(v)
}

// shortNumber: 7, -1, 0x7f, 4096: the value of a constant.
func shortNumber(v string) bool {
	v = strings.TrimPrefix(v, "-")
	if h, found := strings.CutPrefix(v, "0x"); found {
		return len(h) <= 16 && only(strings.ToLower(h), hexLower)
	}
	return len(v) <= 8 && only(v, digit|dot)
}

// placeholder says whether v stands for a value that is elsewhere or not yet known.
func placeholder(v string) bool {
	v = strings.Trim(v, "\"'` ")
	if v == "" || filler(v) || strings.Contains(v, "…") || strings.HasSuffix(v, "...") {
		return true
	}
	switch v[0] {
	case '$':
		if len(v) > 1 && (v[1] == '(' || v[1] == '{') || only(strings.TrimLeft(v[1:], "$"), alnum|under) && !is(v[1], digit) && (has(v)&lower == 0 || has(v)&(upper|digit) == 0) {
			return true
		}
	case '<':
		if strings.IndexByte(v, '>') > 0 {
			return true
		}
	case '{':
		if v[len(v)-1] == '}' {
			return true
		}
	case '[':
		if v[len(v)-1] == ']' {
			return true
		}
	case '%':
		if len(v) == 2 || v[len(v)-1] == '%' {
			return true
		}
	case '@', '!':
		if len(v) > 1 && v[1] == '{' || strings.HasPrefix(v, "!Ref") || strings.HasPrefix(v, "!Sub") {
			return true
		}
	case '*', '&':
		if has(v) == 0 {
			return true
		}
	}
	return placeholderWord(v)
}

// placeholderWord: your-key-here, <example>, changeme, redacted.
func placeholderWord(v string) bool {
	if len(v) > 64 {
		return false
	}
	l := strings.ToLower(v)
	for _, w := range [...]string{"your", "example", "placeholder", "changeme", "change-me", "change_me", "redacted", "insert", "replace", "todo", "dummy", "sample"} {
		if strings.HasPrefix(l, w) && (len(l) == len(w) || !is(l[len(w)], alnum)) {
			return true
		}
	}
	return strings.HasSuffix(l, "_here") || strings.HasSuffix(l, "-here") || strings.HasSuffix(v, "EXAMPLE") || strings.HasSuffix(v, "EXAMPLEKEY") || strings.HasPrefix(l, "[redacted")
}

// literal: words of programming and schema languages that stand where a value could.
func literal(v string) bool {
	if len(v) > 12 {
		return false
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off", "string", "str", "bytes", "int", "integer", "bool",
		"boolean", "number", "object", "optional", "required", "any", "option", "hidden", "unset", "empty", "missing", "invalid",
		"default", "secret", "securestring", "text", "void", "unknown", "disabled", "enabled", "<nil>", "(none)", "n/a", "{}", "[]", "\"\"", "''":
		return true
	}
	return false
}

// lookup: the value is read from the environment or a store when the code runs.
func lookup(v string) bool {
	if strings.IndexByte(v, 'n') < 0 && strings.IndexByte(v, 'E') < 0 {
		return false
	}
	for _, l := range [...]string{"os.getenv", "os.environ", "process.env", "$ENV{", "getenv(", "Getenv(", "ENV[", "env(", "env::var", "import.meta.env"} {
		if strings.Contains(v, l) {
			return true
		}
	}
	return false
}

// codeLike: an unquoted value that is a call, an index or a field of something.
func codeLike(v string) bool {
	e := run(v, 0, alnum|under|dot)
	if e == 0 || !is(v[0], letter|under) {
		return false
	}
	if e < len(v) {
		return (v[e] == '(' || v[e] == '[') && e >= 2 && (v[len(v)-1] == ')' || v[len(v)-1] == ']' || v[e] == '(' && strings.IndexByte(v, ')') < 0)
	}
	root, _, found := strings.Cut(v, ".")
	if !found {
		return false
	}
	switch strings.ToLower(root) {
	case "self", "this", "config", "settings", "args", "options", "opts", "os", "process", "env", "params", "request", "req", "ctx", "cfg",
		"conf", "props", "state", "data", "user", "app", "c", "s", "r", "p", "o", "e", "a", "m", "flags", "context", "event", "input", "var", "local", "module", "each", "values":
		return true
	}
	return false
}

func pathLike(v string) bool {
	return strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "file:") ||
		len(v) > 2 && v[1] == ':' && v[2] == '\\' || strings.Contains(v, "://")
}

// randomSegment says whether some part of a path is 16 or more letters of both cases and digits.
func randomSegment(v string) bool {
	for i := 0; i < len(v); {
		e := run(v, i, alnum)
		if u := has(v[i:e]); e-i >= 16 && u&lower != 0 && u&upper != 0 && u&digit != 0 {
			return true
		}
		i = max(e, i+1)
	}
	return false
}

// opaque says whether v looks drawn by chance: hex, base64, or letters and digits in one run.
func opaque(v string) bool {
	if len(v) > 256 {
		v = v[:256] // enough to judge by
	}
	if v == "" || hasMark(v) {
		return false
	}
	n := len(v)
	if n >= 16 && only(v, hexLower|hyphen) && has(v)&digit != 0 && has(v)&lower != 0 || n >= 16 && upperHex(v) {
		return true
	}
	// Long runs count; words joined by dots, dashes and slashes do not add up.
	for i := 0; i < n; {
		e := run(v, i, alnum|plus|equal)
		if e < n && is(v[e], under|hyphen) && e-i >= 6 && has(v[i:e])&digit != 0 {
			e = run(v, e, alnum|plus|equal|under|hyphen)
		}
		u := has(v[i:e])
		mixed := u&lower != 0 && u&upper != 0
		if k := e - i; k >= 12 && u&digit != 0 && u&letter != 0 && !numbered(v[i:e]) || k >= 20 && mixed && oddCase(v[i:e]) >= 3 {
			return true
		}
		i = e + 1
	}
	return false
}

func upperHex(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; !(c >= '0' && c <= '9' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return has(v)&digit != 0 && has(v)&upper != 0
}

// numbered: a word with a number at its end (application2024) is a name.
func numbered(v string) bool {
	w := strings.TrimRight(v, "0123456789")
	return len(v)-len(w) <= 4 && (only(w, lower) || only(w, upper) || only(w, letter|under|hyphen) && turns(w) <= 3 && len(v) < 20)
}

// oddCase counts the runs of one case that names written inCamelCase do not have: single small letters, capitals together.
func oddCase(v string) int {
	odd := 0
	for i := 0; i < len(v); {
		if !is(v[i], letter) {
			i++
			continue
		}
		set := lower
		if is(v[i], upper) {
			set = upper
		}
		e := run(v, i, set)
		if n := e - i; set == lower && n == 1 || set == upper && n >= 2 {
			odd++
		}
		i = e
	}
	return odd
}

// turns counts the changes between lower and upper case.
func turns(v string) int {
	n := 0
	for i := 1; i < len(v); i++ {
		if is(v[i], lower) != is(v[i-1], lower) {
			n++
		}
	}
	return n
}
