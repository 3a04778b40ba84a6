package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/config"
	"hermes/internal/guard/environ"
	"hermes/internal/sandbox/filesync"
	"hermes/internal/sandbox/runner/program"
	"hermes/internal/sandbox/ssh"
)

// ssh says what the ssh backend is made of.
func (a *App) ssh(snap *config.Snapshot) ssh.Config {
	t := &snap.Settings.Terminal
	s := &t.SSH
	state := a.dir.Join(sandboxes)
	c := ssh.Config{
		Host: s.Host, User: s.User, Port: s.Port, Key: a.expand(s.Key), Search: a.base["PATH"], Env: a.client(environ.List{}),
		State: a.dir.Join(sandboxes + "/" + ssh.Name), Login: true, Confirm: a.p.HostKey, Log: a.p.Tell,
		Runner: func(goos, goarch string) (ssh.Program, bool) {
			p, err := program.For(state, goos, goarch)
			return ssh.Program{Path: p.Path, Sum: p.SHA256}, err == nil
		},
		Stores: func(name, value string) bool {
			p, err := a.rules()
			return err == nil && p.Environ.Stores(name, value, nil)
		},
	}
	// The port is named only where the owner names one: ssh_config may have another.
	if v, ok := snap.Lookup("terminal.ssh_port"); ok && v.Source.Kind == config.FromDefault {
		c.Port = 0
	}
	if trees := a.trees(t.CredentialFiles); len(trees) > 0 {
		sum := sha256.Sum256([]byte(s.User + "\x00" + s.Host + "\x00" + v16(s.Port)))
		c.Sync = &filesync.Config{State: a.dir.Join(sandboxes + "/" + ssh.Name + "/files-" + hex.EncodeToString(sum[:8])), Trees: trees, Log: a.p.Tell}
	}
	return c
}

func v16(n int64) string { return hex.EncodeToString([]byte{byte(n >> 8), byte(n)}) }

// trees says which files are kept on another machine as they are here: what a container is shown.
func (a *App) trees(credentials []string) (out []filesync.Tree) {
	const base = "/base"
	here := a.dir.Path()
	to := func(inside string) string { return strings.TrimPrefix(inside, base+"/") }
	for _, m := range environ.SkillPlaces(here, base, nil) {
		if present(m.Host) {
			out = append(out, filesync.Tree{Dir: m.Host, To: to(m.Inside), Kind: filesync.Guarded, Skip: []string{".hub"}})
		}
	}
	for _, shown := range a.caches() {
		if rel := strings.TrimPrefix(shown.Target, environ.DefaultBase+"/"); rel != shown.Target {
			out = append(out, filesync.Tree{Dir: shown.Source, To: rel, Kind: filesync.Shared})
		}
	}
	var files []string
	for _, shown := range a.credentials(credentials) {
		if rel := strings.TrimPrefix(shown.Target, environ.DefaultBase+"/"); rel != shown.Target {
			files = append(files, rel)
		}
	}
	if len(files) > 0 {
		out = append(out, filesync.Tree{Dir: here, Kind: filesync.Given, Files: files})
	}
	return out
}

// present tells whether a directory has an ordinary file in it.
func present(dir string) bool {
	found := errors.New("found")
	return filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			return found
		}
		return nil
	}) == found
}

// remoteDir returns where commands of another machine start: what is relative is so to the home there.
func remoteDir(dir string) string {
	switch {
	case path.IsAbs(dir), dir == "~", strings.HasPrefix(dir, "~/"):
		return path.Clean(dir)
	}
	return path.Clean("~/" + dir)
}
