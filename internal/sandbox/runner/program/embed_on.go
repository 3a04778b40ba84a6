//go:build embedrunner

package program

import "embed"

// embedded holds what scripts/build wrote before it built this: for each system and machine the program of cmd/runner and its
// SHA-256, runner-OS-ARCH.bin and .sha256; or runner.bin alone, for this system.
//
//go:embed runner*
var embedded embed.FS
