package screen

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		text string
		cols int
		want string
	}{
		{"", 40, ""},
		{"fits", 40, "fits"},
		{"  a word and another one that does not fit", 20, "  a word and another\n    one that does\n    not fit"},
		{"a 0123456789012345678901234567890123456789", 20, "a 012345678901234567\n    8901234567890123\n    456789"},
		{"界界界界界 界界界界界", 14, "界界界界界\n    界界界界界"},
	} {
		got := Wrap(row.text, row.cols, "    ")
		if got != row.want {
			t.Errorf("%q in %d columns:\n%s\nwant:\n%s", row.text, row.cols, got, row.want)
		}
		if plain := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }; plain(got) != plain(row.text) {
			t.Errorf("%q: something is left out: %q", row.text, got)
		}
	}
}
