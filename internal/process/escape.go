package process

import (
	"strings"
	"unicode/utf8"
)

// handler is what a parser tells of a terminal's stream.
type handler interface {
	print(r rune)
	control(c byte)                                  // C0 but ESC
	escape(mid, final byte)                          // ESC mid final; mid 0: none
	sequence(mark byte, args []int, mid, final byte) // CSI; mark: one of <=>? or 0
	command(text string)                             // OSC
}

// Bounds of what a stream may make a parser keep.
const (
	maxArgs    = 32
	maxArg     = 1 << 16
	maxCommand = 4 << 10
)

// parser reads the stream of a terminal, in pieces as they come, after the state table of the VT500. Sequences that have no end
// or are too long are dropped.
type parser struct {
	state func(*parser, handler, byte)
	rune  []byte // the beginning of a character
	args  []int
	some  bool // args has begun
	mark  byte
	mid   byte
	text  []byte
	osc   bool // text is a command, and not of a string that nobody reads
}

func (p *parser) write(h handler, b []byte) {
	for _, c := range b {
		p.byte(h, c)
	}
}

func (p *parser) byte(h handler, c byte) {
	if p.state == nil {
		p.ground(h, c)
		return
	}
	switch {
	case c == 0x18 || c == 0x1a: // they cancel a sequence
		p.state, p.osc, p.text = nil, false, p.text[:0]
	case c == 0x1b:
		p.leave(h)
		p.state = (*parser).esc
		p.mid = 0
	default:
		p.state(p, h, c)
	}
}

// leave ends a string at the ESC that begins its terminator.
func (p *parser) leave(h handler) {
	if p.osc {
		p.osc = false
		h.command(string(p.text))
	}
	p.text = p.text[:0]
}

func (p *parser) ground(h handler, c byte) {
	if len(p.rune) > 0 {
		if c&0xc0 == 0x80 {
			p.rune = append(p.rune, c)
			if !utf8.FullRune(p.rune) {
				return
			}
			r, n := utf8.DecodeRune(p.rune)
			bad := n < len(p.rune)
			p.rune = p.rune[:0]
			h.print(r)
			if bad {
				h.print(utf8.RuneError)
			}
			return
		}
		p.rune = p.rune[:0]
		h.print(utf8.RuneError)
	}
	switch {
	case c == 0x1b:
		p.state, p.mid = (*parser).esc, 0
	case c < 0x20:
		h.control(c)
	case c == 0x7f:
	case c < utf8.RuneSelf:
		h.print(rune(c))
	default:
		p.rune = append(p.rune, c)
		if utf8.FullRune(p.rune) { // it begins none
			p.rune = p.rune[:0]
			h.print(utf8.RuneError)
		}
	}
}

func (p *parser) esc(h handler, c byte) {
	switch {
	case c < 0x20:
		h.control(c)
	case c < 0x30:
		p.mid = c
	case p.mid != 0:
		p.state = nil
		h.escape(p.mid, c)
	case c == '[':
		p.state, p.args, p.some, p.mark, p.mid = (*parser).csi, p.args[:0], false, 0, 0
	case c == ']':
		p.state, p.osc = (*parser).str, true
	case c == 'P' || c == 'X' || c == '^' || c == '_':
		p.state, p.osc = (*parser).str, false
	case c < 0x7f:
		p.state = nil
		h.escape(0, c)
	default:
		p.state = nil
	}
}

func (p *parser) csi(h handler, c byte) {
	switch {
	case c < 0x20:
		h.control(c)
	case c >= '0' && c <= '9':
		if !p.some {
			p.args, p.some = append(p.args, 0), true
		}
		if n := len(p.args) - 1; n < maxArgs {
			p.args[n] = min(p.args[n]*10+int(c-'0'), maxArg)
		}
	case c == ';' || c == ':':
		if !p.some {
			p.args = append(p.args, 0)
		}
		p.some = false
		if len(p.args) > maxArgs {
			p.state = (*parser).ignore
		}
	case c >= '<' && c <= '?':
		p.mark = c
	case c < 0x30:
		p.mid = c
	case c < 0x7f:
		p.state = nil
		h.sequence(p.mark, p.args, p.mid, c)
	default:
		p.state = nil
	}
}

// ignore waits for the end of a sequence that is too long.
func (p *parser) ignore(_ handler, c byte) {
	if c >= 0x40 && c < 0x7f {
		p.state = nil
	}
}

// str reads a string until BEL, or the ESC of its terminator.
func (p *parser) str(h handler, c byte) {
	if c == 7 {
		p.state = nil
		p.leave(h)
		return
	}
	if p.osc && len(p.text) < maxCommand {
		p.text = append(p.text, c)
	}
}

// Plain returns a line as it would look on a terminal: what escapes, carriage returns and backspaces do to it is done.
func Plain(line string) string {
	if strings.IndexFunc(line, func(r rune) bool { return r < 0x20 && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError }) < 0 {
		return line
	}
	var p parser
	var l plain
	p.write(&l, []byte(line))
	return string(l.text)
}

// plain is a terminal of one line.
type plain struct {
	text []rune
	at   int
}

func (l *plain) print(r rune) {
	if r >= 0x80 && r < 0xa0 {
		return
	}
	for len(l.text) < l.at {
		l.text = append(l.text, ' ')
	}
	if l.at < len(l.text) {
		l.text[l.at] = r
	} else {
		l.text = append(l.text, r)
	}
	l.at++
}

func (l *plain) control(c byte) {
	switch c {
	case '\r':
		l.at = 0
	case '\b':
		l.at = max(l.at-1, 0)
	case '\t':
		l.print('\t')
	}
}

func (l *plain) escape(byte, byte) {}
func (l *plain) command(string)    {}

func (l *plain) sequence(mark byte, args []int, mid, final byte) {
	if mark != 0 || mid != 0 {
		return
	}
	n := max(arg(args, 0, 1), 1)
	switch final {
	case 'C':
		l.at = min(l.at+n, maxLine)
	case 'D':
		l.at = max(l.at-n, 0)
	case 'G':
		l.at = min(n-1, maxLine)
	case 'P':
		if l.at < len(l.text) {
			l.text = append(l.text[:l.at], l.text[min(l.at+n, len(l.text)):]...)
		}
	case 'K':
		switch arg(args, 0, 0) {
		case 0:
			l.text = l.text[:min(l.at, len(l.text))]
		case 1:
			for i := range min(l.at+1, len(l.text)) {
				l.text[i] = ' '
			}
		case 2:
			l.text = l.text[:0]
		}
	}
}

// arg returns an argument of a sequence.
func arg(args []int, i, otherwise int) int {
	if i < len(args) {
		return args[i]
	}
	return otherwise
}
