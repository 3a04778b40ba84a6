package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/llm"
)

// reply is an answer, whole or not, with who gave it.
type reply struct {
	llm.Answer
	model string
	price llm.Price
	again bool // it came after a nudge

	spent  float64 // dollars of tries that broke off
	unsure bool    // there were such, and nobody has counted what they cost
}

// cost is what the answer cost, with the tries before it, and whether that is all.
func (r *reply) cost() (dollars float64, priced bool) {
	dollars, priced = r.price.Cost(r.Usage)
	return dollars + r.spent, priced && !r.unsure
}

// paid tells whether some of it is to be paid for: something had come, here or of a try before.
func (r *reply) paid() bool { return begun(&r.Answer) || r.spent > 0 || r.unsure }

// failed takes down what an answer cost that broke off for good, if any of it had come.
func (t *turn) failed(got *reply) {
	if got != nil && got.paid() {
		t.lost(got)
	}
}

// lost tells what an answer cost that is not stored, and has the next message pay for it.
func (t *turn) lost(got *reply) {
	dollars, priced := got.cost()
	t.used(got.Usage, dollars, priced)
	t.owed += dollars
}

// mostAttempts is how often one request is made with less and less, where the provider finds it too long.
const mostAttempts = 4

// answer makes one request, after making room for it. One that is too long all the same is made again, with older messages summed up
// and long results shortened by what has been learnt of the model. With an error it returns what had come.
func (t *turn) answer(ctx context.Context, last bool) (*reply, error) {
	if err := t.fit(ctx); err != nil {
		return nil, err
	}
	for attempt, tried := 1, false; ; attempt++ {
		before := t.tokens()
		got, err := t.ask(ctx, last)
		if err == nil || ctx.Err() != nil || !tooLong(err) || attempt == mostAttempts {
			return got, err
		}
		t.failed(got)
		t.a.learn(before / 4 * 3)
		var failed error
		if !tried {
			tried = true
			if failed = t.compact(ctx); failed == nil {
				continue
			}
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if failed != nil && !pointless(failed) {
			t.notice("The conversation is too long for the model and could not be summed up: " + failed.Error() + ". Nothing was cut.")
		}
		if t.tokens() >= before { // nothing is left to leave out
			return nil, err
		}
	}
}

// tooLong tells whether a provider, or one of several, was asked with more than it takes.
func tooLong(err error) bool {
	var chain *llm.ChainError
	if errors.As(err, &chain) {
		for _, e := range chain.Errs {
			if tooLong(e) {
				return true
			}
		}
		return false
	}
	var e *llm.Error
	return errors.As(err, &e) && e.Kind == llm.TooLong
}

// ask makes one request.
func (t *turn) ask(ctx context.Context, last bool) (*reply, error) {
	who := t.a.who()
	got := &reply{model: who.model, price: who.limits.Price, again: t.nudge != ""}
	r := llm.Request{Model: who.model, System: t.system, Messages: t.history.messages(longestResult(who.limits)), Tools: t.a.tools, Effort: who.effort, NoCalls: last}
	if t.nudge != "" {
		r.Messages = said(r.Messages, llm.Message{Role: llm.User, Text: t.nudge})
	}
	return got, t.gather(who.provider.Stream(ctx, r), got, true)
}

// gather reads an answer and, where the person is to see it, tells of each piece.
func (t *turn) gather(events stream, got *reply, show bool) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if _, again := e.(llm.Again); again && begun(&got.Answer) {
			dollars, priced := got.price.Cost(got.Usage)
			got.spent, got.unsure = got.spent+dollars, got.unsure || !priced
		}
		got.Add(e)
		switch e := e.(type) {
		case llm.Again:
			if e.Choice != "" { // another provider, which may take another price
				_, model, _ := strings.Cut(e.Choice, "/")
				got.model, got.price = orElse(model, got.model), e.Price
			}
			t.hear(Retry{e})
		case llm.Text:
			if show && e.Text != "" {
				t.hear(Text(e))
			}
		case llm.Thinking:
			if show && e.Text != "" {
				t.hear(Thinking{e.Text})
			}
		case llm.End:
			got.model = orElse(e.Model, got.model)
		}
	}
	if got.End.Stop == "" {
		return fmt.Errorf("ask %s: the answer has no end", got.model)
	}
	return nil
}

// begun tells whether something of an answer had come, so that it is paid for.
func begun(a *llm.Answer) bool {
	return a.Text != "" || len(a.Thoughts) > 0 || len(a.Calls) > 0 || a.Usage != llm.Usage{}
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
