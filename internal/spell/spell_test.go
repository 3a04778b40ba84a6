package spell

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	words := []string{"check", "version", "approvals", "terminal.backend", "approvals.mode", "rm"}
	for _, row := range []struct{ word, want string }{
		{"chekc", "check"}, // neighbours that changed places are one slip
		{"chck", "check"},
		{"approval", "approvals"},
		{"terminal.bakend", "terminal.backend"},
		{"aprovals.mod", "approvals.mode"},

		// Too far, or so short that anything is near.
		{"frobnicate", ""},
		{"", ""},
		{"a", ""},
		{"xy", ""},
		{strings.Repeat("check", 100), ""},
	} {
		if got := Nearest(row.word, words); got != row.want {
			t.Errorf("%q: %q, want %q", row.word, got, row.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"same", "same", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"abc", "xabc", 1}, {"ca", "abc", 3},
	} {
		if got := Distance(row.a, row.b); got != row.want {
			t.Errorf("%q to %q: %d, want %d", row.a, row.b, got, row.want)
		}
		if back := Distance(row.b, row.a); back != row.want {
			t.Errorf("%q to %q: %d, want %d as the other way", row.b, row.a, back, row.want)
		}
	}
}
