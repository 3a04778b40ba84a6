package redact

import "strings"

// header deals with names that carry a credential in protocols, in every mode; false means that the name is none.
func (sc *scanner) header(a assignment) bool {
	n := sc.line[a.start:a.end]
	if a.op != ':' && a.op != '=' || len(n) > 40 || len(n) < 6 {
		return false
	}
	switch len(n) { // of the names below; asked of every assignment
	case 6, 7, 9, 10, 13, 19, 25:
	default:
		if n[1] != '-' {
			return false
		}
	}
	switch l := strings.ToLower(n); l {
	case "authorization", "proxy-authorization", "x-forwarded-authorization":
		sc.authorization(a)
	case "cookie", "set-cookie":
		if a.op != ':' {
			return false
		}
		sc.cookies(a, l == "set-cookie")
	case "api-key", "apikey", "private-token", "job-token":
		if a.op != ':' {
			return false
		}
		sc.headerValue(a)
	default:
		if a.op != ':' || !strings.HasPrefix(l, "x-") {
			return false
		}
		if !strings.HasSuffix(l, "-key") && !strings.HasSuffix(l, "-token") && !strings.HasSuffix(l, "-secret") && !strings.HasSuffix(l, "-apikey") && !strings.HasSuffix(l, "-auth") {
			return false
		}
		sc.headerValue(a)
	}
	return true
}

// field gives the text of a header: within its quotes, or up to the quote around the whole header or the line's end.
func (sc *scanner) field(a assignment) (from, to int) {
	from, to, quoted := sc.quotedOrLine(a.value)
	if !quoted {
		for to > from && is(sc.line[to-1], space) || to > from && sc.line[to-1] == '\\' {
			to--
		}
	}
	return from, to
}

func (sc *scanner) quotedOrLine(i int) (from, to int, quoted bool) {
	s := sc.line
	q := i
	for q < len(s) && s[q] == '\\' && q-i < 8 {
		q++
	}
	if q < len(s) && (s[q] == '"' || s[q] == '\'' || s[q] == '`') {
		return quotedValue(s, i, q)
	}
	e := i
	for e < len(s) && e-i < 16<<10 && s[e] != '"' && s[e] != '\'' && s[e] != '`' {
		e++
	}
	sc.work += e - i
	return i, e, false
}

// authorization masks the credential; the scheme stays.
func (sc *scanner) authorization(a assignment) {
	if a.value < sc.headerEnd {
		return // within the last one
	}
	from, to := sc.field(a)
	sc.headerEnd = to
	s := sc.line
	e := from
	for e < to && !is(s[e], space) {
		e++
	}
	scheme := s[from:e]
	cred := blanks(s, e)
	if cred >= to { // no scheme
		if opaque(scheme) && !placeholder(scheme) {
			sc.add(kindAuth, a.start, from, e)
		}
		return
	}
	known, params := authScheme(scheme)
	end := to
	// A scheme with parameters in quotes, outside quotes itself, goes on to the line's end.
	if !params {
		end = cred
		for end < to && !is(s[end], space) && s[end] != ',' && s[end] != ';' {
			end++
		}
	} else if strings.IndexByte(s[cred:], '=') >= 0 && a.value == from && !a.quotedName && !insideQuotes(s, a.start) {
		end = min(len(s), from+16<<10)
	}
	v := s[cred:end]
	if hasMark(v) || placeholder(v) || lookup(v) {
		return
	}
	if opaque(v) || known && (len(v) >= 6 && !only(v, lower) || len(v) >= 16) {
		sc.add(kindAuth, a.start, cred, end)
	}
}

// insideQuotes: the header as a whole is quoted, as in curl -H '…'.
func insideQuotes(s string, i int) bool {
	return i > 0 && (s[i-1] == '"' || s[i-1] == '\'' || s[i-1] == '`')
}

func authScheme(w string) (known, params bool) {
	switch strings.ToLower(w) {
	case "bearer", "basic", "token", "negotiate", "ntlm", "apikey", "api-key", "key", "bot", "dpop", "ssws", "sharedkey", "sharedkeylite", "splunk", "kerberos", "genie", "genie-key", "jwt", "klaviyo-api-key":
		return true, false
	case "digest", "oauth", "hawk", "mac", "hmac", "hmac-sha256", "aws4-hmac-sha256", "aws4-ecdsa-p256-sha256", "scram-sha-256", "scram-sha-1", "signature", "vapid":
		return true, true
	}
	return false, false
}

