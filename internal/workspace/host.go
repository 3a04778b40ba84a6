package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// host are the files of this machine.
type host struct{}

// maxLinks bounds the links on the way to one file.
const maxLinks = 40

func (host) native(slashed string) string {
	if len(slashed) > 2 && slashed[0] == '/' && slashed[2] == ':' { // C:\ as guard/paths writes it
		slashed = slashed[1:]
	}
	return filepath.FromSlash(slashed)
}

// spot is one name in a directory of this machine that is held open.
type spot struct {
	dir     *os.Root
	at      string   // where dir lies
	missing []string // directories below dir that do not exist yet
	base    string   // "" for the root itself
	found   fs.FileInfo
	way     []string
	fold    bool
}

// walker goes down from the root, one directory after the other, and opens each of them without following a link.
type walker struct {
	stack []*os.Root
	parts []string
	start string // the root
	todo  []string
	links int
	out   *spot
}

func (w *walker) top() *os.Root { return w.stack[len(w.stack)-1] }

func (w *walker) path(more ...string) string {
	return filepath.Join(append(append([]string{w.start}, w.parts...), more...)...)
}

func (w *walker) pop(keep int) {
	for len(w.stack) > keep {
		_ = w.top().Close()
		w.stack = w.stack[:len(w.stack)-1]
	}
	w.parts = w.parts[:max(len(w.stack)-1, 0)]
}

func split(name string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(name), "/"), func(s string) bool { return s == "" || s == "." })
}

// find goes to a file. Of what does not exist, the first directory that does is held.
func (host) find(_ context.Context, full string, follow bool) (place, error) {
	if !filepath.IsAbs(full) || strings.ContainsRune(full, 0) {
		return nil, errors.New("the path is not absolute")
	}
	start := filepath.VolumeName(full) + string(filepath.Separator)
	root, err := os.OpenRoot(start)
	if err != nil {
		return nil, err
	}
	w := &walker{stack: []*os.Root{root}, start: start, todo: split(full[len(start)-1:]), out: &spot{}}
	if err := w.run(follow); err != nil {
		w.pop(0)
		return nil, err
	}
	w.out.dir, w.out.at = w.top(), w.path()
	w.out.way = append(w.out.way, w.path(append(slices.Clone(w.out.missing), w.out.base)...))
	w.stack = w.stack[:len(w.stack)-1]
	w.pop(0)
	return w.out, nil
}

func (w *walker) run(follow bool) error {
	for len(w.todo) > 0 {
		name := w.todo[0]
		w.todo = w.todo[1:]
		if name == ".." {
			w.pop(max(1, len(w.stack)-1))
			continue
		}
		info, err := w.top().Lstat(name)
		last := len(w.todo) == 0
		switch {
		case errors.Is(err, fs.ErrNotExist) && last:
			w.out.base, w.out.fold = name, w.out.fold || foldsNew(w.top())
		case errors.Is(err, fs.ErrNotExist):
			return w.absent(name)
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0 && (follow || !last):
			if err := w.link(name); err != nil {
				return err
			}
			continue
		case last:
			w.out.fold = w.out.fold || folds(w.top(), name, info)
			w.out.base, w.out.found = name, info
		default:
			w.out.fold = w.out.fold || folds(w.top(), name, info)
			if err := w.enter(name, info); err != nil {
				return err
			}
		}
	}
	if w.out.base == "" { // a link to a directory above, or the root itself
		info, err := w.top().Stat(".")
		w.out.found = info
		return err
	}
	return nil
}

// absent takes in the rest of a path none of which exists.
func (w *walker) absent(name string) error {
	rest := append([]string{name}, w.todo...)
	if slices.Contains(rest, "..") {
		return fs.ErrNotExist
	}
	w.out.fold = w.out.fold || foldsNew(w.top())
	w.out.missing, w.out.base, w.todo = rest[:len(rest)-1], rest[len(rest)-1], nil
	return nil
}

// link replaces a link by what it says.
func (w *walker) link(name string) error {
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("more than %d links", maxLinks)
	}
	target, err := w.top().Readlink(name)
	if err != nil {
		return err
	}
	w.out.way = append(w.out.way, w.path(append([]string{name}, w.todo...)...))
	if filepath.IsAbs(target) {
		if !strings.EqualFold(filepath.VolumeName(target), filepath.VolumeName(w.start)) {
			return ErrLinks
		}
		w.pop(1)
		target = target[len(filepath.VolumeName(target)):]
	} else if filepath.VolumeName(target) != "" {
		return ErrLinks
	}
	w.todo = append(split(target), w.todo...)
	return nil
}

// enter opens a directory and makes sure that it is the one that was looked at.
func (w *walker) enter(name string, info fs.FileInfo) error {
	dir, err := enter(w.top(), name, info)
	if err != nil {
		return err
	}
	w.stack, w.parts = append(w.stack, dir), append(w.parts, name)
	return nil
}

func enter(in *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	if !info.IsDir() {
		return nil, errors.New("not a directory")
	}
	dir, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := dir.Stat("."); err != nil || !os.SameFile(now, info) {
		_ = dir.Close()
		return nil, ErrChanged
	}
	return dir, nil
}

// folds tells whether a directory takes names that differ only in case for one.
func folds(in *os.Root, name string, info fs.FileInfo) bool {
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	if other == name {
		return false
	}
	same, err := in.Lstat(other)
	return err == nil && os.SameFile(same, info)
}

// foldsNew tells the same for a name that does not exist yet, by the names that do.
func foldsNew(in *os.Root) bool {
	f, err := in.Open(".")
	if err != nil {
		return false // what cannot be listed is told by the directories above
	}
	defer f.Close()
	entries, _ := f.ReadDir(32)
	for _, e := range entries {
		if strings.ContainsFunc(e.Name(), unicode.IsLetter) {
			info, err := in.Lstat(e.Name())
			return err == nil && folds(in, e.Name(), info)
		}
	}
	return false
}

func (s *spot) names() []string   { return s.way }
func (s *spot) folds() bool       { return s.fold }
func (s *spot) info() fs.FileInfo { return s.found }
func (s *spot) close()            { _ = s.dir.Close() }

// read returns the text of the file that was found, and of no other.
func (s *spot) read(_ context.Context, most int64) ([]byte, error) {
	return slurp(s.dir, s.base, s.found, most)
}
