package docker_test

import (
	"strings"
	"testing"
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
