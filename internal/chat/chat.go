// Package chat is a conversation as a person has it: lines come in, which are messages, commands of the chat or commands for the
// shell; what happens goes out as events, whoever shows them.
//
// It draws nothing (see tui) and runs nothing itself (see agent, launch).
//
// Failure direction: refuse. What destroys something asks first, and silence means no.
package chat

import (
	"context"
	"errors"
	"io"
	"sync"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/guard/scope"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Agent takes turns in one conversation. The implementation is agent.Agent.
type Agent interface {
	Turn(ctx context.Context, text string, hear func(agent.Event)) error
	Resume(ctx context.Context, hear func(agent.Event)) error // goes on where a turn stopped
	Compact(ctx context.Context, hear func(agent.Event)) error
	Steer(text string) // for the next step of the turn that runs
}

// Start says which conversation is to be opened, and how.
type Start struct {
	ID         string            // of a stored one; "": a new one
	Parent     string            // of a new one: what it goes on from
	Model      string            // "": the one it had, or that of the settings
	Prompter   approval.Prompter // who is asked
	Background bool              // nobody types into it
}

// Talk is one open conversation and what it can do. What is nil cannot be done there. All functions are safe for concurrent use.
type Talk struct {
	Info    session.Info
	History []session.Message
	Agent   Agent
	Model   string
	Limit   int // tokens the model takes; 0: not known
	Tools   []tool.Spec

	Place   func() Place
	Context func(ctx context.Context) (string, error)                                   // what instructs the model, as markdown
	Attach  func(ctx context.Context, path string) (string, error)                      // a file, as the model gets it
	Files   func(ctx context.Context, prefix string) []string                           // paths that begin so; directories end in a slash
	Shell   func(ctx context.Context, text string, out io.Writer) (Ran, error)          // a command of the person's own
	Models  func(ctx context.Context) ([]string, error)                                 // there are
	Switch  func(ctx context.Context, model string) (name string, limit int, err error) // to another model
	Stop    func(ctx context.Context) (int, error)                                      // ends processes left running
	Running func() int                                                                  // processes left running
	Notices func(ctx context.Context) (string, error)                                   // waits for one of a process, as the model gets it
	Close   func(ctx context.Context) error
}

// Place is where commands of a conversation run.
type Place struct {
	Backend  string
	Boundary bool // it contains harm to this machine
	Dir      string
}

// Ran is what came of a command of the person's own.
type Ran struct {
	Summary string // "exit code 1"; "" is success
	Refused string // why it has not run; "" if it has
}

// Options are what a Chat is made of.
type Options struct {
	Hear func(Event) // gets one event at a time, in order, and may call the Chat

	Open     func(ctx context.Context, s Start) (*Talk, error)
	Sessions *session.View // of the profile
	Desk     *approval.Desk
	Profile  scope.Profile
	Start    Start  // what is opened first
	Person   string // who answers, for the audit log
	Yolo     bool   // asked for with --yolo or HERMES_YOLO_MODE

	Confirms func() bool                               // whether what destroys asks first, as the settings say now; nil: it does
	Trust    func() error                              // keeps that it does not from now on; nil: that is not offered
	Listed   func() []string                           // command_allowlist; nil: not shown
	Mode     func() string                             // approvals.mode, as it is now
	Config   func(key string) (text string, err error) // settings, as markdown; "" shows those that were changed
}

// Chat is a person's place in a conversation. It is safe for concurrent use. Whoever made it closes it.
type Chat struct {
	o     Options
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	out   *box[Event]
	acts  *box[func()] // done one after the other; they own what is not guarded
	queue approval.Queue

	mu     sync.Mutex // guards what follows
	status Status
}

// New opens a conversation and begins to take lines. The first event is Opened.
func New(ctx context.Context, o Options) (*Chat, error) { return nil, errors.New("not yet") }

// Submit takes a line: a message, a /command or a !command. It returns at once; what comes of it are events. A message during a
// turn is given to the model at its next step.
func (c *Chat) Submit(line string) {}

// Interrupt ends what is under way (a question before something is destroyed, a command of the person's own, the turn), keeps
// what came of it, and tells whether there was anything.
func (c *Chat) Interrupt() bool { return false }

// Answer answers a question, and tells whether it still waited for one.
func (c *Chat) Answer(q approval.Question, choice approval.Choice, reason string) bool { return false }

// Reply answers a Confirm.
func (c *Chat) Reply(id, choice string) {}

// Status returns what there is to know at a glance.
func (c *Chat) Status() Status { return Status{} }

// Complete returns what the word at a byte offset of a line could become: a command in front of the line, a file after an @. from
// is where that word begins.
func (c *Chat) Complete(line string, at int) (from int, found []Candidate) { return at, nil }

// Close ends everything that runs, and the conversation. After it no event comes.
func (c *Chat) Close(ctx context.Context) error { return nil }
