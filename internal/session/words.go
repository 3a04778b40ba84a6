package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// alone tells whether a character is of a script that puts no blanks between words: each one is indexed as a word of its own.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// spaced is a text as it is indexed.
func spaced(text string) string {
	if !strings.ContainsFunc(text, alone) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if alone(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// terms is what a person looks for, as the index is asked: all words, each of them also as the beginning of one; "…" is a phrase.
// Nothing in the text is syntax of the index. It is "" where there is nothing to look for.
func terms(text string) string {
	var out []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			if p := phrase(part); p != "" {
				out = append(out, p)
			}
			continue
		}
		for _, word := range strings.Fields(part) {
			p := phrase(word)
			if p == "" {
				continue
			}
			if last, _ := utf8.DecodeLastRuneInString(word); unicode.IsLetter(last) && !alone(last) || unicode.IsDigit(last) {
				p += "*"
			}
			out = append(out, p)
		}
	}
	return strings.Join(out, " ")
}

func phrase(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return `"` + strings.TrimSpace(strings.ReplaceAll(spaced(text), "\x00", " ")) + `"`
}

// around is the part of a text where one of the words stands, on one line, with what was cut marked.
func around(text, query string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= most {
		return string(runes)
	}
	lower := []rune(strings.ToLower(string(runes)))
	if len(lower) != len(runes) {
		lower = runes // a letter whose small form is several
	}
	at := len(runes)
	for _, word := range strings.Fields(strings.ToLower(strings.ReplaceAll(query, `"`, " "))) {
		if i := strings.Index(string(lower), word); i >= 0 {
			at = min(at, utf8.RuneCountInString(string(lower)[:i]))
		}
	}
	if at == len(runes) {
		at = 0
	}
	from := max(0, min(at-most/3, len(runes)-most))
	out := string(runes[from : from+most])
	if from > 0 {
		out = "…" + out
	}
	if from+most < len(runes) {
		out += "…"
	}
	return out
}

// short is the beginning of a text on one line.
func short(text string, most int) string {
	if len(text) > 16*most {
		text = text[:16*most]
	}
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
