// Command hermes guards what an agent does on this machine.
//
// It only hands the process over to package cli: arguments, streams, environment. Failure direction: the exit code of
// whatever cli could not answer is 1.
package main

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"hermes/internal/cli"
	"hermes/internal/sandbox/native/role"
	"hermes/internal/sandbox/probe/look"
	"hermes/internal/sandbox/runner"
)

// version is stamped by scripts/build.
var version string

func main() {
	if filepath.Base(os.Args[0]) == runner.Marker { // started inside a sandbox, where cmd/runner is not at hand
		os.Exit(role.Main(os.Args, runner.Hooks{look.HookName: look.Hook}))
	}
	stdio := cli.IO{
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Env:     os.Getenv,
		Environ: os.Environ,
		Dir:     os.Getwd,
		Version: version,
	}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		stdio.Terminal = true
		stdio.Width, _, _ = term.GetSize(fd)
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], stdio))
}
