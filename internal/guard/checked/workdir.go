package checked

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Workdir is a directory to run a command in, absolute or relative, POSIX or Windows, safe to stand unquoted in a shell
// line. It is kept as spelled: "~" is left for the shell, ".." is left for whoever opens it.
type Workdir struct{ text string }

// maxPath is Linux's PATH_MAX without the final NUL.
const maxPath = 4095

// ParseWorkdir accepts letters, marks and digits of any script, pictographs, blanks, and / \ : . _ - ~ + = @ , in any
// place; a leading dash, which programs take for an option, is refused, and so is everything else.
func ParseWorkdir(s string) (Workdir, error) {
	const typ = "workdir"
	switch {
	case s == "":
		return Workdir{}, refuse(typ, s, -1, "is empty")
	case len(s) > maxPath:
		return Workdir{}, refuse(typ, s, -1, "is longer than 4095 bytes")
	case strings.TrimSpace(s) == "":
		return Workdir{}, refuse(typ, s, -1, "is blank")
	case s[0] == '-':
		return Workdir{}, refuse(typ, s, 0, "programs take it for an option; write ./ in front")
	}
	for i, r := range s {
		if cause := workdirTrouble(s[i:], r); cause != "" {
			return Workdir{}, refuse(typ, s, i, cause)
		}
	}
	return Workdir{s}, nil
}

// workdirTrouble returns why r, the first character of rest, may not stand in a working directory, or "".
func workdirTrouble(rest string, r rune) string {
	switch {
	case lower(byte(r)) && r < utf8.RuneSelf, upper(byte(r)) && r < utf8.RuneSelf, digit(byte(r)) && r < utf8.RuneSelf:
		return ""
	case r < utf8.RuneSelf:
		switch r {
		case '/', '\\', ':', '.', '_', '-', '~', '+', '=', '@', ',', ' ':
			return ""
		}
		if r < ' ' || r == 0x7f {
			return "control characters are not allowed"
		}
		return "a shell gives it a meaning of its own"
	case r == utf8.RuneError && strings.HasPrefix(rest, "\uFFFD"):
		return "stands for text that was lost"
	case r == utf8.RuneError:
		return "is not UTF-8"
	case filler(r):
		return "does not show on a screen"
	case unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Zs, unicode.So):
		return ""
	case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
		return "control and invisible characters are not allowed"
	}
	return "only letters, digits, blanks and / \\ : . _ - ~ + = @ , are allowed"
}

// filler tells whether r counts as a letter but has no shape.
func filler(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0:
		return true
	}
	return false
}

// String returns the directory as it was spelled, "" for the zero value.
func (w Workdir) String() string { return w.text }

// IsZero tells whether w was never parsed.
func (w Workdir) IsZero() bool { return w.text == "" }
