package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Interrupted at whatever is heard, by the person or with what they say meanwhile: each call that is stored has one result, nothing
// waits for an answer, events come one at a time, and the next turn goes on with a valid request.
func TestInterruptedAnywhere(t *testing.T) {
	for at := 0; ; at++ {
		k := &memory{}
		n := 0
		model := scripted(func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
			if err := valid(r.Messages); err != nil {
				t.Errorf("interrupted at event %d: %v", at, err)
			}
			n++
			events := says(fmt.Sprintf("answer %d", n), call(fmt.Sprint("r", n), "read", "{}"), call(fmt.Sprint("s", n), "read", "{}"), call(fmt.Sprint("w", n), "write", "{}"))
			if n == 3 || strings.Contains(r.Messages[len(r.Messages)-1].Text, "go on") {
				events = says("the end")
			}
			for _, e := range events {
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if !yield(e, nil) {
					return
				}
			}
		})
		run := func(ctx context.Context, c tool.Call) (tool.Result, error) {
			c.Say(tool.Update{Output: "x"})
			if ctx.Err() != nil {
				return tool.Result{}, ctx.Err()
			}
			return works("came of " + c.ID), nil
		}
		a := newAgent(t, options(place{&session.View{}, "x"}, model, fake{"read", true, run}, fake{"write", false, run}))
		a.store = k
		ctx, cancel := context.WithCancel(t.Context())
		heard, last := 0, Event(nil)
		var inside atomic.Int32
		err := a.Turn(ctx, "go", func(e Event) {
			if inside.Add(1) != 1 {
				t.Error("two events at once")
			}
			defer inside.Add(-1)
			if heard == at {
				a.Steer("meanwhile")
				cancel()
			}
			heard++
			last = e
		})
		cancel()
		if err != nil {
			t.Fatalf("event %d: %v", at, err)
		}
		done, _ := last.(Done)
		if heard <= at { // nothing was left to interrupt
			if done.Why != Answered || at < 20 {
				t.Errorf("%d events, the last %+v", heard, last)
			}
			return
		}
		if done.Why != Interrupted && heard-at > 2 {
			t.Errorf("event %d of %d: done %+v", at, heard, done)
		}
		complete(t, at, k.all)
		if ok, err := a.Pending(t.Context()); ok || err != nil {
			t.Errorf("event %d: pending %v %v", at, ok, err)
		}
		if err := a.Turn(t.Context(), "go on", nil); err != nil {
			t.Errorf("event %d: %v", at, err)
		}
		complete(t, at, k.all)
		texts := make([]string, len(k.all))
		for i, m := range k.all {
			texts[i] = m.Text
		}
		if i := slices.Index(texts, "meanwhile"); i < 0 || slices.Index(texts, "go on") < i {
			t.Errorf("event %d: what was said meanwhile is lost: %q", at, texts)
		}
	}
}

// complete checks that each call has one result, and the model the last word.
func complete(t *testing.T, at int, all []session.Message) {
	t.Helper()
	results := map[string]int{}
	for _, m := range all {
		if m.Role == llm.Result {
			results[m.CallID]++
		}
	}
	for _, m := range all {
		for _, c := range m.Calls {
			if results[c.ID] != 1 {
				t.Errorf("event %d: %d results of %s", at, results[c.ID], c.ID)
			}
		}
	}
	if last := all[len(all)-1]; last.Role != llm.Assistant || len(last.Calls) > 0 {
		t.Errorf("event %d: the last message is %s", at, shown(last))
	}
}
