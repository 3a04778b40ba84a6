package app

import (
	"io"
	"os"
	"path/filepath"

	"hermes/internal/guard/command"
	"hermes/internal/repository"
)

// maxScript is the largest script file that is read to judge what it would run.
const maxScript = 1 << 20

// Script returns the text of an ordinary file of reasonable size: what a script would run. The path is absolute. Devices and
// pipes are never opened.
func Script(path string) (text string, ok bool) {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	return string(b), err == nil && len(b) <= maxScript
}

// Tree answers what git knows of the paths in a work tree, for one check. Git is asked when the guard asks.
func Tree(dir, home string) (tracked, ignored func(path string) command.Fact) {
	r := repository.New(repository.Options{Dir: dir, Home: home})
	return r.Tracked, r.Ignored
}
