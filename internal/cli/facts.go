package cli

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/app"
	"hermes/internal/guard/command"
	"hermes/internal/launch"
)

// localFacts tells the guard about this machine: where it is, and what the script files that a command names hold, and
// what git knows of the paths, and where links lead. The environment is left out on purpose: the command may run in another one, and a verdict should not depend on it.
func localFacts(stdio *IO, o checkOptions) command.Facts {
	f := command.Facts{Home: o.home, Dir: o.dir, Profile: o.profile, Supervised: o.supervised, Resolve: launch.Resolve}
	if f.Home == "" {
		f.Home = cmp.Or(stdio.Env("HOME"), stdio.Env("USERPROFILE"))
	}
	if o.home == "" {
		f.HermesHome = stdio.Env("HERMES_HOME")
	}
	if f.Dir == "" {
		f.Dir, _ = stdio.Dir() // not known is an answer, too
	}
	dir := f.Dir
	if dir != "" {
		f.Tracked, f.Ignored = app.Tree(dir, f.Home)
	}
	f.File = func(name string) (string, bool) {
		name = filepath.FromSlash(name)
		if !filepath.IsAbs(name) {
			if dir == "" {
				return "", false
			}
			name = filepath.Join(dir, name)
		}
		return app.Script(name)
	}
	return f
}

// facts tells the guard what the request says. Nothing is looked up.
func (a *asker) facts(r *request) command.Facts {
	f := command.Facts{
		Home: or(r.Home, a.home), HermesHome: r.HermesHome, Dir: or(r.Cwd, a.dir), Profile: or(r.Profile, a.profile),
		Supervised: or(r.Supervised, a.supervised), Env: r.Env,
	}
	at := place{home: f.Home, dir: f.Dir}
	if len(r.Files) > 0 {
		files := make(map[string]string, len(r.Files))
		for name, text := range r.Files {
			files[at.clean(name)] = text
		}
		f.File = func(name string) (string, bool) {
			text, ok := files[at.clean(name)]
			return text, ok
		}
	}
	if r.Tracked != nil {
		tracked := at.cleanAll(r.Tracked)
		f.Tracked = func(name string) command.Fact {
			name = at.clean(name)
			for _, t := range tracked {
				if under(name, t) || under(t, name) { // a folder holds what is tracked below it
					return command.Yes
				}
			}
			return command.No
		}
	}
	if r.Ignored != nil {
		ignored := at.cleanAll(r.Ignored)
		f.Ignored = func(name string) command.Fact {
			name = at.clean(name)
			for _, i := range ignored {
				if under(name, i) {
					return command.Yes
				}
			}
			return command.No
		}
	}
	return f
}

// place is where relative paths and "~" start.
type place struct{ home, dir string }

// clean brings the spellings of one path together.
func (p place) clean(name string) string {
	switch {
	case p.home != "" && (name == "~" || strings.HasPrefix(name, "~/")):
		name = p.home + name[1:]
	case p.dir != "" && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~"):
		name = p.dir + "/" + name
	}
	return path.Clean(name)
}

func (p place) cleanAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = p.clean(name)
	}
	return out
}

// under tells whether name is dir or lies below it. Both are clean.
func under(name, dir string) bool {
	return name == dir || dir == "/" || dir == "." && !strings.HasPrefix(name, "/") ||
		strings.HasPrefix(name, dir) && name[len(dir)] == '/'
}
