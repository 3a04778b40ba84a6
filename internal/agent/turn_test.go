package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

func call(id, name, arguments string) llm.Call {
	return llm.Call{ID: id, Name: name, Arguments: arguments}
}

// play runs one turn and returns what was heard.
func play(t *testing.T, a *Agent, text string) *heard {
	t.Helper()
	h := &heard{}
	if err := a.Turn(t.Context(), text, h.hear); err != nil {
		t.Fatal(err)
	}
	return h
}

// Nothing that is needed may be missing.
func TestNewRefuses(t *testing.T) {
	p := tempPlace(t)
	whole := options(p, &inTurn{}, fake{name: "a"})
	newAgent(t, whole)
	for what, change := range map[string]func(*Options){
		"no view":         func(o *Options) { o.View = nil },
		"no conversation": func(o *Options) { o.Conversation = "" },
		"no provider":     func(o *Options) { o.Provider = nil },
		"no model":        func(o *Options) { o.Model = "" },
		"no prompt":       func(o *Options) { o.Prompt = nil },
		"no redactor":     func(o *Options) { o.Redact = nil },
		"two of a name":   func(o *Options) { o.Tools = []tool.Tool{fake{name: "a"}, fake{name: "a"}} },
		"no name":         func(o *Options) { o.Tools = []tool.Tool{fake{}} },
	} {
		o := whole
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := newAgent(t, whole).Set(nil, "m", llm.Limits{}, ""); err == nil {
		t.Error("a nil provider was set")
	}
}

// One turn at a time; the next may begin as soon as Done is heard.
func TestBusy(t *testing.T) {
	p := tempPlace(t)
	var a *Agent
	var during error
	a = newAgent(t, options(p, &inTurn{answers: [][]llm.Event{says("", call("c", "again", "{}")), says("a"), says("b")}},
		fake{name: "again", call: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			during = a.Turn(ctx, "x", nil)
			return works(""), nil
		}}))
	if err := a.Turn(t.Context(), " \n", nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty message: %v", err)
	}
	var inner error
	err := a.Turn(t.Context(), "one", func(e Event) {
		if _, ok := e.(Done); ok {
			inner = a.Turn(t.Context(), "two", nil)
		}
	})
	if err != nil || inner != nil || !errors.Is(during, ErrBusy) {
		t.Errorf("%v, %v, during a turn %v", err, inner, during)
	}
	if n := len(stored(t, p)); n != 6 {
		t.Errorf("%d messages", n)
	}
}

// Calls that change nothing run beside each other, at most six; one that may change something runs alone. Whatever ends first, the
// model gets the results in the order of its calls.
func TestBeside(t *testing.T) {
	p := tempPlace(t)
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards what follows
		var now, most int
		var order []string
		run := func(alone bool) func(context.Context, tool.Call) (tool.Result, error) {
			return func(_ context.Context, c tool.Call) (tool.Result, error) {
				mu.Lock()
				now++
				most = max(most, now)
				if alone && now > 1 {
					t.Errorf("%s runs beside %d others", c.ID, now-1)
				}
				took := time.Second
				if len(order) == 0 { // whichever it is: which of the first eight get a place at once is not said
					took = 6 * time.Second
				}
				order = append(order, c.ID)
				mu.Unlock()
				time.Sleep(took)
				mu.Lock()
				defer mu.Unlock()
				now--
				return works("came of " + c.ID), nil
			}
		}
		var calls []llm.Call
		for i := range 8 {
			calls = append(calls, call(fmt.Sprintf("r%d", i), "read", "{}"))
		}
		calls = append(calls, call("w0", "write", "{}"), call("w1", "write", "{}"), call("r8", "read", "{}"))
		model := &inTurn{answers: [][]llm.Event{says("", calls...), says("done")}}
		began := time.Now()
		play(t, newAgent(t, options(p, model, fake{"read", true, run(false)}, fake{"write", false, run(true)})), "go")
		if most != beside {
			t.Errorf("%d calls ran at once, want %d", most, beside)
		}
		if took := time.Since(began); took != 9*time.Second { // 6 for the long one, in which the others have room, and one for each of the rest
			t.Errorf("all took %v", took)
		}
		if slices.Index(order, "w0") != 8 || slices.Index(order, "w1") != 9 || slices.Index(order, "r8") != 10 {
			t.Errorf("order %v", order)
		}
		var got []string
		for _, m := range model.asked[1].Messages {
			if m.Role == llm.Result {
				got = append(got, m.CallID)
			}
		}
		if text := strings.Join(got, " "); text != "r0 r1 r2 r3 r4 r5 r6 r7 w0 w1 r8" {
			t.Errorf("the model got %s", text)
		}
		last := stored(t, p)[9] // the long one is stored when it is there, after the seven that were quicker
		if last.CallID != order[0] {
			t.Errorf("stored last of the first eight is %s, want %s", last.CallID, order[0])
		}
	})
}

