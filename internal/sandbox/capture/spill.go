package capture

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// openSpill makes a new file that only we can read, in a directory that is ours. A link in the place of the directory is
// refused, and so is a directory that others can write to. Files that are too old go.
func openSpill(dir string, now time.Time) (*spill, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	case info.Mode().Perm()&0o022 != 0:
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("others can write to it")}
	}
	root, err := os.OpenRoot(dir) // what follows is in the directory that was looked at, or in none
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if at, err := root.Stat("."); err != nil || !os.SameFile(info, at) {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("it was exchanged")}
	}
	prune(root, now)
	id := make([]byte, 4)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("out-%d-%d-%s.log", now.Unix(), os.Getpid(), hex.EncodeToString(id))
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &spill{f: f, left: spillLimit}, nil
}

// prune removes our files that are too old.
func prune(root *os.Root, now time.Time) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "out-") || !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keepSpill {
			_ = root.Remove(e.Name())
		}
	}
}
