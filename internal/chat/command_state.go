package chat

import (
	"fmt"
	"slices"
	"strings"

	"hermes/internal/approval"
)

// showStatus tells what there is to know at a glance.
func (c *Chat) showStatus(string) {
	c.update()
	s := c.Status()
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-13s "+format+"\n", append([]any{name}, args...)...)
	}
	row("conversation", "%s%s", s.ID, ifSet("  ", s.Title))
	row("profile", "%s", s.Profile)
	row("model", "%s", s.Model)
	row("context", "%s", full(s))
	cost := ""
	if s.Priced || s.Dollars > 0 {
		cost = fmt.Sprintf(", $%.4f", s.Dollars)
	}
	row("tokens", "%d in, %d out%s", s.Input, s.Output, cost)
	row("commands", "%s, %s%s", s.Backend, boundary(s), ifSet(", in ", s.Dir))
	if s.Yolo {
		row("approvals", "%s", YoloBanner)
	} else if c.o.Approval != nil {
		mode, _ := c.o.Approval()
		row("approvals", "%s", mode)
	}
	if s.Background+s.Running > 0 {
		row("beside", "%d in the background, %s left running", s.Background, number(s.Running, "process", "processes"))
	}
	c.say(Plain, "%s", strings.TrimSuffix(b.String(), "\n"))
}

