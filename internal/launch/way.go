package launch

import (
	"context"
	"fmt"
	"slices"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/guard/exposure"
	"hermes/internal/proxy"
	"hermes/internal/sandbox"
)

// Way is the way out of a place whose network is an allow-list.
type Way struct {
	Client *proxy.Client   // the Place closes it
	Port   uint16          // of 127.0.0.1 inside
	Token  string          // that clients have to show; "": whoever reaches the port may use it
	Store  approval.Store  // where hosts are listed for good; nil: nowhere
	Listed func() []string // the list as it is now; nil: empty

	granted []string // hosts that the session was allowed to reach besides; the Place's lock guards it
}

// Through gives a place a way out. It must be called before the first command.
func (p *Place) Through(w *Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.way = w
}

// Exit returns the URL under which commands of the place find their way out, "" if they have none.
func (p *Place) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.way == nil {
		return ""
	}
	if p.way.Token != "" {
		return fmt.Sprintf("http://hermes:%s@127.0.0.1:%d", p.way.Token, p.way.Port)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", p.way.Port)
}

// exit is the way out as a backend takes it.
func (w *Way) exit() *sandbox.Exit {
	if w == nil {
		return nil
	}
	return &sandbox.Exit{Port: w.Port, Attach: w.Client.Attach, Listen: w.Client.Listen}
}

// begin notes that a command runs, so that connections can be told whose they are. With several at once nobody can tell.
func (p *Place) begin(j *journey) (end func()) {
	change := func(edit func([]*journey) []*journey) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running = edit(p.running)
		if p.way == nil {
			return
		}
		id := ""
		if len(p.running) == 1 {
			id = p.running[0].r.ID
		}
		p.way.Client.Run(id)
	}
	change(func(all []*journey) []*journey { return append(all, j) })
	return func() {
		change(func(all []*journey) []*journey {
			return slices.DeleteFunc(all, func(o *journey) bool { return o == j })
		})
	}
}

// Exposure tells what commands of the place can reach, as read back from inside, and whether that is known yet: it is once the
// first of them was to run.
func (p *Place) Exposure() (e exposure.Exposure, known bool) {
	p.mu.Lock()
	box := p.box
	p.mu.Unlock()
	if box == nil {
		return e, false
	}
	return p.exposure(box), true
}

// exposure returns what a sandbox exposes by the list as it is now: what it lets through, and what the session was allowed
// besides. Only what can go nowhere needs no question.
func (p *Place) exposure(box sandbox.Sandbox) exposure.Exposure {
	e := box.Exposure()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.way != nil && e.Network.Force == exposure.AllowlistNet {
		var listed []string
		if p.way.Listed != nil {
			listed = p.way.Listed()
		}
		e.Network.Allow = slices.Concat(listed, p.way.granted)
	}
	return e
}

// grant remembers that the session may reach a host.
func (p *Place) grant(entry string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.way != nil && !slices.Contains(p.way.granted, entry) {
		p.way.granted = append(p.way.granted, entry)
	}
}

// asker returns the running command whose person is asked, nil when none runs, and where hosts are listed.
func (p *Place) asker() (*journey, approval.Store) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.running) == 0 || p.way == nil {
		return nil, nil
	}
	return p.running[len(p.running)-1], p.way.Store
}

// maxDenied is how many hosts a person refuses to one command before it is not asked for any more.
const maxDenied = 5

// unasked says why a command's person is not asked about a host again, "" if it is to be asked: programs try again and again,
// and whoever is asked all day says yes to everything.
func (p *Place) unasked(j *journey, target egress.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case slices.Contains(j.denied, target.String()):
		return target.String() + " was refused to this command already"
	case len(j.denied) >= maxDenied:
		return fmt.Sprintf("this command was refused %d hosts, it is asked for no more", maxDenied)
	}
	return ""
}

// deny remembers that a host was refused to a command.
func (p *Place) deny(j *journey, target egress.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.denied = append(j.denied, target.String())
}

// Connect decides whether a place may reach a host that is not on its list: the person who waits for the running command is
// asked. Without a running command there is nobody, and the answer is no.
func (d *Door) Connect(ctx context.Context, p *Place, q proxy.Question) approval.Decision {
	j, store := p.asker()
	if j == nil {
		return approval.Decision{Outcome: approval.NoOne, Verdict: q.Ruling.Verdict, By: "policy"}
	}
	// As it is judged and dialled, however the command has written it.
	if !q.Ruling.Host.IsZero() {
		q.Target.Host = q.Ruling.Host.String()
	}
	if why := p.unasked(j, q.Target); why != "" {
		return approval.Decision{Outcome: approval.Refused, Verdict: q.Ruling.Verdict, By: "policy", Message: "BLOCKED: " + why + "."}
	}
	wanted := q.Ruling.Verdict
	wanted.Action = guard.Ask
	wanted.Reason = fmt.Sprintf("%s wants %s, which is not on the allow-list of this sandbox", shorten(j.r.Command), q.Target)
	text := "connect " + q.Target.String()
	out := d.o.Desk.Connect(ctx, approval.Request{
		Session: j.c.Session, Command: text, Dir: j.r.Dir, Backend: j.r.Backend, Verdict: wanted, Exposure: j.r.Exposure,
		Presence: j.c.Presence, Platform: j.c.Platform, Prompter: j.c.Prompter, Store: store, For: j.r.Command,
		Covers: &approval.Covers{
			Session: approval.Cover{Entry: text, Text: q.Target.String()},
			Always:  approval.Cover{Entry: q.Ruling.Entry, Text: q.Ruling.Entry, Where: "terminal.network_allow"},
		},
	})
	if out.Allowed() {
		p.grant(q.Ruling.Entry) // "once", too: the connection may outlive the command
	} else if out.Outcome == approval.Denied || out.Outcome == approval.TimedOut {
		p.deny(j, q.Target)
	}
	return out
}
