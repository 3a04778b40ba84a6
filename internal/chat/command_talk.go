package chat

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/agent"
	"hermes/internal/llm"
	"hermes/internal/screen"
	"hermes/internal/session"
)

// fresh begins a new conversation.
func (c *Chat) fresh(arg, name string, clear bool) {
	if title := rest(arg); title != "" {
		c.say(Error, "%s takes nothing but now or --yes; /title names a conversation.", name)
		return
	}
	do := func() {
		if c.change(Start{}, clear) {
			c.say(Plain, "A new conversation.")
		}
	}
	if !c.said && c.talk.running() == 0 {
		do() // there is nothing to lose
		return
	}
	c.sure(arg, "Begin a new conversation? This one stays in /sessions. What it was granted ends, and so does what it has left running.", do)
}

// spoken returns where the person's messages stand.
func spoken(messages []session.Message) []int {
	var out []int
	for i, m := range messages {
		if m.Role == llm.User && m.Covers == 0 && !strings.HasPrefix(m.Text, agent.Unasked) {
			out = append(out, i)
		}
	}
	return out
}

// undo takes back the last messages of the person, and all that followed.
func (c *Chat) undo(arg string) {
	n := 1
	if word := rest(arg); word != "" {
		var err error
		if n, err = strconv.Atoi(word); err != nil || n < 1 {
			c.say(Error, "/undo takes a number of messages, as in /undo 2.")
			return
		}
	}
	live, err := c.o.Sessions.Live(c.ctx, c.talk.Info.ID)
	if err != nil {
		c.fail(err)
		return
	}
	at := spoken(live)
	if len(at) < n {
		c.say(Error, "/undo: %s", fewer(len(at), len(live)))
		return
	}
	first := live[at[len(at)-n]]
	text := shown([]session.Message{first})[0].Text
	c.sure(arg, fmt.Sprintf("Take back “%s” and all that followed? What was done to files stays done.", brief(text)), func() {
		if _, err := c.o.Sessions.Undo(c.ctx, c.talk.Info.ID, first.ID); err != nil {
			c.fail(err)
			return
		}
		live, err := c.o.Sessions.Live(c.ctx, c.talk.Info.ID)
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock()
		c.status.Context = agent.Taken(live)
		c.mu.Unlock()
		c.emit(Opened{Info: c.talk.Info, History: shown(live), Same: true})
		c.emit(Edit{Text: text})
		c.say(Plain, "Taken back: “%s”. Files are as they were left.", brief(text))
	})
}

// fewer says why so many messages cannot be taken back.
func fewer(n, live int) string {
	switch {
	case n == 0 && live == 0:
		return "nothing was said yet."
	case n == 0:
		return "you have said nothing that is still there."
	case n == 1:
		return "there is one message to take back."
	}
	return fmt.Sprintf("there are %d messages to take back.", n)
}

// brief is the beginning of a text, in one line.
func brief(text string) string { return screen.OneLine(text, 60) }

// retry goes on with a turn that was cut off, or has the last message answered once more.
func (c *Chat) retry(string) {
	pending, err := c.talk.Agent.Pending(c.ctx)
	if err != nil {
		c.fail(err)
		return
	}
	if !pending {
		live, err := c.o.Sessions.Live(c.ctx, c.talk.Info.ID)
		if err != nil {
			c.fail(err)
			return
		}
		at := spoken(live)
		if len(at) == 0 {
			c.say(Error, "/retry: %s", fewer(0, len(live)))
			return
		}
		last := at[len(at)-1]
		if last+1 < len(live) {
			if _, err := c.o.Sessions.Undo(c.ctx, c.talk.Info.ID, live[last+1].ID); err != nil {
				c.fail(err)
				return
			}
		}
		c.say(Plain, "Once more: “%s”", brief(shown(live[last:])[0].Text))
	}
	c.turn(func(ctx context.Context, hear func(agent.Event)) error { return c.talk.Agent.Resume(ctx, hear) })
}

// resume goes on with another conversation.
func (c *Chat) resume(arg string) {
	if arg == "" {
		c.list(10)
		c.say(Plain, "/resume ID goes on with one; the beginning of an id or a title will do.")
		return
	}
	i, err := c.o.Sessions.Find(c.ctx, arg)
	switch {
	case err != nil:
		c.fail(err)
	case i.ID == c.talk.Info.ID:
		c.say(Plain, "It is this one.")
	default:
		c.change(Start{ID: i.ID}, true)
	}
}

