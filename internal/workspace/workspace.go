// Package workspace is the door to files: tools read, search, write and remove through it and in no other way.
//
// It asks guard/paths about every name that a file has: the one that was given, each link on the way, where it lies, and any
// protected place that holds the very same file. What is judged is what was opened: directories are held open, and a file is
// read or replaced in the directory that was judged. Which files are protected is not its business (see guard/paths), nor is
// what commands do to files (see launch), nor how results are shown (see tool/editor).
//
// Layer 3 of 8. Failure direction: refuse. Nobody to ask, a file that changed meanwhile, and a name that cannot be resolved
// refuse; a file holds its old text or its new one, whole.
package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"hermes/internal/guard"
	"hermes/internal/guard/paths"
	"hermes/internal/sandbox"
)

// Options say which files, and by which rules.
type Options struct {
	Policy  *paths.Policy            // nil refuses everything
	Home    string                   // what ~ stands for, where the files are
	Account func(name string) string // the home of ~name; nil: not known
	Inside  sandbox.Files            // the files of a sandbox; nil: those of this machine
	Ask     Ask                      // nil: nobody can be asked
	// Writing judges a text that is about to be written, under all names of the file: what runs may read it as a program. done is called
	// when it is written, or is not to be. nil: nothing runs.
	Writing func(names []string, text string) (v guard.Verdict, done func())
	Most    int64 // bytes of the largest file that is read or written; 0: 16 MiB
}

const defaultMost = 16 << 20

// Workspace reads and changes files. It keeps nothing open between calls and is safe for concurrent use: of two that change
// one file at a time, one is told that it changed.
type Workspace struct {
	o     Options
	files volume
}

// New makes a Workspace.
func New(o Options) *Workspace {
	if o.Most <= 0 {
		o.Most = defaultMost
	}
	w := &Workspace{o: o, files: host{}}
	if o.Inside != nil {
		w.files = inside{o.Inside}
	}
	return w
}

// Name is a file as it is asked for.
type Name struct {
	Path  string // absolute, below ~, or relative
	Dir   string // the absolute directory that relative ones start from
	Cross bool   // the caller said cross_profile: true
}

// Ask puts a question about a file to a person. What is not granted is refused; the reason is told to whoever wanted it.
type Ask func(ctx context.Context, q Question) (granted bool, reason string, err error)

// Question is what a person is asked about a file.
type Question struct {
	Access  paths.Access
	Path    string // where it lies
	Dir     string // of the session
	Verdict guard.Verdict
	Diff    string // what would change; empty for reads and where it may not be shown
}

// full returns the absolute path that a name stands for.
func (w *Workspace) full(n Name) (string, error) {
	full, err := paths.Expand(n.Path, n.Dir, w.o.Home, w.o.Account)
	if err != nil {
		return "", err
	}
	return w.files.native(full), nil
}

// find resolves a name. follow says whether a link at its end is followed. The caller closes the place.
func (w *Workspace) find(ctx context.Context, n Name, follow bool) (place, string, error) {
	if v := w.o.Policy.Check(paths.Subject{Access: paths.Read, Raw: n.Path, Path: "/"}); v.Action == guard.Block {
		return nil, "", &guard.DeniedError{Op: "open", Subject: n.Path, Verdict: v} // a raw name that no rule can judge
	}
	full, err := w.full(n)
	if err != nil {
		return nil, "", err
	}
	p, err := w.files.find(ctx, full, follow)
	if err != nil {
		return nil, "", fmt.Errorf("find %s: %w", n.Path, bare(err))
	}
	return p, full, nil
}

// judge asks the rules about an access to a place, under all its names.
func (w *Workspace) judge(ctx context.Context, a paths.Access, n Name, full string, p place) (guard.Verdict, error) {
	s := paths.Subject{Access: a, Raw: n.Path, Path: filepath.ToSlash(full), Cross: n.Cross}
	for _, name := range p.names() {
		s.Real = append(s.Real, filepath.ToSlash(name))
	}
	policy := w.o.Policy
	if p.folds() {
		policy = policy.Folded()
	}
	v := policy.Check(s)
	if v.Action == guard.Block {
		return v, nil
	}
	twins, err := w.files.twins(ctx, p, policy.Guarded(a))
	if err != nil {
		return guard.Verdict{}, err
	}
	for _, twin := range twins {
		if twin = filepath.ToSlash(twin); !slices.Contains(s.Real, twin) {
			s.Real = append(s.Real, twin)
		}
	}
	return policy.Check(s), nil
}

// permit turns a verdict into an error, after asking where it says so.
func (w *Workspace) permit(ctx context.Context, q Question, shown string) error {
	denied := &guard.DeniedError{Op: word(q.Access), Subject: shown, Verdict: q.Verdict}
	switch q.Verdict.Action {
	case guard.Allow:
		return nil
	case guard.Ask:
	default:
		return denied
	}
	denied.Verdict.Action = guard.Block
	if w.o.Ask == nil {
		denied.Verdict.Reason += "; a person must allow it, and nobody can be asked"
		return denied
	}
	ok, reason, err := w.o.Ask(ctx, q)
	switch {
	case err != nil:
		denied.Verdict.Reason += "; nobody could be asked: " + err.Error()
		return denied
	case !ok:
		if reason == "" {
			reason = "not allowed"
		}
		denied.Verdict.Reason += "; " + reason
		return denied
	}
	return ctx.Err()
}

// word is what errors call an access.
func word(a paths.Access) string {
	switch a {
	case paths.Read:
		return "read"
	case paths.Write:
		return "write"
	case paths.Remove:
		return "remove"
	}
	return "open"
}