// number counts things.
func number(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func ifSet(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func boundary(s Status) string {
	switch {
	case s.Unopened:
		return "not opened yet"
	case s.Boundary:
		return "which contains harm to this machine"
	}
	return "no boundary"
}

// full says how full the model's context is.
func full(s Status) string {
	switch {
	case s.Limit == 0:
		return fmt.Sprintf("%d tokens", s.Context)
	case s.Context == 0:
		return fmt.Sprintf("up to %d tokens", s.Limit)
	}
	return fmt.Sprintf("%d of %d tokens, %d %%", s.Context, s.Limit, 100*s.Context/s.Limit)
}

func (c *Chat) tools(string) {
	var b strings.Builder
	for _, t := range c.talk.Tools {
		first, _, _ := strings.Cut(t.Description, "\n")
		first, _, _ = strings.Cut(first, ". ")
		fmt.Fprintf(&b, "%-16s %s\n", t.Name, strings.TrimSuffix(first, "."))
	}
	if len(c.talk.Tools) == 0 {
		b.WriteString("There are none.")
	}
	c.say(Plain, "%s", strings.TrimSuffix(b.String(), "\n"))
}

func (c *Chat) context(string) {
	c.say(Plain, "The conversation takes %s.", full(c.Status()))
	if c.talk.Context == nil {
		return
	}
	text, err := c.talk.Context(c.ctx)
	if err != nil {
		c.fail(err)
		return
	}
	c.say(Markdown, "%s", text)
}

// model shows the models there are, or changes to another.
func (c *Chat) model(arg string) {
	switch {
	case arg == "":
		c.say(Plain, "%s", c.talk.Model)
		if c.talk.Models == nil {
			return
		}
		all, err := c.talk.Models(c.ctx)
		if err != nil {
			c.say(Warning, "Others are not known: %s", err)
			return
		}
		const most = 40
		text := strings.Join(all[:min(most, len(all))], "\n  ")
		if len(all) > most {
			text += fmt.Sprintf("\n  … and %d more", len(all)-most)
		}
		if text != "" {
			c.say(Plain, "There are:\n  %s\n/model NAME changes it, for this conversation.", text)
		}
	case c.talk.Switch == nil:
		c.say(Error, "/model: it cannot be changed here.")
	default:
		name, limit, err := c.talk.Switch(c.ctx, arg)
		if err != nil {
			c.fail(err)
			return
		}
		c.talk.Model, c.talk.Limit = name, limit
		c.say(Plain, "%s answers from now on, in this conversation.", name)
	}
}

// toggle switches YOLO on or off for this conversation: as the word says, or without one to the other of the two.
func (c *Chat) toggle(arg string) {
	owner, id := c.talk.Info.Owner, c.talk.Info.ID
	on := !c.o.Desk.YOLO(owner)
	switch strings.ToLower(arg) {
	case "":
	case "on", "off":
		if want := strings.EqualFold(arg, "on"); want != on {
			c.say(Plain, "YOLO is %s already.", onOff(want))
			return
		}
	default:
		c.say(Error, "Write /yolo, /yolo on or /yolo off. YOLO is %s.", onOff(!on))
		return
	}
	c.o.Desk.SetYOLO(owner, on)
	if c.o.Desk.YOLO(owner) != on {
		c.say(Error, "YOLO stays on: it was asked for when Hermes was started. Start it anew without HERMES_YOLO_MODE and --yolo.")
		return
	}
	c.yolo = on && c.yolo
	if err := c.o.Sessions.SetYolo(c.ctx, id, on); err != nil {
		c.say(Warning, "It is not kept for when this conversation is resumed: %s", err)
	}
	c.talk.Info.Yolo = on
	if on {
		c.say(Warning, "%s", yoloOn)
	} else {
		c.say(Plain, "%s", yoloOff)
	}
}

// cut ends the turns and the command that run, and says what it has ended.
func (c *Chat) cut() (ended []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.front != nil {
		c.front.ended = true
		c.front.cancel()
		ended = append(ended, "the turn")
	}
	if c.shell != nil {
		c.shell.cancel()
		ended = append(ended, "your command")
	}
	for _, r := range c.back {
		r.cancel()
	}
	if n := len(c.back); n > 0 {
		ended = append(ended, fmt.Sprintf("%d in the background", n))
	}
	return ended
}

// halt ends all that runs.
func (c *Chat) halt(string) {
	ended := c.cut()
	if c.talk.Stop != nil {
		n, err := c.talk.Stop(c.ctx)
		if err != nil {
			c.fail(err)
		}
		if n > 0 {
			ended = append(ended, fmt.Sprintf("%d that commands had left running", n))
		}
	}
	if len(ended) == 0 {
		c.say(Plain, "Nothing runs.")
		return
	}
	c.say(Plain, "Ended: %s.", strings.Join(ended, ", "))
}

// approve answers what is asked about: the oldest question, or all.
func (c *Chat) approve(arg string) {
	choice, all := approval.Once, false
	for _, w := range strings.Fields(strings.ToLower(arg)) {
		switch w {
		case "once":
		case "session":
			choice = approval.Session
		case "always":
			choice = approval.Always
		case "all":
			all = true
		default:
			c.say(Error, "Write /approve, /approve session or /approve always, and all for every question that waits.")
			return
		}
	}
	c.settleAll(choice, all, "")
}

// deny refuses the oldest question, and says why.
func (c *Chat) deny(arg string) {
	if arg == "all" {
		c.settleAll(approval.Deny, true, "")
		return
	}
	c.settleAll(approval.Deny, false, arg)
}

func (c *Chat) settleAll(choice approval.Choice, all bool, reason string) {
	c.mu.Lock()
	waiting := slices.Clone(c.asked)
	c.mu.Unlock()
	if len(waiting) == 0 {
		c.say(Plain, "Nothing is asked.")
		return
	}
	if !all {
		waiting = waiting[:1]
	}
	for _, q := range waiting {
		if !q.Offers(choice) {
			c.say(Error, "%q does not last for this one. /approve lets it run once.", choice)
			continue
		}
		c.Answer(q, choice, reason)
	}
}

// approvals shows who decides and what was granted, or takes a grant back.
func (c *Chat) approvals(arg string) {
	owner := c.talk.Info.Owner
	if entry, ok := strings.CutPrefix(arg, "revoke "); ok {
		if c.o.Desk.Revoke(owner, strings.TrimSpace(entry)) {
			c.say(Plain, "It asks again.")
			return
		}
		c.say(Error, "This conversation was not granted that. /approvals lists what it was granted; hermes approvals revoke takes entries off the allow-list.")
		return
	}
	if arg != "" {
		c.say(Error, "Write /approvals, or /approvals revoke ENTRY.")
		return
	}
	var b strings.Builder
	if c.o.Approval != nil {
		mode, listed := c.o.Approval()
		fmt.Fprintf(&b, "mode       %s\n", mode)
		fmt.Fprintf(&b, "YOLO       %s\n", onOff(c.o.Desk.YOLO(owner)))
		fmt.Fprintf(&b, "allow-list %s, see hermes approvals list\n", number(len(listed), "entry", "entries"))
	}
	grants := c.o.Desk.Grants(owner)
	for i, g := range grants {
		if i == 0 {
			b.WriteString("granted until this conversation ends:\n")
		}
		fmt.Fprintf(&b, "  %s   on %s\n", g.Text, g.Backend)
	}
	if len(grants) == 0 {
		b.WriteString("Nothing was granted in this conversation.")
	}
	c.say(Plain, "%s", strings.TrimSuffix(b.String(), "\n"))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (c *Chat) config(arg string) {
	if c.o.Config == nil {
		c.say(Error, "/config: settings are not shown here. See hermes config.")
		return
	}
	text, err := c.o.Config(arg)
	if err != nil {
		c.fail(err)
		return
	}
	c.say(Plain, "%s", text)
}
