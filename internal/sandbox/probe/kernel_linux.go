package probe

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
)

// refused tells whether an answer means that the call is not to be had.
func refused(no syscall.Errno) bool {
	return no == unix.EPERM || no == unix.ENOSYS || no == unix.EACCES
}

// gives closes a descriptor that a call should not have given.
func gives(fd uintptr, no syscall.Errno) (exposure.Reach, string) {
	if no == 0 {
		_ = unix.Close(int(fd))
		return exposure.Open, ""
	}
	if refused(no) {
		return exposure.Shut, ""
	}
	return exposure.Open, no.Error()
}

func (p *probe) hostProc() (exposure.Reach, string) {
	quick := p.quick.Doors.At(exposure.HostProc).Force
	if p.targets.PID == 0 || quick != exposure.Open {
		return quick, ""
	}
	// The process is in sight; what counts is whether it lets itself be looked into.
	if _, err := os.ReadFile("/proc/" + strconv.Itoa(p.targets.PID) + "/environ"); err != nil {
		return exposure.Shut, "their environment cannot be read"
	}
	return exposure.Open, ""
}

func (p *probe) signals() (exposure.Reach, string) {
	quick := p.quick.Doors.At(exposure.Signals).Force
	if p.targets.PID == 0 || quick != exposure.Open {
		return quick, ""
	}
	if err := unix.Kill(p.targets.PID, 0); err != nil {
		return exposure.Shut, ""
	}
	return exposure.Open, ""
}

func (p *probe) hostNet() (exposure.Reach, string) {
	return p.quick.Doors.At(exposure.HostNet).Force, ""
}

// userNS starts a program in a new user namespace. The program says its version and ends.
func (p *probe) userNS() (exposure.Reach, string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return exposure.Unknown, ""
	}
	defer null.Close()
	fd := null.Fd()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"hermes", "version"}, &syscall.ProcAttr{
		Env: []string{}, Files: []uintptr{fd, fd, fd}, Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return exposure.Shut, ""
	}
	_, _ = unix.Wait4(pid, nil, 0, nil)
	return exposure.Open, "a new one can be made"
}

func (p *probe) privileges() (exposure.Reach, string) {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	switch {
	case err != nil:
		return exposure.Unknown, ""
	case set == 1:
		return exposure.Shut, ""
	}
	return exposure.Open, ""
}

func (p *probe) ioUring() (exposure.Reach, string) {
	var params [120]byte
	fd, _, no := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	return gives(fd, no)
}

// bpf makes a map of one element, which needs least.
func (p *probe) bpf() (exposure.Reach, string) {
	attr := [16]uint32{2, 4, 4, 1} // array, sizes of key and value, entries
	fd, _, no := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	return gives(fd, no)
}

func (p *probe) userFault() (exposure.Reach, string) {
	const userOnly = 1
	fd, _, no := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userOnly, 0, 0)
	return gives(fd, no)
}

func (p *probe) keyCtl() (exposure.Reach, string) {
	session := -3 // KEY_SPEC_SESSION_KEYRING
	_, _, no := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, uintptr(session), 0)
	if refused(no) {
		return exposure.Shut, ""
	}
	return exposure.Open, ""
}

// ptrace peeks at a process that does not exist: who may trace is told so.
func (p *probe) ptrace() (exposure.Reach, string) {
	const nobody = 0x3fffffff
	_, _, no := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, nobody, 0, 0, 0, 0)
	if refused(no) {
		return exposure.Shut, ""
	}
	return exposure.Open, ""
}

// terminalPush asks to push a character that is nowhere: a kernel that would do it reads it first, and fails there.
func (p *probe) terminalPush() (exposure.Reach, string) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return exposure.Shut, ""
	}
	defer unix.Close(fd)
	_, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, 0)
	if no == unix.EFAULT || no == 0 {
		return exposure.Open, ""
	}
	return exposure.Shut, ""
}
