//go:build !linux

package local

import (
	"context"
	"errors"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

func (b *Backend) resident(context.Context, snapshot.Config, runner.Start, exposure.Exposure, string) (sandbox.Sandbox, error) {
	return nil, errors.ErrUnsupported
}
