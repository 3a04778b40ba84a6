package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hermes/internal/sandbox/docker/enginetest"
)

// TestContainers runs the files below testdata/docker with an engine of the test's own.
func TestContainers(t *testing.T) {
	engine := enginetest.Docker(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/docker",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for _, pair := range engine.Env {
				name, value, _ := strings.Cut(pair, "=")
				env.Setenv(name, value)
			}
			env.Setenv("HOME", env.WorkDir+"/home")
			return os.MkdirAll(env.WorkDir+"/home/.hermes", 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}
