package native

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// holding watches over what a sandbox holds read-only in the work tree. A mount covers a file, not its name: when somebody on
// the host puts another file in its place, as git does with its settings, the kernel takes the cover away in every sandbox. And
// what is not there yet cannot be covered at all.
type holding struct {
	events *os.File
	dirs   map[int32]string  // by watch
	held   map[string]uint64 // path, and the number of the file; 0: nothing may be there
}

// hold begins to watch. What happens from now on is not missed.
func hold(paths, absent []string) (*holding, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	h := &holding{events: os.NewFile(uintptr(fd), "held"), dirs: map[int32]string{}, held: map[string]uint64{}}
	for i, path := range append(append([]string{}, paths...), absent...) {
		dir := filepath.Dir(path)
		w, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE|unix.IN_ONLYDIR)
		if err != nil {
			_ = h.events.Close()
			return nil, err
		}
		h.dirs[int32(w)] = dir
		if h.held[path] = 0; i < len(paths) {
			h.held[path] = number(path)
		}
	}
	return h, nil
}

// number returns what tells a file from another, 0 for none.
func number(path string) uint64 {
	var info unix.Stat_t
	if unix.Lstat(path, &info) != nil {
		return 0
	}
	return info.Ino
}

// watch returns the first path of which the hold is lost, "" when it was closed before.
func (h *holding) watch() string {
	for path, was := range h.held { // since it was covered
		if number(path) != was {
			return path
		}
	}
	buffer := make([]byte, 16<<10)
	for {
		n, err := h.events.Read(buffer)
		if err != nil {
			return ""
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			w, mask := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:end], []byte{0})
			rest = rest[end:]
			path := h.dirs[w] + "/" + string(name)
			if was, ok := h.held[path]; ok && number(path) != was {
				return path
			}
			if mask&unix.IN_Q_OVERFLOW == 0 {
				continue
			}
			for path, was := range h.held { // too much happened to be told
				if number(path) != was {
					return path
				}
			}
		}
	}
}

func (h *holding) close() {
	if h != nil {
		_ = h.events.Close()
	}
}
