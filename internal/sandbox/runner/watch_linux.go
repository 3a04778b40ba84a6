package runner

import (
	"encoding/binary"
	"io"
	"os/signal"
	"syscall"

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
	killTagged(binary.LittleEndian.Uint64(text))
	return 0
}
