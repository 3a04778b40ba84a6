//go:build embedrunner

package program

import _ "embed"

// embedded is the program of cmd/runner for this system, which scripts/build writes before it builds.
//
//go:embed runner.bin
var embedded []byte
