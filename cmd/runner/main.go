// Command runner is the resident helper inside a sandbox, as small as it can be.
//
// It only serves the socket it was started with; see packages runner and native/role. Failure direction: without a socket it runs nothing.
package main

import (
	"os"

	"hermes/internal/sandbox/native/role"
	"hermes/internal/sandbox/probe/look"
	"hermes/internal/sandbox/runner"
)

func main() { os.Exit(role.Main(os.Args, runner.Hooks{look.HookName: look.Hook})) }