// The time of a turn ends calls, also one that does not listen, and is told; what had come is kept.
func TestTime(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		p := tempPlace(t)
		synctest.Test(t, func(t *testing.T) {
			let := make(chan struct{})
			o := options(p, &inTurn{answers: [][]llm.Event{says("I wait.", call("c", "wait", "{}"))}},
				fake{name: "wait", call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
					c.Say(tool.Update{Output: strings.Repeat("ä", tail) + "end"})
					if deaf {
						<-let
						c.Say(tool.Update{Output: "too late"})
						return works("too late"), nil
					}
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				}})
			o.Time = 90 * time.Minute
			began := time.Now()
			h := play(t, newAgent(t, o), "go")
			want := o.Time
			if deaf {
				want += grace
			}
			if took := time.Since(began); took != want {
				t.Errorf("it took %v, want %v", took, want)
			}
			if d := h.done(t); d.Why != Time || d.Err != nil {
				t.Errorf("done %+v", d)
			}
			all := stored(t, p)
			m := all[len(all)-2]
			if !m.Failed || !strings.Contains(m.Text, "the turn took as long as it may") || !strings.Contains(m.Text, "end</untrusted_tool_result") ||
				strings.Contains(m.Text, "may still run") != deaf || len(m.Text) > tail+500 || strings.Contains(m.Text, "\ufffd") {
				t.Errorf("the call's result: %.200s", m.Text)
			}
			if last := all[len(all)-1]; last.Role != llm.Assistant || last.Text != "[stopped: the turn took as long as it may]" {
				t.Errorf("last stored: %+v", last)
			}
			n := len(h.events)
			close(let)
			synctest.Wait()
			if len(h.events) != n {
				t.Errorf("after the end was heard: %v", h.events[n:])
			}
		})
	}
}

// The time ends a request too.
func TestTimeOfRequest(t *testing.T) {
	p := tempPlace(t)
	synctest.Test(t, func(t *testing.T) {
		o := options(p, scripted(func(ctx context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
			give(yield, []llm.Event{llm.Text{Text: "Let me"}})
			<-ctx.Done()
			yield(nil, context.Cause(ctx))
		}))
		h := play(t, newAgent(t, o), "go")
		if d := h.done(t); d.Why != Time {
			t.Errorf("done %+v", d)
		}
		if !slices.Contains(h.events, Event(Notice{"The turn took 2h, the most it may (agent.run_budget_seconds), and ends here. Say how to go on."})) {
			t.Errorf("heard %v", h.events)
		}
		if all := stored(t, p); len(all) != 2 || all[1].Text != "Let me\n\n[stopped: the turn took as long as it may]" {
			t.Errorf("stored %+v", all)
		}
	})
}

// A message that comes while the model writes its last answer goes on with the turn.
func TestSteerAtTheEnd(t *testing.T) {
	p := tempPlace(t)
	var a *Agent
	model := &inTurn{answers: [][]llm.Event{says("first"), says("second")}}
	a = newAgent(t, options(p, model))
	var got []Event
	err := a.Turn(t.Context(), "go", func(e Event) {
		if e == Event(Text{"first"}) {
			a.Steer("and more")
		}
		got = append(got, e)
	})
	if err != nil || len(model.asked) != 2 || !slices.Contains(got, Event(Steered{"and more"})) {
		t.Errorf("%v, %d requests, %v", err, len(model.asked), got)
	}
	a.Steer("later")
	if left := a.Unsteer(); !slices.Equal(left, []string{"later"}) || len(a.Unsteer()) != 0 {
		t.Errorf("taken back %q", left)
	}
}

