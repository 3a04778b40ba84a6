package runner

import (
	"encoding/binary"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A watcher is a process of its own that outlives both a runner and whoever started it. It holds one end of a pipe whose other
// end those two hold, is told by it what the runner's commands are known by, and when both are gone, however they ended, it
// kills what is left and ends. Commands cost nothing more for it.

// LeashFD is where a runner that was started with WatchedMode finds its end of the pipe, beside SocketFD. It keeps it open.
const LeashFD = SocketFD + 1

// Watch tells the watcher at the other end of a pipe what to look for. The caller keeps its end open until all is cleaned up.
func (c *Client) Watch(leash io.Writer) error {
	_, err := leash.Write(binary.LittleEndian.AppendUint64(nil, c.tag))
	return err
}

const (
	watchKills = 20
	watchAgain = 200 * time.Millisecond
)

// watchMain is the watcher.
func watchMain() int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	_, _ = unix.Setsid()
	var text []byte
	for buf := make([]byte, 8); ; {
		n, err := unix.Read(SocketFD, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 1
		case n > 0:
			text = append(text, buf[:n]...)
			continue
		}
		break
	}
	if len(text) != 8 {
		return 0 // there was no runner to look after
	}
	// Nobody waits for this process, so it takes its time: until a machine that is busy lets it be done, and once more a moment
	// later, since numbers of processes may begin anew while they are listed.
	t := tree{runs: binary.LittleEndian.Uint64(text), self: os.Getpid()}
	for range watchKills {
		if t.kill() == nil {
			break
		}
	}
	time.Sleep(watchAgain)
	_ = t.kill()
	return 0
}

// watchBelow starts a runner of this program below this process, with the descriptors given, waits for its end, and kills what it
// has left. It returns the exit code, and false when no process could be started: then there is nothing to wait for.
//
// On a machine where Hermes is not, there is nobody else to see to that: a runner that is killed, as when memory runs out, would
// leave its commands behind. It needs no tags: what loses its parents below here comes to this process.
func watchBelow(mode string, fds ...uintptr) (code int, ok bool) {
	runtime.LockOSThread() // the runner is asked to end when the thread that started it does
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return 0, false
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	pid, err := syscall.ForkExec("/proc/self/exe", []string{Marker, mode}, &syscall.ProcAttr{
		Env: []string{}, Files: fds, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM},
	})
	if err != nil {
		signal.Stop(signals)
		return 0, false
	}
	_ = silence(0, 1) // their end is the runner's end
	for _, fd := range fds[3:] {
		_ = unix.Close(int(fd))
	}
	_ = secretive() // what else the runner does to itself is not done here: commands must not get in
	go func() {
		for range signals {
			_ = unix.Kill(pid, unix.SIGTERM) // it is waited for only when this process is about to end
		}
	}()
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	bad := tree{self: os.Getpid()}.kill()
	var status unix.WaitStatus
	for {
		if _, err = unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	switch {
	case bad != nil || err != nil:
		return 1, true
	case status.Signaled():
		return 128 + int(status.Signal()), true
	}
	return status.ExitStatus(), true
}
