package ssh

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
)

// suite runs the contract against a real sshd, as an ordinary user.
func suite(t *testing.T, traits sandboxtest.Traits, change ...func(*Config)) {
	s := serve(t, options{known: true})
	traits.Dir = filepath.Join(s.home, "work")
	s.must(os.MkdirAll(traits.Dir, 0o755))
	if os.Getuid() == 0 {
		s.must(os.Chown(traits.Dir, uid, uid))
	}
	traits.Here = true
	b := s.backend(change...)
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		box, err := b.Open(context.Background(), s.spec())
		if err != nil {
			t.Fatalf("%v\n%s", err, s.log)
		}
		return box
	}, traits)
}

func TestSuite(t *testing.T) {
	suite(t, sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true})
}

// Where the runner does not run the rest is the same, but for terminals and files.
func TestSuitePlain(t *testing.T) {
	suite(t, sandboxtest.Traits{Bash: true, Lasts: true}, noRunner, quiet)
}

// What runs on another machine is told as contained by nothing, and where it is.
func TestExposure(t *testing.T) {
	s := serve(t, options{known: true})
	for _, row := range []struct {
		runner exposure.Runner
		change []func(*Config)
	}{{exposure.Resident, nil}, {exposure.Plain, []func(*Config){noRunner, quiet}}} {
		e := s.open(row.change...).Exposure()
		if e.Boundary() || e.Runner != row.runner || e.Place == "" || e.Network.Force != exposure.OpenNet || e.Tree != exposure.OwnersTree {
			t.Errorf("%+v", e)
		}
		for _, d := range exposure.AllDoors() {
			if d != exposure.EnvSecrets && e.Doors.At(d).Force != exposure.Open {
				t.Errorf("%v is not told as open", d)
			}
		}
	}
}
