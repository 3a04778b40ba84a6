// Command runner is the resident helper inside a sandbox, as small as it can be.
//
// It only serves the socket it was started with; see package runner. Failure direction: without a socket it runs nothing.
package main

import (
	"os"

	"hermes/internal/sandbox/runner"
)

func main() { os.Exit(runner.Main(runner.SocketFD, nil)) }
