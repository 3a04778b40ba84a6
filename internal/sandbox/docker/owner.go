package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/home"
)

// use is the claim of one sandbox on a container: a lock that ends with this process however that ends. As long as one is
// held the container has an owner.
type use struct {
	dir  *home.Dir
	lock *home.Lock
	file string
}

const (
	usePrefix = "container-"
	lockDir   = "locks"
	lockEnd   = ".lock"
)

// claim makes a claim on a container of a name.
func claim(ctx context.Context, state, name string) (*use, error) {
	dir, err := home.Open(state)
	if err != nil {
		return nil, err
	}
	own := usePrefix + name + "-" + random(6)
	lock, err := dir.Lock(ctx, own)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &use{dir, lock, filepath.Join(state, lockDir, own+lockEnd)}, nil
}

// release gives the claim up.
func (u *use) release() {
	if u == nil {
		return
	}
	_ = os.Remove(u.file)
	_ = u.lock.Unlock()
	_ = u.dir.Close()
}

// owned tells whether anybody has a claim on a container. Claims that nobody holds any more are removed.
func owned(state, name string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(state, lockDir, usePrefix+name+"-*"+lockEnd))
	if err != nil || len(files) == 0 {
		return false, err
	}
	dir, err := home.Open(state)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	now, cancel := context.WithCancel(context.Background())
	cancel() // one try each
	for _, file := range files {
		own := strings.TrimSuffix(filepath.Base(file), lockEnd)
		lock, err := dir.Lock(now, own)
		var held *home.HeldError
		switch {
		case errors.As(err, &held):
			return true, nil
		case err != nil:
			return false, err
		}
		_ = os.Remove(file)
		_ = lock.Unlock()
	}
	return false, nil
}

// serialize keeps everybody else of this home from doing the same thing until the func is called.
func serialize(ctx context.Context, state, what string) (func(), error) {
	dir, err := home.Open(state)
	if err != nil {
		return nil, err
	}
	lock, err := dir.Lock(ctx, what)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return func() {
		_ = lock.Unlock()
		_ = dir.Close()
	}, nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return b
}

func random(n int) string { return hex.EncodeToString(randomBytes(n)) }
