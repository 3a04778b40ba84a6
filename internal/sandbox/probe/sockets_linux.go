package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
)

// connects tries to connect and tells whether somebody was there. It waits a moment only.
func connects(family, kind, protocol int, to unix.Sockaddr) (bool, error) {
	s, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return false, err
	}
	defer unix.Close(s)
	err = unix.Connect(s, to)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, unix.EINPROGRESS) {
		return false, err
	}
	ready, err := unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLOUT}}, int(patience/time.Millisecond))
	if err != nil || ready == 0 {
		return false, unix.ETIMEDOUT
	}
	no, err := unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && no != 0 {
		err = unix.Errno(no)
	}
	return err == nil, err
}

func inet(address string) (unix.Sockaddr, bool) {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !a.Addr().Is4() {
		return nil, false
	}
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}, true
}

func (p *probe) loopbackTCP() (exposure.Reach, string) {
	to, ok := inet(p.targets.TCP)
	if !ok {
		return exposure.Unknown, ""
	}
	if yes, _ := connects(unix.AF_INET, unix.SOCK_STREAM, 0, to); yes {
		return exposure.Open, ""
	}
	return exposure.Shut, ""
}

// loopbackUDP sends a datagram and waits for its echo.
func (p *probe) loopbackUDP() (exposure.Reach, string) {
	to, ok := inet(p.targets.UDP)
	if !ok {
		return exposure.Unknown, ""
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return exposure.Shut, ""
	}
	defer unix.Close(s)
	if unix.Connect(s, to) != nil {
		return exposure.Shut, ""
	}
	if _, err := unix.Write(s, []byte("probe")); err != nil {
		return exposure.Shut, ""
	}
	if ready, err := unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLIN}}, int(patience/time.Millisecond)); err != nil || ready == 0 {
		return exposure.Shut, ""
	}
	var b [16]byte
	if n, err := unix.Read(s, b[:]); err == nil && n > 0 {
		return exposure.Open, ""
	}
	return exposure.Shut, ""
}

// near returns a path that fits into a socket's address: the address holds 107 bytes, and a directory that is held open has a short
// name. It counts until done is called.
func near(path string) (short string, done func()) {
	const room = 107
	if len(path) <= room || path[0] != '/' {
		return path, func() {}
	}
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return path, func() {}
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path)), func() { _ = unix.Close(fd) }
}

// answers tells whether a unix socket takes a connection or a datagram.
func answers(address string) bool {
	address, done := near(address)
	defer done()
	for _, kind := range [...]int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET} {
		if yes, _ := connects(unix.AF_UNIX, kind, 0, &unix.SockaddrUnix{Name: address}); yes {
			return true
		}
	}
	return false
}

// Where sockets of the host usually are, and how many files are looked at.
var socketDirs = [...]string{"/run", "/var/run", "/tmp", "/var/lib", "/var/tmp", "/dev"}

const socketEntries = 4000

func (p *probe) namedUnix() (exposure.Reach, string) {
	if t := p.targets.Named; t != "" && answers(t) {
		return exposure.Open, "one beside the work tree"
	}
	left := socketEntries
	found := ""
	for _, root := range append(socketDirs[:], p.homes...) {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 || found != "" {
				return fs.SkipAll
			}
			switch {
			case err != nil:
				return nil
			case e.IsDir() && strings.Count(path, "/")-strings.Count(root, "/") > 4:
				return fs.SkipDir
			case e.Type()&fs.ModeSocket != 0 && answers(path):
				found = path
			}
			return nil
		})
	}
	switch {
	case found != "":
		return exposure.Open, found
	case left < 0 && p.targets.Named == "":
		return exposure.Unknown, ""
	}
	return exposure.Shut, ""
}

func (p *probe) abstractUnix() (exposure.Reach, string) {
	if t := p.targets.Abstract; t != "" {
		if answers("@" + t) {
			return exposure.Open, ""
		}
		return exposure.Shut, ""
	}
	for line := range strings.Lines(string(readAll("/proc/net/unix"))) {
		f := strings.Fields(line)
		if len(f) == 8 && strings.HasPrefix(f[7], "@") && answers(f[7]) {
			return exposure.Open, ""
		}
	}
	return exposure.Unknown, ""
}

func (p *probe) engineSocket() (exposure.Reach, string) {
	paths := []string{"/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
		"/run/crio/crio.sock", "/var/run/libvirt/libvirt-sock", "/run/k3s/containerd/containerd.sock"}
	if dir := variable(p.environ, "XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths, dir+"/docker.sock", dir+"/podman/podman.sock")
	}
	more, _ := filepath.Glob("/run/user/*/podman/podman.sock")
	paths = append(paths, more...)
	for _, home := range p.homes {
		paths = append(paths, home+"/.docker/run/docker.sock", home+"/.colima/default/docker.sock")
	}
	for _, path := range paths {
		if answers(path) {
			return exposure.Open, path
		}
	}
	return exposure.Shut, ""
}

// opens tells whether a kind of socket can be made.
func opens(family, kind, protocol int) (exposure.Reach, string) {
	s, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return exposure.Shut, ""
	}
	_ = unix.Close(s)
	return exposure.Open, ""
}

func (p *probe) netlink() (exposure.Reach, string) {
	return opens(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
}
func (p *probe) vsock() (exposure.Reach, string) { return opens(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }
func (p *probe) rawSocket() (exposure.Reach, string) {
	return opens(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
}
func (p *probe) packetSocket() (exposure.Reach, string) {
	return opens(unix.AF_PACKET, unix.SOCK_DGRAM, 0)
}
func (p *probe) multipath() (exposure.Reach, string) {
	return opens(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
}

// fastOpen connects by sending, to a port of the loopback that nobody listens on.
func (p *probe) fastOpen() (exposure.Reach, string) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return exposure.Shut, ""
	}
	defer unix.Close(s)
	err = unix.Sendto(s, []byte("probe"), unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL, &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}})
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return exposure.Shut, ""
	}
	return exposure.Open, ""
}

// unreachable tells whether a packet to an address outside has no way. It is tried only where nothing but a loopback is.
func (p *probe) unreachable(address [4]byte, port int) (exposure.Reach, string) {
	switch p.quick.Network.NoRoute {
	case exposure.Open:
		return exposure.Open, "there is a route"
	case exposure.Unknown:
		return exposure.Unknown, ""
	}
	yes, err := connects(unix.AF_INET, unix.SOCK_DGRAM, 0, &unix.SockaddrInet4{Port: port, Addr: address})
	if yes || errors.Is(err, unix.ETIMEDOUT) {
		return exposure.Open, ""
	}
	return exposure.Shut, ""
}

func (p *probe) dns() (exposure.Reach, string) { return p.unreachable([4]byte{192, 0, 2, 53}, 53) }
func (p *probe) metadata() (exposure.Reach, string) {
	return p.unreachable([4]byte{169, 254, 169, 254}, 80)
}
