package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// volume is where files are. Implementations: host, inside.
type volume interface {
	native(slashed string) string
	find(ctx context.Context, full string, follow bool) (place, error)
	twins(ctx context.Context, p place, guarded []string) ([]string, error)
	tree(ctx context.Context, p place) (folder, error)
}

// place is one name in a directory, as it was found. Implementations: spot (host), remote (inside). Not for concurrent use.
type place interface {
	names() []string   // every name it was reached by; the last is where it lies
	folds() bool       // names there that differ only in case are one
	info() fs.FileInfo // nil: there is nothing
	read(ctx context.Context, most int64) ([]byte, error)
	draft(ctx context.Context, text []byte, mode fs.FileMode) (draft, error)
	remove(ctx context.Context) error
	close()
}

// draft is a file that is whole on the disk and does not have its name yet.
type draft interface {
	commit() error // fails where what is there is not what was found
	discard()
}

// folder is a directory to walk. Safe for concurrent use.
type folder interface {
	list(ctx context.Context) ([]fs.FileInfo, error)
	enter(ctx context.Context, entry fs.FileInfo) (folder, error)
	text(ctx context.Context, entry fs.FileInfo, most int64) ([]byte, error)
	close()
}

// Errors about what a file is.
var (
	ErrChanged  = errors.New("it changed meanwhile: read it again")
	ErrExists   = errors.New("there is a file of that name")
	ErrOrdinary = errors.New("not an ordinary file")
	ErrFolder   = errors.New("it is a directory")
	ErrLarge    = errors.New("too large")
	ErrBinary   = errors.New("not text")
	ErrLinks    = errors.New("it leads over a link, which cannot be followed there: give the path that the link leads to")
	ErrRemove   = errors.New("file tools cannot remove files there: use the terminal")
)

// bare takes the names of temporary files and of relative parts out of an error: the caller's own name stands before it.
func bare(err error) error {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		return one.Err
	case errors.As(err, &two):
		return two.Err
	}
	return err
}

// ordinary refuses what no tool opens.
func ordinary(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrFolder
	case !info.Mode().IsRegular():
		return ErrOrdinary
	}
	return nil
}
