package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/internal/prompt"
	"hermes/internal/screen"
)

// mostMarks is how many marks stand over one letter; more of them pile up over other lines.
const mostMarks = 4

// clean returns text of one line as it can be shown. What only shapes letters goes (terminals disagree about how wide it makes
// them); what a terminal would obey, and what turns or hides text, is written in letters.
func clean(s string) string {
	if simple(s) {
		return s
	}
	var b strings.Builder
	marks := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == utf8.RuneError && size == 1, !shapes(r) && screen.Escape(r) != "":
			b.WriteString(screen.Visible(s[i : i+size]))
		case shapes(r):
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks <= mostMarks {
				b.WriteRune(r)
			}
			i += size
			continue
		default:
			b.WriteRune(r)
		}
		marks = 0
		i += size
	}
	return b.String()
}

// shapes tells whether a character only says how others look: joiners, the choice between text and picture, tones of skin, where
// a word may be cut.
func shapes(r rune) bool {
	return r == 0x200C || r == 0x200D || r == 0xAD || r == 0xFE0E || r == 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF
}

// simple tells whether a text is printable ASCII.
func simple(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// rows cuts a text into lines that can be shown.
func rows(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	out := strings.Split(text, "\n")
	for i, s := range out {
		out[i] = clean(strings.TrimSuffix(s, "\r"))
	}
	return out
}

// printed cuts what a program printed into lines that can be shown, without its colours. Of a line that it wrote over (progress,
// with carriage returns) the last state is left, as on a terminal.
func printed(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsRune(text, '\r') {
		lines := strings.Split(text, "\n")
		for i, s := range lines {
			s = strings.TrimRight(s, "\r")
			lines[i] = s[strings.LastIndexByte(s, '\r')+1:]
		}
		text = strings.Join(lines, "\n")
	}
	return rows(prompt.Clean(text))
}
