// Package program finds the runner as a program: the small ones that scripts/build put into this binary, or this binary itself.
//
// It starts nothing and copies nothing to other machines. Failure direction: what does not have the content it was built with
// is not offered.
package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"hermes/internal/sandbox/runner"
)

// Program is what to start: with runner.Marker as the last element of its argv[0], as any copy of that name has it.
type Program struct {
	Path   string // on this machine; only its owner can write it
	Small  bool   // an embedded one
	SHA256 string // of its content, in hex; what a runner tells of itself as Inside.Build
}

// MissingError says that there is no runner for a system and machine in this build.
type MissingError struct{ OS, Arch string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("find the runner: this build has none for %s/%s", e.OS, e.Arch)
}

// Hint says what to do about it.
func (e *MissingError) Hint() string {
	return fmt.Sprintf("a release built by scripts/build has the runners of linux/amd64 and linux/arm64; for others build cmd/runner "+
		"(GOOS=%s GOARCH=%s go build ./cmd/runner) or go without", e.OS, e.Arch)
}

// Find returns the runner's program for this machine, below dir, a directory of Hermes' own in which embedded ones are kept.
// Without an embedded one it is this binary, whose content hash is left out: it is large.
func Find(dir string) (Program, error) {
	p, err := find(embedded, dir, runtime.GOOS, runtime.GOARCH)
	var missing *MissingError
	if !errors.As(err, &missing) {
		return p, err
	}
	return self()
}

// For returns the program for a system and machine as Go names them (linux, arm64), below dir as Find does. For this very
// machine this binary is as good. An error that is a *MissingError says that this build has none.
func For(dir, system, arch string) (Program, error) {
	p, err := find(embedded, dir, system, arch)
	var missing *MissingError
	if !errors.As(err, &missing) || system != runtime.GOOS || arch != runtime.GOARCH {
		return p, err
	}
	if p, err = self(); err != nil {
		return p, err
	}
	f, err := os.Open(p.Path)
	if err != nil {
		return Program{}, fmt.Errorf("find the runner: %w", err)
	}
	defer f.Close()
	if p.SHA256, err = sum(f); err != nil {
		return Program{}, fmt.Errorf("find the runner: %w", err)
	}
	return p, nil
}

// self is this binary, which is a runner when it is started as one. It is for Linux only, as all runners.
func self() (Program, error) {
	if runtime.GOOS != "linux" {
		return Program{}, &MissingError{runtime.GOOS, runtime.GOARCH}
	}
	path, err := os.Executable()
	if err != nil {
		return Program{}, fmt.Errorf("find the runner: %w", err)
	}
	// The binary of a test would run its tests, which start runners.
	if name := filepath.Base(path); strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".test.exe") {
		return Program{}, errors.New("find the runner: the binary of a test is none")
	}
	return Program{Path: path}, nil
}

// find installs an embedded program.
func find(from fs.FS, dir, system, arch string) (Program, error) {
	names := []string{"runner-" + system + "-" + arch}
	if system == runtime.GOOS && arch == runtime.GOARCH {
		names = append(names, "runner")
	}
	for _, name := range names {
		f, err := from.Open(name + ".bin")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return Program{}, fmt.Errorf("find the runner: %w", err)
		}
		defer f.Close()
		text, ok := f.(io.ReadSeeker)
		if !ok {
			return Program{}, fmt.Errorf("find the runner: %s cannot be read twice", name)
		}
		digest, err := fs.ReadFile(from, name+".sha256") // as it was built: one that is wrong does not install
		hash := strings.TrimSpace(string(digest))
		if err != nil || len(hash) != hex.EncodedLen(sha256.Size) {
			if hash, err = sum(text); err != nil {
				return Program{}, fmt.Errorf("find the runner: %w", err)
			}
		}
		path, err := install(dir, hash, text)
		return Program{path, true, hash}, err
	}
	return Program{}, &MissingError{system, arch}
}

func sum(from io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, from); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// install puts the program into dir under the name of its content, unless it is there already.
func install(dir, hash string, text io.ReadSeeker) (string, error) {
	path := filepath.Join(dir, runner.Marker+"-"+hash)
	if same(path, text) {
		return path, nil
	}
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("install the runner: %w", err)
	}
	f, err := os.CreateTemp(dir, ".runner-")
	if err != nil {
		return "", fmt.Errorf("install the runner: %w", err)
	}
	defer os.Remove(f.Name())
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), text)
	if err == nil && hex.EncodeToString(h.Sum(nil)) != hash {
		err = errors.New("the embedded program is not what was built")
	}
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
func same(path string, text io.ReadSeeker) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return false
	}
	const piece = 64 << 10
	want, have := make([]byte, piece), make([]byte, piece)
	for {
		n, err := io.ReadFull(text, want)
		m, bad := io.ReadFull(f, have)
		if !bytes.Equal(want[:n], have[:m]) {
			return false
		}
		switch {
		case err == nil && bad == nil:
		case (err == io.EOF || err == io.ErrUnexpectedEOF) && (bad == io.EOF || bad == io.ErrUnexpectedEOF):
			return true
		default:
			return false
		}
	}
}
