// Package program finds the runner as a program: the small one that scripts/build put into this binary, or this binary itself.
//
// It starts nothing. Failure direction: what does not have the content it was built with is not offered.
package program

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/sandbox/runner"
)

// Program is what to start, with runner.Marker as its argv[0].
type Program struct {
	Path  string
	Small bool // the embedded one
}

// Find returns the runner's program below dir, a directory of Hermes' own in which the embedded one is kept. Without an
// embedded one it is this binary.
func Find(dir string) (Program, error) {
	if len(embedded) > 0 {
		path, err := install(dir, embedded)
		return Program{path, true}, err
	}
	self, err := os.Executable()
	if err != nil {
		return Program{}, fmt.Errorf("find the runner: %w", err)
	}
	// The binary of a test would run its tests, which start runners.
	if name := filepath.Base(self); strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".test.exe") {
		return Program{}, errors.New("find the runner: the binary of a test is none")
	}
	return Program{Path: self}, nil
}

// install puts the program into dir under the name of its content, unless it is there already.
func install(dir string, text []byte) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("%s-%x", runner.Marker, sha256.Sum256(text)))
	if same(path, text) {
		return path, nil
	}
	f, err := os.CreateTemp(dir, ".runner-")
	if err != nil {
		return "", fmt.Errorf("install the runner: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o500), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil && !same(path, text) {
		err = errors.New("it is not what was written")
	}
	if err != nil {
		return "", fmt.Errorf("install the runner: %w", err)
	}
	return path, nil
}

// same tells whether an ordinary file that only we can write holds text.
func same(path string, text []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || info.Size() != int64(len(text)) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	found, err := io.ReadAll(f)
	return err == nil && bytes.Equal(found, text)
}
