package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// cell is one character as it is shown: a control character becomes several letters, a tab becomes blanks.
type cell struct {
	show  string
	cols  int
	start int // byte offset in the text
	end   int
}

// tabStop is narrow, since what is shown is indented already.
const tabStop = 4

// cells splits a line into what is shown. base is the offset of the line in the text.
func cells(line string, base int) []cell {
	out := make([]cell, 0, len(line))
	col := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		c := cell{show: line[i : i+size], start: base + i, end: base + i + size}
		switch {
		case r == utf8.RuneError && size == 1:
			c.show = fmt.Sprintf(`\x%02x`, line[i])
			c.cols = len(c.show)
		case r == '\t':
			c.cols = tabStop - col%tabStop
			c.show = strings.Repeat(" ", c.cols)
		default:
			if s := escape(r); s != "" {
				c.show, c.cols = s, len(s)
			} else {
				c.cols = columns(r)
			}
		}
		col += c.cols
		out = append(out, c)
		i += size
	}
	return out
}

// escape returns how a character that would not show as itself is written, "" for one that does.
func escape(r rune) string {
	switch {
	case r < utf8.RuneSelf && r >= ' ' && r != 0x7f:
		return ""
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp), r == 0x3164, r == 0xFFA0, r == 0x115F, r == 0x1160:
		if r > 0xFFFF {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	}
	return ""
}

// columns returns how many columns of a terminal a printable character takes.
func columns(r rune) int {
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

// visible returns s fit for a terminal: one line, nothing hidden in it.
func visible(s string) string {
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
			if e := escape(r); e != "" {
				b.WriteString(e)
			} else {
				b.WriteString(s[i : i+size])
			}
		}
		i += size
	}
	return b.String()
}

// clip shortens a visible string to at most cols columns, ending in dots.
func clip(s string, cols int, dots string) string {
	all := cells(s, 0)
	total := 0
	for _, c := range all {
		total += c.cols
	}
	if total <= cols {
		return s
	}
	used, cut := 0, 0
	for _, c := range all {
		if used+c.cols > cols-len([]rune(dots)) {
			break
		}
		used += c.cols
		cut = c.end
	}
	return s[:cut] + dots
}
