package app

import (
	"testing"

	"hermes/internal/guard/scope"
)

// Sessions that may share a container have each a port of their own there, always the same one.
func TestPortsOfTheWayOut(t *testing.T) {
	profile, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	port := func(backend, id string) uint16 {
		t.Helper()
		s, err := scope.ParseSession(profile, "test", id)
		if err != nil {
			t.Fatal(err)
		}
		return portOf(backend, s)
	}
	one, other := port("docker", "one"), port("docker", "other")
	if one == other || one != port("docker", "one") || one < 20_000 || other >= 30_000 {
		t.Errorf("ports %d and %d", one, other)
	}
	if got := port("native", "one"); got != exitPort {
		t.Errorf("in a network of its own: %d", got)
	}
}