// headerValue masks the single value of a key header.
func (sc *scanner) headerValue(a assignment) {
	from, to, quoted := sc.value(a.value)
	if from >= to {
		return
	}
	v := sc.line[from:to]
	if hasMark(v) || placeholder(v) || literal(v) || lookup(v) || !quoted && (a.quotedName || codeLike(v)) {
		return
	}
	if n := sc.line[a.start]; n|0x20 != 'x' && !opaque(v) {
		return // api-key and its like are names of fields, too
	}
	if u := has(v); len(v) >= 16 || len(v) >= 6 && (u&digit != 0 || u&lower != 0 && u&upper != 0) {
		sc.add(kindAPIKey, a.start, from, to)
	}
}

// cookies masks the values that carry a session; attributes and preferences stay.
func (sc *scanner) cookies(a assignment, set bool) {
	if a.value < sc.headerEnd {
		return
	}
	from, to := sc.field(a)
	sc.headerEnd = to
	s := sc.line
	for i := from; i < to; {
		e := i
		for e < to && s[e] != ';' {
			e++
		}
		part := s[i:e]
		if eq := strings.IndexByte(part, '='); eq > 0 {
			n := strings.TrimSpace(part[:eq])
			v := strings.TrimRight(part[eq+1:], " \t\r\"")
			if !hasMark(v) && !placeholder(v) && (opaque(v) || len(v) >= 6 && sessionName(n)) {
				at := i + eq + 1
				sc.add(kindCookie, a.start, at, at+len(v))
			}
		}
		if set {
			return // the rest are attributes
		}
		i = e + 1
	}
}

func sessionName(n string) bool {
	l := strings.ToLower(n)
	for _, w := range [...]string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "login", "remember"} {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// spaced deals with names and values that only blanks separate: Bearer v, --password v, netrc, SQL.
func (sc *scanner) spaced(start, end, i int) {
	s := sc.line
	n := s[start:end]
	switch {
	case len(n) == 6 && strings.EqualFold(n, "bearer"):
		e := run(s, i, word|dot|base64)
		for e < len(s) && s[e] == '~' {
			e = run(s, e+1, word|dot|base64)
		}
		for e > i && s[e-1] == '.' {
			e--
		}
		if v := s[i:e]; !placeholder(v) && opaque(v) && !hasMark(v) {
			sc.add(kindAuth, start, i, e)
		}
	case len(n) == 8 && n == "password" || len(n) == 6 && n == "passwd":
		sc.netrc(start, i)
	case strings.HasPrefix(n, "--") && sc.mode.assigns():
		sc.option(n, start, i)
	case n == "PASSWORD" && s[i] == '\'' && sc.mode.assigns():
		if from, to, _ := sc.value(i); to-from >= 6 && sc.secretValue(s[from:to], pass, true) {
			sc.add(kindPassword, start, from, to)
		}
	}
}

// option: --api-key v on a command line; help texts name a type or a word in capitals there.
func (sc *scanner) option(n string, start, i int) {
	strength, kind := name(n)
	if strength == noName {
		return
	}
	from, to, quoted := sc.value(i)
	if from >= to {
		return
	}
	v := sc.line[from:to]
	if v[0] == '-' || only(v, upper|under) || !sc.secretValue(v, strength, quoted) {
		return
	}
	if opaque(v) || strength == pass && len(v) >= 6 && has(v)&digit != 0 {
		sc.add(kind, start, from, to)
	}
}

// netrc: machine m login l password p, on one line or below each other.
func (sc *scanner) netrc(start, i int) {
	s := sc.line
	before := s[max(0, start-256):start]
	sameLine := strings.Contains(before, "login ") || strings.Contains(before, "machine ")
	from, to, _ := sc.value(i)
	if from >= to || hasMark(s[from:to]) || placeholder(s[from:to]) || literal(s[from:to]) || has(s[from:to])&alnum == 0 || start > 0 && !is(s[start-1], space) {
		return
	}
	ownLine := sc.login && strings.TrimSpace(s[:start]) == "" && strings.TrimSpace(s[to:]) == ""
	if ownLine || sameLine && (strings.Contains(before, "machine ") || strings.Contains(before, "default ")) {
		sc.add(kindPassword, start, from, to)
	}
}
