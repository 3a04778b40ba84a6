package docker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/native/seccomp"
	"hermes/internal/sandbox/sandboxtest"
)

// killedRole makes the test's binary a process that opens a sandbox, runs something in it, and is killed.
const killedRole = "be-killed"

// victim is what such a process is told.
type victim struct {
	Binary, State, Runner, Mark string
	Env                         []string
	Kept                        bool
}

func beKilled(args []string) int {
	var v victim
	if err := json.Unmarshal([]byte(args[0]), &v); err != nil {
		fmt.Println("victim:", err)
		return 1
	}
	r, s := &rig{binary: v.Binary, env: v.Env}, hardened()
	if v.Kept {
		s = kept()
	}
	b := docker.New(docker.Config{
		Binary: v.Binary, Search: os.Getenv("PATH"), Client: r.client, Plan: s, State: v.State,
		Filter: func() ([]byte, int) { return seccomp.Filter(seccomp.Options{}) }, Runner: func(string) (string, error) { return v.Runner, nil },
	})
	var t quiet
	sp := sandboxtest.Spec(&t, "/workspace")
	sp.Env = environ.List{}
	box, err := b.Open(context.Background(), sp)
	if err != nil {
		fmt.Println("victim:", err)
		return 1
	}
	fmt.Println(box.(interface{ Container() string }).Container())
	text := "(setsid sleep " + v.Mark + " &); sleep " + v.Mark + " & echo ready; sleep " + v.Mark
	_, _ = box.Run(context.Background(), sandbox.Command{Text: text, Stdout: os.Stdout})
	return 1
}

// quiet is a testing.TB for a process that is no test.
type quiet struct{ testing.TB }

func (quiet) Helper()        {}
func (quiet) Fatal(a ...any) { fmt.Println(a...); os.Exit(1) }

// TestKilled kills Hermes, as kill -9 does, in the middle of a command: what it started ends, a container that is thrown away
// goes, one that is kept stays.
func TestKilled(t *testing.T) {
	for _, engine := range []struct {
		name string
		rig  func(testing.TB) *rig
	}{{"docker", rootful}, {"podman", podman}} {
		t.Run(engine.name, func(t *testing.T) {
			r := engine.rig(t)
			t.Run("thrown away", func(t *testing.T) { killed(t, r, hardened(), false) })
			t.Run("kept", func(t *testing.T) { killed(t, r, kept(), true) })
		})
	}
}

func killed(t *testing.T, r *rig, s plan.Settings, stays bool) {
	runner, _ := programs(t)
	c := r.conf(t, s)
	b := r.backend(t, c)
	rounds := 2
	if n, err := strconv.Atoi(os.Getenv("HERMES_TEST_ROUNDS")); err == nil {
		rounds = n
	}
	for round := range rounds {
		v := victim{Binary: r.binary, State: c.State, Runner: runner, Mark: fmt.Sprintf("8%03d%06d", round%1000, os.Getpid()), Env: r.env, Kept: stays}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", killedRole, string(text))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		var said []string
		for lines.Scan() {
			if said = append(said, lines.Text()); lines.Text() == "ready" {
				break
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if len(said) != 2 {
			t.Fatalf("the victim said %q", said)
		}
		name := said[0]
		soon(t, "its commands have ended", func() bool { return len(sandboxtest.Running("sleep "+v.Mark)) == 0 })
		if stays {
			if state := r.call(t, "inspect", "--format", "{{.State.Running}}", name); state != "true" {
				t.Errorf("a container that is kept runs: %s", state)
			}
			continue
		}
		soon(t, "its container is gone", func() bool {
			return !strings.Contains(r.call(t, "ps", "--all", "--format", "{{.Names}}"), name)
		})
	}
	if removed, err := b.Clean(t.Context()); err != nil || len(removed) != 0 {
		t.Errorf("there was something to clean: %q, %v", removed, err)
	}
}

// soon waits for what has to come.
func soon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(60 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never: " + what)
		}
	}
}
