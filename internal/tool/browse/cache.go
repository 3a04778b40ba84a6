package browse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"hermes/internal/home"
)

// Store keeps files. Implementation: home.Dir. A file is there whole, or not at all.
type Store interface {
	MkdirAll(name string) error
	WriteFile(name string, text []byte) error
	List(name string) ([]fs.FileInfo, error)
	Remove(name string) error
	Join(name string) string // the path of a file, for showing
	Lock(ctx context.Context, name string) (*home.Lock, error)
}

// Folder is where downloads go, in the home.
const Folder = "cache/downloads"

// mostKept is how many bytes of downloads are kept where nobody has set it.
const mostKept = 1 << 30

// put writes a file into the folder, after as many of the oldest have gone as it takes to stay within the limit. One process does so
// at a time; two that each made room for their own file would be above the limit together.
func (d Download) put(ctx context.Context, base string, text []byte) (err error) {
	most := d.Total
	if most <= 0 {
		most = mostKept
	}
	if int64(len(text)) > most {
		return fmt.Errorf("the file has %d bytes, and downloads may take %d in all: see web.download_cache_mb", len(text), most)
	}
	if err := d.Store.MkdirAll(Folder); err != nil {
		return err
	}
	lock, err := d.Store.Lock(ctx, "downloads")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := d.makeRoom(base, most-int64(len(text))); err != nil {
		return err
	}
	return d.Store.WriteFile(Folder+"/"+base, text)
}

// makeRoom removes the oldest files until what is left, without the one that is about to be replaced, has no more than most bytes.
func (d Download) makeRoom(replaced string, most int64) error {
	all, err := d.Store.List(Folder)
	if err != nil {
		return err
	}
	var total int64
	kept := all[:0]
	for _, f := range all {
		switch name := f.Name(); {
		case !f.Mode().IsRegular() || name == replaced:
		case strings.HasPrefix(name, "."):
			// No download is named so: this is the draft of a writer that was killed, since who writes has the lock.
			if err := d.drop(name); err != nil {
				return err
			}
		default:
			total += f.Size()
			kept = append(kept, f)
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		if c := a.ModTime().Compare(b.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.Name(), b.Name())
	})
	for _, f := range kept {
		if total <= most {
			break
		}
		if err := d.drop(f.Name()); err != nil {
			return err
		}
		total -= f.Size()
	}
	return nil
}

// drop removes a file that may be gone already: it is the owner's folder, too.
func (d Download) drop(base string) error {
	if err := d.Store.Remove(Folder + "/" + base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make room for a download: %w", err)
	}
	return nil
}
