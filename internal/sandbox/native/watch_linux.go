package native

import (
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// watch tells whether anything was made, removed, renamed or given other rights in some directories. The nil watch watches
// nothing.
type watch struct {
	fd     int
	failed bool
}

func newWatch() *watch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &watch{fd: fd}
}

const changes = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

func (w *watch) add(dir string) {
	if w == nil {
		return
	}
	if _, err := unix.InotifyAddWatch(w.fd, dir, changes|unix.IN_ONLYDIR); err != nil {
		w.failed = true
	}
}

// whole tells whether all directories are watched.
func (w *watch) whole() bool { return w != nil && !w.failed }

// changed tells whether something changed since it was asked last. In doubt it did.
func (w *watch) changed() bool {
	var events [4096]byte
	any := false
	for {
		n, err := unix.Read(w.fd, events[:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return any
		case err != nil || n == 0:
			return true
		default:
			any = true
		}
	}
}

func (w *watch) close() {
	if w != nil {
		_ = unix.Close(w.fd)
	}
}

// mountWatch knows what is mounted on the host.
type mountWatch struct {
	mu     sync.Mutex
	fd     int // of a list of mounts; 0: not opened yet
	number uint64
	read   uint64 // number when lines was read
	lines  []mounted
}

// mounted is one mount: where, and all that is said of it.
type mounted struct{ target, line string }

// now returns a number that is another one whenever something may have been mounted or taken away.
func (m *mountWatch) now() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.look()
}

func (m *mountWatch) look() uint64 {
	if m.fd == 0 {
		m.number++
		fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return m.number
		}
		m.fd = fd
	}
	p := []unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLPRI}}
	if n, err := unix.Poll(p, 0); n != 0 || err != nil {
		m.number++
	}
	return m.number
}

// around appends what is mounted at, above or below some paths.
func (m *mountWatch) around(text []byte, paths []string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.look(); m.read != now {
		m.read, m.lines = now, m.lines[:0]
		all, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			all = []byte(random()) // like nothing that was or will be
			m.read = 0
		}
		for line := range strings.Lines(string(all)) {
			mount, _ := parseMount(line)
			m.lines = append(m.lines, mounted{mount.target, line})
		}
	}
	for _, mount := range m.lines {
		if slices.ContainsFunc(paths, func(path string) bool { return within(mount.target, path) || within(path, mount.target) }) {
			text = append(text, mount.line...)
		}
	}
	return text
}

func (m *mountWatch) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fd != 0 {
		_ = unix.Close(m.fd)
		m.fd = 0
	}
}
