// Package home keeps the files of one Hermes home: ~/.hermes, or the folder of one profile below it.
//
// It opens the folder once and reaches everything through that handle, so that a name or a symbolic link cannot lead out of
// it. Where the home is and what its files mean is not its business (see config); nor is which tool may touch a file (see
// guard/paths).
//
// Layer 7 of 8. Failure direction: refuse. A home that somebody else could read, write or swap is repaired or not opened,
// and a file that cannot be written whole keeps its old text.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/internal/guard/checked"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
	others   fs.FileMode = 0o077 // what nobody but the owner may have
)

// ErrUnsafe is wrapped by errors about a home that cannot be trusted, because of what it is or of who else could change it.
var ErrUnsafe = errors.New("not safe to use")

// Dir is an opened home. It is safe for concurrent use. The zero value is not usable; Create and Open make one, and whoever
// got it closes it.
type Dir struct {
	root *os.Root
	path string

	fault func(step string) error // tests: what goes wrong while a file is replaced
}

// Create opens the home at path and makes it first if it does not exist. Folders above it are made, too.
func Create(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open home %s: %w", path, err)
	}
	if err := os.MkdirAll(path, dirMode); err != nil {
		return nil, fmt.Errorf("open home %s: %w", path, bare(err))
	}
	return Open(path)
}

// Open opens the home at path, which must exist: if not, the error is fs.ErrNotExist. The path may be a symbolic link (a
// home on another disk); what it leads to is what counts. Access for others is taken away. A folder that belongs to somebody
// else, or that others could replace, is refused with ErrUnsafe.
func Open(path string) (*Dir, error) {
	d, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open home %s: %w", path, bare(err))
	}
	return d, nil
}

func open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Dir(real)); err == nil && replaceable(info) {
		return nil, fmt.Errorf("%w: everybody may rename folders in %s", ErrUnsafe, filepath.Dir(real))
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	if err := secure(root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Dir{root: root, path: path}, nil
}

// secure looks at the opened folder itself: a check by name could be about another one.
func secure(root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if err := owned(info); err != nil {
		return err
	}
	if tight(info) {
		return nil
	}
	if err := root.Chmod(".", dirMode); err != nil {
		return fmt.Errorf("%w: others may enter it (mode %04o): %w", ErrUnsafe, info.Mode().Perm(), bare(err))
	}
	return nil
}

// Path returns the absolute path under which the home was opened. It is for showing and for handing to other programs.
func (d *Dir) Path() string { return d.path }

// Join returns the absolute path of a file in the home, for showing and for handing to other programs.
func (d *Dir) Join(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// Close closes the handle. What is held open in the home stays open.
func (d *Dir) Close() error { return d.root.Close() }

// Profile opens the home of a profile, which is the folder profiles/NAME, and makes it if make is set. The caller closes it;
// it outlives d. A profile of a profile does not exist: its folder would hold a second set of grants under the same name.
func (d *Dir) Profile(name checked.ProfileName, make bool) (*Dir, error) {
	if name.IsZero() {
		return nil, errors.New("open profile: no name")
	}
	if filepath.Base(filepath.Dir(d.path)) == profiles {
		return nil, fmt.Errorf("open profile %s: %s is the home of a profile already", name, d.path)
	}
	below := profiles + "/" + name.String()
	if make {
		if err := d.MkdirAll(below); err != nil {
			return nil, err
		}
	}
	info, err := d.root.Lstat(below)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open profile %s: %w", name, bare(err))
	case !info.IsDir():
		return nil, fmt.Errorf("open profile %s: %w: %s is not a folder", name, ErrUnsafe, d.Join(below))
	}
	root, err := d.root.OpenRoot(below)
	if err != nil {
		return nil, fmt.Errorf("open profile %s: %w", name, bare(err))
	}
	if err := secure(root); err != nil {
		return nil, errors.Join(fmt.Errorf("open profile %s: %w", name, err), root.Close())
	}
	return &Dir{root: root, path: d.Join(below)}, nil
}

const profiles = "profiles"

// Profiles returns the names of the profiles, in order. A folder whose name is no profile name is left out.
func (d *Dir) Profiles() ([]checked.ProfileName, error) {
	entries, err := fs.ReadDir(d.root.FS(), profiles)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list profiles: %w", bare(err))
	}
	var out []checked.ProfileName
	for _, e := range entries {
		if name, err := checked.ParseProfileName(e.Name()); err == nil && e.IsDir() {
			out = append(out, name)
		}
	}
	return out, nil
}

// bare strips the operation and path that os adds, since our errors name them already.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
