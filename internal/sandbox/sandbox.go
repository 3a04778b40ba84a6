// Package sandbox says what a place for commands is: how it is opened, what it tells of itself, how a command runs in it.
//
// It holds the contract, the plain data of it and what is alike in every backend (Gate); the backends are below (local, native, …), the list of them is in
// backends, the suite every one of them must pass in sandboxtest. It does not decide which commands run (see
// guard/command and launch), nor what an exposure is worth (see guard/exposure).
//
// Failure direction: a sandbox that cannot be what its Spec says does not open; never a weaker one instead.
package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
)

// Backend opens sandboxes of one kind. Implementations: the Backend of local, native, docker and ssh, and sandboxtest.Fake. Safe for
// concurrent use.
type Backend interface {
	// Name is the word used in settings: local, native, docker, …
	Name() string
	// Open makes a sandbox that enforces spec, or fails: an explicit wish that is not in force is a *MissingError. The
	// caller closes what it gets. ctx bounds the opening only.
	Open(ctx context.Context, spec Spec) (Sandbox, error)
}

// Sandbox is an opened place for commands. Safe for concurrent use: commands run side by side.
type Sandbox interface {
	// Exposure is what was read back from inside, not what was requested.
	Exposure() exposure.Exposure
	// Run runs one command to its end. An exit code other than 0 is no error; errors are: the sandbox is closed or
	// broken (*BrokenError), the command could not be started at all, its output could not be written. What the
	// command leaves running stays listed in Left until Close.
	Run(ctx context.Context, c Command) (Status, error)
	// Left lists what earlier commands left running.
	Left() []Process
	// Close ends the sandbox. Everything that was started inside is gone on return. It may be called twice.
	Close(ctx context.Context) error
}

// Files is what a sandbox offers beyond commands, where it can: files inside, on opened handles. Every method refuses a
// path that is not absolute; none follows a last symlink on writing.
type Files interface {
	Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error)
	Create(ctx context.Context, path string, mode fs.FileMode) (io.WriteCloser, error) // atomic: seen whole at Close, or never
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	List(ctx context.Context, path string) ([]fs.FileInfo, error)
}

// Keeper is what a sandbox offers that can tell what lasts of the session's shell. Every sandbox in which something lasts does.
type Keeper interface{ Kept() Kept }

// Kept is what lasts of a session's shell, as the last command left it. The maps are the caller's. Functions and aliases that are as the
// owner's start files made them, and cannot come to another one, are left out: they are the owner's to know.
type Kept struct {
	Version   uint64            // another one whenever something of this changes; 1 before anything has
	Vars      map[string]string // exported, where it differs from the environment the session began with
	Unset     []string          // of that environment, what commands no longer get
	Functions map[string]string // shell text that declares them, by name
	Aliases   map[string]string // what they stand for
	Changed   map[string]bool   // names of these that are not as the owner's start files left them
}

// Spec is what a sandbox shall be. It is a value; two equal ones may share a sandbox of the same session.
type Spec struct {
	Session scope.Session   // whose it is: snapshots and files of another session are never seen
	Workdir checked.Workdir // the work tree, absolute on this machine, and where commands start
	Env     environ.List    // the environment of every command
	Home    string          // where the sandbox may keep what lasts: a directory of Hermes' own, 0700
	Secrets []string        // values that must not be readable inside, by any way; never logged

	Network exposure.Network // what is asked of the network
	Exit    *Exit            // the one way out, for a sandbox whose network is an allow-list; nil: none
	Read    []string         // host paths readable besides the backend's own list
	Write   []string         // host paths writable besides the work tree
	Limits  Limits

	InitFiles  []string // shell files sourced once, before the first command
	Persistent bool     // exports, functions, aliases and the directory last from command to command
	BestEffort bool     // run anyway where the kernel lacks a wall; every result then says what is missing
}

// Exit is the way out of a sandbox that has no route: two sockets that are made inside and served outside. A backend that
// cannot hand sockets out leaves it alone, and its exposure says that there is no network. For another machine, whose own
// network stays as it is, it is one more way.
type Exit struct {
	Port   uint16                             // of 127.0.0.1 inside, where the proxy listens; names are asked for at port 53
	Attach func(stream, names *os.File) error // takes the sockets over and returns at once; names may be nil
	Listen func(path string) error            // serves at a unix socket that it makes, and returns at once; nil: nothing leads out of another machine
}

