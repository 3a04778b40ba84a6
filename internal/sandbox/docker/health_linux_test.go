package docker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
)

// Readiness is told as values: what is in order, and what to do about what is not.
func TestReady(t *testing.T) {
	r := rootful(t)
	for _, c := range newBackend(r.conf(t, hardened())).Ready(t.Context()) {
		if !c.OK || c.Text == "" {
			t.Errorf("%+v", c)
		}
	}
	s := hardened()
	s.Image = "127.0.0.1:1/none/such:1"
	checks := newBackend(r.conf(t, s)).Ready(t.Context())
	if len(checks) != 4 || checks[1].Name != "image" || checks[1].OK || !strings.Contains(checks[1].Remedy, "image build") {
		t.Errorf("%+v", checks)
	}
	c := r.conf(t, s)
	c.Binary = "no-such-engine"
	checks = newBackend(c).Ready(t.Context())
	if len(checks) != 1 || checks[0].OK || checks[0].Remedy == "" {
		t.Errorf("%+v", checks)
	}
}

// Backends of one process ask an engine once who it is. One that stopped answering is asked again.
func TestEnginesAreAskedOnce(t *testing.T) {
	r := rootful(t)
	dir := t.TempDir()
	program, calls := filepath.Join(dir, "docker"), filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$1\" >>" + calls + "\n[ -e " + dir + "/stopped ] && { echo 'Cannot connect to the Docker daemon' >&2; exit 1; }\nexec docker \"$@\"\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	var engines docker.Engines
	ready := func() bool {
		t.Helper()
		c := r.conf(t, hardened())
		c.Binary, c.Engines = program, &engines
		return newBackend(c).Ready(t.Context())[0].OK
	}
	asked := func() int {
		t.Helper()
		log, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(log), "version\n")
	}
	for range 2 {
		if !ready() || asked() != 1 {
			t.Errorf("asked %d times", asked())
		}
	}
	if err := os.WriteFile(dir+"/stopped", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := r.conf(t, hardened())
	c.Binary, c.Engines = program, &engines
	var degraded *sandbox.DegradedError
	if _, err := newBackend(c).Open(t.Context(), spec(t)); !errors.As(err, &degraded) {
		t.Errorf("a stopped engine: %v", err)
	}
	if ready() || asked() != 2 {
		t.Errorf("after it stopped it was asked %d times", asked())
	}
}
