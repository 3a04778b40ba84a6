package process

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/internal/screen"
)

// Bounds of a screen.
const (
	maxRows  = 500
	maxCols  = 1000
	maxAbove = 1000 // lines that have gone off the top
)

// cell is one place of a screen. The second half of a wide character has width 0.
type cell struct {
	char  rune // 0: blank
	marks string
	half  bool // the right half of a wide character
}

// row is a line of a screen. One that is wrapped goes on in the next.
type row struct {
	cells   []cell
	wrapped bool
}

// gone is a row that has left the screen at its top.
type gone struct {
	text    string
	wrapped bool
}

// grid is one of a terminal's two screens.
type grid struct {
	rows  []row
	at    cursor
	saved cursor
}

type cursor struct {
	row, col int
	past     bool // a character stands in the last column, and the next one wraps
	drawing  bool // letters are line-drawing characters
}

// Screen is what a terminal shows: text and where it stands. Colours are not kept, and nothing that would do something on another
// terminal: no bell, no clipboard, no links. It is not safe for concurrent use.
type Screen struct {
	parser parser
	main   grid
	other  grid
	alt    bool // main is the second screen, other the first
	cols   int
	top    int // the rows that scroll: from top to bottom, without it
	bottom int
	tabs   []bool
	above  []gone

	wrap, origin, insert, newline bool    // modes
	hidden                        bool    // the cursor
	g                             [2]bool // G0 and G1 are line-drawing characters
	shifted                       int
	last                          rune
	title                         string
	answer                        []byte
}

// NewScreen returns an empty screen.
func NewScreen(rows, cols int) *Screen {
	rows, cols = bound(rows, maxRows), bound(cols, maxCols)
	s := &Screen{cols: cols, main: newGrid(rows, cols), other: newGrid(rows, cols)}
	s.reset()
	return s
}

func bound(n, most int) int { return min(max(n, 1), most) }

// reset empties the screens and forgets all modes. A program may ask for it with two bytes, so it makes nothing new.
func (s *Screen) reset() {
	*s = Screen{parser: s.parser, above: s.above, answer: s.answer, cols: s.cols, main: s.main, other: s.other, bottom: len(s.main.rows), wrap: true}
	s.main.empty()
	s.other.empty()
	s.tabs = make([]bool, s.cols)
	for i := 8; i < s.cols; i += 8 {
		s.tabs[i] = true
	}
}

// empty blanks all of it.
func (g *grid) empty() {
	for i := range g.rows {
		clear(g.rows[i].cells)
		g.rows[i].wrapped = false
	}
	g.at, g.saved = cursor{}, cursor{}
}

func newGrid(rows, cols int) grid {
	g := grid{rows: make([]row, rows)}
	for i := range g.rows {
		g.rows[i].cells = make([]cell, cols)
	}
	return g
}

// Write draws what a program prints. It returns what a terminal would answer, to be typed.
func (s *Screen) Write(text []byte) (answer []byte) {
	s.answer = nil
	s.parser.write(s, text)
	return s.answer
}

// Resize changes the size. What is below or right of it is gone.
func (s *Screen) Resize(rows, cols int) {
	rows, cols = bound(rows, maxRows), bound(cols, maxCols)
	for _, g := range []*grid{&s.main, &s.other} {
		for len(g.rows) > rows && g.at.row >= rows { // the cursor stays on the screen
			if g == &s.main && !s.alt {
				s.keep(g.rows[0])
			}
			g.rows = g.rows[1:]
			g.at.row--
		}
		g.rows = g.rows[:min(len(g.rows), rows)]
		for len(g.rows) < rows {
			g.rows = append(g.rows, row{cells: make([]cell, cols)})
		}
		for i := range g.rows {
			r := &g.rows[i]
			if cols < len(r.cells) {
				r.wrapped = false
			}
			r.cells = append(r.cells[:min(len(r.cells), cols)], make([]cell, max(0, cols-len(r.cells)))...)
		}
		g.at = cursor{min(g.at.row, rows-1), min(g.at.col, cols-1), false, g.at.drawing}
		g.saved = cursor{min(g.saved.row, rows-1), min(g.saved.col, cols-1), false, g.saved.drawing}
	}
	for len(s.tabs) < cols {
		s.tabs = append(s.tabs, len(s.tabs)%8 == 0)
	}
	s.tabs, s.cols, s.top, s.bottom = s.tabs[:cols], cols, 0, rows
}

