package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/child"
	"hermes/internal/sandbox/native/role"
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/runner"
)

// launcher is the running small program that makes processes in namespaces. It ends with its socket, and takes along what it
// made.
type launcher struct {
	process *child.Process
	socket  *os.File
	groups  wall.Groups

	write sync.Mutex // one request after the other
	mu    sync.Mutex
	last  uint64
	wait  map[uint64]chan *wall.Answer
	dead  chan struct{} // closed when it is gone, or does not make sense any more
	clean chan struct{} // closed when it has ended and left nothing
}

var errLauncher = errors.New("the launcher is gone")

func startLauncher(program string, g groups, log func(string)) (*launcher, error) {
	if program == "" {
		return nil, errors.New("start launcher: no program")
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("start launcher: %w", err)
	}
	_ = unix.SetNonblock(fds[0], true)
	ours, theirs := os.NewFile(uintptr(fds[0]), "launcher"), os.NewFile(uintptr(fds[1]), "launcher")
	defer theirs.Close()
	made := wall.Groups{Prefix: fmt.Sprintf("%s%d-%s-", groupPrefix, os.Getpid(), random()), Dirs: g.dirs()}
	process, err := child.Start(context.Background(), child.Spec{
		Program: program, Name: runner.Marker, Args: append([]string{role.Launcher, made.Prefix}, made.Dirs...), Dir: "/", Session: true,
		Stdio: child.Stdio{Err: &said{log: log}, Files: []*os.File{theirs}},
	})
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	l := &launcher{
		process: process, socket: ours, groups: made, wait: map[uint64]chan *wall.Answer{}, dead: make(chan struct{}), clean: make(chan struct{}),
	}
	go l.receive()
	go l.cleanup()
	return l, nil
}

// cleanup removes what a launcher leaves that was killed.
func (l *launcher) cleanup() {
	defer close(l.clean)
	<-l.process.Done()
	l.groups.Sweep()
}

func (l *launcher) receive() {
	defer func() {
		close(l.dead)
		_ = l.socket.Close() // whatever is left of it ends
	}()
	buffer := make([]byte, 4096)
	for {
		n, err := l.socket.Read(buffer)
		if err != nil || n == 0 {
			return
		}
		a, err := wall.ParseAnswer(buffer[:n])
		if err != nil {
			return
		}
		l.mu.Lock()
		ch := l.wait[a.ID]
		delete(l.wait, a.ID)
		l.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
}

// alive tells whether it can still be asked.
func (l *launcher) alive() bool {
	select {
	case <-l.dead:
		return false
	default:
		return true
	}
}

// number returns a fresh id.
func (l *launcher) number() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return l.last
}

// ask sends a request, with a descriptor if there is one, and returns where its answer will be.
func (l *launcher) ask(q *wall.Request, file *os.File) (<-chan *wall.Answer, error) {
	ch := make(chan *wall.Answer, 1)
	l.mu.Lock()
	l.wait[q.ID] = ch
	l.mu.Unlock()
	message := q.Marshal()
	if len(message) > wall.LargestRequest {
		return nil, errors.New("the request is too large")
	}
	l.write.Lock()
	defer l.write.Unlock()
	if file == nil {
		return ch, l.send(message, nil)
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error // the descriptor must stay open while the message is sent
	if err := raw.Control(func(fd uintptr) { failed = l.send(message, unix.UnixRights(int(fd))) }); err != nil {
		return nil, err
	}
	return ch, failed
}

// send sends one message. It tells when there is no launcher to get it.
func (l *launcher) send(message, oob []byte) error {
	raw, err := l.socket.SyscallConn()
	if err != nil {
		return errLauncher
	}
	_ = l.socket.SetWriteDeadline(time.Now().Add(launcherTime))
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), message, oob, nil, unix.MSG_NOSIGNAL)
		return !errors.Is(failed, unix.EAGAIN)
	})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("ask the launcher: %w", err)
	case err != nil: // the socket is closed
		return errLauncher
	case errors.Is(failed, unix.EPIPE), errors.Is(failed, unix.ECONNRESET):
		return fmt.Errorf("%w: %w", errLauncher, failed)
	}
	return failed
}

// await waits for an answer.
func (l *launcher) await(ctx context.Context, ch <-chan *wall.Answer) (*wall.Answer, error) {
	select {
	case a := <-ch:
		return a, nil
	case <-l.dead:
		select { // it may have answered last thing
		case a := <-ch:
			return a, nil
		default:
			return nil, errLauncher
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// end ends a process and waits until nothing is left of it. Of a launcher that is gone nothing is left anyway.
func (l *launcher) end(id uint64) error {
	ch, err := l.ask(&wall.Request{ID: id, End: true}, nil)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), launcherTime, errUnended)
	defer cancel()
	if _, err := l.await(ctx, ch); errors.Is(err, errUnended) {
		return err
	}
	return nil
}

// launcherTime bounds what the launcher may take to do as it is told. Then it is stuck, and killed.
const launcherTime = 5 * time.Second

// close ends the launcher and everything it made.
func (l *launcher) close() {
	_ = l.socket.Close()
	stuck := time.NewTimer(2 * launcherTime)
	defer stuck.Stop()
	select {
	case <-l.clean:
	case <-stuck.C:
		l.process.Kill()
		select {
		case <-l.clean:
		case <-time.After(launcherTime):
		}
	}
}
