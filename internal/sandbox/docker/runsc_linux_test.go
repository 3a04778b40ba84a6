package docker_test

import (
	"os/exec"
	"strings"
	"testing"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/sandboxtest"
)

// runsc is Docker with the kernel of gVisor.
func runsc(t testing.TB) *rig {
	t.Helper()
	r := rootful(t)
	if !strings.Contains(r.call(t, "info", "--format", "{{json .Runtimes}}"), `"runsc"`) {
		if _, err := exec.LookPath("runsc"); err != nil {
			rigtest.Need(t, "runsc")
		}
		rigtest.Need(t, "an engine with the runtime runsc")
	}
	return &rig{binary: r.binary, env: r.env, runtime: "runsc"}
}

// Its commands run on a kernel of its own, so that descriptors cannot be passed: everything goes in frames. That kernel does not
// show the limits of a process, by which the helper knows what has left its group, and sends no signal when a terminal's size
// changes. A limit of processes would hold its own threads as well.
var apart = sandboxtest.Traits{Bash: true, Lasts: true, Heavy: 8 << 20}

func unlimited(s plan.Settings) plan.Settings {
	s.Limits.PIDs = plan.Limit{}
	return s
}

func TestRunsc(t *testing.T)           { suite(t, runsc(t), unlimited(kept()), apart) }
func TestRunscThrownAway(t *testing.T) { suite(t, runsc(t), unlimited(hardened()), apart) }