// Limits bounds all commands of a sandbox together; 0 leaves a limit at the backend's default, Unlimited takes it away.
type Limits struct {
	PIDs   int64
	Memory int64 // bytes
	CPU    int64 // thousandths of a CPU
	Disk   int64 // bytes
	Asked  bool  // the owner set them: one that cannot be enforced is an error, not a report
}

// Unlimited takes a limit away.
const Unlimited = -1

// Command is one command. Either Text or Argv is set.
type Command struct {
	ID   string   // for the audit and the egress log; empty: none
	Text string   // shell text, run by a fresh bash with the session's snapshot
	Argv []string // a program and its arguments, run without a shell
	Dir  string   // where to run it, as seen inside; empty: where the last command of the session ended
	Env  environ.List

	Apart  bool   // what it changes of the session's shell is its own: nothing of it lasts
	Judged uint64 // the version of Kept that it was judged with: with another one it does not run (ErrChanged). 0: with any

	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer // nil: thrown away; the same writer for both keeps the order of writes
	Terminal       *Size     // run on a terminal of this size; then Stderr stays unused
	Resize         <-chan Size
	Signals        <-chan Signal // sent to the command while it runs; nil: none. Signals that come too late are dropped

	Timeout time.Duration // 0: none. The whole tree is killed, the exit code is 124
	Grace   time.Duration // between the request to end and the kill; 0: the backend's
}

// Size is a terminal's size in characters.
type Size struct{ Rows, Cols uint16 }

// Signal is one for a running command: for its process group, as a terminal's Ctrl-C is.
type Signal struct {
	Number int  // as Linux numbers them, wherever Hermes runs: 2 interrupts, 15 asks to end
	Tree   bool // for whatever left the group as well, as far as the backend can tell (see Sandbox.Left)
}

// Status is how a command ended.
type Status struct {
	Code        int       // as a shell tells it: 0…255; 124 timed out, 126 not executable or no such directory, 127 not found, 128+n signal, 130 interrupted
	Signal      int       // the signal that ended it, 0 for none
	TimedOut    bool      // by Command.Timeout
	Interrupted bool      // by the context
	Dir         string    // where the command ended, when Observed
	Observed    bool      // this very command told its directory
	Left        []Process // what it left running
	Notices     []string  // what whoever reads the result should look at
	Wall        time.Duration
	CPU         time.Duration
}

// Process is one that a command left running.
type Process struct {
	PID     int // as seen inside
	Command string
	Started time.Time
}

// MissingError says that something the owner asked for by name is not in force.
type MissingError struct {
	Backend string
	What    string // the wall or limit, in the words of exposure's rows
	Why     string // what the kernel or engine lacks
	Remedy  string // what to do: a command, a package, a setting
}

func (e *MissingError) Error() string {
	s := "open " + e.Backend + " sandbox: " + e.What + " is not in force"
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// DegradedError says that what a backend needs is not there now: no engine answers, a machine cannot be reached. Nothing was
// run; the next opening starts clean.
type DegradedError struct {
	Backend string
	Text    string // what is not there
	Remedy  string // what to do: a command, a package, a setting
	Cause   error  // may be nil
}

func (e *DegradedError) Error() string {
	s := "open " + e.Backend + " sandbox: " + e.Text
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *DegradedError) Unwrap() error { return e.Cause }

// BrokenError says that a sandbox died: its runner was killed, its connection was cut. Commands are never run again by
// themselves; a new sandbox must be opened.
type BrokenError struct {
	Backend string
	Cause   error
}

func (e *BrokenError) Error() string { return e.Backend + " sandbox: broken: " + e.Cause.Error() }
func (e *BrokenError) Unwrap() error { return e.Cause }

// ErrChanged says that a command has not run: what lasts of the session is not what it was judged with.
var ErrChanged = errors.New("another command has changed the session's shell since this one was judged")

// ErrClosed is the error of every use after Close.
var ErrClosed = errors.New("sandbox: closed")
