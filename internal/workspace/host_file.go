package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// slurp reads the ordinary file that info is about.
func slurp(dir *os.Root, base string, info fs.FileInfo, most int64) ([]byte, error) {
	if info == nil {
		return nil, fs.ErrNotExist
	}
	if err := ordinary(info); err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, ErrLarge
	}
	f, err := dir.OpenFile(base, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(now, info) || !now.Mode().IsRegular() { // something else took its name, perhaps with its number
		return nil, ErrChanged
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = ErrLarge
	}
	return text, err
}

// sketch is a draft on this machine. It lies in the directory where it will have its name.
type sketch struct {
	s    *spot
	dir  *os.Root
	at   string // where dir lies
	temp string
	made []string // directories that were made for it, below s.dir
	done bool
}

const temporary = ".hermes-"

// draft writes text beside the file, with its owner. Mode 0 is that of new files, which the umask decides.
func (s *spot) draft(_ context.Context, text []byte, mode fs.FileMode) (draft, error) {
	if s.found != nil {
		if err := ordinary(s.found); err != nil {
			return nil, err
		}
	}
	k := &sketch{s: s, dir: s.dir, at: s.at, temp: temporary + rand.Text()[:12] + ".tmp"}
	if err := k.make(); err != nil {
		k.discard()
		return nil, err
	}
	first := fs.FileMode(0o600)
	if mode == 0 {
		first = 0o666
	}
	f, err := k.dir.OpenFile(k.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, first)
	if err != nil {
		k.temp = ""
		k.discard()
		return nil, err
	}
	_, err = f.Write(text)
	if err == nil && s.found != nil {
		err = own(f, s.found)
	}
	if err == nil && mode != 0 { // after the owner: a change of owner takes set-user-ID away
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		k.discard()
		return nil, err
	}
	return k, nil
}

// make makes the directories that are missing.
func (k *sketch) make() error {
	for i, name := range k.s.missing {
		if err := k.dir.Mkdir(name, 0o777); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return ErrChanged
			}
			return err
		}
		k.made = append(k.made, filepath.Join(k.s.missing[:i+1]...))
		info, err := k.dir.Lstat(name)
		if err != nil {
			return err
		}
		next, err := enter(k.dir, name, info)
		if err != nil {
			return err
		}
		k.step(next, name)
	}
	return nil
}

func (k *sketch) step(next *os.Root, name string) {
	if k.dir != k.s.dir {
		_ = k.dir.Close()
	}
	k.dir, k.at = next, filepath.Join(k.at, name)
}

// commit gives the draft its name, if what has it is still what was found, and the directory still lies where it did.
func (k *sketch) commit() error {
	if err := k.still(); err != nil {
		return err
	}
	if k.s.found == nil {
		err := k.dir.Link(k.temp, k.s.base) // unlike a rename it replaces nothing
		switch {
		case err == nil:
			_ = k.dir.Remove(k.temp)
		case errors.Is(err, fs.ErrExist):
			return ErrExists
		default: // a file system without hard links
			if err := k.dir.Rename(k.temp, k.s.base); err != nil {
				return err
			}
		}
	} else if err := k.dir.Rename(k.temp, k.s.base); err != nil {
		return err
	}
	k.done = true
	err := settle(k.dir)
	k.end()
	return err
}

func (k *sketch) still() error {
	now, err := k.dir.Lstat(k.s.base)
	switch {
	case errors.Is(err, fs.ErrNotExist) && k.s.found == nil:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil || k.s.found == nil || !same(now, k.s.found):
		return ErrChanged
	}
	return lies(k.dir, k.at)
}

// same tells whether a file is the one that was found, with the text that it had.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// lies makes sure that an open directory has not been moved.
func lies(dir *os.Root, at string) error {
	mine, err := dir.Stat(".")
	if err != nil {
		return err
	}
	there, err := os.Lstat(at)
	if err != nil || !os.SameFile(mine, there) {
		return ErrChanged
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil || real != at {
		return ErrChanged
	}
	return nil
}

// settle sees the entries of a directory onto the disk.
func settle(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	err = syncFolder(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// discard takes the draft away, and the directories made for it that are empty.
func (k *sketch) discard() {
	if k.done {
		return
	}
	k.done = true
	if k.temp != "" {
		_ = k.dir.Remove(k.temp)
	}
	k.end()
	for _, dir := range slices.Backward(k.made) {
		_ = k.s.dir.Remove(dir)
	}
}

func (k *sketch) end() {
	if k.dir != k.s.dir {
		_ = k.dir.Close()
		k.dir = k.s.dir
	}
}

// remove removes the entry that was found.
func (s *spot) remove(context.Context) error {
	now, err := s.dir.Lstat(s.base)
	switch {
	case err != nil:
		return err
	case s.found == nil || !same(now, s.found):
		return ErrChanged
	case now.IsDir():
		return ErrFolder
	}
	if err := lies(s.dir, s.at); err != nil {
		return err
	}
	if err := s.dir.Remove(s.base); err != nil {
		return err
	}
	return settle(s.dir)
}

// maxTwins bounds how many protected files one file is compared with.
const maxTwins = 100_000

var errTwins = errors.New("there are too many protected files to compare it with")

// twins returns the names of protected files that are this very file: it may be a hard link to one, or one is a link to it.
func (host) twins(ctx context.Context, p place, guarded []string) ([]string, error) {
	info := p.info()
	if info == nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	var out []string
	left := maxTwins
	look := func(name string) {
		left--
		if other, err := os.Stat(name); err == nil && os.SameFile(info, other) {
			out = append(out, name)
		}
	}
	for _, pattern := range guarded {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		top, below := strings.CutSuffix(pattern, "/**")
		found := []string{filepath.FromSlash(top)}
		if strings.ContainsAny(top, "*?[") {
			found, _ = filepath.Glob(found[0]) // the patterns are the policy's own, and well formed
		}
		for _, name := range found {
			if !below {
				look(name)
				continue
			}
			_ = filepath.WalkDir(name, func(name string, e fs.DirEntry, err error) error {
				if left <= 0 {
					return fs.SkipAll
				}
				if err == nil && !e.IsDir() {
					look(name)
				}
				return nil // what cannot be listed by us cannot be linked by us
			})
		}
		if left <= 0 {
			return nil, errTwins
		}
	}
	return out, nil
}

// tree opens a directory to walk it.
func (host) tree(_ context.Context, p place) (folder, error) {
	s := p.(*spot)
	if s.found == nil {
		return nil, fs.ErrNotExist
	}
	if s.base == "" {
		dir, err := s.dir.OpenRoot(".")
		return branch{dir}, err
	}
	dir, err := enter(s.dir, s.base, s.found)
	return branch{dir}, err
}

// branch is a directory of this machine that is being walked.
type branch struct{ dir *os.Root }

func (b branch) close() { _ = b.dir.Close() }

func (b branch) list(context.Context) ([]fs.FileInfo, error) {
	f, err := b.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.ReadDir(-1)
	out := make([]fs.FileInfo, 0, len(names))
	for _, e := range names {
		if info, err := b.dir.Lstat(e.Name()); err == nil {
			out = append(out, info)
		}
	}
	return out, err
}

func (b branch) enter(_ context.Context, e fs.FileInfo) (folder, error) {
	dir, err := enter(b.dir, e.Name(), e)
	if err != nil {
		return nil, err
	}
	return branch{dir}, nil
}

func (b branch) text(_ context.Context, e fs.FileInfo, most int64) ([]byte, error) {
	return slurp(b.dir, e.Name(), e, most)
}
