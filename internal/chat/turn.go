package chat

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"hermes/internal/agent"
)

// message takes what the person says to the model: it begins a turn, or steers the one that runs.
func (c *Chat) message(text string) {
	c.mu.Lock()
	busy := c.front != nil
	c.mu.Unlock()
	full, files, ok := c.attach(text)
	switch {
	case !ok:
	case busy:
		c.steer(full, text)
	default:
		c.said, c.alone = true, 0
		c.emit(Said{Text: text, Files: files})
		c.turn(func(ctx context.Context, hear func(agent.Event)) error { return c.talk.Agent.Turn(ctx, full, hear) })
		c.remind()
	}
}

// steer gives a message to the turn that runs.
func (c *Chat) steer(full, text string) {
	c.mu.Lock()
	c.steered = append(c.steered, full)
	c.mu.Unlock()
	c.emit(Queued{Text: text})
	c.talk.Agent.Steer(full)
}

// attach adds the files that a message mentions. What may not be read keeps the message from being sent.
func (c *Chat) attach(text string) (full string, files []string, ok bool) {
	if c.talk.Attach == nil {
		return text, nil, true
	}
	var parts []string
	for _, m := range mentions(text) {
		part, err := c.talk.Attach(c.ctx, m)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.say(Warning, "@%s: there is no such file, so none goes with the message", m)
		case err != nil:
			c.say(Error, "@%s: %s. The message was not sent.", m, err)
			c.emit(Edit{Text: text})
			return "", nil, false
		case !slices.Contains(files, m):
			files, parts = append(files, m), append(parts, part)
		}
	}
	if len(files) == 0 {
		return text, nil, true
	}
	return text + attached + strings.Join(files, ", ") + "]\n" + strings.Join(parts, "\n"), files, true
}

// turn runs a turn beside the worker.
func (c *Chat) turn(do func(ctx context.Context, hear func(agent.Event)) error) {
	ctx, cancel := context.WithCancel(c.ctx)
	r := &run{cancel: cancel}
	c.mu.Lock()
	c.front = r
	c.mu.Unlock()
	c.beside(func() {
		told := false
		err := do(ctx, func(e agent.Event) {
			_, done := e.(agent.Done)
			told = told || done
			c.heard(e)
		})
		cancel()
		if err != nil && !told {
			c.emit(Turn{agent.Done{Why: agent.Failed, Err: err}})
		}
		c.acts.put(func() { c.ended(r) })
	})
}

// heard passes an event of the turn on, and counts.
func (c *Chat) heard(e agent.Event) {
	c.mu.Lock()
	changed := true
	switch e := e.(type) {
	case agent.Used:
		c.status.Priced = e.Priced && (c.status.Priced || c.status.Input+c.status.Output == 0) // of all answers
		c.status.Input += e.Usage.Input
		c.status.Output += e.Usage.Output
		c.status.Dollars += e.Dollars
		c.status.Context = e.Context
		if e.Limit > 0 {
			c.status.Limit = e.Limit
		}
	case agent.Compacted:
		c.status.Context = e.After
	case agent.Steered:
		if i := slices.Index(c.steered, e.Text); i >= 0 {
			c.steered = slices.Delete(c.steered, i, i+1)
		}
	default:
		changed = false
	}
	c.mu.Unlock()
	if steered, ok := e.(agent.Steered); ok {
		steered.Text = plainly(steered.Text)
		e = steered
	}
	c.emit(Turn{e})
	if changed {
		c.acts.put(func() {}) // after which the status is told
	}
}

// ended goes on after a turn: with what was said meanwhile, unless the person ended it; then that is given back.
func (c *Chat) ended(r *run) {
	left, told := parted(c.talk.Agent.Unsteer())
	c.mu.Lock()
	c.front, c.steered = nil, nil
	c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
	case r.ended:
		for i, text := range left {
			left[i], _, _ = strings.Cut(text, attached)
		}
		if back := strings.Join(append(left, c.later...), "\n"); back != "" {
			c.emit(Edit{Text: back})
		}
		c.later, c.waiting = nil, append(c.waiting, told...)
	case len(left) > 0:
		text := strings.Join(left, "\n\n")
		plain, _, _ := strings.Cut(text, attached)
		c.emit(Said{Text: plain})
		c.waiting = append(c.waiting, told...)
		c.turn(func(ctx context.Context, hear func(agent.Event)) error { return c.talk.Agent.Turn(ctx, text, hear) })
		c.remind()
	case len(told) > 0 && len(c.later) == 0 && c.mayGoOn():
		text := strings.Join(told, "\n\n")
		c.turn(func(ctx context.Context, hear func(agent.Event)) error { return c.talk.Agent.Turn(ctx, text, hear) })
	case len(c.later) > 0:
		c.waiting = append(c.waiting, told...)
		next := c.later[0]
		c.later = c.later[1:]
		c.message(next)
	}
}

// parted tells what the person said from what processes had to tell, which is never given back for the person to send.
func parted(all []string) (said, told []string) {
	for _, text := range all {
		if strings.HasPrefix(text, agent.Unasked) {
			told = append(told, text)
		} else {
			said = append(said, text)
		}
	}
	return said, told
}

