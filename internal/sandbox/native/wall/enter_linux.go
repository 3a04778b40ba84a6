package wall

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Enter puts up the walls that the plan waiting on the stream fd lists, and reports on it there. When it returns nil the
// whole process, all its threads, is behind them, fd is the runner's, and the main thread is the one to start commands from.
// It must be called first thing on the main thread.
func Enter(fd int) error {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		// On a busy machine the runtime may have moved the work to another thread already. The first one is what the kernel shows
		// of a process, and what it starts from now on must come from it: a new program begins on it again.
		return fmt.Errorf("enter: start again: %w", syscall.Exec("/proc/self/exe", os.Args, []string{single}))
	}
	unix.CloseOnExec(fd)
	stream := socket(fd)
	e := entry{host: -1, rules: -1, report: Report{Seen: map[string]string{}}}
	var failed error
	for more := true; more; {
		message, err := receive(stream)
		if err != nil {
			return fmt.Errorf("enter: read plan: %w", err)
		}
		plan, err := decodePlan(message)
		if err != nil {
			return fmt.Errorf("enter: read plan: %w", err)
		}
		if failed == nil {
			failed = e.carryOut(plan)
		}
		more = plan.More // what failed is told when the whole plan was sent: nobody listens before
	}
	report := &e.report
	if failed != nil {
		report.Failed, report.Errno = failed.Error(), int(number(failed))
		_ = send(stream, report.encode())
		return fmt.Errorf("enter: %w", failed)
	}
	look(report)
	if err := send(stream, report.encode()); err != nil {
		return fmt.Errorf("enter: report: %w", err)
	}
	return nil
}

// socket is a descriptor read and written without the runtime's poller, which would move the work between threads.
type socket int

func (s socket) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(s), b)
		switch {
		case err == unix.EAGAIN:
			if err := s.wait(unix.POLLIN); err != nil {
				return 0, err
			}
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (s socket) Write(b []byte) (int, error) {
	for done := 0; ; {
		n, err := unix.SendmsgN(int(s), b[done:], nil, nil, unix.MSG_NOSIGNAL)
		switch {
		case err == unix.EAGAIN:
			if err := s.wait(unix.POLLOUT); err != nil {
				return done, err
			}
		case err == unix.EINTR:
		case err != nil:
			return done, err
		default:
			if done += n; done == len(b) {
				return done, nil
			}
		}
	}
}

// wait returns when it is worth to try again, be it to meet the other end's end. Without the kernel's help it gives up.
func (s socket) wait(events int16) error {
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(s), Events: events}}, -1); err != nil && err != unix.EINTR {
		return err
	}
	return nil
}

func number(err error) syscall.Errno {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return unix.EIO
}

// entry is what is there already of the walls.
type entry struct {
	host   int    // the host's root, -1: the new root is not begun, or finished
	rules  int    // Landlock's rules so far, -1: none
	flags  uint32 // they are put in force with
	begun  bool   // the first part is done
	report Report
}

// carryOut does a part of a plan, and with the last one all that makes it hold, in the only order that works: mounts need
// capabilities, Landlock needs the mounts, and the filter would refuse most of it.
func (e *entry) carryOut(p *Plan) error {
	if p.Namespaces {
		if !e.begun {
			if err := e.begin(p); err != nil {
				return err
			}
		}
		if err := e.steps(p); err != nil {
			return err
		}
	}
	if p.Landlock {
		if err := e.allow(p); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if !e.begun {
		if err := unbound(); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	e.begun = true
	if p.More {
		return nil
	}
	if p.Namespaces {
		if err := e.finishRoot(); err != nil {
			return err
		}
	}
	for _, l := range p.Limits {
		if err := lower(l); err != nil {
			return fmt.Errorf("limit %d: %w", l.Kind, err)
		}
	}
	// Whatever must hold for every thread stops all of them, which is dear: no_new_privs comes to the others with the filter,
	// and Landlock takes the capabilities of a namespace for it. Without namespaces there are none.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if !p.Namespaces || len(p.Filter) == 0 {
		if _, _, no := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); no != 0 {
			return fmt.Errorf("no_new_privs: %w", no)
		}
	}
	if err := e.restrict(); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := drop(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	// The kernel forgets this wish whenever rights change.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("parent's death: %w", err)
	}
	if len(p.Filter) > 0 {
		if err := filter(p.Filter); err != nil {
			return fmt.Errorf("system call filter: %w", err)
		}
	}
	return nil
}

// begin does what comes before the first step.
func (e *entry) begin(p *Plan) error {
	if p.Network {
		if err := loopback(); err != nil {
			return fmt.Errorf("loopback: %w", err)
		}
		openPorts()
	}
	if p.Hostname != "" {
		if err := unix.Sethostname([]byte(p.Hostname)); err != nil {
			return fmt.Errorf("host name: %w", err)
		}
	}
	return e.beginRoot()
}

// lower sets a limit that is not above the one in force.
func lower(l Rlimit) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(l.Kind, &now); err != nil {
		return err
	}
	value := min(l.Value, now.Max)
	return unix.Setrlimit(l.Kind, &unix.Rlimit{Cur: value, Max: value})
}

// unbound takes away what a program could get by being started. It is done on this thread alone: programs are started from it.
func unbound() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break
		} else if errors.Is(err, unix.EPERM) {
			break // without namespaces there may be nothing to give away; what is left is read back
		} else if err != nil {
			return err
		}
	}
	// No root, no set-uid fix-up, no ambient ones, each locked: securebits(7) has the numbers.
	const locked = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<6 | 1<<7
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, locked, 0, 0, 0)
	return nil
}

// drop gives all capabilities away, for good: the ones held and the ones that could be inherited, of every thread.
func drop() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData // takes the ambient ones along
	if _, _, no := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0); no != 0 {
		return no
	}
	return nil
}

// filter installs the system call filter for all threads.
func filter(program []byte) error {
	const size = 8
	instructions := make([]unix.SockFilter, len(program)/size)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&instructions[0])), len(program)), program)
	prog := unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]}
	thread, _, no := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case no != 0:
		return no
	case thread != 0:
		return fmt.Errorf("thread %d has a filter of its own", thread)
	}
	return nil
}

// openPorts lets everybody in this network use the ports below 1024: nothing else is in it, and names are asked for at one of
// them. Where it cannot be, programs that need such a port do without.
func openPorts() {
	fd, err := unix.Open("/proc/sys/net/ipv4/ip_unprivileged_port_start", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, []byte("0"))
	_ = unix.Close(fd)
}

// loopback brings the only interface of a new network namespace up.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request)
}
