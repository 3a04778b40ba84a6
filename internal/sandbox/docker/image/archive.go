package image

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// epoch is the time of all files of an image: the earliest that every archive format can tell.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Paths returns the paths of the tree in the order of the archive.
func (t *Tree) Paths() []string { return slices.Sorted(maps.Keys(t.entries)) }

// WriteTar writes the tree as an archive: sorted, all of it root's, with one time. Files that are one on the machine are one in
// the archive.
func (t *Tree) WriteTar(ctx context.Context, w io.Writer) error {
	out := tar.NewWriter(w)
	same := map[int64][]string{} // by size
	for _, name := range t.Paths() {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := t.entries[name]
		h := &tar.Header{Name: strings.TrimPrefix(name, "/"), ModTime: epoch, Format: tar.FormatPAX, Mode: int64(e.mode.Perm())}
		if e.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		switch {
		case e.mode.IsDir():
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		case e.mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		case e.info == nil:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.text))
		default:
			h.Typeflag, h.Size = tar.TypeReg, e.info.Size()
			if twin := t.twin(same[h.Size], e); twin != "" {
				h.Typeflag, h.Size, h.Linkname = tar.TypeLink, 0, strings.TrimPrefix(twin, "/")
			} else {
				same[h.Size] = append(same[h.Size], name)
			}
		}
		if err := out.WriteHeader(h); err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
		if err := e.write(out, h); err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
	}
	return out.Close()
}

// twin returns the path of an entry that is the same file.
func (t *Tree) twin(names []string, e *entry) string {
	for _, name := range names {
		if os.SameFile(t.entries[name].info, e.info) {
			return name
		}
	}
	return ""
}

// write writes an entry's contents.
func (e *entry) write(w io.Writer, h *tar.Header) error {
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	if e.source == "" {
		_, err := io.WriteString(w, e.text)
		return err
	}
	f, err := os.Open(e.source)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(w, f, h.Size)
	return err
}
