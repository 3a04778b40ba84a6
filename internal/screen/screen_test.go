package screen

import (
	"strings"
	"testing"
	"unicode"
)

func TestVisible(t *testing.T) {
	for _, row := range []struct{ what, text, want string }{
		{"plain", "git push", "git push"},
		{"letters of all scripts", "naïve 界 ☂", "naïve 界 ☂"},
		{"a command to the terminal", "\x1b]52;c;AAAA\x07", `\x1b]52;c;AAAA\x07`},
		{"the same in one byte", "\x9b31m", `\x9b31m`},
		{"the same as a character", "\u009b31m", `\u009b31m`},
		{"text that turns around", "a\u202eb", `a\u202eb`},
		{"what joins", "a\u200db", `a\u200db`},
		{"lines", "a\nb\rc", `a\nb\rc`},
		{"a selector of variants, which shows as nothing", "a\ufe01b\U000e0101c", `a\ufe01b\U000e0101c`},
		{"a tab", "a\tb", "a b"},
	} {
		if got := Visible(row.text); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

// Whatever the text, what is shown of it is one line that a terminal only prints.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\x1b[2Jb", "\xff\xfe", "\u2066x\u2069", "e\u0301", "\u115f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var cells strings.Builder
		for _, c := range Cells(s, 0) {
			cells.WriteString(c.Show)
			if c.Cols < 0 || c.Cols > 10 {
				t.Errorf("%q takes %d columns", c.Show, c.Cols)
			}
		}
		for _, shown := range []string{Visible(s), cells.String(), Clip(Visible(s), 10, "…")} {
			for _, r := range shown {
				if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar && !strings.ContainsRune(s, r) {
					t.Fatalf("%q is shown as %q, with %U", s, shown, r)
				}
			}
		}
	})
}
