package local

import (
	"context"
	"os"
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/sandboxtest"
)

// TestMain makes the test binary a runner when it is started as one. A role ends the process: the tests never run in it.
func TestMain(m *testing.M) {
	if os.Args[0] == runner.Marker {
		os.Exit(runner.Main(runner.SocketFD, nil))
	}
	os.Exit(m.Run())
}

func TestSuite(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	suite(t, self, sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true, Here: true})
}

// The same as an ordinary user.
func TestSuiteAsUser(t *testing.T) { sandboxtest.AsUser(t, "TestSuite") }

// Without a runner the rest is the same, but for what leaves its group.
func TestSuitePlain(t *testing.T) {
	suite(t, "", sandboxtest.Traits{Bash: true, Lasts: true, Terminal: true, Here: true})
}

func suite(t *testing.T, program string, traits sandboxtest.Traits) {
	traits.Dir = t.TempDir()
	traits.Heavy = 1 << 30
	if testing.Short() {
		traits.Heavy = 0
	}
	backend := New(Config{Runner: program, Search: "/usr/bin:/bin", Log: func(text string) { t.Error(text) }})
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		spec := sandboxtest.Spec(t, t.TempDir())
		spec.Home = t.TempDir()
		box, err := backend.Open(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return box
	}, traits)
}
