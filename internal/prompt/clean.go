package prompt

import (
	"strings"
	"unicode/utf8"

	"hermes/internal/guard/taint"
)

// Clean makes a text fit to be read: without what a terminal would obey (colours, titles, links, positions), in valid UTF-8, with
// ordinary line ends. Characters that nobody sees and that have no business there become marks that can be seen.
func Clean(text string) string { return taint.Reveal(strip(text)) }

// longest is how far a string that a terminal would swallow may reach, in bytes. One that does not end there is shown: else an
// opening alone would hide all that follows.
const longest = 1 << 20

// strip takes out controls and what they control.
func strip(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if plain(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	c := cleaner{text: text, out: make([]byte, 0, len(text))}
	for c.at < len(text) {
		c.step()
	}
	return string(c.out)
}

// plain tells whether there is nothing to take out.
func plain(text string) bool {
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b < 0x20 && b != '\n' && b != '\t', b == 0x7f:
			return false
		case b == 0xc2 && i+1 < len(text) && text[i+1] < 0xa0, b == 0xe2 && strings.HasPrefix(text[i:], "\u2028"), b == 0xe2 && strings.HasPrefix(text[i:], "\u2029"):
			return false
		}
	}
	return utf8.ValidString(text)
}

// cleaner reads a text once.
type cleaner struct {
	text string
	at   int
	out  []byte
}

func (c *cleaner) step() {
	b := c.text[c.at]
	switch {
	case b == 0x1b:
		c.escape()
	case b == '\r':
		// A terminal would write over the line: what is overwritten is shown too, on a line of its own.
		for c.at < len(c.text) && c.text[c.at] == '\r' {
			c.at++
		}
		if c.at == len(c.text) || c.text[c.at] != '\n' {
			c.out = append(c.out, '\n')
		}
	case b == '\v', b == '\f':
		c.out = append(c.out, '\n')
		c.at++
	case b == '\b':
		c.overstrike()
	case b < 0x20 && b != '\n' && b != '\t', b == 0x7f:
		c.at++
	case b < 0x80:
		c.out = append(c.out, b)
		c.at++
	default:
		c.wide()
	}
}

// wide takes a character that is not ASCII, of which some are controls.
func (c *cleaner) wide() {
	r, size := utf8.DecodeRuneInString(c.text[c.at:])
	switch {
	case r == 0x85, r == 0x2028, r == 0x2029:
		c.out = append(c.out, '\n')
		c.at += size
	case r >= 0x80 && r < 0xa0:
		c.at += size
		c.control(byte(r) - 0x40)
	default:
		c.out = append(c.out, c.text[c.at:c.at+size]...)
		c.at += size
	}
}

// escape takes an escape and what belongs to it.
func (c *cleaner) escape() {
	c.at++
	if c.at == len(c.text) {
		return
	}
	b := c.text[c.at]
	switch {
	case b >= 0x40 && b < 0x60:
		c.at++
		c.control(b)
	case b >= 0x20 && b < 0x7f: // ESC ( B, ESC 7, …
		for c.at < len(c.text) && c.text[c.at] >= 0x20 && c.text[c.at] < 0x30 {
			c.at++
		}
		if c.at < len(c.text) && c.text[c.at] >= 0x30 && c.text[c.at] < 0x7f {
			c.at++
		}
	}
}

// control takes what follows a control, which is named by its letter after an escape.
func (c *cleaner) control(letter byte) {
	switch letter {
	case '[':
		i := c.at
		for i < len(c.text) && c.text[i] >= 0x20 && c.text[i] < 0x40 {
			i++
		}
		if i < len(c.text) && c.text[i] >= 0x40 && c.text[i] < 0x7f {
			i++
		}
		c.at = i
	case ']', 'P', 'X', '^', '_':
		if n := ends(c.text[c.at:min(len(c.text), c.at+longest)], letter == ']'); n >= 0 {
			c.at += n
		}
	}
}

// ends returns where a string that a terminal swallows ends, -1 if it does not.
func ends(s string, bell bool) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == 0x07 && bell:
			return i + 1
		case s[i] == 0x1b:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return i // another sequence begins: a terminal gives up
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0:
			return i
		case s[i] == 0x18, s[i] == 0x1a:
			return i + 1
		}
	}
	return -1
}

// overstrike takes a step back: printers make bold and underlined letters with it.
func (c *cleaner) overstrike() {
	c.at++
	last, size := utf8.DecodeLastRune(c.out)
	next, _ := utf8.DecodeRuneInString(c.text[c.at:])
	if size > 0 && c.at < len(c.text) && (last == next || last == '_' && next > ' ') {
		c.out = c.out[:len(c.out)-size]
	}
}
