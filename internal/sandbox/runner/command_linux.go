package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// command is one that was started.
type command struct {
	s      *server
	c      *conn
	id     uint32
	pid    int
	pidfd  int // -1: the kernel has none
	tag    uint64
	state  int // memfd it writes its state to; -1: none
	framed *framed
	over   bool   // the program has ended
	result result // set then
	ending bool   // its tree is being killed; whoever does that sends the result
	cut    bool   // its end was asked for
}

// run starts a command. What cannot be started is a result, not the end of the connection.
func (c *conn) run(f frame) error {
	var q request
	if err := q.decode(f.body); err != nil {
		return err
	}
	if c.commands[f.id] != nil {
		return errors.New("run: the id is in use")
	}
	if len(f.fds) != q.files() {
		return errors.New("run: the descriptors do not fit the request")
	}
	if c.over {
		bad := result{fault: "the sandbox is being closed"}
		c.send(frame{kind: exitKind, id: f.id, body: bad.encode()})
		return nil
	}
	cmd := &command{s: c.s, c: c, id: f.id, pidfd: -1, state: -1}
	if bad := cmd.start(&q, f.fds); bad != nil {
		cmd.release()
		c.send(frame{kind: exitKind, id: f.id, body: bad.encode()})
		return nil
	}
	c.commands[f.id] = cmd
	c.s.commands[cmd.pid] = cmd
	return nil
}

// start makes the process. It returns a result if there is none.
func (cmd *command) start(q *request, fds []int) *result {
	program, bad := lookup(q)
	if bad != nil {
		return bad
	}
	files, opened, fault := cmd.stdio(q, fds)
	defer func() { closeAll(opened) }()
	if fault != nil {
		return &result{fault: fault.Error()}
	}
	// A group of its own does: the runner's session has no terminal, and only its leader could get one. A session of its own
	// for each command takes the kernel half as long again, which has to make a scheduling group for it.
	attr := &syscall.ProcAttr{
		Dir: q.dir, Env: q.env, Files: files,
		Sys: &syscall.SysProcAttr{
			Setpgid: !q.terminal, Setsid: q.terminal, Setctty: q.terminal, Pdeathsig: syscall.SIGKILL, PidFD: &cmd.pidfd,
		},
	}
	cmd.tag = cmd.s.mark(cmd.c.tag)
	pid, err := cmd.s.fork(program, q.argv, attr)
	for err != nil && q.near && q.dir != "/" && gone(q.dir) {
		q.dir = filepath.Dir(q.dir)
		attr.Dir = q.dir
		pid, err = cmd.s.fork(program, q.argv, attr)
	}
	if err != nil {
		return unstarted(q, err)
	}
	cmd.pid = pid
	if cmd.pidfd >= 0 {
		_ = cmd.s.add(cmd.pidfd, unix.EPOLLIN, func(uint32) {}) // it ends the waiting, after which the ended are waited for
	}
	if cmd.framed != nil {
		cmd.framed.begin()
	}
	return nil
}

// fork starts a program, with the limit of memory if there is one.
//
// This process cannot take the limit upon itself. So it traces the program, which stands still at its first instruction then
// until its limit is set: all that it starts is limited too. Where that is refused, by a system call filter or because the program
// would lose the rights it has to get, the limit comes as soon as it runs: it would have to start others within its first
// moments for those to be without.
func (s *server) fork(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if s.data == 0 {
		return syscall.ForkExec(program, argv, attr)
	}
	attr.Sys.Ptrace = !s.traceless && !gains(program, attr.Dir)
	pid, err := syscall.ForkExec(program, argv, attr)
	if err != nil && attr.Sys.Ptrace {
		attr.Sys.Ptrace = false
		pid, err = syscall.ForkExec(program, argv, attr)
		s.traceless = err == nil
	}
	if err != nil {
		return pid, err
	}
	if attr.Sys.Ptrace {
		var info unix.Siginfo
		for unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WALL, nil) == unix.EINTR {
		}
	}
	// One that belongs to another user by a set-user-ID bit is not ours to limit.
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: s.data, Max: s.data}, nil)
	if attr.Sys.Ptrace {
		_ = unix.PtraceDetach(pid) // one that was killed meanwhile is waited for as any other
	}
	return pid, nil
}

