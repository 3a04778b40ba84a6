package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/runner"
)

// born is a process in new namespaces and control groups, on its way to wait for the rest of its plan. No command was in it yet.
type born struct {
	launcher *launcher
	flags    uintptr
	cpu      bool   // there is a group for a limit of processor time
	base     *base  // what it does first, nil: it waits for all of its plan
	shown    []byte // identity of what that shows of the host
	name     string
	id       uint64
	pid      int    // as seen from outside, once it is there
	birth    uint64 // when that was started, 0: not looked up yet
	conn     *os.File
	held     *held
	limits   []exposure.Limit    // in force already: those of a Spec that asks for none
	answer   <-chan *wall.Answer // nil: it is there
	unsent   error               // why what it does first was not sent

	mu    sync.Mutex // of pidfd
	pidfd int        // -1: none
}

// begin asks the launcher for a process, which does what its plan begins with, and returns while it is made. The caller gives it up
// or sees it through.
func (b *Backend) begin(h *host, l *launcher, flags uintptr, first *base, limits sandbox.Limits) (*born, error) {
	conn, remote, err := runner.Pair()
	if err != nil {
		return nil, fmt.Errorf("open native sandbox: %w", err)
	}
	n := &born{launcher: l, flags: flags, cpu: limits.CPU > 0, base: first, conn: conn, id: l.number(), pidfd: -1}
	n.name = l.groups.Prefix + strconv.FormatUint(n.id, 10)
	n.held = h.hold(n.name, limits)
	n.answer, err = l.ask(&wall.Request{ID: n.id, Flags: flags, Old: n.held.old, New: n.held.new}, remote)
	_ = remote.Close() // what is sent to a process that was never made is an error
	if err != nil {
		n.abandon()
		return nil, fmt.Errorf("open native sandbox: %w", err)
	}
	if first != nil {
		n.shown = first.shown() // before it looks
		_ = conn.SetWriteDeadline(time.Now().Add(openTime))
		n.unsent = wall.SendPlan(conn, &first.plan) // the launcher may say more of it
		_ = conn.SetWriteDeadline(time.Time{})
	}
	return n, nil
}

// arrived waits until it is there.
func (n *born) arrived(ctx context.Context) error {
	if n.answer == nil {
		return nil
	}
	a, err := n.launcher.await(ctx, n.answer)
	switch {
	case err != nil:
		n.abandon()
		return fmt.Errorf("open native sandbox: %w", err)
	case a.Errno != 0:
		n.abandon()
		return missing(a.What, syscall.Errno(a.Errno))
	case n.unsent != nil:
		n.abandon()
		return fmt.Errorf("open native sandbox: send plan: %w", n.unsent)
	}
	n.pid, n.answer = a.PID, nil
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pidfd, err = unix.PidfdOpen(n.pid, 0) // its number is its own until the launcher is told to end it
	if err != nil {
		n.pidfd = -1
	}
	return nil
}

// started returns when it was started. It must have arrived.
func (n *born) started() uint64 {
	if n.birth == 0 {
		n.birth = birth(n.pid)
	}
	return n.birth
}

// bound lets ctx end what is sent and received, until the returned function is called.
func (n *born) bound(ctx context.Context) (release func()) {
	if deadline, ok := ctx.Deadline(); ok {
		_ = n.conn.SetDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { _ = n.conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			_ = n.conn.SetDeadline(time.Time{})
		}
	}
}

// kill kills the process, as far as it is there.
func (n *born) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pidfd >= 0 {
		_ = unix.PidfdSendSignal(n.pidfd, unix.SIGKILL, nil, 0)
	}
}

// endTime bounds the wait for processes that were killed. Only what the kernel cannot end, as a process that waits for a dead
// file server, takes longer.
const endTime = 30 * time.Second

var errUnended = errors.New("its processes were killed and do not end; they wait for something that the kernel cannot interrupt")

// end kills the process and returns when it and everything in its namespaces is gone. Its groups and what else is the kernel's
// own go a moment later.
func (n *born) end() error {
	n.mu.Lock()
	pidfd := n.pidfd // from now on nobody else uses it or closes it
	n.pidfd = -1
	n.mu.Unlock()
	if pidfd >= 0 {
		defer unix.Close(pidfd)
	}
	if pidfd < 0 || unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0) != nil || !ended(pidfd, endTime) {
		return n.launcher.end(n.id)
	}
	_, _ = n.launcher.ask(&wall.Request{ID: n.id, End: true}, nil)
	return nil
}

// ended waits for the end of a process.
func ended(pidfd int, most time.Duration) bool {
	for by := time.Now().Add(most); ; {
		gone := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		left := time.Until(by).Milliseconds()
		n, err := unix.Poll(gone, int(max(left, 0)))
		switch {
		case n == 1 && err == nil:
			return gone[0].Revents&unix.POLLIN != 0
		case err != nil && !errors.Is(err, unix.EINTR), left <= 0:
			return false
		}
	}
}

func (n *born) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pidfd >= 0 {
		_ = unix.Close(n.pidfd)
		n.pidfd = -1
	}
}

// abandon ends the process, without waiting for it: nothing was started in it.
func (n *born) abandon() {
	_ = n.conn.Close()
	if _, err := n.launcher.ask(&wall.Request{ID: n.id, End: true}, nil); err != nil {
		n.held.remove() // there is no launcher any more that could
	}
	n.release()
}
