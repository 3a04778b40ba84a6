package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/scope"
)

// flightKey says which requests are the same question: those of one session about one command in one place, for the same
// reasons, with the same choices, for the same one.
type flightKey struct {
	session   scope.Session
	sum, why  string
	overruled bool
	own       bool
}

// flight is a question that somebody is asked right now. The Desk's lock guards the map; reply is set before done is closed.
type flight struct {
	done   chan struct{}
	cancel context.CancelFunc
	ended  bool // its session has ended
	reply  reply
}

// reply is how a question ended. With ended, its session did, and nobody asks again.
type reply struct {
	answer   Answer
	outcome  Outcome // Answered, Denied, TimedOut, NotifyFailed, Cancelled
	question string
	kept     Cover
	warning  string
	ended    bool
	err      error
}

// shared tells whether those who asked the same at the same time take the reply over. "once" is for one of them, and a run that
// ended says nothing about the others.
func (r reply) shared() bool {
	return (r.outcome != Cancelled || r.ended) && !(r.outcome == Answered && r.answer.Choice == Once)
}

// consult asks the reviewing model, and then a person.
func (d *Desk) consult(ctx context.Context, out *Decision, r Request, o Options, open []guard.Finding) {
	desc, count, guardian := described(open), 0, ""
	if o.Mode == Smart && o.Review != nil && !sticky(open) {
		switch said := review(ctx, o, r, desc); said {
		case approves:
			d.mu.Lock()
			d.breaker.forget(r.Session)
			d.mu.Unlock()
			out.Action, out.Outcome, out.By = guard.Allow, Reviewed, "guardian"
			return
		case denies:
			d.mu.Lock()
			count = d.breaker.deny(r.Session)
			d.mu.Unlock()
			guardian = "the reviewing model refuses it"
		}
	}
	stop := ""
	if o.Breaker > 0 && count >= o.Breaker {
		stop = breakerText(count)
	}
	if r.Prompter == nil {
		if guardian != "" {
			out.Outcome, out.By, out.Message = SmartDenied, "guardian", smartText(desc)+stop
			return
		}
		out.Outcome, out.Message = NotifyFailed, unreachedText(r.what(), desc, errors.New("no way to reach the user from here"))
		out.Remedy = "run it at a terminal"
		return
	}
	q := d.question(o, r, open, guardian)
	got := d.share(ctx, r, o, q)
	out.Question, out.Choice, out.Outcome = got.question, got.answer.Choice, got.outcome
	out.Grant, out.Warning, out.Reason = got.kept, got.warning, got.answer.Reason
	out.By = orWord(got.answer.By, "user")
	switch got.outcome {
	case Answered:
		out.Action = guard.Allow
	case Granted:
		out.Action, out.By = guard.Allow, "policy"
	case Denied:
		out.Message = deniedText(r.what(), desc, got.answer.Reason) + stop
	case TimedOut:
		out.By, out.Message = "nobody", timeoutText(r.what(), desc, o.Timeout)+stop
	case NotifyFailed:
		out.By, out.Message = "nobody", unreachedText(r.what(), desc, got.err)+stop
	default:
		out.By, out.Message = "nobody", cancelledText(r.what(), desc)
	}
}

// question builds what the person is shown.
func (d *Desk) question(o Options, r Request, open []guard.Finding, guardian string) Question {
	shown, at := o.masked(r.Command)
	q := Question{
		Sum: Sum(r.Command, r.Dir, r.Backend), Session: r.Session, Command: shown, Dir: r.Dir, Backend: r.Backend,
		Exposure: r.Exposure.Summary(), Guardian: guardian, For: o.Redact(r.For),
	}
	for _, f := range open {
		start, end := at(f.Start, f.End)
		q.Findings = append(q.Findings, Finding{
			Rule: f.Rule, Reason: f.Reason, Remedy: f.Remedy, Runs: o.Redact(f.Runs), Start: start, End: end,
			Sticky: f.Sticky || f.Tier == guard.Self,
		})
	}
	if guardian == "" {
		q.Covers = d.covers(r, open)
	}
	return q
}

// share puts the question, or waits for the reply to the same one.
func (d *Desk) share(ctx context.Context, r Request, o Options, q Question) reply {
	key := flightKey{r.Session, q.Sum, reasons(q), q.Guardian != "", r.Own}
	for again := false; ; again = true {
		if again && q.Guardian == "" && q.Offers(Session) && d.granted(r) {
			return reply{outcome: Granted}
		}
		d.mu.Lock()
		f := d.flights[key]
		if f == nil {
			mine, cancel := context.WithCancel(ctx)
			f = &flight{done: make(chan struct{}), cancel: cancel}
			d.flights[key] = f
			d.mu.Unlock()
			got := d.put(mine, r, o, q)
			d.mu.Lock()
			got.ended = f.ended
			f.reply = got
			delete(d.flights, key)
			d.mu.Unlock()
			close(f.done)
			cancel()
			return got
		}
		d.mu.Unlock()
		select {
		case <-f.done:
			if f.reply.shared() {
				return f.reply
			}
		case <-ctx.Done():
			return reply{outcome: Cancelled}
		}
	}
}

func reasons(q Question) string {
	var b strings.Builder
	for _, f := range q.Findings {
		fmt.Fprintf(&b, "%s\x00%d\x00%d\x00", f.Rule, f.Start, f.End)
	}
	return b.String()
}

// put asks one person once. Whatever is not an answer to this very question refuses.
func (d *Desk) put(ctx context.Context, r Request, o Options, q Question) reply {
	q.ID, q.Asked = newID(), time.Now()
	q.Deadline = q.Asked.Add(o.Timeout)
	timed, cancel := context.WithDeadline(ctx, q.Deadline)
	defer cancel()
	type said struct {
		answer Answer
		err    error
	}
	heard := make(chan said, 1)
	go func() { // a prompter that does not return in time is not waited for
		s := said{err: errors.New("the prompt broke down")}
		defer func() {
			_ = recover() // s says that nobody was reached
			heard <- s
		}()
		a, err := r.Prompter.Prompt(timed, q)
		s = said{a, err}
	}()
	out := reply{question: q.ID}
	var got said
	select {
	case got = <-heard:
	case <-timed.Done():
	}
	switch {
	case ctx.Err() != nil:
		out.outcome = Cancelled
	case timed.Err() != nil:
		out.outcome = TimedOut
	case got.err != nil:
		out.outcome, out.err = NotifyFailed, got.err
	default:
		out.answer = got.answer
		out.outcome = d.settle(&out, r, q)
	}
	return out
}

// settle turns an answer into what it does: what was not offered becomes less, never more.
func (d *Desk) settle(out *reply, r Request, q Question) Outcome {
	a := &out.answer
	if a.Choice == Always && !q.Offers(Always) {
		a.Choice = Session
	}
	if a.Choice == Session && !q.Offers(Session) || a.Choice > Always {
		a.Choice = Deny
	}
	if a.Choice == Deny {
		return Denied
	}
	if a.ID != q.ID || a.Sum != q.Sum {
		a.Choice = Deny
		out.err = errors.New("the answer belongs to another question")
		return NotifyFailed
	}
	out.kept, out.warning = d.grant(r, a.Choice, q.Covers)
	return Answered
}
