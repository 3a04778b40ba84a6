package native_test

import (
	"os"
	"testing"

	"hermes/internal/guard/environ"
)

// No policy says where the home of commands in here is: it is where the owner's is outside, and programs that keep something find it.
func TestHomeIsSet(t *testing.T) {
	s, conf := spec(t)
	s.Env, _ = environ.New(environ.Config{}).Build(environ.Request{
		Surface: environ.Native, Base: map[string]string{"PATH": os.Getenv("PATH"), "HOME": conf.Home},
	})
	p := open(t, backend(t, conf), s)
	if out, code := run(t, p, `echo "$HOME"; cd && pwd && mkdir -p .cache/x && echo made`); code != 0 || out != conf.Home+"\n"+conf.Home+"\nmade" {
		t.Errorf("%d: %s", code, out)
	}
}
