package native

import (
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

// mountWatch counts how often something was mounted on the host or taken away.
type mountWatch struct {
	fd     int // of a list of mounts; 0: not opened yet
	number uint64
}

// now returns the number. It is another one whenever it may have changed.
func (m *mountWatch) now() uint64 {
	if m.fd == 0 {
		fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			m.number++
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

func (m *mountWatch) close() {
	if m.fd != 0 {
		_ = unix.Close(m.fd)
		m.fd = 0
	}
}
