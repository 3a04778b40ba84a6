package native_test

import (
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
)

func TestSuite(t *testing.T) {
	_, conf := spec(t)
	conf.Probe, conf.Waiting = []string{}, -1
	b := backend(t, conf)
	tree := t.TempDir()
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		s := sandboxtest.Spec(t, tree)
		s.Home = conf.State
		box, err := b.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return box
	}, sandboxtest.Traits{Dir: tree, Bash: true, Lasts: true, Tree: true, Terminal: true})
}
