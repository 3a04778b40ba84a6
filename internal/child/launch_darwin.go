package child

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// platform is what reaching a tree takes on this system only.
type platform struct{}

func (t *tree) killCage() error { return nil }

func (p *Process) launch(spec *Spec, program string, argv []string, attr *os.ProcAttr) error {
	switch {
	case spec.Limits != Limits{}:
		return fmt.Errorf("limits: %w", errors.ErrUnsupported)
	case spec.DieWithParent:
		return fmt.Errorf("die with parent: %w", errors.ErrUnsupported)
	case spec.Cgroup != nil:
		return fmt.Errorf("cgroup: %w", errors.ErrUnsupported)
	}
	seal()
	attr.Sys = p.attributes(spec)
	proc, err := os.StartProcess(program, argv, attr)
	if err == nil {
		p.proc, p.pid = proc, proc.Pid
	}
	return err
}

// seal marks all descriptors close-on-exec, also those that were not opened by this process.
func seal() {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return // the marks of the runtime must do
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		fd := 0
		if _, err := fmt.Sscanf(name, "%d", &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// waitExit returns when the program has ended. It stays to be waited for, so that its pid and group cannot come back.
func waitExit(p *Process) {
	queue, err := unix.Kqueue()
	if err != nil {
		p.waitNow()
		return
	}
	defer unix.Close(queue)
	watch := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&watch, p.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	events := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{watch}, events, nil)
		if err != unix.EINTR {
			return // also ESRCH: it has ended already
		}
	}
}

// waitNow is the way without a queue: the process table is asked.
func (p *Process) waitNow() {
	for {
		table, err := processes()
		if err != nil {
			return
		}
		alive := false
		for _, e := range table {
			alive = alive || e.pid == p.pid && e.state != ended
		}
		if !alive {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
