package editor

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	maxCompared = 2_000_000 // pairs of lines
	maxQuoted   = 12        // lines of the nearest place that are shown
)

// nearest tells which place of a text is most like one that is not in it, and how it differs.
func nearest(text, want string) string {
	have, lines := strings.Split(text, "\n"), strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	if text == "" {
		return "The file is empty."
	}
	if len(lines) > len(have) {
		lines = lines[:len(have)]
	}
	if len(have)*len(lines) > maxCompared {
		lines = lines[:max(1, min(len(lines), maxCompared/len(have)))]
	}
	loose := make([]string, len(lines))
	for i, l := range lines {
		loose[i] = normal(l)
	}
	hay := make([]string, len(have))
	for i, l := range have {
		hay[i] = normal(l)
	}
	best, at := 0, -1
	for i := 0; i+len(lines) <= len(have); i++ {
		score := 0
		for j := range lines {
			score += alike(hay[i+j], loose[j])
		}
		if score > best {
			best, at = score, i
		}
	}
	if at < 0 || best < 40*len(lines) {
		return "Nothing in the file is like it: read the file again."
	}
	found := have[at : at+len(lines)]
	var b strings.Builder
	fmt.Fprintf(&b, "The nearest place is line %d%s:", at+1, differs(found, lines))
	for i, l := range found {
		if i == maxQuoted {
			b.WriteString("\n…")
			break
		}
		fmt.Fprintf(&b, "\n%d|%s", at+1+i, clip(l, 2000))
	}
	return b.String()
}

// normal is a line without what eyes do not see, or take for something else.
func normal(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r == 0x200b || r == 0xfeff
	}), " ")
	return strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'", "–", "-", "—", "-", "…", "...").Replace(s)
}

// alike scores two lines: 100 for equal ones, else by what their ends share.
func alike(a, b string) int {
	if a == b {
		return 100
	}
	short := min(len(a), len(b))
	head := 0
	for head < short && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return 90 * (head + tail) / max(len(a), len(b))
}

// differs says what kind of difference keeps two places apart, if it is one that is easily overlooked.
func differs(have, want []string) string {
	same := func(f func(string) string) bool {
		for i := range want {
			if f(have[i]) != f(want[i]) {
				return false
			}
		}
		return true
	}
	switch {
	case same(func(s string) string { return strings.TrimSuffix(s, "\r") }):
		return ", which differs only in line ends (or in what follows the last line)"
	case same(func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }):
		return ", which differs only in spaces at the ends of lines"
	case same(strings.TrimSpace):
		return ", which differs only in indentation"
	case same(func(s string) string { return strings.Join(strings.Fields(s), " ") }):
		return ", which differs only in spaces and tabs"
	case same(normal):
		return ", which differs only in quotation marks, dashes or invisible characters"
	}
	return ""
}
