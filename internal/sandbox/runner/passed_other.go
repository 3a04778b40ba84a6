//go:build !linux

package runner

import (
	"errors"
	"io"
	"os"

	"hermes/internal/sandbox"
)

// Nothing is passed but on Linux: there are no descriptors to close, no terminals to resize, and nothing of a runner to look
// for on this machine.

func (s *stdio) pipes(io.Reader, ...io.Writer) error { return errors.ErrUnsupported }

func (s *stdio) terminal(frame) {}

func resizeMaster(*os.File, sandbox.Size) {}

func waiting(*os.File) int { return 0 }

func closeAll([]int) {}

func killTagged(uint64) {}