// Ids that an answer uses twice, and calls beyond any measure, are answered and not made.
func TestTwiceAndTooMany(t *testing.T) {
	p := tempPlace(t)
	var made atomic.Int32
	var calls []llm.Call
	for i := range mostStored + 20 {
		calls = append(calls, call(fmt.Sprint("c", i), "count", fmt.Sprintf(`{"n":%d}`, i)))
	}
	calls[1].ID, calls[2].ID = "c0", ""
	model := &inTurn{answers: [][]llm.Event{says("", calls...), says("done")}}
	play(t, newAgent(t, options(p, model, fake{name: "count", call: func(context.Context, tool.Call) (tool.Result, error) {
		made.Add(1)
		return works("ok"), nil
	}})), "go")
	if made.Load() != mostCalls-1 {
		t.Errorf("%d calls were made", made.Load())
	}
	if err := valid(model.asked[1].Messages); err != nil {
		t.Error(err)
	}
	r := model.asked[1].Messages
	if n := len(r); n != 2+mostStored || r[2].Failed || !r[3].Failed || !strings.Contains(r[3].Text, `has the id "c0" too`) || r[4].Failed ||
		!strings.Contains(r[n-1].Text, "Too many calls") {
		t.Errorf("%d messages: %+v", n, r[2:5])
	}
}

// A tool that ends its goroutine, or gives nothing, has a result all the same.
func TestVanished(t *testing.T) {
	p := tempPlace(t)
	model := &inTurn{answers: [][]llm.Event{says("", call("a", "gone", "{}"), call("b", "nothing", "{}")), says("done")}}
	play(t, newAgent(t, options(p, model,
		fake{name: "gone", call: func(context.Context, tool.Call) (tool.Result, error) { runtime.Goexit(); return tool.Result{}, nil }},
		fake{name: "nothing", call: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }})), "go")
	r := model.asked[1].Messages
	if !r[2].Failed || !strings.Contains(r[2].Text, errVanished.Error()) || r[3].Failed {
		t.Errorf("%+v", r[2:])
	}
}

// What cannot be stored ends the turn.
func TestStoreFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	v, end, err := viewOf(path)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := ownerOf()
	id, err := v.Begin(t.Context(), o, "", "")
	if err != nil {
		t.Fatal(err)
	}
	model := &inTurn{answers: [][]llm.Event{says("", call("a", "close", "{}"), call("b", "next", "{}")), says("done")}}
	second := false
	a := newAgent(t, options(place{v, id}, model,
		fake{name: "close", call: func(context.Context, tool.Call) (tool.Result, error) { end(); return works("closed"), nil }},
		fake{name: "next", call: func(context.Context, tool.Call) (tool.Result, error) { second = true; return works(""), nil }}))
	h := &heard{}
	if err := a.Turn(t.Context(), "go", h.hear); err == nil || h.done(t).Why != Failed || h.done(t).Err == nil {
		t.Errorf("%v, done %+v", err, h.done(t))
	}
	if second || len(model.asked) != 1 {
		t.Errorf("it went on: another call %v, %d requests", second, len(model.asked))
	}
	again := newPlaceOf(t, path, id)
	model2 := &inTurn{answers: [][]llm.Event{says("done")}}
	b := newAgent(t, options(again, model2, fake{name: "close"}, fake{name: "next"}))
	if ok, err := b.Pending(t.Context()); !ok || err != nil {
		t.Errorf("pending %v, %v", ok, err)
	}
	if err := b.Resume(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := valid(model2.asked[0].Messages); err != nil {
		t.Error(err)
	}
	for _, m := range model2.asked[0].Messages[2:] {
		if !m.Failed || !strings.Contains(m.Text, "Hermes was stopped before the result of this call was stored") {
			t.Errorf("%+v", m)
		}
	}
	if ok, err := b.Pending(t.Context()); ok || err != nil {
		t.Errorf("afterwards pending %v, %v", ok, err)
	}
}

