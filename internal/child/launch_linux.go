package child

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// platform is what reaching a tree takes on this system only.
type platform struct {
	cage *os.File // cgroup
}

// launch starts the program. Descriptors that were not opened by this process may lack the close-on-exec mark, so all get it
// first.
func (p *Process) launch(spec *Spec, program string, argv []string, attr *os.ProcAttr) error {
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // before Linux 5.11 the marks of the runtime must do
	sys := p.attributes(spec)
	if spec.DieWithParent {
		sys.Pdeathsig = cmp.Or(spec.DeathSignal, syscall.SIGKILL)
	}
	if spec.Cgroup != nil {
		p.tree.cage = spec.Cgroup
		sys.UseCgroupFD, sys.CgroupFD = true, int(spec.Cgroup.Fd())
	}
	limited := spec.Limits != Limits{}
	sys.Ptrace = limited
	attr.Sys = sys
	start := func() error {
		proc, err := os.StartProcess(program, argv, attr)
		if err != nil {
			return err
		}
		p.proc, p.pid = proc, proc.Pid
		if limited {
			return p.limit(spec.Limits)
		}
		return nil
	}
	switch {
	case spec.DieWithParent:
		return onLasting(start)
	case limited:
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	return start()
}

// limit sets the limits of a program that stands still at its first instruction, and lets it go. The kernel stops it there
// because this thread traces it; without that it could start others before its limits hold.
func (p *Process) limit(l Limits) error {
	err := p.setLimits(l)
	if err == nil {
		return nil
	}
	_ = unix.Kill(p.pid, unix.SIGKILL)
	_, _ = p.proc.Wait()
	return err
}

func (p *Process) setLimits(l Limits) error {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, p.pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
		if err == nil {
			break
		} else if err != unix.EINTR {
			return fmt.Errorf("limits: %w", err)
		}
	}
	const trapped = 4 // CLD_TRAPPED
	if info.Code != trapped {
		return nil // it is dead already; Wait tells how
	}
	for _, one := range [...]struct {
		name  string
		kind  int
		limit uint64
	}{
		{"cpu", unix.RLIMIT_CPU, l.CPU}, {"files", unix.RLIMIT_NOFILE, l.Files}, {"file size", unix.RLIMIT_FSIZE, l.FileSize},
		{"memory", unix.RLIMIT_AS, l.Memory}, {"processes", unix.RLIMIT_NPROC, l.Processes},
	} {
		if one.limit == 0 {
			continue
		}
		var now unix.Rlimit
		err := unix.Prlimit(p.pid, one.kind, nil, &now)
		if err == nil {
			limit := min(one.limit, now.Max)
			err = unix.Prlimit(p.pid, one.kind, &unix.Rlimit{Cur: limit, Max: limit}, nil)
		}
		if err != nil {
			return fmt.Errorf("limit %s: %w", one.name, err)
		}
	}
	if err := unix.PtraceDetach(p.pid); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	return nil
}

// onLasting runs f on a thread that never ends: the kernel kills with the parent's thread, not with its process.
func onLasting(f func() error) error {
	result := make(chan error)
	lasting() <- func() { result <- f() }
	return <-result
}

var lasting = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// waitExit returns when the program has ended. It stays to be waited for, so that its pid and group cannot come back.
func waitExit(p *Process) {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// killCage kills through the cgroup, which nothing in it can leave.
func (t *tree) killCage() error {
	if t.cage == nil {
		return nil
	}
	fd, err := unix.Openat(int(t.cage.Fd()), "cgroup.kill", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil // before Linux 5.14: the walk must do
	} else if err != nil {
		return fmt.Errorf("kill cgroup: %w", err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte("1")); err != nil {
		return fmt.Errorf("kill cgroup: %w", err)
	}
	return nil
}
