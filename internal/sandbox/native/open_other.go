//go:build !linux

package native

import (
	"context"
	"errors"
	"time"

	"hermes/internal/sandbox"
)

type (
	host     struct{}
	launcher struct{}
	pool     struct{ quit chan struct{} }
)

// Open fails: the walls are Linux's.
func (b *Backend) Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, &sandbox.MissingError{Backend: Name, What: "isolation by namespaces", Why: "this is not Linux",
		Remedy: "use terminal.backend: docker"}
}

// Close has nothing to do.
func (b *Backend) Close() error { return nil }

// Record tells about an open sandbox.
type Record struct {
	ID, Tree, Session string
	Owner, PID        int
	Opened            time.Time
	Stale             bool
}

// List returns none.
func List(string) ([]Record, error) { return nil, nil }

// Stop fails: there is none.
func Stop(_, id string) error { return errors.New("stop " + id + ": no such sandbox") }

// Clean has nothing to do.
func Clean(string) ([]string, error) { return nil, nil }