// gains tells whether a program gets rights by its file, which it does not while it is traced.
func gains(program, dir string) bool {
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	var st unix.Stat_t
	if unix.Stat(program, &st) != nil || st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		return true
	}
	n, err := unix.Getxattr(program, "security.capability", nil)
	return err == nil && n > 0
}

// gone tells whether a directory is not there any more.
func gone(dir string) bool {
	var st unix.Stat_t
	return filepath.IsAbs(dir) && unix.Stat(dir, &st) != nil
}

// stdio returns the command's descriptors in order, and those to close once it has them.
func (cmd *command) stdio(q *request, fds []int) (files []uintptr, opened []int, err error) {
	std := [3]int{cmd.s.null, cmd.s.null, cmd.s.null}
	switch {
	case q.terminal:
		master, slave, err := terminal(q.rows, q.cols)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, slave)
		std = [3]int{slave, slave, slave}
		if q.framed {
			cmd.framed = newFramed(cmd, master, master, -1)
		} else {
			cmd.c.send(frame{kind: startedKind, id: cmd.id, fds: []int{master}})
		}
	case q.framed:
		if cmd.framed, std, opened, err = pipes(cmd, q.streams); err != nil {
			return nil, opened, err
		}
	default:
		for i, bit := range []uint64{hasIn, hasOut, hasErr} {
			if q.streams&bit != 0 {
				std[i], fds = fds[0], fds[1:]
			}
		}
	}
	if q.streams&joined != 0 && q.streams&hasOut != 0 {
		std[2] = std[1]
	}
	files = []uintptr{uintptr(std[0]), uintptr(std[1]), uintptr(std[2])}
	if len(q.prelude) == 0 && !q.state {
		return files, opened, nil
	}
	for len(files) <= stateFD {
		files = append(files, ^uintptr(0))
	}
	if len(q.prelude) > 0 {
		fd, err := memory("prelude", q.prelude)
		if err != nil {
			return nil, opened, err
		}
		opened = append(opened, fd)
		files[preludeFD] = uintptr(fd)
	}
	if q.state {
		if cmd.state, err = memory("state", nil); err != nil {
			return nil, opened, err
		}
		files[stateFD] = uintptr(cmd.state)
	}
	return files, opened, nil
}

// memory returns a file without a name that holds text.
func memory(name string, text []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	for at := 0; at < len(text); {
		n, err := unix.Pwrite(fd, text[at:], int64(at))
		if err != nil {
			_ = unix.Close(fd)
			return -1, os.NewSyscallError("write", err)
		}
		at += n
	}
	return fd, nil
}

// lookup finds the program as a shell does.
func lookup(q *request) (string, *result) {
	name := q.argv[0]
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	code := uint64(127)
	for _, dir := range filepath.SplitList(q.search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		full := filepath.Join(dir, name)
		var st unix.Stat_t
		if unix.Stat(full, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if unix.Access(full, unix.X_OK) == nil {
			return full, nil
		}
		code = 126
	}
	if code == 126 {
		return "", &result{code: code, note: "hermes: " + name + ": permission denied"}
	}
	return "", &result{code: code, note: "hermes: " + name + ": command not found"}
}

// unstarted tells why there is no process, in a shell's terms where it has some.
func unstarted(q *request, err error) *result {
	var st unix.Stat_t
	if bad := unix.Stat(q.dir, &st); q.dir != "" && bad != nil {
		return &result{code: 126, note: "hermes: cd: " + q.dir + ": " + bad.Error()}
	} else if q.dir != "" && (st.Mode&unix.S_IFMT != unix.S_IFDIR || unix.Access(q.dir, unix.X_OK) != nil) {
		return &result{code: 126, note: "hermes: cd: " + q.dir + ": cannot be entered"}
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENAMETOOLONG):
		return &result{code: 127, note: "hermes: " + q.argv[0] + ": " + err.Error()}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOEXEC), errors.Is(err, unix.EPERM), errors.Is(err, unix.EISDIR),
		errors.Is(err, unix.ETXTBSY):
		return &result{code: 126, note: "hermes: " + q.argv[0] + ": " + err.Error()}
	}
	return &result{fault: err.Error()}
}

