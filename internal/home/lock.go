package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Lock keeps other holders of the same name out, in this process and in others. The system gives it back when its holder
// ends, however it ends, so a stale lock does not exist.
type Lock struct {
	d    *Dir
	file string
	f    *os.File
}

// HeldError says that a lock could not be had in time, and who holds it.
type HeldError struct {
	Name   string
	Holder string // "pid 4711 since 2026-11-30T10:02:03Z", "" if it did not say
	Cause  error  // what ended the waiting
}

// Error names the lock and its holder.
func (e *HeldError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("lock %s: held by %s: %v", e.Name, holder, e.Cause)
}

// Unwrap returns what ended the waiting.
func (e *HeldError) Unwrap() error { return e.Cause }

const (
	locks   = "locks"
	minWait = time.Millisecond
	maxWait = 50 * time.Millisecond
)

// Lock waits until name is free or ctx ends; then the error is a *HeldError. The name is one path component. The caller
// calls Unlock.
func (d *Dir) Lock(ctx context.Context, name string) (*Lock, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
		return nil, fmt.Errorf("lock %q: not a name", name)
	}
	if err := d.MkdirAll(locks); err != nil {
		return nil, err
	}
	file := locks + "/" + name + ".lock"
	for wait := minWait; ; wait = min(2*wait, maxWait) {
		f, err := d.tryLock(file)
		switch {
		case err == nil:
			return &Lock{d: d, file: file, f: f}, nil
		case !errors.Is(err, errHeld):
			return nil, fmt.Errorf("lock %s: %w", name, bare(err))
		}
		select {
		case <-ctx.Done():
			return nil, &HeldError{Name: name, Holder: d.holder(file), Cause: context.Cause(ctx)}
		case <-time.After(wait):
		}
	}
}

// errHeld tells that somebody else has the lock.
var errHeld = errors.New("held")

// tryLock takes the lock without waiting. A lock file that was removed or replaced in between locks nobody out, so it is
// left to itself.
func (d *Dir) tryLock(file string) (*os.File, error) {
	f, err := d.open(file, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mine, err := f.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = d.root.Stat(file); err != nil || !os.SameFile(mine, named) {
			err = errHeld
		}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "pid %d since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// holder returns what the holder wrote about itself.
func (d *Dir) holder(file string) string {
	f, err := d.root.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 256))
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// Discard gives the lock back, and leaves no file of its name where the system removes files that are open. A second call does
// nothing.
func (l *Lock) Discard() error {
	if l.f != nil {
		_ = l.d.root.Remove(l.file) // one that stays locks nobody out
	}
	return l.Unlock()
}

// Unlock gives the lock back. A second call does nothing.
func (l *Lock) Unlock() error {
	f := l.f
	if f == nil {
		return nil
	}
	l.f = nil
	err := f.Truncate(0)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("unlock: %w", bare(err))
	}
	return nil
}
