// Package screen says how text shows on a terminal: which columns a character takes, what stands for those that a terminal would
// obey or hide, and where lines end.
//
// It draws nothing and knows no colours (see tui, cli), and takes nothing out: what cannot be shown as itself is written in
// letters.
//
// Failure direction: what it does not know is written in letters.
package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Cell is one character as it is shown: a control character becomes several letters, a tab becomes blanks.
type Cell struct {
	Show  string
	Cols  int
	Start int // byte offset in the text
	End   int
}

// tabStop is narrow, since what is shown is indented already.
const tabStop = 4

// Cells splits a line into what is shown. base is the offset of the line in the text.
func Cells(line string, base int) []Cell {
	out := make([]Cell, 0, len(line))
	col := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		c := Cell{Show: line[i : i+size], Start: base + i, End: base + i + size}
		switch {
		case r == utf8.RuneError && size == 1:
			c.Show = fmt.Sprintf(`\x%02x`, line[i])
			c.Cols = len(c.Show)
		case r == '\t':
			c.Cols = tabStop - col%tabStop
			c.Show = strings.Repeat(" ", c.Cols)
		default:
			if s := Escape(r); s != "" {
				c.Show, c.Cols = s, len(s)
			} else {
				c.Cols = Columns(r)
			}
		}
		col += c.Cols
		out = append(out, c)
		i += size
	}
	return out
}

// Escape returns how a character that would not show as itself is written, "" for one that does.
func Escape(r rune) string {
	switch {
	case r < utf8.RuneSelf && r >= ' ' && r != 0x7f:
		return ""
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp), unseen(r):
		if r > 0xFFFF {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	}
	return ""
}

// unseen tells whether a character that Unicode calls a letter or a mark shows as nothing: fillers, selectors of variants, the
// blank of braille. Whole messages can hide in them.
func unseen(r rune) bool {
	switch {
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x2800, r == 0x3164, r == 0xFFA0,
		r >= 0x180B && r <= 0x180F, r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true
	}
	return false
}

// Columns returns how many columns of a terminal a printable character takes.
func Columns(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Visible returns s fit for a terminal: one line, nothing hidden in it.
func Visible(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteByte(' ')
		default:
			if e := Escape(r); e != "" {
				b.WriteString(e)
			} else {
				b.WriteString(s[i : i+size])
			}
		}
		i += size
	}
	return b.String()
}

// Clip shortens a visible string to at most cols columns, ending in dots.
func Clip(s string, cols int, dots string) string {
	all := Cells(s, 0)
	total := 0
	for _, c := range all {
		total += c.Cols
	}
	if total <= cols {
		return s
	}
	used, cut := 0, 0
	for _, c := range all {
		if used+c.Cols > cols-len([]rune(dots)) {
			break
		}
		used += c.Cols
		cut = c.End
	}
	return s[:cut] + dots
}
