package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plain tells whether a text holds nothing but printable ASCII and ordinary white space, so that its bytes are what a
// person sees and what a shell reads.
func plain(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && (c != '\r' || i+1 < len(text) && text[i+1] != '\n') {
			return false
		}
	}
	return true
}

// inspect notes characters that make a text read differently from what it does.
func (e *eval) inspect(text string) {
	var prev rune
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n':
		case r == '\r' && next(text, i+1) != '\n' && i+1 < len(text), r == '\b':
			// A terminal draws what follows over what stands before.
			e.noteOnce(Invisible, r, i, i+size)
		case r == 0x1b || r == 0 || r >= 0x80 && r <= 0x9f || r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\r' && r != '\b':
			e.noteOnce(Control, r, i, i+size)
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			e.noteOnce(Bidi, r, i, i+size)
		case r == 0x200e || r == 0x200f || r == 0x061c:
			// Marks are ordinary in right-to-left prose; next to ASCII letters they can only mislead.
			if asciiWord(prev) && asciiWord(next(text, i+size)) {
				e.noteOnce(Bidi, r, i, i+size)
			}
		case r == 0x200c || r == 0x200d:
			if !joins(prev, next(text, i+size)) {
				e.noteOnce(Invisible, r, i, i+size)
			}
		case r == 0xfeff && i == 0:
		case r >= 0xe0020 && r <= 0xe007f && flag(text[:i]):
		case invisible(r):
			e.noteOnce(Invisible, r, i, i+size)
		}
		prev = r
	}
}

func next(text string, i int) rune {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return r
}

func asciiWord(r rune) bool {
	return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`-/\."'$`, r))
}

// joins tells whether a joiner between two characters belongs to a script or an emoji rather than hiding something.
func joins(a, b rune) bool {
	pictograph := func(r rune) bool {
		return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0xfe0f || r == 0x20e3 || r >= 0x1f3fb && r <= 0x1f3ff
	}
	if pictograph(a) && pictograph(b) {
		return true
	}
	script := func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali,
			unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
			unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
	}
	return script(a) || script(b)
}

// flag tells whether tag characters behind a text belong to the flag of a region: a black flag, then tags.
func flag(before string) bool {
	for range 16 { // no region's name is longer
		r, size := utf8.DecodeLastRuneInString(before)
		if r == 0x1f3f4 {
			return true
		}
		if r < 0xe0020 || r > 0xe007e {
			return false
		}
		before = before[:len(before)-size]
	}
	return false
}

func invisible(r rune) bool {
	switch {
	case r == 0x200b, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0x180e, r == 0x00ad, r == 0x034f,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// noteOnce adds a note on a character unless the same kind is noted already: one is enough to be asked about.
func (e *eval) noteOnce(kind NoteKind, r rune, start, end int) {
	for i := range e.prog.Notes {
		if e.prog.Notes[i].Kind == kind {
			return
		}
	}
	e.note(kind, "U+"+strings.ToUpper(hex(uint32(r))), -1, start, end)
}

func hex(n uint32) string {
	const digits = "0123456789abcdef"
	var b [8]byte
	i := len(b)
	for n > 0 || i > len(b)-4 {
		i--
		b[i] = digits[n&15]
		n >>= 4
	}
	return string(b[i:])
}

// withoutNUL drops NUL bytes, as shells do, and returns where each remaining byte stood (nil when nothing was dropped).
func withoutNUL(text string) (string, []int32) {
	if strings.IndexByte(text, 0) < 0 {
		return text, nil
	}
	m := newMapped(len(text))
	for i := range len(text) {
		if text[i] != 0 {
			m.add(text[i:i+1], i)
		}
	}
	return m.done(len(text))
}

// fold removes terminal escapes and NUL bytes and applies NFKC: the text a person believes to read.
func fold(text string) (string, []int32) {
	m := newMapped(len(text))
	for i := 0; i < len(text); {
		if n := escapeLen(text[i:]); n > 0 {
			i += n
			continue
		}
		if c := text[i]; c < utf8.RuneSelf {
			if c != 0 {
				m.add(text[i:i+1], i)
			}
			i++
			continue
		}
		n := max(1, norm.NFKC.NextBoundaryInString(text[i:], true))
		m.add(norm.NFKC.String(text[i:i+n]), i)
		i += n
	}
	return m.done(len(text))
}

// escapeLen returns the length of the terminal escape sequence a text starts with, or 0.
func escapeLen(s string) int {
	body := 0
	switch {
	case strings.HasPrefix(s, "\x1b["):
		body = 2
	case strings.HasPrefix(s, "\u009b"):
		body = len("\u009b")
	case strings.HasPrefix(s, "\x1b]"), strings.HasPrefix(s, "\u009d"):
		for i := 2; i < len(s) && i < 4096; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if strings.HasPrefix(s[i:], "\x1b\\") {
				return i + 2
			}
		}
		return 2
	case s[0] == 0x1b && len(s) > 1:
		return 2
	case s[0] == 0x1b:
		return 1
	case s[0] == 0xc2 && len(s) > 1 && s[1] >= 0x80 && s[1] <= 0x9f:
		return 2
	default:
		return 0
	}
	for body < len(s) && (s[body] >= 0x20 && s[body] <= 0x3f) {
		body++
	}
	if body < len(s) && s[body] >= 0x40 && s[body] <= 0x7e {
		body++
	}
	return body
}

// mapped builds a text together with the offset each of its bytes had before.
type mapped struct {
	b []byte
	m []int32
}

func newMapped(size int) *mapped {
	return &mapped{b: make([]byte, 0, size), m: make([]int32, 0, size+1)}
}

func (m *mapped) add(s string, from int) {
	m.b = append(m.b, s...)
	for range len(s) {
		m.m = append(m.m, int32(from))
	}
}

func (m *mapped) done(size int) (string, []int32) { return string(m.b), append(m.m, int32(size)) }
