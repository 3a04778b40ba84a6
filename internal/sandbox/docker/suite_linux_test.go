package docker_test

import (
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/sandboxtest"
)

// suite runs the contract against one kind of container.
func suite(t *testing.T, r *rig, s plan.Settings, traits sandboxtest.Traits) {
	t.Helper()
	b := r.backend(t, r.conf(t, s))
	traits.Dir = "/workspace"
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		box, err := b.Open(t.Context(), spec(t))
		if err != nil {
			t.Fatal(err)
		}
		return box
	}, traits)
}

var whole = sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true}

func TestSuite(t *testing.T)      { suite(t, rootful(t), kept(), whole) }
func TestThrownAway(t *testing.T) { suite(t, rootful(t), hardened(), whole) }
