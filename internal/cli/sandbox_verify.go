package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/app"
	"hermes/internal/config"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/backends"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/local"
	"hermes/internal/sandbox/native"
	"hermes/internal/sandbox/probe"
	"hermes/internal/sandbox/runner/program"
	"hermes/internal/sandbox/ssh"
)

// verifyOptions are the flags of sandbox verify.
type verifyOptions struct {
	backend string
	json    bool
}

func sandboxVerify(ctx context.Context, stdio *IO, o verifyOptions) error {
	s := &settings{stdio: stdio}
	store, err := s.open(true)
	if err != nil {
		return err
	}
	defer store.close()
	snap, err := store.Load()
	if err != nil {
		return s.explain(err)
	}
	dir := sandboxDir(store.dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := cmp.Or(o.backend, snap.Settings.Terminal.Backend)
	switch name {
	case docker.Name:
		return verifyContainer(ctx, stdio, o, dir)
	case ssh.Name:
		return verifyRemote(ctx, stdio, o)
	}
	tree, err := plantTree(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	launcher := self
	if p, err := program.Find(dir); err == nil {
		launcher = p.Path
	}
	backend, err := backends.Find(name, backends.Config{
		Local: local.Config{Runner: launcher, Search: stdio.Env("PATH")},
		Native: native.Config{Launcher: launcher, Probe: []string{self, "sandbox", "probe", "--json", "--targets"}, Home: stdio.Env("HOME"),
			Path: stdio.Env("PATH"), State: dir},
	})
	if err != nil {
		return usage("See `hermes sandbox verify --help`.", "%s", err)
	}
	if c, ok := backend.(io.Closer); ok {
		defer c.Close()
	}
	spec, err := verifySpec(stdio, snap, name, dir, tree)
	if name != native.Name && spec.Network.Want == exposure.ByDefault {
		spec.Network = exposure.Network{} // only the native sandbox has a network of its own unless asked
	}
	if err != nil {
		return err
	}
	box, err := backend.Open(ctx, spec)
	if err != nil {
		var missing *sandbox.MissingError
		if errors.As(err, &missing) {
			return usage(sentence(missing.Remedy), "%s", err)
		}
		var degraded *sandbox.DegradedError
		if errors.As(err, &degraded) {
			return usage(sentence(degraded.Remedy), "%s", err)
		}
		return err
	}
	e, err := lookInside(ctx, stdio, box, name, self, tree, dir)
	walls := ""
	if w, ok := box.(interface{ Walls() string }); ok {
		walls = w.Walls()
	}
	if closed := box.Close(context.WithoutCancel(ctx)); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return verified(stdio, o, name, walls, e)
}

// verified prints the answer of verify and returns its exit code.
func verified(stdio *IO, o verifyOptions, name, walls string, e exposure.Exposure) error {
	asked, held := 0, 0
	rows := e.Rows()
	for _, row := range rows {
		if row.Asked != "any" {
			asked++
			if row.OK {
				held++
			}
		}
	}
	if o.json {
		if err := json.NewEncoder(stdio.Stdout).Encode(verifyAnswer{name, walls, held == asked, e.Boundary(), verifyRows(rows), e}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(stdio.Stdout, "%s\n\n", strings.TrimSuffix(name+" · "+walls, " · "))
		printRows(stdio, e, true)
		fmt.Fprintf(stdio.Stdout, "%d asked, %d as asked. %s\n", asked, held, boundary(e))
	}
	if held != asked {
		return exitCode(exitFailed)
	}
	return nil
}

// verifyAnswer is the JSON form.
type verifyAnswer struct {
	Backend  string            `json:"backend"`
	Walls    string            `json:"walls,omitempty"`
	OK       bool              `json:"ok"`
	Boundary bool              `json:"boundary"`
	Rows     []verifyRow       `json:"rows"`
	Exposure exposure.Exposure `json:"exposure"`
}

type verifyRow struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Asked string `json:"asked"`
	Force string `json:"force"`
	OK    bool   `json:"ok"`
	Note  string `json:"note,omitempty"`
}

func verifyRows(rows []exposure.Row) (out []verifyRow) {
	for _, r := range rows {
		out = append(out, verifyRow{r.Key, r.Name, r.Asked, r.Force, r.OK, r.Note})
	}
	return out
}

// plantTree makes a work tree with a repository in it and another below, for the probe to try hard.
func plantTree(dir string) (string, error) {
	tree, err := os.MkdirTemp(dir, "verify-")
	if err != nil {
		return "", err
	}
	for _, repo := range []string{tree, filepath.Join(tree, "nested")} {
		git := filepath.Join(repo, ".git")
		for _, sub := range []string{"hooks", "objects", "refs"} {
			err = errors.Join(err, os.MkdirAll(filepath.Join(git, sub), 0o700))
		}
		err = errors.Join(err,
			os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
			os.WriteFile(filepath.Join(git, "config"), []byte("[core]\n\tbare = false\n"), 0o600))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(tree))
	}
	return tree, nil
}

func verifySpec(stdio *IO, snap *config.Snapshot, backend, dir, tree string) (spec sandbox.Spec, err error) {
	if spec.Workdir, err = checked.ParseWorkdir(tree); err != nil {
		return spec, err
	}
	profile, err := scope.ParseProfile("default")
	if err != nil {
		return spec, err
	}
	if spec.Session, err = scope.ParseSession(profile, "cli", "verify"); err != nil {
		return spec, err
	}
	spec.Env = harmless(stdio, environ.Native, "PATH", "LANG", "TERM", "USER")
	t := snap.Settings.Terminal
	spec.Home = dir
	spec.Read, spec.Write, spec.BestEffort = t.Native.Read, t.Native.Write, t.Native.BestEffort
	spec.Limits = app.Limits(snap, backend)
	spec.Network = exposure.Network{Want: exposure.ByDefault, Asked: exposure.NoNet}
	switch t.Network {
	case "none":
		spec.Network.Want = exposure.Explicitly
	case "open":
		spec.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.OpenNet}
	case "allowlist":
		spec.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet}
	}
	return spec, nil
}

// lookInside tries every door once more, with a work tree that may be tried hard.
func lookInside(ctx context.Context, stdio *IO, box sandbox.Sandbox, backend, self, tree, dir string) (exposure.Exposure, error) {
	e := box.Exposure()
	stage, err := probe.SetUp(dir)
	if err != nil {
		return e, err
	}
	defer stage.Close()
	t := stage.Targets
	t.Home, t.Tree, t.Planted = stdio.Env("HOME"), tree, true
	if c, ok := box.(interface {
		Targets(probe.Targets) probe.Targets
	}); ok {
		t = c.Targets(stage.Targets)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return e, err
	}
	if backend == native.Name {
		self = native.ProbePath
	}
	var out, trouble strings.Builder
	status, err := box.Run(ctx, sandbox.Command{
		Argv:   []string{self, "sandbox", "probe", "--json", "--targets", string(text)},
		Stdout: &out, Stderr: &trouble, Timeout: 30 * time.Second,
	})
	if err != nil {
		return e, err
	}
	if status.Code != 0 {
		return e, fmt.Errorf("probe inside: exit code %d: %s", status.Code, strings.TrimSpace(trouble.String()))
	}
	var seen exposure.Exposure
	if err := json.Unmarshal([]byte(out.String()), &seen); err != nil {
		return e, fmt.Errorf("probe inside: %w", err)
	}
	return e.Combine(seen), nil
}
