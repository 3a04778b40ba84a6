package redact

import "strings"

// webScheme says whether links of this scheme are followed by an agent, so that their user:pass@ stays by default.
func webScheme(s string) bool {
	switch strings.ToLower(s) {
	case "http", "https", "ws", "wss", "git", "ssh", "ftp", "ftps", "sftp":
		return true
	}
	return false
}

// dsnScheme says whether the "://" at s[colon] belongs to a connection string.
func dsnScheme(s string, colon int) bool {
	b := colon
	for b > 0 && colon-b < 32 && is(s[b-1], word) {
		b--
	}
	return b < colon && !webScheme(s[b:colon])
}

// url looks at scheme://…; s[start:colon] is the scheme's last word.
func (sc *scanner) url(start, colon int) {
	s := sc.line
	from := colon + 3
	at, e := -1, from
scan:
	for e < len(s) && e-from < look {
		switch c := s[e]; {
		case c <= ' ', c == '"', c == '\'', c == '`', c == '<', c == '>', c == '/', c == '?', c == '#', c == '\\':
			break scan
		case c == '@':
			at = e
		case c == 0xe2:
			if n := markAt(s, e); n > 0 {
				e += n - 1
			}
		}
		e++
	}
	sc.work += e - from
	web := webScheme(s[start:colon])
	if at < 0 && !web {
		at = sc.lateAt(from, e)
	}
	if at > from {
		sc.userinfo(start, from, at, web)
	}
	if web && e < len(s) && s[e] == '/' {
		sc.hook(start, from, e)
	}
}

// lateAt finds the @ of a connection string whose password holds a slash or another sign that should be escaped.
func (sc *scanner) lateAt(from, e int) int {
	s := sc.line
	if e >= len(s) || s[e] <= ' ' {
		return -1
	}
	colon := strings.IndexByte(s[from:e], ':')
	if colon < 0 || colon+1 < e-from && only(s[from+colon+1:e], digit) {
		return -1 // host:port/…
	}
	at := -1
	for ; e < len(s) && e-from < 512 && s[e] > ' ' && s[e] != '"' && s[e] != '\'' && s[e] != '`'; e++ {
		if s[e] == '@' {
			at = e
		}
	}
	sc.work += e - from
	return at
}

// userinfo: the password of a connection string; a bare token in front of a web host; user:pass there in Strict mode.
func (sc *scanner) userinfo(start, from, at int, web bool) {
	s := sc.line
	info := s[from:at]
	if hasMark(info) {
		return
	}
	colon := strings.IndexByte(info, ':')
	switch {
	case colon < 0 && web:
		u := has(info)
		if len(info) >= 8 && !placeholder(info) && !strings.ContainsAny(info, "{}$%()") && (u&digit != 0 || u&upper != 0 || len(info) >= 16) {
			sc.add(kindURL, start, from, at)
		}
	case colon < 0, placeholder(info[colon+1:]):
	case !web:
		sc.add(kindDSN, start, from+colon+1, at)
	case sc.mode == Strict:
		sc.add(kindURL, start, from, at)
	}
}

// hook: addresses that are credentials as a whole.
func (sc *scanner) hook(start, from, slash int) {
	s := sc.line
	host := s[from:slash]
	if len(host) < 11 || len(host) > 64 {
		return
	}
	path := s[slash:min(len(s), slash+256)]
	prefix := ""
	switch {
	case host == "hooks.slack.com":
		for _, p := range [...]string{"/services/", "/workflows/", "/triggers/"} {
			if strings.HasPrefix(path, p) {
				prefix = p
			}
		}
	case host == "discord.com" || host == "discordapp.com" || host == "canary.discord.com" || host == "ptb.discord.com":
		if k := strings.Index(path, "/webhooks/"); k >= 0 && k < 12 && strings.HasPrefix(path, "/api/") {
			prefix = path[:k+len("/webhooks/")]
		}
	case strings.HasSuffix(host, ".webhook.office.com"):
		prefix = "/webhookb2/"
	case host == "hooks.zapier.com":
		prefix = "/hooks/catch/"
	}
	if prefix == "" || !strings.HasPrefix(path, prefix) {
		return
	}
	e := run(path, len(prefix), word|plus|dot)
	for e > 0 && path[e-1] == '.' {
		e--
	}
	if e-len(prefix) >= 20 && has(path[len(prefix):e])&digit != 0 {
		sc.add(kindWebhook, start, slash+len(prefix), slash+e)
	}
}

