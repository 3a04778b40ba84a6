package screen

import "strings"

// Line is one line of a text, and where it begins there.
type Line struct {
	Text  string
	Start int // byte offset in the text
}

// Split cuts a text into lines. A final newline begins no line of its own.
func Split(text string) []Line {
	lines, at := []Line{}, 0
	for at < len(text) || len(lines) == 0 {
		line, _, _ := strings.Cut(text[at:], "\n")
		lines = append(lines, Line{line, at})
		at += len(line) + 1
	}
	return lines
}

// LineOf returns the number of the line that holds the byte at pos.
func LineOf(lines []Line, pos int) int {
	n := 0
	for n+1 < len(lines) && lines[n+1].Start <= pos {
		n++
	}
	return n
}

// OneLine returns a text as one line of at most cols columns, for a list or a title. What follows is cut off, and shown as cut.
func OneLine(text string, cols int) string {
	text = strings.TrimSpace(text)
	cut := false
	if most := 64 * max(cols, 1); len(text) > most { // whole files and outputs come here
		text, cut = strings.ToValidUTF8(text[:most], ""), true
	}
	line := strings.Join(strings.Fields(text), " ")
	short := Clip(line, cols, "…")
	if cut && short == line {
		return line + "…"
	}
	return short
}