// mostAlone is how many turns in a row may begin without a word of the person's: a command that tells of its end, and an agent that
// then starts the next one, would go on for ever.
const mostAlone = 12

// mayGoOn tells whether one more such turn may begin.
func (c *Chat) mayGoOn() bool {
	c.alone++
	if c.alone == mostAlone+1 {
		c.say(Warning, "%d turns in a row began because of processes, without a word from you. What they have to tell now waits for your next message.", mostAlone)
	}
	return c.alone <= mostAlone
}

// mostWaiting is how much of what processes had to tell waits; the agent finds the rest where it looks.
const mostWaiting = 16

// remind gives the turn that has begun what waited for it.
func (c *Chat) remind() {
	if cut := len(c.waiting) - mostWaiting; cut > 0 {
		c.waiting = c.waiting[cut:]
	}
	for _, text := range c.waiting {
		c.talk.Agent.Steer(text)
	}
	c.waiting = nil
}

// notice hands on what a process in the background has to tell: to the turn that runs, or in one of its own.
func (c *Chat) notice(n Notice) {
	n.Text = agent.Unasked + n.Text
	c.mu.Lock()
	busy := c.front != nil
	c.mu.Unlock()
	if busy {
		c.steer(n.Text, n.Shown)
		return
	}
	c.said = true
	c.emit(Said{Text: n.Shown, Process: true})
	if !c.mayGoOn() {
		c.waiting = append(c.waiting, n.Text)
		return
	}
	c.turn(func(ctx context.Context, hear func(agent.Event)) error { return c.talk.Agent.Turn(ctx, n.Text, hear) })
}

// background takes a turn in a conversation of its own, beside the one at the front. Without a text it lets the
// command that runs go on in the background.
func (c *Chat) background(text string) {
	if text == "" {
		if !c.Detach() {
			c.say(Error, "No command runs that could go on in the background. /background TEXT has something done there.")
		}
		return
	}
	full, _, ok := c.attach(text)
	if !ok {
		return
	}
	t, err := c.o.Open(c.ctx, Start{Parent: c.talk.Info.ID, Model: c.talk.Model, Prompter: prompter{c}, Background: true})
	if err != nil {
		c.fail(err)
		return
	}
	c.o.Desk.SetYOLO(t.Info.Owner, c.o.Desk.YOLO(c.talk.Info.Owner))
	c.nth++
	n := c.nth
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.back[n] = &run{cancel: cancel}
	c.mu.Unlock()
	c.say(Plain, "Background %d begins, in conversation %s. It asks here where it must; /stop ends it.", n, t.Info.ID)
	c.beside(func() {
		var answer strings.Builder
		why := agent.Failed
		err := t.Agent.Turn(ctx, full, func(e agent.Event) {
			switch e := e.(type) {
			case agent.Began, agent.Retry:
				answer.Reset() // what is said before the last call is no answer
			case agent.Text:
				answer.WriteString(e.Text)
			case agent.Done:
				why = e.Why
			}
		})
		cancel()
		c.o.Desk.End(t.Info.Owner)
		err = errors.Join(err, t.close(context.WithoutCancel(ctx)))
		c.acts.put(func() { c.returned(n, why, answer.String(), err) })
	})
}

// returned tells what came of a turn in the background.
func (c *Chat) returned(n int, why agent.Why, answer string, err error) {
	c.mu.Lock()
	delete(c.back, n)
	c.mu.Unlock()
	c.say(Plain, "Background %d: %s.", n, why.Text())
	if answer != "" {
		c.say(Markdown, "%s", answer)
	}
	if err != nil && why != agent.Interrupted {
		c.fail(err)
	}
}

// shellCommand runs a command of the person's own beside the worker, one at a time.
func (c *Chat) shellCommand(text string) {
	c.mu.Lock()
	busy := c.shell != nil
	c.mu.Unlock()
	switch {
	case c.talk.Shell == nil:
		c.say(Error, "!: commands cannot be run from here.")
		return
	case busy:
		c.say(Error, "!%s: the command before it still runs. Esc ends it.", text)
		return
	}
	t := c.talk
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.shell = &run{cancel: cancel}
	c.mu.Unlock()
	c.emit(Shell{Command: text})
	c.beside(func() {
		ran, err := t.Shell(ctx, text, &writer{func(p string) { c.emit(Shell{Text: p}) }})
		cancel()
		if err != nil && ran.Refused == "" {
			ran.Refused = err.Error()
		}
		c.emit(Shell{Ended: true, Summary: ran.Summary, Refused: ran.Refused})
		c.acts.put(func() {
			c.mu.Lock()
			c.shell = nil
			c.mu.Unlock()
		})
	})
}

// writer is an io.Writer over what takes texts. Writers are compared, which functions cannot be.
type writer struct{ take func(string) }

func (w *writer) Write(p []byte) (int, error) {
	w.take(string(p))
	return len(p), nil
}
