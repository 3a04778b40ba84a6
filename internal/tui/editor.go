package tui

import (
	"fmt"
	"strings"
	"unicode"

	"hermes/internal/screen"
)

// editor is the text that is being written, and where the cursor stands in it.
type editor struct {
	text   []rune
	at     int
	pastes []paste // long ones, which stand in the text as a mark
	pasted int     // how many there were
}

// paste is a long text that is shown as its mark.
type paste struct{ mark, text string }

// A paste of more stands in the text as a mark.
const (
	pasteLines = 12
	pasteRunes = 2000
)

func (e *editor) empty() bool { return len(e.text) == 0 }

// set replaces the text.
func (e *editor) set(s string) {
	e.text = []rune(s)
	e.at = len(e.text)
}

func (e *editor) clear() { *e = editor{pasted: e.pasted} }

// insert writes at the cursor.
func (e *editor) insert(s string) {
	in := []rune(s)
	e.text = append(e.text[:e.at:e.at], append(in, e.text[e.at:]...)...)
	e.at += len(in)
}

// paste inserts what was pasted. It never sends anything: line ends in it are text.
func (e *editor) paste(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	lines := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
	if lines <= pasteLines && len(s) <= pasteRunes {
		e.insert(s)
		return
	}
	e.pasted++
	mark := fmt.Sprintf("[pasted text %d: %d lines]", e.pasted, lines)
	if lines == 1 {
		mark = fmt.Sprintf("[pasted text %d: %d characters]", e.pasted, len([]rune(s)))
	}
	e.pastes = append(e.pastes, paste{mark, s})
	e.insert(mark)
}

// value returns the text with everything that was pasted.
func (e *editor) value() string {
	s := string(e.text)
	for _, p := range e.pastes {
		s = strings.Replace(s, p.mark, p.text, 1)
	}
	return s
}

// lineStart and lineEnd are the ends of the line that the cursor stands in.
func (e *editor) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := e.at
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func (e *editor) cut(from, to int) {
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

// before and after are where the letter beside the cursor begins and ends, with the marks on it.
func (e *editor) before() int {
	i := max(0, e.at-1)
	for i > 0 && mark(e.text[i]) {
		i--
	}
	return i
}

func (e *editor) after() int {
	i := min(len(e.text), e.at+1)
	for i < len(e.text) && mark(e.text[i]) {
		i++
	}
	return i
}

func mark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) || shapes(r) }

// wordBefore and wordAfter are the ends of the words beside the cursor.
func (e *editor) wordBefore() int {
	i := e.at
	for i > 0 && !letter(e.text[i-1]) {
		i--
	}
	for i > 0 && letter(e.text[i-1]) {
		i--
	}
	return i
}

func (e *editor) wordAfter() int {
	i := e.at
	for i < len(e.text) && !letter(e.text[i]) {
		i++
	}
	for i < len(e.text) && letter(e.text[i]) {
		i++
	}
	return i
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// key does what a key means in a text, and tells whether it means anything there.
func (e *editor) key(k string) bool {
	switch k {
	case "left", "ctrl+b":
		e.at = e.before()
	case "right", "ctrl+f":
		e.at = e.after()
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "ctrl+left", "alt+left", "alt+b":
		e.at = e.wordBefore()
	case "ctrl+right", "alt+right", "alt+f":
		e.at = e.wordAfter()
	case "ctrl+home":
		e.at = 0
	case "ctrl+end":
		e.at = len(e.text)
	case "backspace", "ctrl+h", "shift+backspace":
		e.cut(e.before(), e.at)
	case "delete", "ctrl+d":
		if e.at < len(e.text) {
			e.cut(e.at, e.after())
		}
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.cut(e.wordBefore(), e.at)
	case "alt+d", "ctrl+delete":
		e.cut(e.at, e.wordAfter())
	case "ctrl+u":
		e.cut(e.lineStart(), e.at)
	case "ctrl+k":
		end := e.lineEnd()
		if end == e.at { // the line end itself
			end = min(len(e.text), end+1)
		}
		e.cut(e.at, end)
	case "alt+enter", "ctrl+j", "shift+enter", "ctrl+enter":
		e.insert("\n")
	default:
		return false
	}
	return true
}

// up and down move to the line above or below, and tell whether there was one.
func (e *editor) up() bool {
	start := e.lineStart()
	if start == 0 {
		return false
	}
	col := e.at - start
	e.at = start - 1
	e.at = min(e.lineStart()+col, e.at)
	return true
}

func (e *editor) down() bool {
	end := e.lineEnd()
	if end == len(e.text) {
		return false
	}
	col := e.at - e.lineStart()
	e.at = end + 1
	e.at = min(e.at+col, e.lineEnd())
	return true
}

// layout returns the text as rows of at most cols columns, and where the cursor stands in them.
func (e *editor) layout(cols int) (out []string, x, y int) {
	cols = max(2, cols)
	var row strings.Builder
	used := 0
	flush := func() {
		out = append(out, row.String())
		row.Reset()
		used = 0
	}
	place := func() { x, y = used, len(out) }
	for i, r := range e.text {
		if i == e.at {
			place()
		}
		if r == '\n' {
			flush()
			continue
		}
		show, n := string(r), screen.Columns(r)
		if r == '\t' {
			show, n = "    ", 4
		} else if esc := screen.Escape(r); esc != "" && !shapes(r) {
			show, n = esc, len(esc)
		} else if shapes(r) {
			show, n = "", 0
		}
		if used+n > cols {
			flush()
			if i == e.at {
				place()
			}
		}
		for n > cols { // an escape is wider than a very narrow screen
			show, n = show[:cols], cols
		}
		row.WriteString(show)
		used += n
	}
	if e.at == len(e.text) {
		if used >= cols {
			flush()
		}
		place()
	}
	flush()
	return out, x, y
}

// history is what was sent before.
type history struct {
	lines []string
	at    int    // len(lines): the draft
	draft string // what was being written when the person went back
}

// remember adds what was sent.
func (h *history) remember(s string) {
	if s = strings.TrimSpace(s); s != "" && (len(h.lines) == 0 || h.lines[len(h.lines)-1] != s) {
		h.lines = append(h.lines, s)
	}
	h.at = len(h.lines)
}

// step goes n lines on, back if it is negative. ok is false where there is none.
func (h *history) step(n int, now string) (text string, ok bool) {
	to := h.at + n
	if to < 0 || to > len(h.lines) {
		return "", false
	}
	if h.at == len(h.lines) {
		h.draft = now
	}
	h.at = to
	if to == len(h.lines) {
		return h.draft, true
	}
	return h.lines[to], true
}
