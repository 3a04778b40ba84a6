package htmltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// seen returns what is shown of a text: characters that show nothing, and could carry a message, are taken out and kept apart.
// Joiners stay, which Persian, Hindi and emoji need, and so do the letters of the flags made of tags.
func (c *cleaner) seen(s string) string {
	if !suspicious(s) {
		return s
	}
	var out, gone strings.Builder
	var before rune
	flag := false
	for i, r := range s {
		keep := true
		switch {
		case r == utf8.RuneError:
			_, size := utf8.DecodeRuneInString(s[i:])
			keep = size > 1
		case r == 0x1f3f4: // a black flag, behind which tags name a region
			flag = true
		case flag && tagRune(r):
			flag = r != 0xe007f
		case r == 0xfe0f || r == 0xfe0e: // how the sign before it looks; a row of them says something else
			keep = !selector(before)
		default:
			flag = false
			keep = !unseen(r)
		}
		if keep {
			out.WriteRune(r)
		} else if !unicode.IsControl(r) && r != utf8.RuneError {
			gone.WriteRune(r)
		}
		before = r
	}
	if gone.Len() > 0 {
		c.hide("invisible characters", gone.String())
	}
	return out.String()
}

// suspicious tells whether a text may have something to take out.
func suspicious(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case b < ' ' && b != '\n' && b != '\t' && b != '\r' && b != '\f', b == 0x7f:
			return true
		case b == 0xc2, b == 0xcd, b == 0xd8, b == 0xe1, b == 0xe2, b == 0xe3, b == 0xef, b == 0xf0, b == 0xf3, b == 0xf4:
			return true
		}
	}
	return !utf8.ValidString(s)
}

func tagRune(r rune) bool  { return r >= 0xe0020 && r <= 0xe007f }
func selector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

// unseen tells whether a character shows nothing and is not needed to show others.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == '\f':
		return false
	case r == 0x200c || r == 0x200d: // joiners
		return false
	case r == 0x200e || r == 0x200f: // marks of direction, which Hebrew and Arabic pages are full of
		return true
	case unicode.IsControl(r):
		return true
	case r >= 0xfe00 && r <= 0xfe0d, r >= 0xe0000 && r <= 0xe0fff:
		return true
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x17b4 || r == 0x17b5 || r == 0x034f || r == 0x180e:
		return true // fillers
	case r >= 0xfff0 && r <= 0xfff8, r >= 0xfff9 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return unicode.Is(unicode.Cf, r) && !visibleFormat(r)
}

// visibleFormat tells whether a format character is shown: signs before numbers in Arabic and Syriac, and the like.
func visibleFormat(r rune) bool {
	return r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x70f || r == 0x890 || r == 0x891 || r == 0x8e2 || r == 0x110bd || r == 0x110cd ||
		r >= 0x13430 && r <= 0x1343f
}

// Visible returns what is shown of a plain text, and the characters that show nothing apart.
func Visible(s string) (shown string, hidden []Hidden) {
	c := &cleaner{}
	return c.seen(s), c.hidden
}
