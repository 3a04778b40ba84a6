package app

import (
	"os"
	"testing"

	"hermes/internal/sandbox/runner"
)

// TestMain ends a test binary that was taken for a runner, as one built under a name of its own is: it would run all tests again,
// which start runners.
func TestMain(m *testing.M) {
	if os.Args[0] == runner.Marker {
		os.Exit(2)
	}
	os.Exit(m.Run())
}
