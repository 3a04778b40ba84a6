package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/config"
	"hermes/internal/guard/environ"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/runner/program"
)

// docker says what the docker backend is made of.
func (a *App) docker(snap *config.Snapshot, w Where, probe []string) docker.Config {
	t := &snap.Settings.Terminal
	d := &t.Docker
	state := a.dir.Join(sandboxes)
	c := docker.Config{
		Binary: d.Binary, Search: a.base["PATH"], Client: a.client, Probe: probe, Home: a.home(), State: state, Reaper: d.Reaper, Log: a.p.Tell,
		Progress: a.p.Tell, Engines: &a.engines,
		Runner: func(arch string) (string, error) {
			p, err := program.For(state, "linux", arch)
			return p.Path, err
		},
		Stores: func(name, value string) bool {
			p, err := a.rules()
			return err == nil && p.Environ.Stores(name, value, nil)
		},
	}
	s := &c.Plan
	*s = plan.Settings{
		Image: d.Image, Profile: a.profile.String(), Runtime: d.Runtime, Shm: d.ShmSize, InitEnv: slices.Sorted(maps.Keys(d.Env)),
		Forward: slices.Concat(d.ForwardEnv, t.EnvPassthrough), Volumes: d.Volumes, ExtraArgs: d.ExtraArgs, Accept: d.AcceptRisk,
		Cwd: t.Dir, MountCwd: d.MountDir, HostDir: w.Start, AsHostUser: d.AsHostUser, Snap: d.SnapCompat,
		Persistent: t.Container.Persistent, Across: d.Persist, SharedKey: d.SharedKey, SandboxRoot: a.expand(t.SandboxDir),
		Limits: dockerLimits(snap),
	}
	if w.Dir != "" {
		s.Cwd = w.Dir
	}
	if w.Once {
		s.Persistent, s.Across, s.SharedKey = false, false, ""
	}
	s.Network, s.NetworkSet = plan.NetworkMode(t.Network, d.Network)
	s.Credentials = a.credentials(t.CredentialFiles)
	s.Skills, s.Caches = a.skills(), a.caches()
	return c
}

// client makes the environment of an engine's program.
func (a *App) client(carry environ.List) environ.List {
	p, err := a.rules()
	if err != nil {
		return environ.List{}
	}
	list, _ := p.Environ.Build(environ.Request{Surface: environ.Engine, Base: a.base, Carry: carry})
	return list
}

// dockerLimits returns the limits of containers, and which of them the owner has set.
func dockerLimits(snap *config.Snapshot) plan.Limits {
	c := snap.Settings.Terminal.Container
	limit := func(name string, value float64) plan.Limit {
		v, ok := snap.Lookup("terminal." + name)
		return plan.Limit{Value: value, Set: ok && v.Source.Kind != config.FromDefault}
	}
	return plan.Limits{
		CPU: limit("container_cpu", c.CPU), Memory: limit("container_memory", float64(c.Memory)),
		PIDs: limit("container_pids", float64(c.PIDs)), Disk: limit("container_disk", float64(c.Disk)),
	}
}

// credentials returns the credential files that can be shown now. One that cannot is told and left out.
func (a *App) credentials(entries []string) (out []plan.Showing) {
	home := a.dir.Path()
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		f, err := environ.Declare(entry, "")
		if err == nil {
			var m environ.Mount
			if m, err = f.Mount(home, real, environ.DefaultBase, factOf(filepath.Join(home, f.String()))); err == nil {
				out = append(out, plan.Showing{Source: m.Host, Target: m.Inside})
			}
		}
		if err != nil {
			a.p.Tell(err.Error())
		}
	}
	return out
}

func factOf(path string) (f environ.Fact) {
	info, err := os.Stat(path)
	if err != nil {
		return f
	}
	f = environ.Fact{Exists: true, Regular: info.Mode().IsRegular(), Dir: info.IsDir()}
	f.Resolved, _ = filepath.EvalSymlinks(path)
	return f
}

// skills returns the profile's skills, as far as there are any. Links in them are not shown: then it is a copy without them.
func (a *App) skills() (out []plan.Showing) {
	for _, m := range environ.SkillPlaces(a.dir.Path(), environ.DefaultBase, nil) {
		if info, err := os.Lstat(m.Host); err != nil || !info.IsDir() {
			continue
		}
		m = environ.DirMount(m.Host, m.Inside, entries(m.Host))
		from := m.Host
		if m.Copy {
			var err error
			if from, err = a.copied(m); err != nil {
				a.p.Tell("skills are not shown in the container: " + err.Error())
				continue
			}
		}
		out = append(out, plan.Showing{Source: from, Target: m.Inside})
	}
	return out
}

// entries lists what is below a directory.
func entries(dir string) (out []environ.Entry) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(dir, path); err == nil && relErr == nil && rel != "." {
			out = append(out, environ.Entry{Path: filepath.ToSlash(rel), Link: e.Type()&fs.ModeSymlink != 0, File: e.Type().IsRegular()})
		}
		return nil
	})
	return out
}

// copied makes a copy of a directory without its links, in Hermes' own place, and returns where.
func (a *App) copied(m environ.Mount) (string, error) {
	sum := sha256.Sum256([]byte(m.Host))
	to := a.dir.Join(sandboxes + "/copies/" + hex.EncodeToString(sum[:8]))
	if err := os.RemoveAll(to); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(m.Host)
	if err != nil {
		return "", err
	}
	defer root.Close()
	err = os.MkdirAll(to, 0o700)
	for _, rel := range m.Only {
		if err == nil {
			err = copyFile(root, rel, filepath.Join(to, filepath.FromSlash(rel)))
		}
	}
	return to, err
}

func copyFile(root *os.Root, rel, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	from, err := root.Open(filepath.FromSlash(rel))
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()&0o755|0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// caches returns the caches that exist.
func (a *App) caches() (out []plan.Showing) {
	look := func(rel string) (exists, filled bool) {
		dir := filepath.Join(a.dir.Path(), filepath.FromSlash(rel))
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			return false, false
		}
		names, err := os.ReadDir(dir)
		return true, err == nil && len(names) > 0
	}
	for _, m := range environ.CacheMounts(a.dir.Path(), environ.DefaultBase, look) {
		out = append(out, plan.Showing{Source: m.Host, Target: m.Inside})
	}
	return out
}

// insideDir returns where commands of a container start.
func insideDir(snap *config.Snapshot, w Where) string {
	t := &snap.Settings.Terminal
	host := ""
	if t.Docker.MountDir {
		host = w.Start
	}
	return plan.Workdir(strings.TrimSpace(cmp.Or(w.Dir, t.Dir)), host)
}
