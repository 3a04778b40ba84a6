package redact

import "strings"

// strength says how sure a name is that its value is a credential.
type strength uint8

const (
	noName strength = iota
	weak            // token, key: the value must look random
	strong          // api_key, secret, credential: the value counts whatever it looks like
	pass            // the password family: even a path or $text may be one
)

// keyword is a credential word and what a name that ends in it means.
type keyword struct {
	text string
	is   strength
	kind Kind
}

// The credential words by their last letter, longest first.
func keywords(last byte) []keyword {
	switch last {
	case 'd':
		return keywordsD
	case 'e':
		return keywordsE
	case 'h':
		return keywordsH
	case 'l':
		return keywordsL
	case 'n':
		return keywordsN
	case 'r':
		return keywordsR
	case 's':
		return keywordsS
	case 't':
		return keywordsT
	case 'w':
		return keywordsW
	case 'y':
		return keywordsY
	}
	return nil
}

var (
	keywordsD = []keyword{{"password", pass, kindPassword}, {"passwd", pass, kindPassword}, {"pwd", pass, kindPassword}}
	keywordsE = []keyword{{"passphrase", pass, kindPassword}, {"passcode", pass, kindPassword}}
	keywordsH = []keyword{{"auth", strong, kindAuth}}
	keywordsL = []keyword{{"key_material", strong, kindSecret}, {"keymaterial", strong, kindSecret}, {"credential", strong, kindSecret}}
	keywordsN = []keyword{{"token", weak, kindToken}}
	keywordsR = []keyword{{"bearer", strong, kindToken}}
	keywordsS = []keyword{{"pass", pass, kindPassword}}
	keywordsT = []keyword{{"secret_input", strong, kindSecret}, {"secret", strong, kindSecret}, {"jwt", weak, kindToken}}
	keywordsW = []keyword{{"pw", pass, kindPassword}}
	keywordsY = []keyword{{"apikey", strong, kindAPIKey}, {"key", weak, kindAPIKey}}
)

// name classifies a name such as AWS_SECRET_ACCESS_KEY, db.password or clientSecret: it must end in a credential word
// that begins at a word edge. So keyboard, passage, secretary, tokenizer and author are no credentials.
func name(n string) (strength, Kind) {
	full := n
	n = trimTail(n)
	if full != n && strings.HasSuffix(full, "_value") && sameName(full[max(0, len(full)-12):], "secret_value") {
		return strong, kindSecret
	}
	if n == "" {
		return noName, ""
	}
	for _, plural := range [2]bool{false, true} {
		m := n
		if plural {
			if c := n[len(n)-1]; c != 's' && c != 'S' || len(n) < 4 {
				break
			}
			m = n[:len(n)-1]
		}
		for _, k := range keywords(m[len(m)-1] | 0x20) {
			at := len(m) - len(k.text)
			if at < 0 || !sameName(m[at:], k.text) {
				continue
			}
			if s := qualify(m[:at], m[at:], k); s != noName {
				return s, k.kind
			}
		}
	}
	return noName, ""
}

// sameName compares ignoring case, and "-" with "_".
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		c := a[i]
		if is(c, upper) {
			c |= 0x20
		} else if c == '-' {
			c = '_'
		}
		if c != b[i] {
			return false
		}
	}
	return true
}

// endsLikeName says whether s[start:end] may be a credential name, by its last three letters: a cheap first question,
// asked of every word before "=", ":" or a quote.
func endsLikeName(s string, start, end int) bool {
	if end-start < 3 {
		return end-start == 2 && sameName(s[start:end], "pw")
	}
	switch string([]byte{s[end-3] | 0x20, s[end-2] | 0x20, s[end-1] | 0x20}) {
	case "key", "ken", "ret", "ord", "swd", "pwd", "uth", "ass", "ial", "jwt", "ion", "kie", "rer", "ase", "ode", "lue", "put",
		"eys", "ens", "ets", "rds", "als", "wts", "hes", "ses", "ive", "rod", "est", "old", "new", "ary", "ain":
		return true
	}
	return s[end-1]|0x20 == 'w' && sameName(s[end-2:end], "pw")
}

// trimTail takes off what may follow the credential word: a number, and words that do not change its meaning.
func trimTail(n string) string {
	for range 3 {
		for n != "" && class[n[len(n)-1]]&(digit|under|hyphen) != 0 {
			n = n[:len(n)-1]
		}
		k := strings.LastIndexByte(n, '_')
		if k <= 0 || !tailWord(n[k+1:]) {
			break
		}
		n = n[:k]
	}
	return n
}

func tailWord(w string) bool {
	switch strings.ToLower(w) {
	case "value", "base", "prod", "test", "live", "old", "new", "primary", "secondary", "plain", "v":
		return true
	}
	return false
}

// qualify looks at what stands before the word.
func qualify(before, text string, k keyword) strength {
	last := lastWord(before)
	if !edge(before, text) {
		// authtoken, secretkey: joined to a word that qualifies it.
		last = ""
		for _, q := range [...]string{"api", "auth", "access", "secret", "private", "session"} {
			at := len(before) - len(q)
			if at >= 0 && sameName(before[at:], q) && edge(before[:at], before[at:]) {
				last = q
			}
		}
		if last == "" {
			return noName
		}
	}
	switch k.text {
	case "pwd":
		if before == "" || last == "old" {
			return noName // the working directory
		}
	case "auth", "pass", "pw":
		if before == "" {
			return weak
		}
	case "key":
		return qualifyKey(last)
	case "token":
		return qualifyToken(last)
	}
	return k.is
}

func qualifyKey(last string) strength {
	switch last {
	case "api", "auth", "access", "session", "bearer", "secret", "private", "encryption", "signing", "master", "account", "admin":
		return strong
	case "public", "pub", "primary", "foreign", "sort", "cache", "partition", "idempotency", "routing", "row", "group", "object",
		"s3", "index", "hash", "lookup", "map", "shard", "range", "composite", "natural", "surrogate", "host", "dedup", "storage",
		"state", "config", "json", "registry", "hot", "short", "arrow", "unique", "translation", "i18n", "msg", "message", "query", "react":
		return noName
	}
	return weak
}

func qualifyToken(last string) strength {
	switch last {
	case "api", "auth", "access", "refresh", "session", "id", "bearer", "bot", "secret", "security":
		return strong
	case "next", "page", "continuation", "cursor", "sync", "resume", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "nextpage":
		return noName // the agent must hand pagination tokens back; models' tokens are words
	}
	return weak
}

// edge says whether a word that begins with text may begin after before.
func edge(before, text string) bool {
	if before == "" {
		return true
	}
	p := before[len(before)-1]
	if !is(p, letter) {
		return true
	}
	if !is(text[0], upper) {
		return false
	}
	return is(p, lower) || len(text) > 1 && is(text[1], lower)
}

// lastWord gives the last word of a name in lower case: "aws_secret_" and "awsSecret" give "secret".
func lastWord(n string) string {
	n = strings.TrimRight(n, "_-.")
	i := len(n)
	for i > 0 && is(n[i-1], alnum) {
		i--
		if i > 0 && is(n[i], upper) && is(n[i-1], lower) {
			break
		}
	}
	w := n[i:]
	if len(w) > 16 {
		return ""
	}
	return strings.ToLower(w)
}
