package wall

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
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
	Old   []string // version 1 cgroups, below the launcher's own, that the new process is in and that go when it ends
	New   string   // the same of version 2; empty: none
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
	w.list(r.Old)
	w.text(r.New)
	return w
}

func parseRequest(text []byte) (*Request, error) {
	r := reader{rest: text}
	q := &Request{ID: r.number(), End: r.flag(), Flags: uintptr(r.number()), Old: r.list(), New: r.text()}
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
// does however hermes ended, takes all of them along, with the groups, and returns the exit code. argv is what a new process
// runs of this same program, to arrive in Enter with the descriptor 3.
//
// It is a process of its own because a new user namespace needs a real fork, which costs a large process dearly. It must be
// called on the main thread, which the processes it makes are bound to.
func Launch(fd int, groups Groups, argv ...string) int {
	runtime.LockOSThread()
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP) // whoever ends all at once leaves it to clean up
	unix.CloseOnExec(fd)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	ordinary()
	_ = unix.Setgroups(nil) // as root: groups that are nobody's inside still open the host's files
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 1
	}
	l := launcher{fd: fd, null: null, argv: argv, groups: groups, alive: map[uint64]*started{}}
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
		if l.broken != nil {
			l.endAll()
			return 1
		}
		for _, d := range passed {
			_ = unix.Close(d)
		}
	}
}

// ordinary lets go of real-time scheduling, which hermes may have been started with: no command may keep a processor for itself,
// and threads that wait for each other by turns would, too.
func ordinary() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err == nil && (attr.Policy == unix.SCHED_FIFO || attr.Policy == unix.SCHED_RR || attr.Policy == unix.SCHED_DEADLINE) {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0)
	}
}

type launcher struct {
	fd     int
	null   int
	argv   []string
	groups Groups
	broken error // it is in a group that is not its own

	ending sync.WaitGroup // ends under way

	mu    sync.Mutex
	alive map[uint64]*started
}

// started is one process and what goes with it.
type started struct {
	pid    int
	dirs   []string
	mounts int // its mount namespace, -1 for none
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

// single is the environment of a process on its way in. Each of its threads takes part in what holds for all of them: the fewer
// the runtime starts until then, the better.
const single = "GOMAXPROCS=1"

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
	groups, err := l.join(q, sys)
	if err != nil {
		l.answer(refusal(q.ID, "join a control group", err))
		return
	}
	// What this process holds is not for others of the same user. Its child must be theirs to look at until it is another program,
	// or an ordinary user could not say whom it is inside.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }()
	n := uintptr(l.null)
	attr := &syscall.ProcAttr{Dir: "/", Env: []string{single}, Files: []uintptr{n, n, 2, uintptr(fd)}, Sys: sys}
	pid, err := syscall.ForkExec("/proc/self/exe", l.argv, attr)
	if err != nil && sys.UseCgroupFD { // older than clone3, or it is refused: it joins like any other
		sys.UseCgroupFD = false
		if pid, err = syscall.ForkExec("/proc/self/exe", l.argv, attr); err == nil {
			if err = write(q.New+"/cgroup.procs", decimal(pid)); err != nil {
				(&started{pid: pid, mounts: -1}).end()
			}
		}
	}
	if back := groups.leave(); back != nil {
		l.broken = back // the next process would be in the wrong groups
	}
	if err != nil {
		l.answer(refusal(q.ID, "make the namespaces", err))
		return
	}
	s := &started{pid: pid, dirs: slices.Clone(q.Old)}
	if q.New != "" {
		s.dirs = append(s.dirs, q.New)
	}
	l.mu.Lock()
	l.alive[q.ID] = s
	l.mu.Unlock()
	l.answer(&Answer{ID: q.ID, PID: pid})
	// Whoever is the last in a mount namespace takes it down before his end can be waited for. This one will not be the last.
	s.mounts, err = unix.Open("/proc/"+decimal(pid)+"/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		s.mounts = -1
	}
}

// joined is where this thread is while it makes a process.
type joined struct {
	home []string // task files of the groups it came from
	fd   int      // of the version 2 group, -1 for none
}

// join sees to it that the next process is in the groups of a request from its first moment. To move a process that exists
// the kernel waits until no processor can be looking at it any more, which takes it milliseconds and makes everybody who
// starts a thread wait. A thread that moves itself, and what it then makes, costs nothing.
func (l *launcher) join(q *Request, sys *syscall.SysProcAttr) (*joined, error) {
	j := &joined{fd: -1}
	for _, dir := range q.Old {
		if err := write(dir+"/tasks", "0"); err != nil {
			return nil, errors.Join(err, j.leave())
		}
		j.home = append(j.home, filepath.Dir(dir)+"/tasks")
	}
	if q.New != "" {
		fd, err := unix.Open(q.New, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, errors.Join(err, j.leave())
		}
		j.fd, sys.UseCgroupFD, sys.CgroupFD = fd, true, fd
	}
	return j, nil
}

// leave goes back.
func (j *joined) leave() (err error) {
	for _, file := range j.home {
		err = errors.Join(err, write(file, "0"))
	}
	if j.fd >= 0 {
		_ = unix.Close(j.fd)
	}
	return err
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

// write writes a few bytes to a file of the kernel's.
func write(file, text string) error {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(text))
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
// are served meanwhile. What nobody can be in any more, the kernel's own tables, goes after the answer.
func (l *launcher) end(id uint64) {
	s := l.forget(id)
	if s == nil {
		l.answer(&Answer{ID: id, Errno: int(unix.ESRCH), What: "end"})
		return
	}
	_ = unix.Kill(s.pid, unix.SIGKILL)
	l.ending.Go(func() {
		s.wait()
		l.answer(&Answer{ID: id, PID: s.pid})
		s.remove()
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
	l.groups.Sweep()
}

// end kills the process, waits, and removes its groups.
func (s *started) end() {
	_ = unix.Kill(s.pid, unix.SIGKILL)
	s.wait()
	s.remove()
}

// wait waits until the kernel has ended all that was in the process's namespace. Its number is its own until then.
func (s *started) wait() {
	for {
		if _, err := unix.Wait4(s.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// remove lets the mounts go and removes the groups.
func (s *started) remove() {
	if s.mounts >= 0 {
		_ = unix.Close(s.mounts)
	}
	for _, dir := range s.dirs {
		discard(dir)
	}
}
