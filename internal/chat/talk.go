package chat

import (
	"context"
	"errors"
	"io"
	"strings"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Agent takes turns in one conversation. The implementation is agent.Agent.
type Agent interface {
	Turn(ctx context.Context, text string, hear func(agent.Event)) error
	Resume(ctx context.Context, hear func(agent.Event)) error // goes on where a turn stopped
	Compact(ctx context.Context, hear func(agent.Event)) error
	Pending(ctx context.Context) (bool, error) // whether Resume would ask the model
	Steer(text string)                         // for the next step of the turn that runs
	Unsteer() []string                         // takes back what no step has taken
}

// Start says which conversation is to be opened, and how.
type Start struct {
	ID         string            // of a stored one; "": a new one
	Parent     string            // of a new one: what it goes on from
	Model      string            // "": the one it had, or that of the settings
	Prompter   approval.Prompter // who is asked; nil: nobody can be
	Background bool              // nobody types into it
}

// Talk is one open conversation and what it can do. Info and Agent are needed; what is nil besides cannot be done there. All
// functions are safe for concurrent use.
//
// It is wide because each field is an ability of its own, which some conversations lack.
type Talk struct {
	Info  session.Info
	Agent Agent
	Model string
	Limit int // tokens the model takes; 0: not known
	Tools []tool.Spec

	Place   func() Place
	Context func(ctx context.Context) (string, error)                                   // what instructs the model, as markdown
	Attach  func(ctx context.Context, path string) (string, error)                      // a file, as the model gets it
	Files   func(ctx context.Context, prefix string) []string                           // paths that begin so; directories end in a slash
	Shell   func(ctx context.Context, text string, out io.Writer) (Ran, error)          // a command of the person's own
	Models  func(ctx context.Context) ([]string, error)                                 // that there are
	Switch  func(ctx context.Context, model string) (name string, limit int, err error) // to another model
	Stop    func(ctx context.Context) (int, error)                                      // ends what commands have left running
	Running func() int                                                                  // processes that commands have left running
	Waited  func() int                                                                  // commands that run while the agent waits for them
	Detach  func() int                                                                  // lets these go on in the background, and counts them
	Notices func(ctx context.Context) (Notice, error)                                   // waits for what a process has to tell
	Close   func(ctx context.Context) error
}

// Place is where commands of a conversation run.
type Place struct {
	Backend  string
	Boundary bool // it contains harm to this machine
	Unopened bool // no command has run: whether it does is not known yet
	Dir      string
}

// Ran is what came of a command of the person's own.
type Ran struct {
	Summary string // "exit code 1"; "" is success
	Refused string // why it has not run; "" if it has
}

// Notice is what a process in the background has to tell.
type Notice struct {
	Text  string // as the model gets it
	Shown string // one line for the person
}

func (t *Talk) close(ctx context.Context) error {
	if t.Close == nil {
		return nil
	}
	return t.Close(ctx)
}

// running counts the processes that commands have left.
func (t *Talk) running() int {
	if t.Running == nil {
		return 0
	}
	return t.Running()
}

// attached stands between a message and the files that go with it.
const attached = "\n\n[Attached by the person: "

// shown returns messages as a person wrote them: without the files that went with them.
func shown(messages []session.Message) []session.Message {
	for i, m := range messages {
		if m.Role == llm.User && m.Covers == 0 {
			messages[i].Text = plainly(m.Text)
		}
	}
	return messages
}

// plainly is a message as a person reads it: without files that went with it; of what a process had to tell, what Hermes said of it.
func plainly(text string) string {
	if told, ok := strings.CutPrefix(text, agent.Unasked); ok {
		text, _, _ = strings.Cut(told, "\n")
	}
	text, _, _ = strings.Cut(text, attached)
	return text
}

// enter makes a conversation the one at the front. The one before it has been left.
func (c *Chat) enter(t *Talk, clear bool) error {
	if t.Agent == nil {
		return errors.New("open conversation: it has no agent")
	}
	history, err := c.o.Sessions.Live(c.ctx, t.Info.ID)
	if err != nil {
		return err
	}
	c.o.Desk.SetYOLO(t.Info.Owner, t.Info.Yolo || c.yolo)
	if c.yolo && !t.Info.Yolo {
		if err := c.o.Sessions.SetYolo(c.ctx, t.Info.ID, true); err != nil {
			return err
		}
	}
	c.talk, c.said, c.later, c.waiting, c.alone = t, len(history) > 0, nil, nil, 0
	c.mu.Lock()
	c.steered, c.files, c.waited, c.detach = nil, t.Files, t.Waited, t.Detach
	c.status = Status{Input: t.Info.Input, Output: t.Info.Output, Dollars: t.Info.Dollars, Context: agent.Taken(history), Priced: agent.Priced(history)}
	c.mu.Unlock()
	c.emit(Opened{Info: t.Info, History: shown(history), Clear: clear})
	if pending, err := t.Agent.Pending(c.ctx); err == nil && pending {
		c.say(Warning, "The last turn was cut off. /retry goes on with it.")
	}
	c.update()
	if t.Notices != nil {
		c.beside(func() { c.notices(t) })
	}
	return nil
}

// leave ends the conversation at the front: what it was granted and what it left running. Nothing is kept of one in which nothing
// was said.
func (c *Chat) leave(ctx context.Context) error {
	t := c.talk
	if t == nil {
		return nil
	}
	c.talk = nil
	err := t.close(ctx)
	c.o.Desk.End(t.Info.Owner)
	if !c.said {
		if gone := c.o.Sessions.Delete(ctx, t.Info.ID); !errors.Is(gone, session.ErrNone) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// change leaves the conversation for another, and stays where that cannot be opened.
func (c *Chat) change(s Start, clear bool) bool {
	s.Prompter = prompter{c}
	t, err := c.o.Open(c.ctx, s)
	if err == nil && t.Agent == nil {
		err = errors.New("open conversation: it has no agent")
	}
	if err != nil {
		c.fail(err)
		return false
	}
	c.yolo = c.yolo && c.o.Desk.YOLO(c.talk.Info.Owner) // who switched it off has not asked for it again
	if err := c.leave(c.ctx); err != nil {
		c.say(Warning, "the conversation before: %s", err)
	}
	if err := c.enter(t, clear); err != nil {
		c.fail(err) // and t stays open, so that there is one
		c.talk = t
		return false
	}
	return true
}

// notices waits for what processes have to tell, as long as the conversation is open.
func (c *Chat) notices(t *Talk) {
	for {
		n, err := t.Notices(c.ctx)
		if err != nil {
			return
		}
		c.acts.put(func() {
			if c.talk == t {
				c.notice(n)
			}
		})
	}
}
