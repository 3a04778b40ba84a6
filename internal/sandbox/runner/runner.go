// Package runner is the resident helper inside a sandbox, and the client that talks to it: commands, files and signals go over
// one connection, so that a command costs a fork and not a new container.
//
// There are three ways to a runner. Dial: the two ends of a socket that this process handed to a runner it started (local,
// native). Connect: a socket in a directory that both sides see, at which a runner listens for several clients (a kept
// container). DialStream: any stream of bytes to a program's standard input and output (ssh, an engine elsewhere). On the first
// two, commands get descriptors of ours as their streams; on the third, streams go in frames, each held up by itself when it is
// not read.
//
// It knows no walls (see native and the other backends), does not decide what runs, and does not judge what it finds (see
// probe). The helper links no shell parser: what a text may change is judged on the client's side.
//
// Failure direction: a frame that cannot be read ends the connection with everything that was started through it; a runner
// whose client is gone kills what it started and ends.
package runner

import (
	"context"
	"errors"
	"io"
	"time"

	"hermes/internal/sandbox/snapshot"
)

// Marker is the argv[0] under which the big binary is a runner.
const Marker = "hermes-runner"

// SocketFD is the descriptor on which a runner that was started as Marker finds its socket.
const SocketFD = 3

// Hook answers a question of the client inside the sandbox. It runs beside the commands.
type Hook func(ctx context.Context, question []byte) (answer []byte, err error)

// Hooks are the hooks a runner has, by name. Probe's are in here.
type Hooks map[string]Hook

// Parts is what a runner's program brings along.
type Parts struct {
	Hooks  Hooks
	Harden func(Harden) error // does it to the whole process, but for Data; nil: a client that asks for it is refused
}

// The ways to start a runner, as the first argument. Without one it serves the connection or listener SocketFD.
const (
	// StdioMode serves one client over standard input and output, and ends with it. See DialStream. It does so in a process
	// below its own, which kills what is left, however that one ends.
	StdioMode = "stdio"
	// ListenMode reads a Listen.Message and waits for clients on a unix socket. See Connect.
	ListenMode = "listen"
	// WatchMode is a watcher: it waits until nobody holds the other end of the pipe SocketFD, and kills what is left of the
	// runner then that Client.Watch told it of.
	WatchMode = "watch"
	// WatchedMode is a runner as without a mode that holds LeashFD, the other end of a watcher's pipe.
	WatchedMode = "watched"
	// stdioMode is the runner that StdioMode starts.
	stdioMode = "stdio-below"
	// serveMode is what ListenMode leaves behind: it starts the runner, servedMode, and cleans up after it.
	serveMode  = "serve"
	servedMode = "serve-below"
)

// ErrOther is the cause of a BrokenError when there is a runner, but not the one that was meant: it was built from something
// else, or speaks another version.
var ErrOther = errors.New("another runner")

// ErrRefused is the cause of a BrokenError when the runner refused the connection: another version, or a frame it cannot read.
var ErrRefused = errors.New("refused by the runner")

// Options says what a client knows of its sandbox.
type Options struct {
	Backend string          // for errors
	State   *snapshot.State // of the session; made with PreludeFD and StateFD
	Search  string          // where a bare program name is looked up when the command's environment has no PATH
	Start   Start
	Queue   int           // commands at once, 0: 64; what is more waits
	Grace   time.Duration // between the request to end and the kill, where a command does not say; 0: two seconds
	Framed  bool          // stdio goes through the connection: the two ends do not share a kernel
	Log     func(string)  // what the owner should know and no result tells; may be nil
	Walled  bool          // Cleanup ends everything inside by itself: nothing has to be asked or looked for before
	Token   []byte        // of a runner that listens; see Listen
	Build   string        // SHA-256 of the program that the runner has to be, in hex; empty: any of this version
	Harden  *Harden       // what the runner does to itself first; nil: nothing. Not for one that listens: it has done so already
	Greeted bool          // Greet was called: nothing is asked of the runner but to be there
	Cleanup func()        // called once when the client is closed or broken, after everything inside is gone; may be nil
}

// Start says what runs once before the first text of a session.
type Start struct {
	Login bool     // a login shell, with its start files
	Files []string // files to source; those that cannot be read are skipped
}

// PreludeFD and StateFD are what a snapshot.Config for a State of this package needs.
const (
	PreludeFD = preludeFD
	StateFD   = stateFD
)

const (
	defaultQueue = 64
	defaultGrace = 2 * time.Second
	bootTime     = 30 * time.Second
	bareTime     = 15 * time.Second
	drainTime    = 300 * time.Millisecond
	answerTime   = 10 * time.Second // more than a kill takes
	refuseTime   = 200 * time.Millisecond
	proofTime    = 5 * time.Second
)

// null stands for a stream that is not there.
type null struct{}

func (null) Read([]byte) (int, error)    { return 0, io.EOF }
func (null) Write(p []byte) (int, error) { return len(p), nil }
