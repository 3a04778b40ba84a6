package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/home"
)

// Folder is a folder for one demo, locked as long as that lasts. Whoever made it removes it.
type Folder struct {
	Path string

	dir  *home.Dir
	lock *home.Lock
}

const (
	prefix   = "hermes-demo-"
	lockName = "demo"
	lockFile = "locks/demo.lock"
	// young is how old a folder without a lock may be that somebody is still about to lock.
	young = time.Hour
)

// NewFolder makes a folder in parent; "" is where this system keeps what is temporary.
func NewFolder(parent string) (f *Folder, err error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}()
	// Links on the way to it (/tmp on macOS) are not part of the show.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	f = &Folder{Path: path}
	if f.dir, err = home.Open(path); err != nil {
		return nil, err
	}
	if f.lock, err = f.dir.Lock(context.Background(), lockName); err != nil {
		return nil, errors.Join(err, f.dir.Close())
	}
	return f, nil
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	_ = f.lock.Unlock() // which is about to go anyway
	return errors.Join(f.dir.Close(), os.RemoveAll(f.Path))
}

// Sweep removes from parent the folders of demos that were killed, and tells about each before it goes. A folder whose lock somebody
// holds, or that somebody else owns, stays. What cannot be removed stays for the next time.
func Sweep(parent string, tell func(path string)) {
	all, _ := os.ReadDir(parent)
	for _, e := range all {
		if path := filepath.Join(parent, e.Name()); e.IsDir() && strings.HasPrefix(e.Name(), prefix) && dead(path) {
			tell(path)
			_ = os.RemoveAll(path)
		}
	}
}

// dead tells whether a folder is one of ours whose demo has ended without removing it.
func dead(path string) bool {
	dir, err := home.Open(path) // which is nobody else's
	if err != nil {
		return false
	}
	defer dir.Close()
	// A lock file is empty until it is locked.
	if info, err := dir.Stat(lockFile); err != nil || info.Size() == 0 {
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) > young
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	lock, err := dir.Lock(now, lockName)
	if err != nil {
		return false
	}
	_ = lock.Unlock() // nobody takes it any more
	return true
}