func newPlaceOf(t testing.TB, path, id string) place {
	t.Helper()
	v, end, err := viewOf(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return place{v, id}
}

// After an undo that leaves an answer without results, the conversation goes on all the same.
func TestAfterUndo(t *testing.T) {
	p := tempPlace(t)
	read := fake{name: "read", call: func(context.Context, tool.Call) (tool.Result, error) { return works("text"), nil }}
	play(t, newAgent(t, options(p, &inTurn{answers: [][]llm.Event{says("", call("a", "read", "{}")), says("done")}}, read)), "go")
	if _, err := p.view.Undo(t.Context(), p.id, stored(t, p)[2].ID); err != nil {
		t.Fatal(err)
	}
	model := &inTurn{answers: [][]llm.Event{says("done")}}
	play(t, newAgent(t, options(p, model, read)), "again")
	if err := valid(model.asked[0].Messages); err != nil {
		t.Error(err)
	}
}

// What others stored is made valid too: calls without a result, results without a call, two results, empty messages.
func TestForeign(t *testing.T) {
	h := history{}
	for _, m := range []llm.Message{
		{Role: llm.User, Text: "a"}, {Role: llm.User, Text: "b"}, {Role: llm.Result, CallID: "x", Text: "nobody's"},
		{Role: llm.Assistant, Calls: []llm.Call{call("1", "t", "{}"), call("2", "t", "{}")}},
		{Role: llm.User, Text: "meanwhile"}, {Role: llm.Result, CallID: "2", Text: "two"}, {Role: llm.Result, CallID: "2", Text: "two again"},
		{Role: llm.Assistant}, {Role: llm.Assistant, Text: "c", Thoughts: []llm.Thought{{Text: "t"}}}, {Role: llm.Assistant, Text: "d"}, {Role: llm.User, Text: "e"},
	} {
		h.entries = append(h.entries, entry{Message: session.Message{Message: m}})
	}
	got := h.messages(longest)
	if err := valid(got); err != nil {
		t.Error(err)
	}
	var texts []string
	for _, m := range got {
		texts = append(texts, string(m.Role)+" "+m.Text)
	}
	if text := strings.Join(texts, "|"); text != "user a\n\nb|assistant |tool "+lost+"|tool two|user meanwhile|assistant cd|user e" {
		t.Errorf("%q", text)
	}
}

// Another model is asked from the next request on, and costs what it costs.
func TestSet(t *testing.T) {
	p := tempPlace(t)
	var a *Agent
	second := &inTurn{answers: [][]llm.Event{says("done")}}
	a = newAgent(t, options(p, &inTurn{answers: [][]llm.Event{says("", call("a", "switch", "{}"))}},
		fake{name: "switch", call: func(context.Context, tool.Call) (tool.Result, error) {
			return works("ok"), a.Set(second, "n", llm.Limits{Context: 5000, Price: llm.Price{Input: 10, Output: 100}}, llm.High)
		}}))
	h := play(t, a, "go")
	r := second.asked[0]
	if r.Model != "n" || r.Effort != llm.High {
		t.Errorf("asked %+v", r)
	}
	if u, ok := h.events[len(h.events)-2].(Used); !ok || u.Dollars != 0.002 || !u.Priced || u.Limit != 5000 {
		t.Errorf("used %+v", u)
	}
}

// Where another provider of a chain answered, the price is that of its model, if it is known.
func TestChainPrice(t *testing.T) {
	p := tempPlace(t)
	down := scripted(func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		yield(nil, &llm.Error{Provider: "a", Kind: llm.Overloaded})
	})
	o := options(p, llm.Chain{{Provider: down, Name: "a"}, {Provider: &inTurn{answers: [][]llm.Event{says("hi")}}, Name: "b", Model: "unknown/model"}})
	o.Limits.Price = llm.Price{Input: 1}
	h := play(t, newAgent(t, o), "go")
	if u := h.events[len(h.events)-2].(Used); u.Priced {
		t.Errorf("priced as another model: %+v", u)
	}
	if _, ok := h.events[0].(Retry); !ok {
		t.Errorf("heard first: %T", h.events[0])
	}
}