// View returns what is seen, and at most so many lines that have gone off the top, through clean, which gets them whole: a secret
// that the edge of the screen cuts in two is one.
func (s *Screen) View(above int, clean func(string) string) View {
	v := View{Rows: len(s.main.rows), Cols: s.cols, Row: s.main.at.row, Col: s.main.at.col, Title: clean(s.title), Hidden: s.hidden}
	from := max(0, len(s.above)-max(above, 0))
	if s.alt {
		from = len(s.above) // what left the first screen does not belong to the second
	}
	for from > 0 && from < len(s.above) && s.above[from-1].wrapped {
		from--
	}
	all := clean(strings.Join(s.lines(s.above[from:], s.main.rows), "\n"))
	for _, line := range strings.Split(all, "\n") {
		v.Lines = append(v.Lines, fold(strings.TrimRight(line, " "), s.cols)...)
	}
	for len(v.Lines) > 0 && v.Lines[len(v.Lines)-1] == "" {
		v.Lines = v.Lines[:len(v.Lines)-1]
	}
	used := 0
	for i, r := range s.main.rows {
		if r.text() != "" {
			used = i + 1
		}
	}
	v.Above = max(0, len(v.Lines)-used)
	if drop := v.Above - max(above, 0); drop > 0 { // the beginning of a line that goes on below
		v.Lines, v.Above = v.Lines[drop:], v.Above-drop
	}
	return v
}

// lines joins rows to lines as they were printed.
func (s *Screen) lines(above []gone, rows []row) []string {
	var out []string
	open := false
	add := func(text string, wrapped bool) {
		if open {
			out[len(out)-1] += text
		} else {
			out = append(out, text)
		}
		open = wrapped
	}
	for _, g := range above {
		add(g.text, g.wrapped)
	}
	for _, r := range rows {
		add(r.text(), r.wrapped)
	}
	return out
}

// text returns what stands in a row.
func (r row) text() string {
	end := len(r.cells)
	for !r.wrapped && end > 0 && r.cells[end-1].char == 0 && !r.cells[end-1].half {
		end--
	}
	var b strings.Builder
	for _, c := range r.cells[:end] {
		switch {
		case c.half:
		case c.char == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.char)
			b.WriteString(c.marks)
		}
	}
	if r.wrapped {
		if n := len(r.cells) - 1; r.cells[n].char == 0 && !r.cells[n].half { // a wide character did not fit
			return strings.TrimSuffix(b.String(), " ")
		}
		return b.String()
	}
	return strings.TrimRight(b.String(), " ")
}

// fold breaks a line where the screen does.
func fold(line string, cols int) []string {
	var out []string
	start, at := 0, 0
	for i, r := range line {
		w := screen.Columns(r)
		if at+w > cols {
			out = append(out, line[start:i])
			start, at = i, 0
		}
		at += w
	}
	return append(out, line[start:])
}

// keep remembers a row that leaves the screen.
func (s *Screen) keep(r row) {
	s.above = append(s.above, gone{r.text(), r.wrapped})
	if len(s.above) > maxAbove+maxAbove/4 {
		s.above = append([]gone(nil), s.above[len(s.above)-maxAbove:]...)
	}
}

