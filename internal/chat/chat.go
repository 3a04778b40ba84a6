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
	"fmt"
	"slices"
	"sync"

	"hermes/internal/approval"
	"hermes/internal/guard/scope"
	"hermes/internal/session"
)

// Options are what a Chat is made of. Hear, Open, Sessions and Desk are needed.
//
// It is wide because each field is a property of its own that comes from another part.
type Options struct {
	Hear func(Event) // gets one event at a time, in order, and may call the Chat, but not close it

	Open     func(ctx context.Context, s Start) (*Talk, error)
	Sessions *session.View // of the profile
	Desk     *approval.Desk
	Profile  scope.Profile
	Start    Start  // what is opened first
	Person   string // who answers, for the audit log
	Yolo     bool   // asked for when the program was started

	Confirms func() bool                               // whether what destroys asks first, as the settings say now; nil: it does
	Trust    func() error                              // keeps that it does not from now on; nil: that is not offered
	Approval func() (mode string, listed []string)     // approvals.mode and command_allowlist, as they are now; nil: not shown
	Config   func(key string) (text string, err error) // settings, as markdown: one, or with "" those that were changed; nil: not shown
}

// Chat is a person's place in a conversation. It is safe for concurrent use. Whoever made it closes it.
//
// One goroutine, the worker, does what lines ask for, one after the other; turns, commands of the shell and all that may take its
// time run beside it and hand back to it how they ended. What only the worker touches needs no lock.
type Chat struct {
	o    Options
	ctx  context.Context // ends with Close
	end  context.CancelFunc
	out  *box[Event]
	acts *box[func()]
	done sync.WaitGroup // all that runs beside the worker

	queue approval.Queue

	talk    *Talk // the worker's
	said    bool  // something was said in it
	yolo    bool  // for the next conversation
	later   []string
	waiting []string // of processes, for the next turn
	alone   int      // turns in a row that they have begun
	confirm *confirm
	serial  int      // of the last confirm
	nth     int      // of the last turn in the background
	rests   []rested // who waits for nothing to run

	mu      sync.Mutex          // guards what follows
	status  Status              // as it is
	told    Status              // as it was told last
	front   *run                // the turn
	shell   *run                // the command of the person's own
	back    map[int]*run        // turns in the background
	steered []string            // given to the agent, which has not given them to the model yet
	asked   []approval.Question // that wait, the oldest first
	waits   bool                // a confirm waits
	files   func(ctx context.Context, prefix string) []string
	waited  func() int
	detach  func() int
	closed  bool
}

// run is something that can be ended.
type run struct {
	cancel context.CancelFunc
	ended  bool // by the person
}

// New opens a conversation and begins to take lines. The first event is Opened. ctx is for the opening only.
func New(ctx context.Context, o Options) (*Chat, error) {
	if o.Hear == nil || o.Open == nil || o.Sessions == nil || o.Desk == nil || o.Profile.IsZero() {
		return nil, errors.New("open chat: something it is made of is missing")
	}
	c := &Chat{o: o, out: newBox[Event](), acts: newBox[func()](), back: map[int]*run{}, yolo: o.Yolo}
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.queue.Send = c.ask
	o.Start.Prompter = prompter{c}
	t, err := o.Open(ctx, o.Start)
	if err != nil {
		c.end()
		return nil, err
	}
	if err := c.enter(t, false); err != nil {
		c.end()
		return nil, errors.Join(err, t.close(ctx))
	}
	go c.tell()
	go c.work()
	return c, nil
}

// tell hands events out.
func (c *Chat) tell() {
	for {
		e, ok := c.out.take()
		if !ok {
			return
		}
		if r, ok := e.(rested); ok {
			close(r.told)
			continue
		}
		c.o.Hear(e)
	}
}

// work does what is to be done, one after the other.
func (c *Chat) work() {
	for {
		do, ok := c.acts.take()
		if !ok {
			return
		}
		do()
		c.update()
		if len(c.rests) > 0 && c.idle() {
			for _, r := range c.rests {
				c.emit(r)
			}
			c.rests = nil
		}
	}
}

// rested is handed to who waits for it, in its place among the events.
type rested struct{ told chan struct{} }

func (rested) event() {}

func (c *Chat) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.front == nil && c.shell == nil && len(c.back) == 0
}