// signal sends a signal to the command's group, or to all of its tree. While the program is not waited for, its id is no
// other's; afterwards the group may still be there, or nobody is.
func (cmd *command) signal(sig syscall.Signal, all bool) {
	if !all {
		if !cmd.over {
			_ = unix.Kill(-cmd.pid, sig)
		}
		return
	}
	t := cmd.tree()
	beside(func() { t.signal(sig) })
}

// ended takes the status of a command whose program has ended.
func (s *server) ended(cmd *command, status unix.WaitStatus, usage *unix.Rusage) {
	delete(s.commands, cmd.pid)
	cmd.over = true
	cmd.result.user = uint64(usage.Utime.Nano() / 1000)
	cmd.result.system = uint64(usage.Stime.Nano() / 1000)
	if status.Signaled() {
		cmd.result.signal = uint64(status.Signal())
	} else {
		cmd.result.code = uint64(status.ExitStatus())
	}
	if cmd.pidfd >= 0 { // nobody has a copy of it, so that closing it is enough
		delete(s.watch, int32(cmd.pidfd))
		_ = unix.Close(cmd.pidfd)
		cmd.pidfd = -1
	}
	if !cmd.ending {
		s.finish(cmd)
	}
}

// finish sends the state and the result.
func (s *server) finish(cmd *command) {
	if !cmd.over {
		return
	}
	if cmd.framed != nil && !cmd.framed.dry(func() { s.finish(cmd) }) {
		return
	}
	if cmd.c.dead {
		cmd.release()
		return
	}
	if cmd.state >= 0 && cmd.result.signal == 0 {
		cmd.sendState()
	}
	cmd.result.left = s.leftOf(func(tag uint64) bool { return tag == cmd.tag })
	cmd.c.send(frame{kind: exitKind, id: cmd.id, body: cmd.result.encode()})
	delete(cmd.c.commands, cmd.id)
	cmd.release()
}

// maxState bounds what a shell may write of its state; of more nothing counts.
const maxState = 4 << 20

func (cmd *command) sendState() {
	var st unix.Stat_t
	if unix.Fstat(cmd.state, &st) != nil || st.Size == 0 || st.Size > maxState {
		return
	}
	text := make([]byte, st.Size)
	n, err := unix.Pread(cmd.state, text, 0)
	if err == nil && n == len(text) {
		cmd.c.send(frame{kind: stateKind, id: cmd.id, body: text})
	}
}

func (cmd *command) release() {
	if cmd.state >= 0 {
		_ = unix.Close(cmd.state)
		cmd.state = -1
	}
	if cmd.framed != nil {
		cmd.framed.release()
	}
}

// end asks a command's tree to end, gives it time, and kills what is left of it. The result is sent when nothing is.
func (s *server) end(cmd *command, grace uint64) {
	if cmd.ending {
		return
	}
	cmd.ending, cmd.cut = true, true
	gone := make(chan struct{})
	t := cmd.tree()
	beside(func() {
		defer s.post(func() {
			s.reap()
			cmd.ending = false
			s.finish(cmd)
		})
		defer close(gone)
		if grace > 0 {
			t.ask()
			for until := time.Now().Add(time.Duration(grace) * time.Millisecond); time.Now().Before(until); {
				time.Sleep(5 * time.Millisecond)
				if alive, err := t.alive(); err == nil && len(alive) == 0 {
					return
				}
			}
		}
		if err := t.kill(); err != nil {
			s.post(func() { cmd.result.note = "hermes: " + err.Error() })
		}
	})
}
