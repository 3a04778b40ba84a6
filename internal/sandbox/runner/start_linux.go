package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Serve is the main function of a runner's program, for the arguments after its name: one of the modes, or none. It returns
// the exit code and has to be called on the main thread before anything else: the process is only this from then on. It adopts
// and waits for children, takes signals, and kills what was started when its client says bye or is gone.
func Serve(args []string, parts Parts) int {
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	switch mode {
	case StdioMode:
		if code, ok := watchBelow(stdioMode, 0, 1, 2); ok {
			return code
		}
		return stdioMain(parts, false)
	case stdioMode:
		return stdioMain(parts, true)
	case ListenMode:
		return listenMain(args[1:], parts)
	case serveMode:
		if code, ok := watchBelow(servedMode, 0, 1, 2, SocketFD, setupFD, answerFD); ok {
			return code
		}
		return serveMain(parts, false)
	case servedMode:
		return serveMain(parts, true)
	case WatchMode:
		return watchMain()
	case WatchedMode:
		unix.CloseOnExec(LeashFD)
	}
	s := newServer(parts)
	defer s.cancel()
	return s.serve(SocketFD, SocketFD, true)
}

// stdioMain serves standard input and output. They are moved away, so that nothing else is ever said there.
func stdioMain(parts Parts, parent bool) int {
	s := newServer(parts)
	defer s.cancel()
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return 1
	}
	to, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return 1
	}
	if err := silence(0, 1); err != nil {
		return 1
	}
	return s.serve(in, to, parent)
}

// silence lets descriptors lead nowhere.
func silence(fds ...int) error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: "/dev/null", Err: err}
	}
	defer unix.Close(null)
	for _, fd := range fds {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return os.NewSyscallError("dup", err)
		}
	}
	return nil
}

// listenMain reads what to do, opens the socket, and is the runner, or leaves one behind.
func listenMain(args []string, parts Parts) int {
	tell := func(f frame) int {
		_, _ = os.Stdout.Write(appendFrame(nil, f))
		if f.kind == refuseKind {
			return 1
		}
		return 0
	}
	refuse := func(err error) int { return tell(frame{kind: refuseKind, body: []byte(err.Error())}) }
	text, err := message(args)
	if err != nil {
		return refuse(err)
	}
	var l setup
	split := splitter{buf: text}
	f, ok, err := split.next()
	switch {
	case err != nil:
		return refuse(err)
	case !ok || f.kind != setupKind:
		return refuse(errors.New("listen: no message"))
	}
	if err := l.decode(f.body); err != nil {
		return refuse(err)
	}
	if _, err := l.Message(); err != nil {
		return refuse(err)
	}
	listener, err := listen(l.Socket)
	if err != nil {
		return refuse(err)
	}
	if !l.Detach {
		return serveListener(listener, l.Listen, parts, false, func(f frame) {
			_ = tell(f)
			_ = silence(0, 1)
		})
	}
	written, err := leave(listener, text)
	if err != nil {
		_ = os.Remove(l.Socket)
		return refuse(err)
	}
	if _, err := os.Stdout.Write(written); err != nil {
		return 1
	}
	if _, err := Listening(written); err != nil {
		_ = os.Remove(l.Socket)
		return 1
	}
	return 0
}

// maxMessage bounds what is read as a message.
const maxMessage = 1 << 20

