// Package child starts programs and makes sure that they end: explicit program, environment and descriptors, one group or
// session for each, and an end that takes whatever was started below along.
//
// It does not decide which commands run (see guard/command and launch), does not choose their environment (see
// guard/environ), knows no shell and confines nothing (see sandbox). Nothing else in the tree starts a program.
//
// Failure direction: what cannot be started exactly as asked (a limit, a descriptor, a directory) is not started, and what
// cannot be killed is an error that names it.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hermes/internal/guard/environ"
)

// Spec says what to start. Nothing is inherited that it does not name; the zero Spec is refused.
//
// It is wide because each field is a property of a process of its own that the caller must be able to leave out.
type Spec struct {
	Program string       // absolute path, or a bare name that is looked up in Search
	Search  string       // list of absolute directories for bare names; other entries are skipped
	Name    string       // what the program sees as argv[0]; empty: Program
	Args    []string     // what follows it
	Env     environ.List // the whole environment; the zero List is an empty one
	Dir     string       // working directory, absolute
	Stdio   Stdio
	Limits  Limits
	End     End

	Session       bool           // a session of its own instead of only a process group; implied by Stdio.Terminal
	DieWithParent bool           // killed when this process dies, however it dies; Linux only, an error elsewhere
	DeathSignal   syscall.Signal // what DieWithParent sends; 0 is the kill. For a program that has something to end itself
	Cgroup        *os.File       // directory of a version 2 cgroup to start in and to kill through; Linux only, an error elsewhere
}

// Stdio says what the child reads and writes. Files are handed over as they are; everything else is copied through a pipe.
// The caller keeps its files and closes them.
type Stdio struct {
	In       io.Reader // nil: the null device. A reader other than a file is read until the child has ended
	Out, Err io.Writer // nil: the null device. The same writer twice gets one stream, in order
	Files    []*os.File
	// Terminal runs the child on a new terminal of that size: In is typed, what it shows goes to Out, and Err must be nil.
	Terminal *Size
}

// Size is the size of a terminal in characters.
type Size struct{ Rows, Cols uint16 }

// End says how the child ends.
type End struct {
	// Grace is the time between the request to end and the kill; 0 is two seconds, less than 0 none.
	Grace time.Duration
	// Drain is how long output is read on after the program has ended while something it started still holds the pipe; 0 is
	// or less is 300 ms.
	Drain time.Duration
	// Leave lets what the program started in its group live on when it ends by itself. A kill always takes the whole tree.
	Leave bool
}

const (
	defaultGrace = 2 * time.Second
	defaultDrain = 300 * time.Millisecond
)

// Limits bounds the child and, each for itself, what it starts; 0 leaves a limit as it is. A limit never rises above the one
// in force. Linux only; an error elsewhere. Set-user-ID bits of the program itself (not of what it starts) are without
// effect when there is a limit.
type Limits struct {
	CPU       uint64 // seconds
	Files     uint64 // open files
	FileSize  uint64 // bytes
	Memory    uint64 // bytes of address space
	Processes uint64 // processes of the user
}

// Status says how a program ended.
type Status struct {
	Code   int            // exit code; -1 when a signal ended it
	Signal syscall.Signal // 0 when it ended by itself
	Core   bool           // it left a memory dump
	Cut    bool           // output was cut off: something it started held the pipe longer than End.Drain
	User   time.Duration  // processor time of the program and the children it waited for
	System time.Duration
}

// Exit returns the exit code as a shell tells it: 128 and the signal's number when a signal ended the program.
func (s Status) Exit() int {
	if s.Signal != 0 {
		return 128 + int(s.Signal)
	}
	return s.Code
}

// NotFoundError says that a bare name is not in the search path.
type NotFoundError struct{ Name, Search string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("look up %s: not in %q", e.Name, e.Search)
}

// Unwrap makes the error an fs.ErrNotExist.
func (e *NotFoundError) Unwrap() error { return os.ErrNotExist }

// Lookup finds the program a bare name means in a list of directories. An absolute path is itself. Relative names and
// relative entries are never looked at, the current directory not even when the list names it.
func Lookup(name, search string) (string, error) {
	switch {
	case name == "" || strings.ContainsRune(name, 0):
		return "", fmt.Errorf("look up %q: not a name", name)
	case filepath.IsAbs(name):
		return name, nil
	case filepath.Base(name) != name || name == "." || name == "..":
		return "", fmt.Errorf("look up %s: a relative path", name)
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, suffix := range programSuffixes(name) {
			full := filepath.Join(dir, name+suffix)
			if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && mayRun(full) {
				return full, nil
			}
		}
	}
	return "", &NotFoundError{Name: name, Search: search}
}

// Run starts a program and waits for it. See Start and Process.Wait.
func Run(ctx context.Context, spec Spec) (Status, error) {
	p, err := Start(ctx, spec)
	if err != nil {
		return Status{Code: -1}, err
	}
	return p.Wait()
}

// Output runs a program and returns what it wrote to its standard output. More than limit bytes are an error, and so is an
// exit code other than 0: its text is the end of what the program wrote to its standard error, unless the spec takes that.
func Output(ctx context.Context, spec Spec, limit int) ([]byte, error) {
	out := &bounded{limit: limit}
	tail := &ending{limit: 1 << 10}
	spec.Stdio.Out = out
	if spec.Stdio.Err == nil {
		spec.Stdio.Err = tail
	}
	status, err := Run(ctx, spec)
	switch {
	case err != nil:
		return out.bytes, err
	case status.Exit() != 0:
		return out.bytes, &ExitError{Program: spec.Program, Status: status, Text: tail.line()}
	}
	return out.bytes, nil
}

// ExitError says that a program ended with another exit code than 0. Only Output makes one.
type ExitError struct {
	Program string
	Status  Status
	Text    string // the last line on its standard error
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("run %s: exit code %d", e.Program, e.Status.Code)
	if e.Status.Signal != 0 {
		text = fmt.Sprintf("run %s: ended by signal %d (%v)", e.Program, int(e.Status.Signal), e.Status.Signal)
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// check refuses what a process cannot be made of.
func (s *Spec) check() error {
	switch {
	case s.Program == "":
		return errors.New("start: no program")
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("start %s: directory %q is not absolute", s.Program, s.Dir)
	case s.Stdio.Terminal != nil && s.Stdio.Err != nil:
		return fmt.Errorf("start %s: a terminal has one output", s.Program)
	}
	for _, f := range s.Stdio.Files {
		if f == nil {
			return fmt.Errorf("start %s: a file to hand over is nil", s.Program)
		}
	}
	for _, word := range append([]string{s.Program, s.Name, s.Dir}, s.Args...) {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("start %s: a NUL byte in %q", s.Program, word)
		}
	}
	return nil
}

// variables returns the environment, never nil: nil would mean the one of this process.
func (s *Spec) variables() ([]string, error) {
	list := append([]string{}, s.Env.Strings()...)
	for _, pair := range list {
		if key, _, ok := strings.Cut(pair, "="); !ok || key == "" || strings.ContainsRune(pair, 0) {
			return nil, fmt.Errorf("start %s: variable %q is not NAME=value", s.Program, key)
		}
	}
	return list, nil
}
