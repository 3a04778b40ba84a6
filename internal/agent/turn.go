package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/internal/llm"
	"hermes/internal/session"
)

// Turn stores what the person says and lets the model work until it answers. Hear is called for one event at a time and should not
// take long; the last event is Done. The end of ctx interrupts: calls end, and what had come is kept and stored. The error is that
// of Done; without a Done, nothing has happened: ErrBusy, ErrEmpty.
func (a *Agent) Turn(ctx context.Context, text string, hear func(Event)) error {
	if strings.TrimSpace(text) == "" {
		return ErrEmpty
	}
	return a.turn(ctx, text, hear)
}

// Resume goes on where a turn stopped that was killed, or that failed: the last message is the person's, or an answer whose calls
// wait. Calls without a result get one that says so; they are not made again. Where nothing waits, nothing is asked.
func (a *Agent) Resume(ctx context.Context, hear func(Event)) error { return a.turn(ctx, "", hear) }

// Pending tells whether the conversation waits for the model, so that Resume would ask it.
func (a *Agent) Pending(ctx context.Context) (bool, error) {
	m, ok, err := a.store.Last(ctx, a.o.Conversation)
	return ok && waits(m), err
}

// turn is one turn, from the person's message to the end. Its fields are for the goroutine of the turn, but for redact, brake, and
// hear, which others use too.
type turn struct {
	a       *Agent
	history history
	system  string
	brake   brake
	steps   int // requests so far
	nudge   string
	tried   bool    // shortening was tried and did not help
	owed    float64 // dollars for what is not stored: the next message has them

	mu   sync.Mutex // is held while an event is heard
	hand func(Event)
}

func (a *Agent) newTurn(hear func(Event)) *turn {
	return &turn{a: a, history: history{view: a.store, id: a.o.Conversation}, hand: hear}
}

func (t *turn) hear(e Event) {
	if t.hand == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hand(e)
}

func (t *turn) notice(text string) { t.hear(Notice{Text: text}) }

func (t *turn) redact(text string) string { return t.a.o.Redact(text) }

func (a *Agent) turn(ctx context.Context, text string, hear func(Event)) error {
	if err := a.begin(); err != nil {
		return err
	}
	t := a.newTurn(hear)
	why, footer, err := t.whole(ctx, text)
	done := Done{Why: why, Err: err}
	if footer != nil {
		timed, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		done.Footer = t.redact(footer(timed))
		cancel()
	}
	a.end()
	t.hear(done)
	return err
}

// whole runs the turn. An error comes with Failed.
func (t *turn) whole(ctx context.Context, text string) (why Why, footer func(context.Context) string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.a.o.Time, errTime)
	defer cancel()
	if err := t.enter(ctx, text); err != nil {
		return Failed, nil, err
	}
	if text == "" && !t.history.pending() {
		return Answered, nil, nil
	}
	if t.a.o.Begin != nil {
		footer = t.a.o.Begin()
	}
	if t.system, err = t.a.o.Prompt.System(ctx); err != nil {
		if ctx.Err() != nil {
			why, err = t.stop(ctx, nil)
			return why, footer, err
		}
		return Failed, footer, err
	}
	for {
		if why, err := t.step(ctx); err != nil {
			return Failed, footer, err
		} else if why != "" {
			return why, footer, nil
		}
	}
}

