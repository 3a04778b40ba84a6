package runner

import (
	"context"
	"io"
	"slices"
	"testing"

	"hermes/internal/sandbox/snapshot"
)

// A greeting that was sent ahead is the only one. What it did not ask for cannot be had then.
func TestGreetedAhead(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(*Options)
		fails  bool
	}{
		{"plain", func(*Options) {}, false},
		{"a token", func(o *Options) { o.Token = make([]byte, leastToken) }, true},
		{"a program", func(o *Options) { o.Build = "00" }, true},
		{"walls", func(o *Options) { o.Harden = &Harden{NoNewPrivs: true} }, true},
	} {
		ours, theirs, err := Pair()
		if err != nil {
			t.Fatal(err)
		}
		if err := Greet(ours); err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.Write(greeting(Version)); err != nil { // before anybody asks for it
			t.Fatal(err)
		}
		o := Options{Backend: "test", Walled: true, Greeted: true, State: snapshot.New(snapshot.Config{})}
		row.change(&o)
		c, err := Dial(t.Context(), ours, o)
		if (err != nil) != row.fails {
			t.Errorf("%s: %v", row.what, err)
		}
		if err == nil {
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		said, err := io.ReadAll(theirs)
		_ = theirs.Close()
		s := splitter{buf: said}
		var kinds []kind
		for f, ok, bad := s.next(); ok && bad == nil; f, ok, bad = s.next() {
			kinds = append(kinds, f.kind)
		}
		want := []kind{helloKind, byeKind}
		if row.fails {
			want = want[:1]
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s: the client said %v, want %v (%v)", row.what, kinds, want, err)
		}
	}
}
