package tui

import (
	"strings"
	"unicode/utf8"

	"hermes/internal/screen"
)

// style is how a piece of text looks: the role of its colour, and attributes.
type style uint16

// The roles. Colours are the sixteen that a person has chosen for their terminal.
const (
	normal  style = iota
	faint         // what may be passed over
	accent        // names of tools, prompts
	good          // done; lines that were added
	caution       // questions, warnings
	bad           // failed, refused; lines that were deleted
	source        // code
	alarm         // the banner of YOLO
)

// The attributes.
const (
	bold style = 1 << (8 + iota)
	italic
	underline
	strike
	reverse
)

// Look is what the reader can see.
type Look struct {
	Color bool   // colours and attributes
	Wide  bool   // signs beyond ASCII: the terminal shows UTF-8
	Home  string // shown as ~
	Tmux  bool   // it is one of tmux, which keeps the first Ctrl-B
}

// pick returns the sign, or what stands for it in ASCII.
func (l Look) pick(sign, ascii string) string {
	if l.Wide {
		return sign
	}
	return ascii
}

func (l Look) dots() string { return l.pick("…", "...") }

// fold writes the home directory as ~.
func (l Look) fold(dir string) string {
	if rest, ok := strings.CutPrefix(dir, l.Home); ok && l.Home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}

// span is a piece of text in one style. Its text holds nothing that a terminal would obey.
type span struct {
	text  string
	style style
}

// line is one line of the screen.
type line []span

func plainLine(s string) line        { return line{{s, normal}} }
func styled(s string, st style) line { return line{{s, st}} }

// cols returns how many columns a line takes.
func (l line) cols() int {
	n := 0
	for _, s := range l {
		n += width(s.text)
	}
	return n
}

func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// width returns how many columns a text takes that can be shown as it is.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += screen.Columns(r)
	}
	return n
}

// codes are the numbers of SGR for the roles.
func (st style) codes() string {
	var codes []string
	if st&bold != 0 {
		codes = append(codes, "1")
	}
	if st&italic != 0 {
		codes = append(codes, "3")
	}
	if st&underline != 0 {
		codes = append(codes, "4")
	}
	if st&reverse != 0 {
		codes = append(codes, "7")
	}
	if st&strike != 0 {
		codes = append(codes, "9")
	}
	switch st & 0xff {
	case faint:
		codes = append(codes, "90")
	case accent, source:
		codes = append(codes, "36")
	case good:
		codes = append(codes, "32")
	case caution:
		codes = append(codes, "33")
	case bad:
		codes = append(codes, "31")
	case alarm:
		codes = append(codes, "97", "41")
	}
	return strings.Join(codes, ";")
}

// paint writes a line as a terminal takes it. All that is shown passes here: what somebody forgot to make fit is written in
// letters.
func (l Look) paint(b *strings.Builder, ln line) {
	for _, s := range ln {
		if !shows(s.text) {
			s.text = screen.Visible(s.text)
		}
		codes := ""
		if l.Color {
			codes = s.style.codes()
		}
		if codes == "" || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + codes + "m" + s.text + "\x1b[0m")
	}
}

// shows tells whether a text can be shown as it is.
func shows(s string) bool {
	for _, r := range s {
		if (r < ' ' || r >= 0x7f) && screen.Escape(r) != "" {
			return false
		}
	}
	return utf8.ValidString(s)
}

// clip cuts a line to a number of columns, ending in dots where something is missing.
func (l Look) clip(ln line, cols int) line {
	if ln.cols() <= cols {
		return ln
	}
	room := cols - width(l.dots())
	if room < 0 {
		return line{{strings.Repeat(".", max(0, cols)), faint}}
	}
	var out line
	for _, s := range ln {
		kept := ""
		for _, r := range s.text {
			n := screen.Columns(r)
			if n > room {
				room = 0
				break
			}
			kept, room = kept+string(r), room-n
		}
		out = append(out, span{kept, s.style})
		if len(kept) < len(s.text) {
			return append(out, span{l.dots(), s.style})
		}
	}
	return out
}
