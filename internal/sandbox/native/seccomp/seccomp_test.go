//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// run follows a filter as the kernel does.
func run(t *testing.T, code []instruction, audit, number uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data, number)
	binary.LittleEndian.PutUint32(data[4:], audit)
	for i, arg := range args {
		binary.LittleEndian.PutUint64(data[16+8*i:], arg)
	}
	var a uint32
	for at, steps := 0, 0; ; at, steps = at+1, steps+1 {
		if at >= len(code) || steps > len(code) {
			t.Fatalf("call %d: the filter runs out of its end", number)
		}
		in := code[at]
		jump := func(yes bool) {
			if yes {
				at += int(in.jt)
			} else {
				at += int(in.jf)
			}
		}
		switch in.code {
		case opLoad:
			a = binary.LittleEndian.Uint32(data[in.k:])
		case opAnd:
			a &= in.k
		case opJump:
			at += int(in.k)
		case opEq:
			jump(a == in.k)
		case opGe:
			jump(a >= in.k)
		case opSet:
			jump(a&in.k != 0)
		case opRet:
			return in.k
		default:
			t.Fatalf("instruction %#x", in.code)
		}
	}
}

const no = fail | eperm

func TestFilter(t *testing.T) {
	const high = 1 << 32 // the kernel looks at the low word of an int only
	rows := []struct {
		what   string
		number uint32
		args   []uint64
		want   uint32
	}{
		// What programs live on.
		{"read", unix.SYS_READ, nil, allow},
		{"execve", unix.SYS_EXECVE, nil, allow},
		{"memfd", unix.SYS_MEMFD_CREATE, nil, allow},
		{"a thread", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD}, allow},
		{"fork", unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allow},
		{"unshare files", unix.SYS_UNSHARE, []uint64{unix.CLONE_FILES}, allow},
		{"window size", unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow},
		{"tcp", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}, allow},
		{"udp", unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, unix.IPPROTO_UDP}, allow},
		{"unix", unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET, 0}, allow},
		{"send", unix.SYS_SENDTO, []uint64{3, 0, 0, unix.MSG_NOSIGNAL}, allow},
		{"no delay", unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_TCP, unix.TCP_NODELAY}, allow},
		{"option 30 elsewhere", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, fastOpenConnect}, allow},
		// Large parts of the kernel.
		{"io_uring", unix.SYS_IO_URING_SETUP, nil, no},
		{"bpf", unix.SYS_BPF, nil, no},
		{"userfaultfd", unix.SYS_USERFAULTFD, nil, no},
		{"perf", unix.SYS_PERF_EVENT_OPEN, nil, no},
		{"key rings", unix.SYS_KEYCTL, nil, no},
		{"kexec", unix.SYS_KEXEC_FILE_LOAD, nil, no},
		{"modules", unix.SYS_FINIT_MODULE, nil, no},
		// Other processes.
		{"ptrace", unix.SYS_PTRACE, nil, no},
		{"another's memory", unix.SYS_PROCESS_VM_WRITEV, nil, no},
		// Namespaces and mounts.
		{"unshare user", unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER}, no},
		{"unshare user, high bits", unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER | high}, no},
		{"unshare time", unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWTIME}, no},
		{"clone user", unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, no},
		{"clone3", unix.SYS_CLONE3, nil, fail | enosys},
		{"setns", unix.SYS_SETNS, nil, no},
		{"mount", unix.SYS_MOUNT, nil, no},
		{"new mounts", unix.SYS_OPEN_TREE, nil, no},
		{"newest mounts", unix.SYS_OPEN_TREE_ATTR, nil, no},
		{"pivot_root", unix.SYS_PIVOT_ROOT, nil, no},
		// Sockets.
		{"netlink", unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}, no},
		{"packet", unix.SYS_SOCKET, []uint64{unix.AF_PACKET, unix.SOCK_DGRAM, 0}, no},
		{"vsock", unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM, 0}, no},
		{"raw", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, no},
		{"raw, flags", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.IPPROTO_TCP}, no},
		{"multipath", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, no},
		{"multipath 6, high bits", unix.SYS_SOCKET, []uint64{unix.AF_INET6 | high, unix.SOCK_STREAM, unix.IPPROTO_MPTCP | high}, no},
		{"sctp", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, no},
		{"a family to come", unix.SYS_SOCKET, []uint64{99, unix.SOCK_STREAM, 0}, no},
		{"a pair of others", unix.SYS_SOCKETPAIR, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}, no},
		{"fast open", unix.SYS_SENDTO, []uint64{3, 0, 0, fastOpen | unix.MSG_NOSIGNAL}, no},
		{"fast open by message", unix.SYS_SENDMSG, []uint64{3, 0, fastOpen}, no},
		{"fast open by messages", unix.SYS_SENDMMSG, []uint64{3, 0, 1, fastOpen}, no},
		{"fast open by connect", unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_TCP, fastOpenConnect}, no},
		// Terminals.
		{"push input", unix.SYS_IOCTL, []uint64{0, tiocsti}, no},
		{"push input, high bits", unix.SYS_IOCTL, []uint64{0, tiocsti | high}, no},
		{"paste", unix.SYS_IOCTL, []uint64{0, tioclinx}, no},
		// What is not known does not exist.
		{"a call to come", native().last + 1, nil, fail | enosys},
		{"a call far away", 0x3fffffff, nil, fail | enosys},
	}
	code, _ := compile(native(), Options{})
	for _, row := range rows {
		if got := run(t, code, native().audit, row.number, row.args...); got != row.want {
			t.Errorf("%s: %#x, want %#x", row.what, got, row.want)
		}
	}
	for _, audit := range []uint32{0x40000003, 0x40000028, 0} { // i386, arm, nobody
		if got := run(t, code, audit, unix.SYS_READ); got != kill {
			t.Errorf("architecture %#x: %#x, want a kill", audit, got)
		}
	}
	if x32 := native().other; x32 != 0 {
		if got := run(t, code, native().audit, unix.SYS_READ|x32); got != kill {
			t.Errorf("x32: %#x, want a kill", got)
		}
	}
	if len(code) > 4096 {
		t.Errorf("%d instructions, the kernel takes 4096", len(code))
	}
}

func TestNoInternet(t *testing.T) {
	code, _ := compile(native(), Options{NoInternet: true})
	for _, family := range []uint64{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK} {
		if got := run(t, code, native().audit, unix.SYS_SOCKET, family, unix.SOCK_STREAM, 0); got != no {
			t.Errorf("family %d: %#x, want a refusal", family, got)
		}
	}
	if got := run(t, code, native().audit, unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0); got != allow {
		t.Errorf("unix sockets: %#x, want them allowed", got)
	}
}

// Every number of the tables gets its answer, and every other one is allowed: the tree loses none.
func TestTreeIsComplete(t *testing.T) {
	a := native()
	want := map[uint32]uint32{}
	for _, n := range a.refused {
		want[n] = no
	}
	for _, n := range a.missing {
		want[n] = fail | enosys
	}
	code, rules := compile(a, Options{})
	special := map[uint32]bool{unix.SYS_SOCKETPAIR: true, unix.SYS_SOCKET: true}
	for n := range a.last + 1 {
		expected, ok := want[n]
		if !ok {
			expected = allow
		}
		if got := run(t, code, a.audit, n, unix.AF_UNIX); got != expected && !special[n] {
			t.Errorf("call %d: %#x, want %#x", n, got, expected)
		}
	}
	if rules < 60 { // arm64 has fewer calls to refuse than amd64
		t.Errorf("%d rules", rules)
	}
}
