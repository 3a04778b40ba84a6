//go:build !linux

package runner

import (
	"context"
	"errors"
	"os"

	"hermes/internal/sandbox"
)

// Dial is for Linux only: elsewhere no descriptors are passed, and a client has a stream.
func Dial(_ context.Context, conn *os.File, o Options) (*Client, error) {
	_ = conn.Close()
	return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: errors.ErrUnsupported}
}

// Connect is for Linux only, as Dial.
func Connect(_ context.Context, _ string, o Options) (*Client, error) {
	return nil, &sandbox.BrokenError{Backend: o.Backend, Cause: errors.ErrUnsupported}
}
