package launch

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
)

// What runs within a program of Hermes' own is judged, shown and written down as if it were run alone. What the program says
// to Hermes loses nothing; what it prints does.
func TestInner(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnopqrstuvwx"
	for _, row := range []struct {
		name, text string
		argv       []string
		given      []string
		ran, asked bool
		said       string
	}{
		{name: "harmless", text: "python3 -c 'print(1)'", argv: []string{"sh", "-c", "echo " + key + "; echo " + key + " >&2"}, ran: true, said: key + "\n"},
		{name: "hardline", text: `python3 -c 'import os; os.system("rm -rf /")'`, argv: []string{"true"}},
		{name: "asked about", text: "python3 -c 'import x; x.y()'", argv: []string{"true"}, asked: true},
		{name: "given", text: "python3 -c 'import x; x.y()'", argv: []string{"true"}, given: []string{"x.y"}, ran: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t)
			var talk bytes.Buffer
			r, err := b.run(t, Call{Argv: row.argv, Inner: &Inner{Text: row.text, Given: row.given, Talk: &talk}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Ran != row.ran || len(b.box.ran) > 0 != row.ran || len(b.person.asked) > 0 != row.asked {
				t.Errorf("ran %v (%v), asked %v", r.Ran, r.Decision.Message, b.person.asked)
			}
			if row.asked && b.person.asked[0].Command != row.text {
				t.Errorf("the person was shown %q", b.person.asked[0].Command)
			}
			if talk.String() != row.said || strings.Contains(b.errs.String(), key) || b.out.Len() > 0 {
				t.Errorf("it said %q, and printed %q and %q", talk.String(), b.out.String(), b.errs.String())
			}
		})
	}
	b := newBench(t)
	for name, c := range map[string]Call{
		"no text":           {Argv: []string{"true"}, Inner: &Inner{Talk: &bytes.Buffer{}}},
		"nobody to talk to": {Argv: []string{"true"}, Inner: &Inner{Text: "true"}},
		"no program":        {Text: "true", Inner: &Inner{Text: "true", Talk: &bytes.Buffer{}}},
	} {
		if _, err := b.run(t, c); err == nil || len(b.box.ran) > 0 {
			t.Errorf("%s: it ran", name)
		}
	}
}

// Files are those of the place's own sandbox, which is opened for them.
func TestFiles(t *testing.T) {
	b := newBench(t)
	door := New(Options{Policy: func() (Policy, error) { return b.policy, b.perr }, Desk: approval.New(b.desk), Log: b.log})
	p := b.place(t)
	if _, err := door.Files(t.Context(), p, environ.Request{Surface: environ.Foreground}); err == nil || b.box.opened != 1 {
		t.Errorf("a sandbox without files: %v, opened %d", err, b.box.opened)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := door.Files(t.Context(), p, environ.Request{}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("a closed place: %v", err)
	}
}
