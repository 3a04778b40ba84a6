package tui

import (
	"strings"

	"hermes/internal/screen"
)

// wrap breaks a line at its blanks into lines of at most cols columns. The first begins with first, the others with rest. A word
// that is longer than a line is broken where the line ends: nothing is left out.
func wrap(text line, cols int, first, rest line) []line {
	w := wrapper{cols: cols, rest: rest}
	w.begin(first)
	for _, s := range text {
		for _, r := range s.text {
			w.add(r, s.style)
		}
	}
	w.end()
	return w.out
}

// chop breaks a line where it ends, blanks or not: for code, where a blank has its place.
func chop(text line, cols int, first, rest line) []line {
	w := wrapper{cols: cols, rest: rest, hard: true}
	w.begin(first)
	for _, s := range text {
		for _, r := range s.text {
			w.add(r, s.style)
		}
	}
	w.end()
	return w.out
}

// glyph is one character on its way into a line.
type glyph struct {
	r     rune
	cols  int
	style style
}

// wrapper fills lines.
type wrapper struct {
	cols int
	rest line
	hard bool
	out  []line

	head   line    // of the line that is being filled
	filled []glyph // of it
	used   int
	gap    int // where it may be broken: filled[gap] is the first glyph of the next line; 0: nowhere
}

func (w *wrapper) begin(head line) {
	w.head, w.filled, w.gap = head, w.filled[:0], 0
	w.used = head.cols()
	if w.used >= w.cols-1 { // no room is left: what is shown matters more than how deep it stands
		w.head, w.used = nil, 0
	}
}

func (w *wrapper) add(r rune, st style) {
	g := glyph{r, screen.Columns(r), st}
	if w.used+g.cols > w.cols && len(w.filled) > 0 {
		if r == ' ' && !w.hard {
			w.flush(len(w.filled)) // the blank is the break
			return
		}
		at := len(w.filled)
		if w.gap > 0 && !w.hard {
			at = w.gap
		}
		w.flush(at)
	}
	w.filled = append(w.filled, g)
	w.used += g.cols
	if r == ' ' || g.cols == 2 {
		w.gap = len(w.filled)
	}
}

// flush ends a line before its glyph at, and begins the next one with what is left.
func (w *wrapper) flush(at int) {
	left := append([]glyph(nil), w.filled[at:]...)
	w.filled = w.filled[:at]
	w.end()
	w.begin(w.rest)
	w.filled = append(w.filled, left...)
	for i, g := range left {
		w.used += g.cols
		if g.r == ' ' || g.cols == 2 {
			w.gap = i + 1
		}
	}
}

// end writes the line that is being filled.
func (w *wrapper) end() {
	out := append(line(nil), w.head...)
	var b strings.Builder
	for i, g := range w.filled {
		if i > 0 && g.style != w.filled[i-1].style {
			out = append(out, span{b.String(), w.filled[i-1].style})
			b.Reset()
		}
		b.WriteRune(g.r)
	}
	if len(w.filled) > 0 {
		out = append(out, span{b.String(), w.filled[len(w.filled)-1].style})
	}
	w.out = append(w.out, trimRight(out))
}

// trimRight takes blanks off the end of a line.
func trimRight(l line) line {
	for len(l) > 0 {
		last := &l[len(l)-1]
		if last.style&(reverse|underline) != 0 || last.style&0xff == alarm {
			return l
		}
		last.text = strings.TrimRight(last.text, " ")
		if last.text != "" {
			return l
		}
		l = l[:len(l)-1]
	}
	return l
}

// widest is how wide text is set: longer lines are hard to read. Code, tables and differences take all there is.
const widest = 120

// paragraph breaks a text of several lines in one style, each line indented.
func paragraph(text string, st style, cols int, first, rest string) []line {
	cols = min(cols, widest)
	var out []line
	for i, s := range rows(text) {
		head := rest
		if i == 0 {
			head = first
		}
		out = append(out, wrap(line{{s, st}}, cols, plainLine(head), plainLine(rest))...)
	}
	return out
}
