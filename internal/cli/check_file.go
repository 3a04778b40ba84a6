package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
)

// fileAnswer answers kinds read and write.
type fileAnswer struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Verdict string          `json:"verdict"`
	Rule    string          `json:"rule"`
	Reason  string          `json:"reason"`
}

func newFileAnswer(id json.RawMessage, v guard.Verdict) fileAnswer {
	return fileAnswer{ID: id, Verdict: v.Action.String(), Rule: v.Rule, Reason: v.Reason}
}

// access says what a kind does to a file.
func access(kind string) paths.Access {
	if kind == "read" {
		return paths.Read
	}
	return paths.Write
}

// files says where homes are. Empty strings are left out.
func files(home, real, own, roots string) paths.Config {
	own = cmp.Or(own, path.Join(home, ".hermes"))
	c := paths.Config{Own: own, Hermes: []string{own}, Teachers: true}
	// A profile lies below the home of all.
	if top, name := path.Split(strings.TrimSuffix(own, "/")); name != "" && path.Base(top) == "profiles" {
		c.Hermes = append(c.Hermes, path.Dir(strings.TrimSuffix(top, "/")))
	}
	for _, h := range []string{home, real} {
		if h != "" {
			c.Homes = append(c.Homes, h)
		}
	}
	for _, root := range filepath.SplitList(roots) {
		if full, err := paths.Expand(root, "/", home, nil); root != "" && err == nil {
			c.SafeRoots = append(c.SafeRoots, full)
		}
	}
	return c
}

// fileLine answers one line of kind read or write. No file is looked at: a path means what it says.
func (a *asker) fileLine(r *request, kind string) (any, error) {
	if r.Path == nil {
		return nil, errors.New("path: missing")
	}
	home := or(r.Home, a.home)
	full, err := paths.Expand(*r.Path, or(r.Cwd, a.dir), home, nil)
	if err != nil {
		return nil, fmt.Errorf("path: %w", err)
	}
	p := paths.New(files(home, r.RealHome, r.HermesHome, r.SafeRoot))
	return newFileAnswer(r.ID, p.Check(paths.Subject{Access: access(kind), Raw: *r.Path, Path: full})), nil
}

// checkFile answers for a path on this machine, and for where it leads.
func checkFile(stdio *IO, o checkOptions, text string) error {
	home := cmp.Or(o.home, stdio.Env("HOME"), stdio.Env("USERPROFILE"))
	dir := o.dir
	if dir == "" {
		dir, _ = stdio.Dir() // an absolute path needs none
	}
	full, err := paths.Expand(text, dir, home, nil)
	if err != nil {
		return usage("Give an absolute path, or --cwd.", "%s", err.Error())
	}
	real := func(name string) string {
		if found, err := filepath.EvalSymlinks(name); err == nil {
			return found
		}
		return ""
	}
	c := files(home, real(home), stdio.Env("HERMES_HOME"), stdio.Env("HERMES_WRITE_SAFE_ROOT"))
	s := paths.Subject{Access: access(o.kind), Raw: text, Path: full}
	for _, found := range []string{leads(full), physical(text, dir)} {
		if found != "" {
			s.Real = append(s.Real, found)
		}
	}
	v := paths.New(c).Check(s)
	if o.json {
		return finish(stdio, v, newFileAnswer(nil, v))
	}
	p := newPage(stdio)
	if v.Action == guard.Allow {
		p.line("allow")
		return nil
	}
	p.line(v.Action.String() + " · " + v.Rule + " · " + v.Reason)
	return exit(v.Action)
}

// physical returns where a path leads for a program that opens it as it is written: there, ".." behind a link is above where
// the link leads. "" where it leads nowhere.
func physical(text, dir string) string {
	if !filepath.IsAbs(text) {
		text = dir + string(filepath.Separator) + text
	}
	if found, err := filepath.EvalSymlinks(text); err == nil {
		return found
	}
	at := strings.LastIndexByte(text, filepath.Separator)
	if found, err := filepath.EvalSymlinks(text[:at+1]); err == nil {
		return filepath.Join(found, text[at+1:])
	}
	return ""
}

// leads returns where a name leads over links. Of what does not exist yet, the directory that does counts.
func leads(name string) string {
	rest := ""
	for {
		if found, err := filepath.EvalSymlinks(name); err == nil {
			return filepath.Join(found, rest)
		}
		up := filepath.Dir(name)
		if up == name {
			return ""
		}
		name, rest = up, filepath.Join(filepath.Base(name), rest)
	}
}
