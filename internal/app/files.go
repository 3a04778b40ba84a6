package app

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hermes/internal/approval"
	"hermes/internal/config"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/paths"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/ssh"
	"hermes/internal/tool/editor"
	"hermes/internal/workspace"
)

// Files says whose files, and who is asked about them.
type Files struct {
	Session  scope.Session
	Place    *launch.Place // where the session's commands run; nil: this machine
	Presence approval.Presence
	Platform string
	Prompter approval.Prompter // nil: nobody can be asked
}

// Workspace returns the door to the files of a session: those that its commands see, unless the settings say that file tools
// stay on this machine.
func (a *App) Workspace(f Files) (*workspace.Workspace, error) {
	snap, err := a.settings()
	if err != nil {
		return nil, err
	}
	inside := a.inside(snap, f.Place)
	ask := approval.Request{
		Session: f.Session, Backend: "local", Exposure: exposure.Exposure{Backend: "local"}, Presence: f.Presence, Platform: f.Platform, Prompter: f.Prompter,
	}
	o := workspace.Options{Home: a.home(), Account: account(accounts())}
	if inside {
		ask.Backend, o.Inside = f.Place.Backend(), follower{a, f.Place}
		o.Home, o.Account = a.homeInside(snap, f.Place.Backend()), nil
	}
	o.Ask = func(ctx context.Context, q workspace.Question) (bool, string, error) {
		r := ask
		if inside { // it is open: the file was looked at
			if e, known := f.Place.Exposure(); known {
				r.Exposure = e
			}
		}
		return workspace.Desk(a.desk, r)(ctx, q)
	}
	if !inside || f.Place.Backend() == "native" { // where commands find the files by the same names
		o.Writing = a.door.Writing
	}
	o.Policy = paths.New(a.guarded(snap, o.Home, inside))
	return workspace.New(o), nil
}

// inside tells whether file tools act where commands run, and that is elsewhere.
func (a *App) inside(snap *config.Snapshot, p *launch.Place) bool {
	return p != nil && p.Backend() != "local" && snap.Settings.Tools.FilesOn != "host"
}

// homeInside is the home of commands, as they see it.
func (a *App) homeInside(snap *config.Snapshot, backend string) string {
	switch user := snap.Settings.Terminal.SSH.User; {
	case backend == "native":
		return a.home()
	case backend != ssh.Name:
		return plan.Home
	case user == "" || user == "root":
		return "/root"
	default:
		return "/home/" + user
	}
}

// guarded says which files are protected: those of every home there is, here and where commands run.
func (a *App) guarded(snap *config.Snapshot, home string, inside bool) paths.Config {
	own := a.dir.Path()
	c := paths.Config{Own: own, Teachers: true, FoldCase: !inside && (runtime.GOOS == "windows" || runtime.GOOS == "darwin")}
	c.Hermes = both(own)
	if top := filepath.Dir(own); filepath.Base(top) == "profiles" { // a profile lies below the home of all
		c.Hermes = append(c.Hermes, both(filepath.Dir(top))...)
	}
	c.Homes = append(both(a.home()), both(a.dir.Join("home"))...)
	for _, at := range accounts() {
		c.Homes = append(c.Homes, both(at.home)...)
	}
	if inside {
		c.Homes = append(c.Homes, home, "/root")
		c.Hermes = append(c.Hermes, path.Join(home, ".hermes"), "/root/.hermes")
	}
	if self, err := os.Executable(); err == nil {
		c.Runtime = both(self)
	}
	if runner := a.runner(); runner != "" {
		c.Runtime = append(c.Runtime, both(runner)...)
	}
	for _, root := range filepath.SplitList(snap.Settings.Tools.SafeRoot) {
		if root = strings.TrimSpace(root); root != "" {
			c.SafeRoots = append(c.SafeRoots, both(a.expand(root))...)
		}
	}
	for _, list := range []*[]string{&c.Homes, &c.Hermes, &c.Runtime, &c.SafeRoots} {
		for i, name := range *list {
			(*list)[i] = filepath.ToSlash(name)
		}
	}
	return c
}

// both returns a path as it is named, and where it lies.
func both(name string) []string {
	if name == "" {
		return nil
	}
	out := []string{name}
	if real, err := filepath.EvalSymlinks(name); err == nil && real != name {
		out = append(out, real)
	}
	return out
}

// entry is an account of this machine.
type entry struct{ name, home string }

// accounts lists the accounts whose homes belong to people, as the file of the system has them; those of a directory service
// are not there.
func accounts() []entry {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil
	}
	var out []entry
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		f := strings.Split(lines.Text(), ":")
		if len(f) < 7 || !filepath.IsAbs(f[5]) {
			continue
		}
		home := filepath.Clean(f[5])
		person := f[2] == "0" || slices.ContainsFunc([]string{"/home/", "/root", "/Users/", "/export/home/"}, func(top string) bool {
			return strings.HasPrefix(home, top)
		})
		if info, err := os.Stat(home); person && err == nil && info.IsDir() && home != "/" {
			out = append(out, entry{f[0], home})
		}
	}
	return out
}

// account finds the home of ~name.
func account(all []entry) func(string) string {
	return func(name string) string {
		for _, e := range all {
			if e.name == name {
				return e.home
			}
		}
		return ""
	}
}

// follower are the files of the sandbox that a place has at the moment. It is opened for the first use.
type follower struct {
	a     *App
	place *launch.Place
}

var _ sandbox.Files = follower{}

func (f follower) now(ctx context.Context) (sandbox.Files, error) {
	return f.a.door.Files(ctx, f.place, f.a.Environment(f.place))
}

// Open implements sandbox.Files.
func (f follower) Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error) {
	files, err := f.now(ctx)
	if err != nil {
		return nil, nil, err
	}
	return files.Open(ctx, path)
}

// Create implements sandbox.Files.
func (f follower) Create(ctx context.Context, path string, mode fs.FileMode) (io.WriteCloser, error) {
	files, err := f.now(ctx)
	if err != nil {
		return nil, err
	}
	return files.Create(ctx, path, mode)
}

// Stat implements sandbox.Files.
func (f follower) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	files, err := f.now(ctx)
	if err != nil {
		return nil, err
	}
	return files.Stat(ctx, path)
}

// List implements sandbox.Files.
func (f follower) List(ctx context.Context, path string) ([]fs.FileInfo, error) {
	files, err := f.now(ctx)
	if err != nil {
		return nil, err
	}
	return files.List(ctx, path)
}

// dirOf returns where relative names of a session start.
func (a *App) dirOf(p *launch.Place, start string) func() string {
	return func() string {
		snap, err := a.settings()
		switch {
		case p == nil || err != nil:
			return start
		case p.Backend() == "local" || a.inside(snap, p):
			return p.Dir()
		}
		return cmp.Or(start, a.home())
	}
}

// editors says how much the file tools return.
func (a *App) editors() editor.Options {
	snap, err := a.settings()
	if err != nil {
		return editor.Options{}
	}
	set := &snap.Settings.Tools
	return editor.Options{Lines: int(set.MaxLines), Line: int(set.MaxLineLength), Chars: int(set.FileRead)}
}

// verifies tells whether a person is told which files were not changed.
func (a *App) verifies() bool {
	snap, err := a.settings()
	return err != nil || snap.Settings.Tools.Verifier
}