// message reads the message from standard input, or from a file that nobody else can read or change. The file is gone then.
func message(args []string) ([]byte, error) {
	from := os.Stdin
	if len(args) > 0 {
		fd, err := unix.Open(args[0], unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: args[0], Err: err}
		}
		from = os.NewFile(uintptr(fd), args[0])
		defer from.Close()
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, &os.PathError{Op: "stat", Path: args[0], Err: err}
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o077 != 0 {
			return nil, fmt.Errorf("listen: others can read %s, or it is no ordinary file", args[0])
		}
		if err := os.Remove(args[0]); err != nil {
			return nil, err
		}
	}
	// One message, whose length it begins with: standard input may stay open.
	text := make([]byte, headSize)
	if _, err := io.ReadFull(from, text); err != nil {
		return nil, fmt.Errorf("listen: read the message: %w", err)
	}
	size := binary.LittleEndian.Uint32(text)
	if size > maxMessage {
		return nil, fmt.Errorf("listen: a message of %d bytes, at most %d", size, maxMessage)
	}
	text = append(text, make([]byte, size)...)
	if _, err := io.ReadFull(from, text[headSize:]); err != nil {
		return nil, fmt.Errorf("listen: read the message: %w", err)
	}
	return text, nil
}

// listen makes the socket, in a directory that is closed to others. It appears under its name when it is ready.
func listen(name string) (int, error) {
	fail := func(op string, err error) (int, error) { return -1, &os.PathError{Op: op, Path: name, Err: err} }
	dir, err := unix.Open(filepath.Dir(name), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fail("open directory of", err)
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return fail("stat directory of", err)
	}
	if st.Mode&0o077 != 0 {
		return fail("listen at", errors.New("others can enter its directory"))
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fail("listen at", err)
	}
	temp := ".listen-" + strconv.Itoa(os.Getpid())
	at := "/proc/self/fd/" + strconv.Itoa(dir) + "/"
	_ = os.Remove(at + temp)
	unix.Umask(0o177)
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: at + temp})
	unix.Umask(0o022)
	if err == nil && int(st.Uid) != os.Geteuid() { // the runner is root inside, the directory somebody's outside
		err = unix.Fchownat(dir, temp, int(st.Uid), int(st.Gid), unix.AT_SYMLINK_NOFOLLOW)
	}
	if err == nil {
		err = unix.Listen(fd, 64)
	}
	if err == nil {
		err = unix.Renameat(dir, temp, dir, filepath.Base(name))
	}
	if err != nil {
		_ = unix.Close(fd)
		_ = os.Remove(at + temp)
		return fail("listen at", err)
	}
	return fd, nil
}

// leave starts the runner as a process of its own and returns what it tells once it listens.
func leave(listener int, text []byte) ([]byte, error) {
	setup, err := memory("setup", text)
	if err != nil {
		return nil, err
	}
	defer unix.Close(setup)
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	defer unix.Close(p[0])
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(null)
		_, err = syscall.ForkExec("/proc/self/exe", []string{Marker, serveMode}, &syscall.ProcAttr{
			Dir: "/", Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true},
			Files: []uintptr{uintptr(null), uintptr(null), uintptr(null), SocketFD: uintptr(listener), uintptr(setup), uintptr(p[1])},
		})
	}
	_ = unix.Close(p[1])
	if err != nil {
		return nil, fmt.Errorf("leave a runner behind: %w", err)
	}
	f := os.NewFile(uintptr(p[0]), "answer")
	return io.ReadAll(f)
}

// Descriptors of the runner that is left behind, beside its socket.
const (
	setupFD  = SocketFD + 1
	answerFD = SocketFD + 2
)

func serveMain(parts Parts, parent bool) int {
	tell := func(f frame) {
		_, _ = writeStream(answerFD, appendFrame(nil, f))
		_ = unix.Close(answerFD)
	}
	unix.CloseOnExec(answerFD)
	var l setup
	text, err := os.ReadFile("/proc/self/fd/" + strconv.Itoa(setupFD))
	if err == nil {
		_ = unix.Close(setupFD)
		if len(text) < headSize {
			err = errors.New("no message")
		} else {
			err = l.decode(text[headSize:])
		}
	}
	if err != nil {
		tell(frame{kind: refuseKind, body: []byte(err.Error())})
		return 1
	}
	return serveListener(SocketFD, l.Listen, parts, parent, tell)
}

