package home

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// maxRead bounds what is read of one file: a home holds settings and records, and a file without an end must not fill the
// memory.
const maxRead = 64 << 20

// Read returns a file's text. A missing file is fs.ErrNotExist. Only regular files are read, and access for others is taken
// away first.
func (d *Dir) Read(name string) ([]byte, error) {
	text, err := d.read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Join(name), bare(err))
	}
	return text, nil
}

func (d *Dir) read(name string) ([]byte, error) {
	f, err := d.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxRead:
		return nil, fmt.Errorf("more than %d MiB", maxRead>>20)
	}
	return text, nil
}

// open opens a regular file of ours and takes access for others away.
func (d *Dir) open(name string, flags int) (*os.File, error) {
	// Before opening, since opening a pipe waits for its other end.
	if info, err := d.root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a regular file", ErrUnsafe)
	}
	f, err := d.root.OpenFile(name, flags, fileMode)
	if err != nil {
		return nil, err
	}
	if err := secureFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func secureFile(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: not a regular file", ErrUnsafe)
	}
	if err := owned(info); err != nil {
		return err
	}
	if tight(info) {
		return nil
	}
	if err := f.Chmod(info.Mode().Perm() &^ others); err != nil {
		return fmt.Errorf("%w: others may read it (mode %04o): %w", ErrUnsafe, info.Mode().Perm(), bare(err))
	}
	return nil
}

// Stat describes what name leads to, without opening it.
func (d *Dir) Stat(name string) (fs.FileInfo, error) {
	info, err := d.root.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", d.Join(name), bare(err))
	}
	return info, nil
}

// MkdirAll makes a folder and those above it. Each is for the owner only.
func (d *Dir) MkdirAll(name string) error {
	if err := d.root.MkdirAll(name, dirMode); err != nil {
		return fmt.Errorf("make folder %s: %w", d.Join(name), bare(err))
	}
	return nil
}

// WriteFile replaces a file's text, or makes the file. Whatever happens in between (a full disk, a kill, a power cut), the
// file holds the old text or the new one, whole. On return without error the new text is on the disk.
//
// It does not wait for others that write: hold a Lock from reading the old text to writing the new one. A symbolic link is
// not replaced, since its owner meant the file behind it.
func (d *Dir) WriteFile(name string, text []byte) error {
	if err := d.replace(name, text); err != nil {
		return fmt.Errorf("write %s: %w", d.Join(name), bare(err))
	}
	return nil
}

func (d *Dir) replace(name string, text []byte) error {
	if info, err := d.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%w: a symbolic link", ErrUnsafe)
		}
		return fmt.Errorf("%w: not a regular file", ErrUnsafe)
	}
	dir, base := path.Split(name)
	prefix := "." + base + temporary
	draft := dir + prefix + rand.Text()
	if err := d.draft(draft, text); err != nil {
		return err
	}
	err := d.step("rename")
	if err == nil {
		err = d.root.Rename(draft, name)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(draft))
	}
	d.sweep(dir, prefix)
	return d.syncDir(dir)
}

// draft writes text to a new file and sees it onto the disk. Nothing is left of a file that did not get there.
func (d *Dir) draft(name string, text []byte) error {
	f, err := d.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	err = d.step("write")
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = d.step("sync")
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errors.Join(bare(err), d.root.Remove(name))
	}
	return nil
}

func (d *Dir) step(name string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(name)
}

// temporary marks the names of files that are being written.
const temporary = ".tmp-"

// abandoned is the age at which a draft has no writer any more: it took its writer's kill to stay.
const abandoned = time.Hour

// sweep removes drafts of the same file whose writers were killed. What cannot be removed stays: it harms nothing.
func (d *Dir) sweep(dir, prefix string) {
	entries, err := fs.ReadDir(d.root.FS(), path.Clean(dir))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = d.root.Remove(dir + e.Name())
		}
	}
}

// syncDir sees a folder's entries onto the disk: without it a new name may be gone after a power cut.
func (d *Dir) syncDir(dir string) error {
	f, err := d.root.Open(path.Clean(dir))
	if err != nil {
		return err
	}
	err = syncFolder(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Append adds text at a file's end, in one piece: it waits for other processes that append, and takes back what did not go
// in whole. On return without error the text is on the disk.
func (d *Dir) Append(name string, text []byte) error {
	if err := d.append(name, text); err != nil {
		return fmt.Errorf("append to %s: %w", d.Join(name), bare(err))
	}
	return nil
}

func (d *Dir) append(name string, text []byte) error {
	_, before := d.root.Stat(name)
	f, err := d.open(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return err
	}
	defer f.Close() // gives the lock back
	if err := lockFile(f, true); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(bare(err), f.Truncate(info.Size()))
	}
	if errors.Is(before, fs.ErrNotExist) {
		dir, _ := path.Split(name)
		return d.syncDir(dir)
	}
	return nil
}

// List describes what is in a folder, drafts of files that are being written included. A symbolic link is not followed.
func (d *Dir) List(name string) ([]fs.FileInfo, error) {
	entries, err := fs.ReadDir(d.root.FS(), path.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", d.Join(name), bare(err))
	}
	out := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		switch info, err := e.Info(); {
		case err == nil:
			out = append(out, info)
		case !errors.Is(err, fs.ErrNotExist): // it went in between
			return nil, fmt.Errorf("list %s: %w", d.Join(name), bare(err))
		}
	}
	return out, nil
}

// Remove removes a file or an empty folder. A missing one is fs.ErrNotExist.
func (d *Dir) Remove(name string) error {
	err := d.root.Remove(name)
	if err == nil {
		dir, _ := path.Split(name)
		err = d.syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", d.Join(name), bare(err))
	}
	return nil
}
