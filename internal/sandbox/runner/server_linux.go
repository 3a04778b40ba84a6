package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// server is the runner: one thread that waits for everything at once. What may take long (files, hooks, looking through all
// processes) runs beside it and hands its result to the thread by post.
type server struct {
	epoll int
	bell  int // eventfd: something was posted
	null  int
	parts Parts
	self  int

	listener  int // -1: one connection, and the runner ends with it
	token     []byte
	outside   bool          // clients that can be seen from here are refused
	idle      time.Duration // without a client the runner ends; 0: never
	since     time.Time     // there is none
	sweeps    int           // clients that have gone and whose commands are being killed; nobody new comes meanwhile
	build     func() string
	scratch   []byte // for output on its way; nil while it is under way
	data      uint64 // RLIMIT_DATA of commands; 0: as it is
	traceless bool   // the system does not let it trace what it starts
	conns     map[int]*conn
	watch     map[int32]func(events uint32) // by descriptor
	commands  map[int]*command              // by process id
	ctx       context.Context
	cancel    context.CancelFunc
	last      uint64 // command
	limit     unix.Rlimit
	quit      bool
	code      int

	signals chan os.Signal // that ask it to end

	mu     sync.Mutex // guards what follows
	posted []func()
}

func newServer(parts Parts) *server {
	runtime.LockOSThread() // what kills children with their parent goes by the thread
	s := &server{
		parts: parts, self: os.Getpid(), listener: -1, conns: map[int]*conn{}, watch: map[int32]func(uint32){},
		commands: map[int]*command{}, build: sync.OnceValue(ownBuild), signals: make(chan os.Signal, 1),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	// Before anybody hears that the runner is there: who ends it then leaves nothing behind.
	signal.Notify(s.signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return s
}

// serve serves until there is nobody to serve. A runner that has a parent to work for ends with it.
func (s *server) serve(fd, to int, parent bool) int {
	if err := s.open(fd, to, parent); err != nil {
		text := appendFrame(nil, frame{kind: refuseKind, body: []byte(err.Error())})
		if fd == to {
			_, _ = send(fd, text, nil)
		} else {
			_, _ = writeStream(to, text)
		}
		return 1
	}
	s.loop()
	if err := killBelow(s.self, func() { s.reap() }); err != nil {
		s.code = 1
	}
	s.reap()
	return s.code
}

func newTag() uint64 { return tagBase | rand.Uint64N(1<<29)<<tagShift }

// open prepares the process and watches what it serves.
func (s *server) open(fd, to int, parent bool) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	// The first process of a namespace keeps the kill: the kernel takes everything in the namespace along with it.
	if parent && s.self != 1 {
		// A kill at the parent's death, which a launcher may have asked for, would leave the commands alone. The runner asks for
		// a signal that it can act on. It goes by the parent's thread: whoever starts a runner does it from one that lasts.
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0); err != nil {
			return fmt.Errorf("die with the parent: %w", err)
		}
	}
	if err := secretive(); err != nil {
		return err
	}
	_, _ = unix.Setsid() // it has no terminal; an error says that this is so already
	// What else a command could send to its first process would end it with a dump of all that it does, in front of the person.
	// These are taken and mean nothing; commands have them as they are.
	dumps := make(chan os.Signal, 1)
	signal.Notify(dumps, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV,
		syscall.SIGSTKFLT, syscall.SIGSYS)
	go func() {
		for range dumps {
		}
	}()
	var err error
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	if s.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	if s.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	if err := s.add(s.bell, unix.EPOLLIN, s.rung); err != nil {
		return err
	}
	go func() { // not before there is a bell: without one the end would be rung at descriptor 0, and not heard
		<-s.signals
		s.post(func() { s.quit = true })
	}()
	for _, one := range []int{fd, to} {
		unix.CloseOnExec(one)
		if err := unix.SetNonblock(one, true); err != nil {
			return fmt.Errorf("connection: %w", err)
		}
	}
	if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err == nil && listens == 1 {
		s.listener, s.since = fd, time.Now()
		return s.add(fd, unix.EPOLLIN, s.accept)
	}
	_, err = s.connect(fd, to)
	return err
}

// secretive closes this process to others of the same user, its commands among them: its memory, with the environments of
// commands in it, and its descriptors.
func secretive() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close to others: %w", err)
	}
	return nil
}

func (s *server) add(fd int, events uint32, f func(uint32)) error {
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	s.watch[int32(fd)] = f
	return nil
}

func (s *server) change(fd int, events uint32) {
	_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// drop stops to watch a descriptor and closes it.
func (s *server) drop(fd int) {
	if s.watch[int32(fd)] != nil {
		delete(s.watch, int32(fd))
		_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	}
	_ = unix.Close(fd)
}

// processors is how many a runner uses at once, of however many there are.
const processors = 4

// beside runs f on another thread. A runner that came here with one processor for itself, to be here sooner, takes more from now
// on: with one alone f would wait until the runtime notices that this thread sleeps.
func beside(f func()) {
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(min(runtime.NumCPU(), processors))
	}
	go f()
}

// post runs f on the thread.
func (s *server) post(f func()) {
	s.mu.Lock()
	s.posted = append(s.posted, f)
	s.mu.Unlock()
	_, _ = unix.Write(s.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (s *server) rung(uint32) {
	var b [8]byte
	_, _ = unix.Read(s.bell, b[:])
	s.mu.Lock()
	work := s.posted
	s.posted = nil
	s.mu.Unlock()
	for _, f := range work {
		f()
	}
}

// loop waits and works until there is nobody to work for. A command's end is seen by its pidfd. The end of an orphan
// interrupts the waiting; if that is missed, it is waited for a little later.
func (s *server) loop() {
	events := make([]unix.EpollEvent, 64)
	for !s.quit {
		wait := -1
		if s.reap() {
			wait = 500
		}
		if s.idle > 0 && len(s.conns) == 0 {
			rest := s.idle - time.Since(s.since)
			if rest <= 0 {
				return
			}
			if ms := int(rest/time.Millisecond) + 1; wait < 0 || ms < wait {
				wait = ms
			}
		}
		n, err := unix.EpollWait(s.epoll, events, wait)
		if err != nil && err != unix.EINTR {
			s.code = 1
			return
		}
		for _, e := range events[:max(n, 0)] {
			if f := s.watch[e.Fd]; f != nil {
				f(e.Events)
			}
		}
		if s.listener < 0 && len(s.conns) == 0 {
			return
		}
	}
}

// reap waits for whoever has ended. It tells whether there are children.
func (s *server) reap() bool {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, &usage)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false
		case pid == 0:
			return true
		}
		if c := s.commands[pid]; c != nil {
			s.ended(c, status, &usage)
		}
	}
}
