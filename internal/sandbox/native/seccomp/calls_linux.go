//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

// refused are calls that no command of a sandbox needs, and that reach for the kernel, the machine or other processes.
func refused() []uint32 {
	return []uint32{
		// Large parts of the kernel that were rarely meant for strangers.
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_LOOKUP_DCOOKIE,
		// Key rings belong to a user, not to a namespace.
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		// Other processes.
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
		unix.SYS_PIDFD_GETFD,
		// Namespaces and mounts.
		unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT,
		unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_MOUNT_SETATTR, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_LISTNS,
		// The machine.
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_NFSSERVCTL,
	}
}

// namespaces are the bits of clone and unshare that make a new one.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

const (
	tiocsti  = 0x5412 // push a character into the terminal's input
	tioclinx = 0x541c // paste on a console
	tioccons = 0x541d // take over the console's output

	fastOpen        = 0x20000000 // MSG_FASTOPEN: connect by sending
	fastOpenConnect = 30         // TCP_FASTOPEN_CONNECT: connect without connecting
	levelTCP        = 6
)

// looked are calls that are refused with certain arguments only. Sockets are in sockets.
func looked() []look {
	return []look{
		{unix.SYS_CLONE, []test{{arg: 0, mask: namespaces, bits: true}}},
		{unix.SYS_UNSHARE, []test{{arg: 0, mask: namespaces | unix.CLONE_NEWTIME, bits: true}}},
		{unix.SYS_IOCTL, []test{{arg: 1, is: []uint32{tiocsti, tioclinx, tioccons}}}},
		{unix.SYS_SENDTO, []test{{arg: 3, mask: fastOpen, bits: true}}},
		{unix.SYS_SENDMSG, []test{{arg: 2, mask: fastOpen, bits: true}}},
		{unix.SYS_SENDMMSG, []test{{arg: 3, mask: fastOpen, bits: true}}},
		{unix.SYS_SETSOCKOPT, []test{{arg: 1, is: []uint32{levelTCP}, then: []test{{arg: 2, is: []uint32{fastOpenConnect}}}}}},
		{unix.SYS_SOCKETPAIR, []test{{arg: 0, is: []uint32{unix.AF_UNIX}, not: true}}},
	}
}

// sockets says which sockets there are: unix ones, and TCP, UDP and echo over the internet. Everything else (netlink, packet,
// vsock, raw, multipath TCP, …) is refused, whatever it is called one day.
func sockets(_ architecture, o Options) []look {
	const kinds = 0xf // the type without its flags
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}
	if o.NoInternet {
		families = families[:1]
	}
	internet := []test{
		{arg: 1, mask: kinds, is: []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM}, not: true},
		{arg: 2, is: []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6}, not: true},
	}
	return []look{{unix.SYS_SOCKET, []test{
		{arg: 0, is: families, not: true},
		{arg: 0, is: []uint32{unix.AF_INET, unix.AF_INET6}, then: internet},
	}}}
}