// print draws a character.
func (s *Screen) print(r rune) {
	if r < 0x20 || r >= 0x7f && r < 0xa0 {
		return
	}
	if s.g[s.shifted] && r >= 0x5f && r <= 0x7e {
		r = lineDrawing[r-0x5f]
	}
	w := screen.Columns(r)
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		w = 0
	}
	a := &s.main.at
	if w == 0 {
		s.mark(r)
		return
	}
	if w = min(w, 2); w > s.cols {
		return
	}
	if a.past || a.col+w > s.cols {
		if s.wrap {
			s.main.rows[a.row].wrapped = true
			a.col, a.past = 0, false
			s.feed()
		} else {
			a.col, a.past = s.cols-w, false
		}
	}
	cells := s.main.rows[a.row].cells
	if s.insert {
		copy(cells[a.col+w:], cells[a.col:])
	}
	s.clear(a.row, a.col, a.col+w)
	cells[a.col] = cell{char: r}
	if w == 2 {
		cells[a.col+1] = cell{half: true}
	}
	s.last = r
	if a.col += w; a.col >= s.cols {
		a.col, a.past = s.cols-1, true
	}
}

// mark puts a combining character on the one before.
func (s *Screen) mark(r rune) {
	a := s.main.at
	col := a.col - 1
	if a.past {
		col = a.col
	}
	cells := s.main.rows[a.row].cells
	if col > 0 && cells[col].half {
		col--
	}
	if col >= 0 && cells[col].char != 0 && len(cells[col].marks) < 16 {
		cells[col].marks += string(r)
	}
}

// clear blanks a part of a row; of a wide character neither half is left.
func (s *Screen) clear(at, from, to int) {
	r := &s.main.rows[at]
	from, to = max(from, 0), min(to, s.cols)
	if from >= to {
		return
	}
	if r.cells[from].half {
		from--
	}
	if to < s.cols && r.cells[to].half {
		to++
	}
	clear(r.cells[from:to])
	if to == s.cols {
		r.wrapped = false
	}
}

// feed goes to the next line, and scrolls at the bottom.
func (s *Screen) feed() {
	a := &s.main.at
	a.past = false
	switch {
	case a.row == s.bottom-1:
		if s.top == 0 && !s.alt {
			s.keep(s.main.rows[0])
		}
		s.scroll(s.top, 1)
	case a.row < len(s.main.rows)-1:
		a.row++
	}
}

// scroll moves the rows from a row on to the bottom of the region up, or down for less than 0. What goes out comes in again, blank.
func (s *Screen) scroll(from, n int) {
	rows := s.main.rows[from:s.bottom]
	n = min(max(n, -len(rows)), len(rows))
	for range max(n, -n) {
		last := len(rows) - 1
		if n > 0 {
			out := rows[0]
			copy(rows, rows[1:])
			rows[last] = out
		} else {
			out := rows[last]
			copy(rows[1:], rows)
			rows[0], last = out, 0
		}
		clear(rows[last].cells)
		rows[last].wrapped = false
	}
	rows[len(rows)-1].wrapped = false
}

func (s *Screen) control(c byte) {
	a := &s.main.at
	switch c {
	case '\b':
		a.col, a.past = max(a.col-1, 0), false
	case '\t':
		s.tab(1)
	case '\n', 0x0b, 0x0c:
		s.feed()
		if s.newline {
			a.col = 0
		}
	case '\r':
		a.col, a.past = 0, false
	case 0x0e:
		s.shifted = 1
	case 0x0f:
		s.shifted = 0
	}
}

// tab goes to a tab stop, back for less than 0.
func (s *Screen) tab(n int) {
	a := &s.main.at
	a.past = false
	for ; n > 0 && a.col < s.cols-1; n-- {
		for a.col++; a.col < s.cols-1 && !s.tabs[a.col]; a.col++ {
		}
	}
	for ; n < 0 && a.col > 0; n++ {
		for a.col--; a.col > 0 && !s.tabs[a.col]; a.col-- {
		}
	}
}

func (s *Screen) command(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	if kind == "0" || kind == "2" {
		s.title = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, clip(strings.ToValidUTF8(rest, ""), 200))
	}
}

func (s *Screen) say(format string, args ...any) {
	if len(s.answer) < 1<<10 {
		s.answer = fmt.Appendf(s.answer, format, args...)
	}
}

// lineDrawing are the characters of the VT100's second set, from _ on.
var lineDrawing = [...]rune{' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽',
	'├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·'}