// enter brings the conversation to where a request can be made: calls that a killed turn left open get their results, then comes
// what the person has said.
func (t *turn) enter(ctx context.Context, text string) error {
	if err := t.history.load(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	open := t.history.open()
	for _, c := range open {
		r := clean(own("Hermes was stopped before the result of this call was stored. It may have run, wholly or in part, or not at all: look before you make it again."), t.redact)
		text, risk := t.a.o.Prompt.Result(c.Name, r, nil)
		m := session.Message{Message: llm.Message{Role: llm.Result, CallID: c.ID, Text: text, Failed: true}, Tool: c.Name, Risk: risk}
		if err := t.history.append(ctx, m); err != nil {
			return err
		}
	}
	if len(open) > 0 {
		t.notice(fmt.Sprintf("Calls whose result is not known, since hermes was stopped: %d. They are not made again.", len(open)))
	}
	if err := t.steer(ctx); err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	return t.history.append(ctx, session.Message{Message: llm.Message{Role: llm.User, Text: text}})
}

// steer stores what the person has said meanwhile.
func (t *turn) steer(ctx context.Context) error {
	said := t.a.Unsteer()
	for i, text := range said {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := t.history.append(ctx, session.Message{Message: llm.Message{Role: llm.User, Text: text}}); err != nil {
			t.a.mu.Lock()
			t.a.steered = append(said[i:len(said):len(said)], t.a.steered...)
			t.a.mu.Unlock()
			return err
		}
		t.hear(Steered{Text: text})
	}
	return nil
}

// What the model is told besides what is stored, in one request.
const (
	goOn   = "[Your answer reached its length limit. Go on exactly where it stops, without repeating anything.]"
	empty  = "[Your answer was empty. Answer, or make a call.]"
	wrapUp = "[This turn has taken all the steps it may, so no more calls are made. Tell the person in short what is done, what is missing, and how to go on.]"
)

// step makes one request and what it asks for. It returns why the turn ends, if it does.
func (t *turn) step(ctx context.Context) (Why, error) {
	if err := t.steer(ctx); err != nil {
		return "", err
	}
	last := t.steps >= t.a.o.Steps
	if last {
		t.nudge = wrapUp
		t.notice(fmt.Sprintf("The turn has come to its limit of steps, %d (agent.max_turns). The model is asked to sum up. Say “go on” to let it work on.", t.steps))
	}
	answer, err := t.answer(ctx, last)
	t.steps++
	t.nudge = ""
	switch {
	case ctx.Err() != nil && err != nil:
		return t.stop(ctx, answer)
	case err != nil && last:
		t.failed(answer)
		t.notice("The summing up failed: " + err.Error())
		return Steps, t.mark(ctx, Steps.mark())
	case err != nil:
		t.failed(answer)
		return "", err
	}
	return t.take(ctx, answer, last)
}

// take stores a whole answer and does what it asks for.
func (t *turn) take(ctx context.Context, answer *reply, last bool) (Why, error) {
	switch {
	case answer.End.Stop == llm.Filtered:
		t.notice("The model, or its provider's filter, refused to answer.")
		answer.Calls = nil
		return Answered, t.partly(ctx, answer, "refused by the provider")
	case len(answer.Calls) == 0:
		return t.said(ctx, answer, last)
	}
	jobs := t.jobs(&answer.Answer)
	if last {
		for i := range jobs {
			jobs[i].refusal, jobs[i].counts = "The call was not made: the turn has taken all the steps it may.", false
		}
	}
	if err := t.keep(ctx, answer, answer.Text, jobs); err != nil {
		return "", err
	}
	if err := t.run(ctx, jobs); err != nil {
		return "", err
	}
	switch {
	case ctx.Err() != nil:
		return t.stop(ctx, nil)
	case last:
		return Steps, t.mark(ctx, Steps.mark())
	case t.brake.isStuck():
		t.notice("The model makes the same call again and again, though it fails each time. The turn ends here: say what it should do instead.")
		return Stuck, t.mark(ctx, Stuck.mark())
	}
	return "", nil
}

// said stores an answer without calls. The turn ends with it, unless it is not whole or the person has said something meanwhile.
func (t *turn) said(ctx context.Context, answer *reply, last bool) (Why, error) {
	end := Answered
	if last {
		end = Steps
	}
	if strings.TrimSpace(answer.Text) == "" {
		if answer.again || last {
			t.notice("The model gave an empty answer.")
			return end, t.partly(ctx, answer, "no answer")
		}
		t.lost(answer)
		t.nudge = empty
		if answer.End.Stop == llm.Length {
			t.notice("The answer reached its length limit before it said anything. The model is asked once more.")
		}
		return "", nil
	}
	if err := t.keep(ctx, answer, answer.Text, nil); err != nil {
		return "", err
	}
	if answer.End.Stop == llm.Length {
		if !answer.again && !last {
			t.nudge = goOn
			return "", nil
		}
		t.notice("The answer reached its length limit and is not whole. Say “go on” for the rest.")
	}
	if last {
		return end, nil
	}
	t.a.mu.Lock()
	more := len(t.a.steered) > 0
	t.a.mu.Unlock()
	if more {
		return "", nil
	}
	return end, nil
}

// stop ends a turn whose ctx has ended: what had come of an answer is stored, and its calls, which were not made, get their results.
func (t *turn) stop(ctx context.Context, answer *reply) (Why, error) {
	end := Interrupted
	if errors.Is(context.Cause(ctx), errTime) {
		end = Time
		t.notice(fmt.Sprintf("The turn took %v, the most it may (agent.run_budget_seconds), and ends here. Say how to go on.", short(t.a.o.Time)))
	}
	if answer == nil {
		return end, t.mark(ctx, end.mark())
	}
	if len(answer.Calls) == 0 {
		return end, t.partly(ctx, answer, end.mark())
	}
	jobs := t.jobs(&answer.Answer)
	if err := t.keep(ctx, answer, answer.Text, jobs); err != nil {
		return "", err
	}
	if err := t.run(ctx, jobs); err != nil {
		return "", err
	}
	return end, t.mark(ctx, end.mark())
}

// partly stores what there is of an answer, with a mark that the model sees too.
func (t *turn) partly(ctx context.Context, answer *reply, mark string) error {
	text := strings.TrimRight(answer.Text, " \n")
	if text != "" {
		text += "\n\n"
	}
	return t.keep(ctx, answer, text+"["+mark+"]", nil)
}

// mark stores, as the model's last word, why there is no other: the next request is then valid, and nothing waits for an answer.
func (t *turn) mark(ctx context.Context, mark string) error {
	m := session.Message{Message: llm.Message{Role: llm.Assistant, Text: "[" + mark + "]"}, Dollars: t.owed}
	if err := t.history.append(ctx, m); err != nil {
		return err
	}
	t.owed = 0
	return nil
}

// keep stores an answer with the calls as they were read, and tells what it cost.
func (t *turn) keep(ctx context.Context, answer *reply, text string, jobs []job) error {
	m := session.Message{Message: llm.Message{Role: llm.Assistant, Text: text, Thoughts: answer.Thoughts}, Model: answer.model, Usage: answer.Usage}
	for _, j := range jobs {
		m.Calls = append(m.Calls, j.call)
	}
	dollars, priced := answer.cost()
	m.Dollars, t.owed = dollars+t.owed, 0
	if err := t.history.append(ctx, m); err != nil {
		return err
	}
	t.used(answer.Usage, dollars, priced)
	return nil
}

func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
