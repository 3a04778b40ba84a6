package main

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hermes/internal/rigtest"
	"hermes/internal/sandbox/native"
	"hermes/internal/sandbox/runner"
)

// TestMain lets the test binary stand in for hermes when a script runs it, or hermes starts itself.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hermes": main, runner.Marker: main, path.Base(native.ProbePath): main})
}

// TestScripts runs the files below testdata/script: one behaviour a file, said in its first line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			if tb, ok := env.T().(testing.TB); ok && runtime.GOOS != "windows" {
				env.Setenv("PATH", rigtest.Guarded(tb, env.Getenv("PATH"), env.WorkDir))
			}
			env.Values[models{}] = &models{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "model": model(t), "told": told, "played": played},
	})
}

// exits CODE PROGRAM ARG... runs a program and fails unless it ends with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended interface{ ExitCode() int }
		if !errors.As(err, &ended) {
			ts.Check(err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Check(fmt.Errorf("exit code %d, want %d", got, want))
	}
}
