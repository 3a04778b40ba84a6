package launch

import (
	"bytes"
	"testing"
)

// A refusal of sudo's is heard however it arrives, and all of it is passed on.
func TestListener(t *testing.T) {
	for text, want := range map[string]bool{
		"Sorry, try again.\nsudo: no password was provided\nsudo: 1 incorrect password attempt\n": true,
		"sudo: 2 incorrect password attempts":                                                     true,
		"sudo: a password is required\n":                                                          false,
		"":                                                                                        false,
	} {
		for _, step := range []int{1, 7, 1000} {
			var out bytes.Buffer
			l := &listener{w: &out}
			for rest := []byte(text); len(rest) > 0; {
				n := min(step, len(rest))
				if m, err := l.Write(rest[:n]); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			if l.heard() != want || out.String() != text {
				t.Errorf("%q by %d: heard %v, passed on %q", text, step, l.heard(), out.String())
			}
		}
	}
}
