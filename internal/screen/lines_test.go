package screen

import (
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	for _, row := range []struct{ what, text, want string }{
		{"fits", "git push", "git push"},
		{"nothing", " \n", ""},
		{"lines and blanks", "  one\n\ttwo \r\n three", "one two three"},
		{"exactly", strings.Repeat("a", 20), strings.Repeat("a", 20)},
		{"one more", strings.Repeat("a", 21), strings.Repeat("a", 19) + "…"},
		{"wide letters", strings.Repeat("界", 11), strings.Repeat("界", 9) + "…"},
		{"a whole file", strings.Repeat("line\n", 1<<20), "line line line line…"},
		{"something behind many blanks", strings.Repeat(" ", 1<<20) + "rm -rf /", "rm -rf /"},
		{"blanks without end within", "true" + strings.Repeat(" ", 1<<20) + "; rm -rf /", "true…"},
	} {
		if got := OneLine(row.text, 20); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}
