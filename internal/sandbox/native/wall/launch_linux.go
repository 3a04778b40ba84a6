package wall

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Request asks the launcher for something. The launcher answers each with the same ID, opening ones in order.
type Request struct {
	ID    uint64
	End   bool     // end the process of this ID, or of every one if it is gone anyway: kill, reap, remove its groups
	Flags uintptr  // namespaces of the new process
	Procs []string // cgroup.procs files that the new process is written to
	Dirs  []string // cgroups that go when it ends
}

// Answer is what became of a request.
type Answer struct {
	ID    uint64
	PID   int
	Errno int    // 0: done
	What  string // what failed
}

// Marshal returns the message. The socket keeps messages apart.
func (r *Request) Marshal() []byte {
	var w writer
	w.number(r.ID)
	w.flag(r.End)
	w.number(uint64(r.Flags))
	w.list(r.Procs)
	w.list(r.Dirs)
	return w
}

func parseRequest(text []byte) (*Request, error) {
	r := reader{rest: text}
	q := &Request{ID: r.number(), End: r.flag(), Flags: uintptr(r.number()), Procs: r.list(), Dirs: r.list()}
	return q, r.end()
}

func (a *Answer) marshal() []byte {
	var w writer
	w.number(a.ID)
	w.number(uint64(a.PID))
	w.number(uint64(a.Errno))
	w.text(a.What)
	return w
}

// ParseAnswer reads an answer.
func ParseAnswer(text []byte) (*Answer, error) {
	r := reader{rest: text}
	a := &Answer{ID: r.number(), PID: int(r.number()), Errno: int(r.number()), What: r.text()}
	return a, r.end()
}

// LargestRequest is the size of the largest message to the launcher.
const LargestRequest = 64 << 10

// Launch is the launcher's whole life: it makes processes on request, ends them, and when the socket fd closes, which it
// does however hermes ended, takes all of them along and returns the exit code. argv is what a new process runs of this
// same program, to arrive in Enter with the descriptor 3.
//
// It is a process of its own because a new user namespace needs a real fork, which costs a large process dearly. It must be
// called on the main thread, which the processes it makes are bound to.
func Launch(fd int, argv ...string) int {
	runtime.LockOSThread()
	unix.CloseOnExec(fd)
	_ = unix.Setgroups(nil) // as root: groups that are nobody's inside still open the host's files
	l := launcher{fd: fd, argv: argv, alive: map[uint64]*started{}}
	buffer, oob := make([]byte, LargestRequest), make([]byte, 64)
	for {
		n, oobn, _, _, err := unix.Recvmsg(fd, buffer, oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			l.endAll()
			return 0
		}
		passed := descriptors(oob[:oobn])
		q, err := parseRequest(buffer[:n])
		switch {
		case err != nil:
			l.answer(&Answer{Errno: int(unix.EBADMSG), What: "read request"})
		case q.End:
			l.end(q.ID)
		case len(passed) != 1:
			l.answer(&Answer{ID: q.ID, Errno: int(unix.EBADF), What: "read request"})
		default:
			l.start(q, passed[0])
		}
		for _, d := range passed {
			_ = unix.Close(d)
		}
	}
}

type launcher struct {
	fd   int
	argv []string

	ending sync.WaitGroup // ends under way

	mu    sync.Mutex
	alive map[uint64]*started
}

// started is one process and what goes with it.
type started struct {
	pid  int
	dirs []string
}

func (l *launcher) answer(a *Answer) {
	_ = unix.Sendto(l.fd, a.marshal(), unix.MSG_NOSIGNAL, nil)
}

func descriptors(oob []byte) (out []int) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		if fds, err := unix.ParseUnixRights(&m); err == nil {
			out = append(out, fds...)
		}
	}
	return out
}

// Capabilities that putting up the walls takes: mounts, the loopback, giving the rest away. An ordinary user's process would
// lose them at exec.
var building = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

func (l *launcher) start(q *Request, fd int) {
	sys := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: q.Flags}
	if q.Flags&unix.CLONE_NEWUSER != 0 {
		uid, gid := os.Getuid(), os.Getgid()
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		sys.AmbientCaps = building
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		l.answer(refusal(q.ID, "open /dev/null", err))
		return
	}
	defer unix.Close(null)
	n := uintptr(null)
	pid, err := syscall.ForkExec("/proc/self/exe", l.argv, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: []uintptr{n, n, 2, uintptr(fd)}, Sys: sys,
	})
	if err != nil {
		l.answer(refusal(q.ID, "make the namespaces", err))
		return
	}
	s := &started{pid, slices.Clone(q.Dirs)}
	l.mu.Lock()
	l.alive[q.ID] = s
	l.mu.Unlock()
	// Joining a group can take the kernel long; the process starts up meanwhile, and others are served.
	go func() {
		for _, file := range q.Procs {
			if err := join(file, pid); err != nil {
				if l.forget(q.ID) != nil {
					s.end()
				}
				l.answer(refusal(q.ID, "join "+file, err))
				return
			}
		}
		l.answer(&Answer{ID: q.ID, PID: pid})
	}()
}

// forget takes a process out of those alive, nil if somebody did before. Who gets it ends it.
func (l *launcher) forget(id uint64) *started {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.alive[id]
	delete(l.alive, id)
	return s
}

func refusal(id uint64, what string, err error) *Answer {
	a := &Answer{ID: id, What: what, Errno: int(unix.EIO)}
	var no syscall.Errno
	if errors.As(err, &no) {
		a.Errno = int(no)
	}
	return a
}

// join writes a process to a control group.
func join(file string, pid int) error {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(decimal(pid)))
	return err
}

func decimal(n int) string {
	var digits [20]byte
	at := len(digits)
	for {
		at--
		digits[at] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(digits[at:])
		}
	}
}

// end ends one process. It answers when everything in its namespaces is gone, which takes long where there is much: others
// are served meanwhile.
func (l *launcher) end(id uint64) {
	s := l.forget(id)
	if s == nil {
		l.answer(&Answer{ID: id, Errno: int(unix.ESRCH), What: "end"})
		return
	}
	l.ending.Go(func() {
		s.end()
		l.answer(&Answer{ID: id, PID: s.pid})
	})
}

func (l *launcher) endAll() {
	l.mu.Lock() // for good: the launcher ends
	for _, s := range l.alive {
		_ = unix.Kill(s.pid, unix.SIGKILL)
	}
	for _, s := range l.alive {
		s.end()
	}
	l.ending.Wait()
}

// end kills the process, waits until the kernel has killed all that was in its namespace, and removes its groups. The number
// is its own until it is reaped here.
func (s *started) end() {
	_ = unix.Kill(s.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(s.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	for _, dir := range s.dirs {
		for range 100 { // the kernel lets go of the last process a moment after it was reaped
			if err := unix.Rmdir(dir); !errors.Is(err, unix.EBUSY) {
				break
			}
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
	}
}