// Rest waits until everything that was submitted before is done, in the background too, and has been heard. It must not be called
// by who hears. The error is that of ctx; a closed chat rests.
func (c *Chat) Rest(ctx context.Context) error {
	r := rested{make(chan struct{})}
	if !c.acts.put(func() { c.rests = append(c.rests, r) }) {
		return nil
	}
	select {
	case <-r.told:
		return nil
	case <-c.ctx.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Chat) emit(e Event) { c.out.put(e) }

func (c *Chat) say(form Form, format string, args ...any) {
	c.emit(Output{Text: fmt.Sprintf(format, args...), Form: form})
}

// Submit takes a line: a message, a /command or a !command. It returns at once; what comes of it are events. A message during a
// turn is given to the model at its next step.
func (c *Chat) Submit(line string) { c.acts.put(func() { c.line(line) }) }

// Warn tells the person something that does not come of the conversation.
func (c *Chat) Warn(text string) { c.say(Warning, "%s", text) }

// Reply answers a Confirm.
func (c *Chat) Reply(id, choice string) { c.acts.put(func() { c.reply(id, choice) }) }

// Interrupt ends what is under way (a question before something is destroyed, a command of the person's own, the turn), keeps
// what came of it, and tells whether there was anything.
func (c *Chat) Interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.waits:
		c.acts.put(func() { c.reply(c.pending(), Cancel) })
	case c.shell != nil:
		c.shell.ended = true
		c.shell.cancel()
	case c.front != nil:
		c.front.ended = true
		c.front.cancel()
	default:
		return false
	}
	return true
}

// Detachable tells whether a command runs that the agent waits for.
func (c *Chat) Detachable() bool {
	c.mu.Lock()
	waited := c.waited
	c.mu.Unlock()
	return waited != nil && waited() > 0
}

// Detach lets the commands that the agent waits for go on in the background, and the agent go on without them. It tells whether
// there was any.
func (c *Chat) Detach() bool {
	c.mu.Lock()
	detach := c.detach
	c.mu.Unlock()
	if detach == nil || detach() == 0 {
		return false
	}
	c.acts.put(func() {}) // after which the status is told
	return true
}

// Answer answers a question, and tells whether it still waited for one.
func (c *Chat) Answer(q approval.Question, choice approval.Choice, reason string) bool {
	a := q.Reply(choice)
	a.By, a.Reason = c.o.Person, reason
	return c.queue.Answer(q.Session, a)
}

// Status returns what there is to know at a glance.
func (c *Chat) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Close ends everything that runs, and the conversation. After it no event comes. It may be called twice.
func (c *Chat) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.done.Wait() // all of it ends with c.ctx
	ended := make(chan error, 1)
	c.acts.put(func() { ended <- c.leave(ctx) })
	c.acts.close()
	err := <-ended
	c.out.close()
	return err
}

// beside runs something that is not the worker's to wait for, unless the chat is closed.
func (c *Chat) beside(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.done.Go(f)
	}
}

// update tells when the status is another.
func (c *Chat) update() {
	if c.talk == nil {
		return
	}
	place := Place{}
	if c.talk.Place != nil {
		place = c.talk.Place()
	}
	running := c.talk.running()
	c.mu.Lock()
	s := c.status // with what a turn has counted
	s.ID, s.Title, s.Model, s.Limit = c.talk.Info.ID, c.talk.Info.Title, c.talk.Model, max(c.talk.Limit, 0)
	s.Backend, s.Boundary, s.Unopened, s.Dir = place.Backend, place.Boundary, place.Unopened, place.Dir
	s.Profile, s.Yolo = c.o.Profile.String(), c.o.Desk.YOLO(c.talk.Info.Owner)
	s.Busy, s.Background, s.Running = c.front != nil || c.shell != nil, len(c.back), running
	s.Queued = len(c.steered) + len(c.later)
	changed := s != c.told && !c.closed
	c.status, c.told = s, s
	c.mu.Unlock()
	if changed {
		c.emit(Changed{s})
	}
}

// prompter puts questions to the person of a chat.
type prompter struct{ c *Chat }

// Prompt implements approval.Prompter.
func (p prompter) Prompt(ctx context.Context, q approval.Question) (approval.Answer, error) {
	a, err := p.c.queue.Prompt(ctx, q)
	p.c.mu.Lock()
	p.c.asked = slices.DeleteFunc(p.c.asked, func(o approval.Question) bool { return o.ID == q.ID })
	p.c.mu.Unlock()
	p.c.emit(Answered{ID: q.ID, Choice: a.Choice, By: a.By, Void: err != nil})
	return a, err
}

func (c *Chat) ask(_ context.Context, q approval.Question) error {
	c.mu.Lock()
	c.asked = append(c.asked, q)
	c.mu.Unlock()
	if !c.out.put(Asked{q}) {
		return errors.New("the chat is closed")
	}
	return nil
}
