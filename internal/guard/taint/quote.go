package taint

import (
	"strings"
	"unicode/utf8"
)

// Reaches around a finding within which a text may say that it only quotes, in bytes.
const (
	cueBefore = 280
	cueAfter  = 160
	quoteSpan = 400
)

// quoted tells whether a finding is quoted by a text that warns of it: it stands in quotation marks, in code or in a quoted
// block, and the words around say that such texts are attacks. Both are asked for: marks alone are decoration, and words
// alone are what an attack would write.
func (q *quotes) quoted(start, end int) bool {
	return q.inMarks(start, end) && warned(q.text, start, end)
}

// quotes answers for the places of one text, which only go up.
type quotes struct {
	text  string
	read  int  // how far fences have been counted
	fence bool // a fenced block is open there
}

// fenced tells whether the line that begins at a place is in a fenced block.
func (q *quotes) fenced(lineStart int) bool {
	for q.read < lineStart {
		end := strings.IndexByte(q.text[q.read:], '\n')
		if end < 0 {
			break
		}
		if strings.HasPrefix(strings.TrimLeft(q.text[q.read:q.read+min(end, 8)], " \t"), "```") {
			q.fence = !q.fence
		}
		q.read += end + 1
	}
	return q.fence
}

// pairs are the marks that quotations stand in.
var pairs = [...][2]string{
	{`"`, `"`}, {"`", "`"}, {"'", "'"}, {"“", "”"}, {"«", "»"}, {"„", "“"}, {"‘", "’"}, {"「", "」"}, {"『", "』"}, {"*", "*"},
}

// inMarks tells whether a span stands within marks on its line, in a fenced block, or on a quoted line.
func (q *quotes) inMarks(start, end int) bool {
	text := q.text
	near := max(0, start-quoteSpan)
	lineStart := near + strings.LastIndexByte(text[near:start], '\n') + 1
	before, after := text[lineStart:start], text[end:min(len(text), end+quoteSpan)]
	after, _, _ = strings.Cut(after, "\n")
	for _, p := range pairs {
		open, closing := strings.LastIndex(before, p[0]), strings.Index(after, p[1])
		if open < 0 || closing < 0 {
			continue
		}
		// The mark before must open: with the same mark on both sides, an odd number stands before.
		if p[0] == p[1] && strings.Count(before, p[0])%2 == 0 {
			continue
		}
		if p[0] == "'" && open > 0 && wordRune(before[:open]) {
			continue // an apostrophe
		}
		return true
	}
	return strings.HasPrefix(strings.TrimLeft(before+after, " \t"), ">") || q.fenced(lineStart)
}

// wordRune tells whether a text ends with a letter or digit.
func wordRune(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return asciiLetter(r)
}

// cues are words by which a text warns of attacks.
var cues = [...]string{
	"inject", "attack", "malicious", "untrusted", "adversar", "jailbreak", "phish", "suspicious", "treat it as data", "treat as data", "as data",
	"not as instructions", "never follow", "do not follow", "don't follow", "do not obey", "must not follow", "refuse", "phrases like", "phrases such as",
	"text such as", "texts such as", "text like", "text that says", "texts that say", "says something like", "if you see", "if a page says",
	"if a file says", "detect", "threat", "social engineering", "red team", "example of an", "инъекц", "атак", "вредонос", "не выполня", "не следу",
	"注入", "攻击", "恶意", "不要执行", "attaque", "ataque", "angriff", "schadhaft", "injektion", "inyecc",
}

// warned tells whether the text around a span says that it is about attacks.
func warned(text string, start, end int) bool {
	around := strings.ToLower(text[max(0, start-cueBefore):start]) + " " + strings.ToLower(text[end:min(len(text), end+cueAfter)])
	around = strings.ReplaceAll(around, "dependency injection", "")
	for _, cue := range cues {
		if strings.Contains(around, cue) {
			return true
		}
	}
	return false
}