// parameters masks named parameters from s[i:] on, where i is just after "?", "#" or the start of a form body.
func (sc *scanner) parameters(i int) int {
	s := sc.line
	for i < len(s) {
		e := i
		eq := -1
		for e < len(s) && s[e] > ' ' && !strings.ContainsRune("&;\"'`<>#", rune(s[e])) {
			if s[e] == '=' && eq < 0 {
				eq = e
			}
			e++
		}
		sc.work += e - i
		if eq > i && e > eq+1 && parameterName(s[i:eq]) {
			if v := s[eq+1 : e]; !hasMark(v) && !placeholder(v) {
				sc.add(kindURL, i, eq+1, e)
			}
		}
		if e >= len(s) || s[e] != '&' && s[e] != ';' && s[e] != '#' {
			return e
		}
		i = e + 1
	}
	return i
}

// parameterName says whether a parameter, with up to three layers of escapes, is called like a credential.
func parameterName(n string) bool {
	if len(n) > 80 {
		return false
	}
	for range 3 {
		d := unescape(n)
		if d == n {
			break
		}
		n = d
	}
	switch strings.ReplaceAll(strings.ToLower(n), "-", "_") {
	case "access_token", "refresh_token", "id_token", "token", "api_key", "apikey", "client_secret", "password", "passwd", "pass", "pwd", "auth", "jwt", "session",
		"secret", "key", "code", "signature", "sig", "x_amz_signature", "x_goog_signature", "x_amz_security_token", "auth_token", "session_id", "private_token":
		return true
	}
	s, _ := name(n)
	return s >= strong
}

// unescape decodes one layer of %XX; broken escapes stay.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi < 16 && lo < 16 {
				b = append(b, hi<<4|lo)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// wholeLine looks for what only the line as a whole shows: form bodies, parameters in Strict mode, cookie files.
func (sc *scanner) wholeLine() {
	s := sc.line
	if sc.mode.assigns() && !sc.mid && strings.IndexByte(s, '&') > 0 && formBody(s) {
		sc.parameters(0)
	} else if sc.mode == Strict {
		sc.strict()
	}
	if k := strings.IndexByte(s, '\t'); k > 0 && !sc.mid {
		sc.cookieFile(k)
	}
}

// strict masks named parameters of every link, relative ones too, and telephone numbers.
func (sc *scanner) strict() {
	s := sc.line
	for i := 0; i < len(s); {
		for i < len(s) && class[s[i]]&param == 0 {
			i++
		}
		if i == len(s) {
			return
		}
		switch c := s[i]; {
		case c != '+':
			i = max(i+1, sc.parameters(i+1))
		case i > 0 && !is(s[i-1], word|plus|equal):
			e := run(s, i+1, digit)
			if n := e - i - 1; n >= 10 && n <= 15 && s[i+1] != '0' && (e == len(s) || !is(s[e], word)) {
				sc.add(kindPhone, i, i, e)
			}
			i = e
		default:
			i++
		}
	}
}

// formBody: k=v&k=v and nothing else.
func formBody(s string) bool {
	s = strings.TrimRight(s, "\r")
	pairs := 0
	for part := range strings.SplitSeq(s, "&") {
		eq := strings.IndexByte(part, '=')
		if eq <= 0 || !nameLike(part[:eq]) || strings.ContainsAny(part, " \t?\"'") || strings.Contains(part, "://") {
			return false
		}
		pairs++
	}
	return pairs >= 2
}

func nameLike(n string) bool {
	for i := 0; i < len(n); i++ {
		if !is(n[i], word|dot) && n[i] != '%' && n[i] != '[' && n[i] != ']' {
			return false
		}
	}
	return true
}

// cookieFile: domain, flag, path, flag, expiry, name, value, with tabs between them.
func (sc *scanner) cookieFile(tab int) {
	s := sc.line
	if !strings.HasPrefix(s[tab+1:], "TRUE\t") && !strings.HasPrefix(s[tab+1:], "FALSE\t") {
		return
	}
	f := strings.SplitN(strings.TrimRight(s, "\r"), "\t", 8)
	if len(f) != 7 || f[3] != "TRUE" && f[3] != "FALSE" || !only(f[4], digit) || len(f[6]) < 6 || hasMark(f[6]) || placeholder(f[6]) {
		return
	}
	from := len(s) - len(f[6])
	if strings.HasSuffix(s, "\r") {
		from--
	}
	sc.add(kindCookie, 0, from, from+len(f[6]))
}
