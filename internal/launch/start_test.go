package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard/environ"
)

// A session that begins in a directory that is not there: its first command does not run in another one than it was judged for
// ("../keep" is another file there), and the next is judged where the session is by then.
func TestFirstDirectory(t *testing.T) {
	for _, first := range []Call{{Text: "rm -rf ../keep"}, {Argv: []string{"rm", "-rf", "../keep"}}} {
		b := newBench(t)
		top := b.dir
		b.dir = filepath.Join(top, "here", "none", "at", "all")
		for _, dir := range []string{"keep", "here"} {
			if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		s := newSession(t, b)
		var out strings.Builder
		run := func(c Call) Result {
			c.Place, c.Dir, c.Stdout, c.Stderr = s.place, noDir, &out, &out
			c.Env = environ.Request{Surface: environ.Foreground, Base: map[string]string{"PATH": s.path, "HOME": top}}
			r, err := b.run(t, c)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := run(first)
		if _, err := os.Stat(filepath.Join(top, "keep")); err != nil {
			t.Errorf("it ran in a directory that it was not judged for: %+v", r.Status)
		}
		if r.Dir != b.dir || r.Status.Code != 126 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "is gone or cannot be entered") {
			t.Errorf("judged in %s: %+v, %q", r.Dir, r.Status, r.Warnings)
		}
		out.Reset()
		if r := run(Call{Text: "pwd -P"}); r.Dir != out.String()[:len(out.String())-1] || filepath.Base(r.Dir) != "here" {
			t.Errorf("judged in %s, run in %s", r.Dir, out.String())
		}
	}
}

// Where a directory has the name that it was judged by, the first command is started there by that name; where the backend gives it
// another one, by none.
func TestFirstDirectoryIsNamed(t *testing.T) {
	for _, row := range []struct {
		backend, dir string
		named        bool
	}{
		{"local", "/srv/site", true},
		{"native", "/srv/site", true},
		{"ssh", "/srv/site", true},
		{"ssh", "~", false},
		{"docker", "/srv/site", false},
	} {
		b := newBench(t)
		b.box.name, b.box.fake, b.dir = row.backend, true, row.dir
		if _, err := b.run(t, Call{Text: "ls", Dir: noDir}); err != nil {
			t.Fatal(err)
		}
		if got := b.box.ran[0].Dir; got == row.dir != row.named {
			t.Errorf("%s in %s: %q", row.backend, row.dir, got)
		}
	}
}
