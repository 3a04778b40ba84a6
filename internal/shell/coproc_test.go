package shell

import (
	"slices"
	"testing"
)

// What is written to a coprocess later is its input: a shell that reads it runs what cannot be known.
func TestCoprocess(t *testing.T) {
	for text, want := range map[string]bool{
		"coproc bash; echo 'rm -rf ~' >&${COPROC[1]}":             true,
		"coproc P { sh -s; }; printf 'rm -rf ~\\n' >&\"${P[1]}\"": true,
		"coproc cat; echo x >&${COPROC[1]}":                       false,
		"coproc bash -c 'ls'":                                     false,
		"coproc bash < script.sh":                                 false,
	} {
		p := Parse(text, Options{})
		if got := slices.ContainsFunc(p.Notes, func(n Note) bool { return n.Kind == DynamicCode }); got != want {
			t.Errorf("%q: %+v", text, p.Notes)
		}
	}
}
