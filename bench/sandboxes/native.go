package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
)

// place is where everything is done: a home with a work tree, both new.
type place struct{ home, tree string }

func newPlace() (*place, error) {
	home, err := os.MkdirTemp("/var/tmp", "sandboxes-")
	if err != nil {
		return nil, err
	}
	p := &place{home, filepath.Join(home, "src/app")}
	for _, dir := range []string{p.tree, filepath.Join(home, ".hermes/sandboxes"), filepath.Join(p.tree, ".build"),
		filepath.Join(p.tree, ".tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	module := "module x\n\ngo 1.20\n"
	return p, os.WriteFile(filepath.Join(p.tree, "go.mod"), []byte(module), 0o600)
}

func (p *place) close() { _ = os.RemoveAll(p.home) }

// boxes are native sandboxes: one kept open, and the means to open more, with processes that wait for them and without.
type boxes struct {
	spec       sandbox.Spec
	warm, cold *native.Backend
	kept       sandbox.Sandbox
}

func openNative(ctx context.Context, p *place, launcher string) (*boxes, error) {
	if launcher == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		launcher = self
	}
	n := &boxes{}
	var err error
	if n.spec, err = p.spec(); err != nil {
		return nil, err
	}
	conf := native.Config{Launcher: launcher, Home: p.home, Path: os.Getenv("PATH"), State: n.spec.Home}
	n.warm = native.New(conf)
	conf.Waiting = -1
	n.cold = native.New(conf)
	if n.kept, err = n.cold.Open(ctx, n.spec); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

func (p *place) spec() (s sandbox.Spec, err error) {
	if s.Workdir, err = checked.ParseWorkdir(p.tree); err != nil {
		return s, err
	}
	profile, err := scope.ParseProfile("default")
	if err != nil {
		return s, err
	}
	if s.Session, err = scope.ParseSession(profile, "bench", "sandboxes"); err != nil {
		return s, err
	}
	s.Env, _ = environ.New(environ.Config{}).Build(environ.Request{
		Surface: environ.Native, Base: map[string]string{"PATH": os.Getenv("PATH"), "LANG": "C.UTF-8", "SHELL": "/bin/bash"},
		Extra: map[string]string{"HOME": p.home, "GOCACHE": filepath.Join(p.tree, ".build"), "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false",
			"GOTMPDIR": filepath.Join(p.tree, ".tmp")},
	})
	s.Home = filepath.Join(p.home, ".hermes/sandboxes")
	s.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.NoNet}
	return s, nil
}

func (n *boxes) close() {
	if n.kept != nil {
		_ = n.kept.Close(context.Background())
	}
	_ = n.warm.Close()
	_ = n.cold.Close()
}

// once opens a sandbox, runs /bin/true in it and closes it.
func (n *boxes) once(ctx context.Context, b *native.Backend) error {
	box, err := b.Open(ctx, n.spec)
	if err != nil {
		return err
	}
	err = in(ctx, box, sandbox.Command{Argv: []string{"/bin/true"}})
	if closed := box.Close(ctx); err == nil {
		err = closed
	}
	return err
}

// in runs a command in a sandbox and wants it to succeed.
func in(ctx context.Context, box sandbox.Sandbox, c sandbox.Command) error {
	var trouble strings.Builder
	c.Stderr = &trouble
	status, err := box.Run(ctx, c)
	if err == nil && status.Code != 0 {
		err = fmt.Errorf("exit code %d: %s", status.Code, trouble.String())
	}
	return err
}

// counter counts what comes, and keeps nothing.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) { c.n += int64(len(b)); return len(b), nil }

var _ io.Writer = (*counter)(nil)