// list shows the conversations used last.
func (c *Chat) list(most int) {
	all, err := c.o.Sessions.List(c.ctx, session.Filter{Limit: most + 1})
	if err != nil {
		c.fail(err)
		return
	}
	all = slices.DeleteFunc(all, func(i session.Info) bool { return i.Messages == 0 })
	var b strings.Builder
	for _, i := range all[:min(most, len(all))] {
		mark := " "
		if i.ID == c.talk.Info.ID {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %s  %s  %4d messages  %s\n", mark, i.ID, i.Updated.Local().Format("2006-01-02 15:04"), i.Messages, called(i))
	}
	if len(all) == 0 {
		b.WriteString("There are none yet.\n")
	}
	c.say(Plain, "%s", strings.TrimSuffix(b.String(), "\n"))
}

// called is what a conversation is called for people.
func called(i session.Info) string {
	if i.Title != "" {
		return i.Title
	}
	return "“" + brief(i.First) + "”"
}

// sessions lists conversations, or searches them.
func (c *Chat) sessions(arg string) {
	if arg == "" {
		c.list(20)
		return
	}
	hits, err := c.o.Sessions.Search(c.ctx, arg, 20)
	if err != nil {
		c.fail(err)
		return
	}
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "%s  %s  %s\n    %s\n", h.Info.ID, h.At.Local().Format("2006-01-02 15:04"), called(h.Info), brief(h.Text))
	}
	if len(hits) == 0 {
		b.WriteString("Nothing found.")
	}
	c.say(Plain, "%s", strings.TrimSuffix(b.String(), "\n"))
}

// title shows or gives the conversation's title.
func (c *Chat) title(arg string) {
	if arg == "" {
		if c.talk.Info.Title == "" {
			c.say(Plain, "It has no title. /title TEXT gives it one.")
			return
		}
		c.say(Plain, "%s", c.talk.Info.Title)
		return
	}
	if err := c.o.Sessions.Rename(c.ctx, c.talk.Info.ID, arg); err != nil {
		c.fail(err)
		return
	}
	c.talk.Info.Title = arg
	c.said = true // who names a conversation wants to find it again
	c.say(Plain, "It is called “%s” now.", arg)
}

// compact puts a summary in place of older messages.
func (c *Chat) compact(string) {
	c.turn(func(ctx context.Context, hear func(agent.Event)) error {
		err := c.talk.Agent.Compact(ctx, hear)
		switch {
		case err == nil:
			hear(agent.Done{Why: agent.Answered})
		case ctx.Err() != nil:
			hear(agent.Done{Why: agent.Interrupted})
		default:
			hear(agent.Done{Why: agent.Failed, Err: err})
		}
		return err
	})
}

// wait keeps a message for the end of the turn.
func (c *Chat) wait(arg string) {
	c.needs(arg, "/queue TEXT", func(text string) {
		if !c.working() {
			c.message(text)
			return
		}
		c.later = append(c.later, text)
		c.emit(Queued{Text: text, Later: true})
	})
}

// quit leaves, at once where nothing is destroyed.
func (c *Chat) quit(arg string) {
	deletes := false
	for _, w := range strings.Fields(rest(arg)) {
		if w != "--delete" {
			c.say(Error, "/quit takes --delete, which deletes the conversation, and nothing else.")
			return
		}
		deletes = true
	}
	if !deletes {
		q := Quit{ID: c.talk.Info.ID}
		if !c.said {
			q.ID = ""
		}
		c.emit(q)
		return
	}
	c.sure(arg, "Delete this conversation for good, and leave?", func() {
		c.cut()
		id := c.talk.Info.ID
		c.settle(func() {
			if err := c.o.Sessions.Delete(c.ctx, id); err != nil {
				c.fail(err)
				return
			}
			c.said = true // it is gone already
			c.emit(Quit{Deleted: true})
		})
	})
}

// settle does something once nothing runs in the conversation, so that nothing more is stored there.
func (c *Chat) settle(do func()) {
	if !c.working() {
		do()
		return
	}
	c.beside(func() {
		select {
		case <-c.ctx.Done():
		case <-time.After(10 * time.Millisecond):
			c.acts.put(func() { c.settle(do) })
		}
	})
}
