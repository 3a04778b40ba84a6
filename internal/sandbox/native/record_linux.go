package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/child/proc"
)

// Record tells about an open sandbox, of this process or another.
type Record struct {
	ID      string    `json:"id"`
	Tree    string    `json:"work_tree"`
	Session string    `json:"session"`
	Owner   int       `json:"owner"` // process that opened it
	PID     int       `json:"pid"`   // its first process, as seen from outside
	Born    uint64    `json:"born"`  // when that was started, in clock ticks
	Opened  time.Time `json:"opened"`
	Stale   bool      `json:"stale"` // its owner is gone
}

const recordSuffix = ".sandbox"

// record is the file of an open sandbox. Its owner holds a lock on it, which ends with the process however that ends.
type record struct{ file *os.File }

// note writes a record down. Without a directory for it there is none.
func note(dir string, r Record) (*record, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, r.ID+recordSuffix)
	if f := whole(dir, name, text); f != nil {
		return &record{f}, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := fill(f, text); err != nil {
		return nil, errors.Join(err, os.Remove(name), f.Close())
	}
	return &record{f}, nil
}

// whole makes a record that is there with its lock and all of its text, or not at all, whenever this process is killed. Not every
// file system can: then it is nil.
func whole(dir, name string, text []byte) *os.File {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	err = fill(f, text)
	if err == nil {
		err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

func fill(f *os.File, text []byte) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	_, err := f.Write(text)
	return err
}

func (r *record) remove() {
	if r != nil {
		_ = os.Remove(r.file.Name())
		_ = r.file.Close()
	}
}

// List returns the sandboxes that are open, or were when their owner died, in the order of their names.
func List(dir string) ([]Record, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+recordSuffix))
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, name := range names {
		r, ok, err := read(name)
		if err != nil {
			return out, fmt.Errorf("read %s: %w", name, err)
		}
		if ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// writeTime is more than it takes to write a record where that is no single step.
const writeTime = time.Minute

// read reads one record. One that is just being written, or removed, is none.
func read(name string) (r Record, ok bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	} else if err != nil {
		return r, false, err
	}
	defer f.Close()
	free := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
	var text bytes.Buffer
	if _, err := text.ReadFrom(f); err != nil {
		return r, false, err
	}
	if json.Unmarshal(text.Bytes(), &r) != nil {
		r = Record{ID: strings.TrimSuffix(filepath.Base(name), recordSuffix)}
		info, err := f.Stat()
		r.Stale = free && err == nil && time.Since(info.ModTime()) > writeTime
		return r, r.Stale, nil
	}
	r.Stale = free
	return r, true, nil
}

// Stop kills a sandbox with everything in it. Its owner is told that it broke.
func Stop(dir, id string) error {
	all, err := List(dir)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.ID != id {
			continue
		}
		if r.Stale {
			return fmt.Errorf("stop %s: its owner is gone", id)
		}
		fd, err := unix.PidfdOpen(r.PID, 0)
		if err != nil {
			return fmt.Errorf("stop %s: %w", id, err)
		}
		defer unix.Close(fd)
		if birth(r.PID) != r.Born || r.Born == 0 {
			return fmt.Errorf("stop %s: process %d is another one by now", id, r.PID)
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
			return fmt.Errorf("stop %s: %w", id, err)
		}
		return nil
	}
	return fmt.Errorf("stop %s: no such sandbox", id)
}

// Clean removes what owners that are gone left behind, records and control groups, and returns what it removed.
func Clean(dir string) ([]string, error) {
	all, err := List(dir)
	var out []string
	for _, r := range all {
		if name := filepath.Join(dir, r.ID+recordSuffix); r.Stale {
			if removed := os.Remove(name); removed != nil && !errors.Is(removed, os.ErrNotExist) {
				err = errors.Join(err, removed)
				continue
			}
			out = append(out, name)
		}
	}
	return append(out, findGroups().sweep()...), err
}

// birth returns when a process was started, in clock ticks since the machine was; 0 if it is not there.
func birth(pid int) uint64 {
	p, _ := proc.Look(pid)
	return p.Born
}
