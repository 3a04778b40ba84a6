package runner

import (
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/sandboxtest"
	"hermes/internal/sandbox/snapshot"
)

// box makes a sandbox of a client.
type box struct{ *Client }

func (box) Exposure() exposure.Exposure { return exposure.Exposure{} }

// With stdio in frames, as for other machines, everything is the same.
func TestSuiteFramed(t *testing.T) {
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		return box{start(t, func(o *Options, s *snapshot.Config) {
			o.Framed = true
			s.Env = sandboxtest.Spec(t, s.Dir).Env
		})}
	}, sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true, Here: true, Dir: t.TempDir()})
}
