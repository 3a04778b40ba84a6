// Command runner is the resident helper inside a sandbox, as small as it can be.
//
// It only serves the socket it was started with; see packages runner and native/role. Failure direction: without a socket it runs nothing.
package main

import (
	"os"

	"hermes/internal/sandbox/native/role"
)

func main() { os.Exit(role.Main(os.Args, nil)) }
