package app

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/guard/command"
	"hermes/internal/repository"
)

// maxScript is the largest script file that is read to judge what it would run.
const maxScript = 1 << 20

// closed stands for text that is not read although a shell would run it: what a pipe will hold, a script that is too long. As the
// text of a script it is code that cannot be known.
const closed = "eval \"$HERMES_CANNOT_READ_THIS\"\n"

// Script returns the text of an ordinary file of reasonable size: what a script would run. The path is absolute. Devices and
// pipes are never opened: of those, and of longer texts, it is not known.
func Script(path string) (text string, ok bool) {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", false
	}
	if strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/fd/") { // they are other files to whoever opens them
		return closed, true
	}
	info, err := os.Stat(path)
	switch {
	case err != nil, info.IsDir(), path == os.DevNull:
		return "", false
	case !info.Mode().IsRegular():
		return closed, true
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info.Size() > maxScript {
		head := make([]byte, 512)
		n, err := io.ReadFull(f, head)
		if err != nil || bytes.IndexByte(head[:n], 0) >= 0 { // a program, not a script
			return "", false
		}
		return closed, true
	}
	b, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	return string(b), err == nil && len(b) <= maxScript
}

// Tree answers what git knows of the paths in a work tree, for one check. Git is asked when the guard asks.
func Tree(dir, home string) (tracked, ignored func(path string) command.Fact) {
	r := repository.New(repository.Options{Dir: dir, Home: home})
	return r.Tracked, r.Ignored
}
