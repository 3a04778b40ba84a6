// Package prompt is the door through which text enters a model's context: what came from outside is cleaned, scanned, marked and
// wrapped, and the files that instruct agents are read, judged and put in order.
//
// It decides nothing about a text itself (see guard/taint), takes no secrets out of it (see redact), opens no file on its own (see
// workspace), and asks no model. Which tools there are is told by the request, not here.
//
// Layer 6 of 8. Failure direction: what cannot be scanned enters as untrusted, or, where it would instruct, not at all.
package prompt

import (
	"context"
	"crypto/rand"
	"io"
	"io/fs"
	"time"

	"hermes/internal/workspace"
)

// Options say for whom a prompt is made. The zero value makes one with no file and no memory.
type Options struct {
	Files    Files  // where Dir lies, and project files are read; nil: none are
	Dir      string // of the conversation, absolute where its files are
	Fallback bool   // nobody chose Dir: project files there count for nothing
	Soul     func(context.Context) (Soul, error)
	Memory   []Entry // what was remembered; each is judged alone, as strictly as when it was written
	About    Environment
	Chars    int           // of one file that are used; 0: by Window
	Window   int           // tokens that the model takes; 0: not known
	Wait     time.Duration // for one file; 0: five seconds
	Random   io.Reader     // for the ids of blocks; nil: the system's
}

// Files reads files by the rules of the guard. *workspace.Workspace is one.
type Files interface {
	Read(ctx context.Context, n workspace.Name) (*workspace.File, error)
	List(ctx context.Context, n workspace.Name) ([]fs.FileInfo, error)
}

// Soul is SOUL.md of Hermes' home: who the agent is. One that is not there is fs.ErrNotExist.
type Soul struct {
	Text    string
	Shipped bool // a distribution of profiles owns it: it is another's text
}

// Entry is something that was remembered in an earlier conversation.
type Entry struct {
	Name string // where it was kept: "memory", "user", …
	Text string
}

// Environment is what the agent is told of where it works.
type Environment struct {
	Backend  string // where commands run, with what it may reach: "native: a sandbox of its own, no network"
	System   string // there: "Linux, bash"
	Platform string // where the person reads: cli, telegram, …; empty: cli
	Date     time.Time
	Alone    bool // nobody can be asked
}

// Prompt makes the texts of one conversation. It is safe for concurrent use.
type Prompt struct {
	o   Options
	key [32]byte // the ids of the system prompt's blocks come of it, so that an unchanged prompt stays the same
}

// New makes a Prompt.
func New(o Options) *Prompt {
	if o.Wait <= 0 {
		o.Wait = 5 * time.Second
	}
	p := &Prompt{o: o}
	p.random(p.key[:])
	return p
}

// random fills b. Where the reader of the options ends, the system's goes on: an id that can be guessed is none.
func (p *Prompt) random(b []byte) {
	if p.o.Random != nil {
		if _, err := io.ReadFull(p.o.Random, b); err == nil {
			return
		}
	}
	_, _ = rand.Read(b) // it never fails
}

// System is the system prompt, and what went into it.
type System struct {
	Text     string
	Files    []File   // in their order, with those that were not loaded
	Warnings []string // what the person should know
}

// State says what became of a file. The zero value is not loaded.
type State uint8

// The states.
const (
	Blocked   State = iota // it tries to instruct: a note stands in its place
	Skipped                // it could not be read, in time or at all
	Used                   // as it is
	Truncated              // its middle is left out
	Warned                 // something was found in it, which it quotes or its owner wrote
)

var states = [...]string{"blocked", "skipped", "used", "truncated", "warned"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(states) {
		return states[s]
	}
	return states[Blocked]
}

// File is a file that instructs the agent, as /context shows it.
type File struct {
	Name     string // as the model is told it: AGENTS.md, web/AGENTS.md
	Path     string // where it lies, with links resolved
	State    State
	Chars    int // it has
	Kept     int // of them that stand in the prompt
	Findings []Finding
	Reason   string // why it was skipped
}

// Finding is a place of a file that looks like an attack.
type Finding struct {
	ID     string
	Line   int  // from 1
	Quoted bool // the file warns of it
	Start  int  // byte span in the text
	End    int
}
