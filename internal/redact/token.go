package redact

import "strings"

// Token formats that are more than a prefix and a body.

// matchJWT: a header that starts with {" in base64, and up to two more parts (four more for encrypted ones).
func matchJWT(s string, i int) (Kind, int) {
	e := run(s, i, word|equal)
	if e-i < 13 || has(s[i+3:e])&letter == 0 {
		return "", 0
	}
	for range 4 {
		if e+1 >= len(s) || s[e] != '.' {
			break
		}
		next := run(s, e+1, word|equal)
		if next-(e+1) < 4 && !(next > e+1 && next == len(s)) {
			if next == e+1 && next < len(s) && s[next] == '.' { // the empty part of a directly encrypted token
				e = next
				continue
			}
			break
		}
		e = next
	}
	return "jwt", e
}

// matchAge: 58 characters of the bech32 alphabet, which has no 1, B, I or O.
func matchAge(s string, i int) (Kind, int) {
	b := i + len("AGE-SECRET-KEY-1")
	e := run(s, b, upper|digit)
	if e-b != 58 || strings.ContainsAny(s[b:e], "1BIO") {
		return "", 0
	}
	return "age-secret-key", e
}

// matchSlack: xoxb- and its relatives, and app tokens with their level number.
func matchSlack(s string, i int) (Kind, int) {
	b := i + 5
	if b >= len(s) || s[b-1] != '-' && !strings.HasPrefix(s[i:], "xoxe.") {
		return "", 0
	}
	if strings.HasPrefix(s[i:], "xapp-") {
		if b+1 >= len(s) || !is(s[b], digit) || s[b+1] != '-' {
			return "", 0
		}
	} else if !strings.Contains("bapresdc", s[i+3:i+4]) {
		return "", 0
	}
	e := run(s, b, alnum|hyphen|dot)
	for e > b && s[e-1] == '.' {
		e--
	}
	if e-b < 10 || has(s[b:e])&digit == 0 || e < len(s) && s[e] == '_' {
		return "", 0
	}
	return "slack-token", e
}

// matchShaped: formats without a literal, known by the lengths of their parts.
func matchShaped(s string, i int) (Kind, int) {
	e := run(s, i, word)
	if e >= len(s) || s[e] != '.' {
		return "", 0
	}
	switch n := e - i; {
	case n == 32 && only(s[i:e], hexLower): // Zhipu: 32 hex, a dot, 16 or more
		end := run(s, e+1, alnum)
		u := has(s[e+1 : end])
		if end-(e+1) >= 16 && u&digit != 0 && u&letter != 0 && (end == len(s) || !is(s[end], word)) {
			return "zhipu-key", end
		}
	case n >= 23 && n <= 28 && strings.IndexByte("MNO", s[i]) >= 0: // Discord: id in base64, time, signature
		mid := run(s, e+1, word)
		if mid-(e+1) != 6 || mid >= len(s) || s[mid] != '.' {
			break
		}
		end := run(s, mid+1, word)
		if k := end - (mid + 1); k >= 27 && k <= 40 {
			return "discord-token", end
		}
	case n == 14 && strings.HasPrefix(s[e:], ".atlasv1."):
		end := run(s, e+9, word)
		if end-(e+9) >= 40 {
			return "terraform-token", end
		}
	}
	return "", 0
}

// matchTelegram: a bot's number, a colon, 30 or more characters; i is the start of the number.
func matchTelegram(s string, i, colon int) int {
	if n := colon - i; n < 8 || n > 12 || !only(s[i:colon], digit) {
		return 0
	}
	e := run(s, colon+1, word)
	if n := e - (colon + 1); n < 30 || n > 64 {
		return 0
	}
	if u := has(s[colon+1 : e]); u&letter == 0 || (u&digit == 0 && (u&lower == 0 || u&upper == 0)) {
		return 0
	}
	return e
}
