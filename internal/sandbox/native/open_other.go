//go:build !linux

package native

import (
	"context"

	"hermes/internal/sandbox"
)

type (
	host     struct{}
	launcher struct{}
)

// Open fails: the walls are Linux's.
func (b *Backend) Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, &sandbox.MissingError{Backend: Name, What: "isolation by namespaces", Why: "this is not Linux",
		Remedy: "use terminal.backend: docker"}
}

// Close has nothing to do.
func (b *Backend) Close() error { return nil }
