package approval

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	for _, row := range []struct {
		entry string
		kind  EntryKind
		shown string
		idle  bool
		says  string
	}{
		{"git push *", GlobEntry, "git push *", false, "match this pattern"},
		{"rm -rf [*]", TextEntry, "rm -rf *", false, "exactly"},
		{"ls [[]a]", TextEntry, "ls [a]", false, "exactly"},
		{"ls [ab]*", GlobEntry, "ls [ab]*", false, "pattern"},
		{"rm -rf [*] *", GlobEntry, "rm -rf [*] *", false, "pattern"},
		{"git reset --hard", TextEntry, "git reset --hard", false, "exactly"},
		{"recursive delete", ClassEntry, "recursive delete", false, "every command"},
		{"find -delete", ClassEntry, "find -delete", false, "every command"},
		{"rm", TextEntry, "rm", false, "one word"},
		{"systemctl", TextEntry, "systemctl", false, "one word"},
		{"", EmptyEntry, "", true, "empty"},
		{"  ", EmptyEntry, "  ", true, "empty"},
		{" ls", TextEntry, " ls", true, "blanks"},
	} {
		e := Describe(row.entry)
		if e.Text != row.entry || e.Kind != row.kind || e.Shown != row.shown || e.Idle != row.idle || !strings.Contains(e.Covers, row.says) {
			t.Errorf("%q: %+v", row.entry, e)
		}
	}
	// What is granted for good is told as the command that it was granted for.
	for _, text := range []string{"rm -rf *", "echo [x] ?", "git push"} {
		if e := Describe(literal(text)); e.Shown != text || e.Kind != TextEntry {
			t.Errorf("%q, granted: %+v", text, e)
		}
	}
}
