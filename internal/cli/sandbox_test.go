package cli

import (
	"bytes"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
)

// A long list of capabilities stands below the table, whole, and does not make every row as wide as itself.
func TestRowsWithLongList(t *testing.T) {
	for _, row := range []struct {
		what  string
		held  exposure.CapSet
		below bool
	}{
		{"all of them", 1<<41 - 1, true},
		{"those of a container", exposure.Harmless(), false},
		{"none", 0, false},
	} {
		for _, asked := range []bool{false, true} {
			var out bytes.Buffer
			stdio := &IO{Stdout: &out, Env: func(string) string { return "C.UTF-8" }}
			printRows(stdio, exposure.Exposure{Caps: exposure.Caps{Want: exposure.Explicitly, Known: true, Held: row.held}}, asked)
			text := out.String()
			if _, list, found := strings.Cut(text, "capabilities in force:"); found != row.below {
				t.Errorf("%s: a list below: %v\n%s", row.what, found, text)
			} else if names := strings.Fields(list); found && strings.Join(names[:min(len(names), 41)], " ") != row.held.String() {
				t.Errorf("%s: the list is %q", row.what, names)
			}
			if !row.below && !strings.Contains(text, row.held.String()) {
				t.Errorf("%s: not in its row\n%s", row.what, text)
			}
			for line := range strings.Lines(text) {
				if len(line) > 120 && !strings.Contains(line, "This is no boundary") {
					t.Errorf("%s: %d wide: %q", row.what, len(line), line)
				}
			}
		}
	}
}
