// Package repository answers what git knows of the paths in a work tree: which it tracks, and which it ignores.
//
// It changes nothing there, does not judge what a command would do to a path (see guard/command), and reads no history.
//
// Failure direction: not known. So is whatever git does not answer in time, is not sure of, or could be made to answer for
// somebody else's folder. The settings of a work tree are written by strangers: nothing they name is run.
package repository

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/command"
)

// Options say where to look.
type Options struct {
	Dir  string        // the work tree, or a folder in it; absolute
	Home string        // the user's: the settings there count, as they do when the user calls git
	Wait time.Duration // for all answers together; 0 is two seconds
}

const (
	defaultWait  = 2 * time.Second
	maxQuestions = 32 // paths that are asked about; whoever names more is asked
)

// Facts answers for one check. It asks git when it is asked itself, and once for each path. It is safe for concurrent use;
// nobody closes it.
type Facts struct {
	o       Options
	program string // "" where there is none

	mu    sync.Mutex // guards what follows; held while git runs, so that the time is counted once
	left  time.Duration
	known map[string]answer
	tree  func() (real string, ok bool)
}

type answer struct{ tracked, ignored command.Fact }

// New makes the facts of one check. Nothing is started yet.
func New(o Options) *Facts {
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	f := &Facts{o: o, left: o.Wait, known: map[string]answer{}}
	f.tree = sync.OnceValues(f.find)
	return f
}

// Tracked tells whether git tracks a path, or anything below it. A relative path begins in the work tree.
func (f *Facts) Tracked(path string) command.Fact { return f.ask(path).tracked }

// Ignored tells whether git ignores a path with all that is below it. What holds anything that git tracks is not
// ignored; of a repository of its own, or a link, it is not known.
func (f *Facts) Ignored(path string) command.Fact { return f.ask(path).ignored }

func (f *Facts) ask(path string) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, ok := f.clean(path)
	if !ok {
		return answer{}
	}
	if a, ok := f.known[path]; ok {
		return a
	}
	if len(f.known) >= maxQuestions {
		return answer{}
	}
	a := f.look(path)
	f.known[path] = a
	return a
}

// clean makes a path absolute. What no file has as its name is refused: the text had it from somewhere else.
func (f *Facts) clean(path string) (string, bool) {
	path = filepath.FromSlash(path)
	switch {
	case path == "" || strings.ContainsAny(path, "\x00\n"):
		return "", false
	case path == "~" || strings.HasPrefix(path, "~"+string(filepath.Separator)):
		if f.o.Home == "" {
			return "", false
		}
		path = filepath.Join(f.o.Home, path[1:])
	case !filepath.IsAbs(path):
		if path[0] == '~' {
			return "", false
		}
		path = filepath.Join(f.o.Dir, path)
	}
	return filepath.Clean(path), true
}

// find returns where the work tree really is, if it is one.
func (f *Facts) find() (string, bool) {
	if !filepath.IsAbs(f.o.Dir) {
		return "", false
	}
	real, err := filepath.EvalSymlinks(f.o.Dir)
	if err != nil {
		return "", false
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
	f.program, err = child.Lookup("git", search())
	return real, err == nil
}

// look asks git about one path. Both answers come from the repository that holds the path, as git finds it from there.
func (f *Facts) look(path string) answer {
	tree, ok := f.tree()
	if !ok || f.left <= 0 {
		return answer{}
	}
	dir, name := filepath.Split(path)
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || dir != tree && !strings.HasPrefix(dir, strings.TrimSuffix(tree, string(filepath.Separator))+string(filepath.Separator)) {
		return answer{} // it leads out of the work tree
	}
	info, err := os.Lstat(path)
	if err != nil && strings.ContainsAny(name, `*?[\`) {
		return answer{} // a pattern: what it stands for is another question
	}
	began := time.Now()
	defer func() { f.left -= time.Since(began) }()
	ctx, cancel := context.WithTimeout(context.Background(), f.left)
	defer cancel()

	var a answer
	var listed counter
	// Capitals do not count: on many disks they do not tell files apart.
	status, err := child.Run(ctx, f.spec(dir, &listed, "ls-files", "-z", "--", ":(literal,icase)"+name))
	switch {
	case err != nil || status.Exit() != 0:
		return answer{}
	case listed > 0:
		return answer{command.Yes, command.No}
	}
	a.tracked = command.No
	if info != nil && (info.Mode()&os.ModeSymlink != 0 || info.IsDir() && nested(path)) {
		return a // what is behind it is not this repository's
	}
	status, err = child.Run(ctx, f.spec(dir, nil, "check-ignore", "-q", "--", "./"+name))
	switch {
	case err != nil:
	case status.Exit() == 0:
		a.ignored = command.Yes
	case status.Exit() == 1:
		a.ignored = command.No
	}
	return a
}