// serveListener is the runner that listens. It tells once when it is ready, or why it will not be.
func serveListener(fd int, l Listen, parts Parts, parent bool, tell func(frame)) int {
	s := newServer(parts)
	defer s.cancel()
	s.token, s.idle, s.outside = l.Token, l.Idle, l.Outside
	_ = unix.CloseRange(answerFD+1, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	err := secretive()
	if err == nil {
		err = s.harden(l.Harden)
	}
	name := l.Socket
	var own unix.Stat_t
	if err == nil {
		err = unix.Stat(name, &own)
	}
	if err != nil {
		_ = os.Remove(name)
		tell(frame{kind: refuseKind, body: []byte(err.Error())})
		return 1
	}
	defer func() { // if the name still leads here
		var now unix.Stat_t
		if unix.Lstat(name, &now) == nil && now.Dev == own.Dev && now.Ino == own.Ino {
			_ = os.Remove(name)
		}
	}()
	ready := hello{version: Version, inside: s.inside()}
	tell(frame{kind: helloKind, body: ready.encode()})
	return s.serve(fd, fd, parent)
}

// accept takes new connections of a listener.
func (s *server) accept(uint32) {
	if s.sweeps > 0 {
		return // it was there before somebody went; it is seen to afterwards
	}
	for len(s.conns) < maxClients {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		if err != nil {
			return
		}
		peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil || s.outside && peer.Pid != 0 {
			_ = unix.Close(fd)
			continue
		}
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20) // as far as the system allows
		c, err := s.connect(fd, fd)
		if err != nil {
			_ = unix.Close(fd)
			continue
		}
		after(proofTime, func() {
			s.post(func() {
				if !c.greeted {
					c.close()
				}
			})
		})
	}
	s.change(s.listener, 0) // until somebody goes
}

// maxClients bounds the clients of one runner.
const maxClients = 256

// gone sees to what a client left that has gone: of a runner that goes on, everything it started ends.
func (s *server) gone(c *conn) {
	if s.listener < 0 || s.quit {
		return
	}
	t := c.mine()
	if len(s.conns) == 0 { // then nothing is anybody's, whatever it did with its mark; meanwhile nobody new comes
		t = tree{self: s.self}
		s.since = time.Now()
	}
	s.sweeps++
	s.change(s.listener, 0)
	beside(func() {
		_ = t.kill()
		s.post(func() {
			s.reap()
			s.since = time.Now()
			if s.sweeps--; s.sweeps == 0 {
				s.change(s.listener, unix.EPOLLIN)
			}
		})
	})
}

// harden does to this process what its client asked for, and makes sure of it.
func (s *server) harden(h Harden) error {
	if h.NoNewPrivs || h.DropCaps || len(h.Filter) > 0 {
		if s.parts.Harden == nil {
			return errors.New("harden: this runner cannot")
		}
		if err := s.parts.Harden(h); err != nil {
			return fmt.Errorf("harden: %w", err)
		}
		if err := h.holds(s.inside()); err != nil {
			return fmt.Errorf("harden: %w", err)
		}
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return fmt.Errorf("harden: limit of memory: %w", err)
	}
	s.data = min(h.Data, now.Max)
	return nil
}

// inside reads back what this process is. It has to be called on the thread that starts the commands.
func (s *server) inside() Inside {
	in := Inside{PID: s.self, UID: os.Geteuid(), Build: s.build(), Bounding: math.MaxUint64, Effective: math.MaxUint64, Ambient: math.MaxUint64}
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return in // unknown counts as everything
	}
	// Not every kernel that can set it shows it there.
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	in.NoNewPrivs = err == nil && set == 1
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		mask, err := strconv.ParseUint(value, 16, 64)
		if err != nil {
			continue
		}
		switch name {
		case "Seccomp":
			in.Seccomp = int(mask)
		case "CapBnd":
			in.Bounding = mask
		case "CapEff":
			in.Effective = mask
		case "CapAmb":
			in.Ambient = mask
		}
	}
	return in
}

// ownBuild returns the content hash of this program, "" where it cannot be read.
func ownBuild() string {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
