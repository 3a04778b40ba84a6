package agent

import (
	"context"
	"math"
	"strings"
	"testing"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// What an answer cost is what the one who gave it takes, with what broke off before; what nobody has counted is not known to be nothing.
func TestAnswerCost(t *testing.T) {
	cut := &llm.Error{Provider: "p", Kind: llm.Cut}
	use := llm.Usage{Input: 1_000_000}
	for _, row := range []struct {
		what    string
		events  []llm.Event
		dollars float64
		priced  bool
		model   string
	}{
		{"the first", []llm.Event{llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}, 2, true, "m"},
		{"another, which takes more", []llm.Event{llm.Again{Cause: cut, Choice: "p/other", Price: llm.Price{Input: 5}}, llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}, 5, true, "other"},
		{"another, of which nothing is known", []llm.Event{llm.Again{Cause: cut, Choice: "p/claude-haiku-4-5-20251001"}, llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}, 0, false, "claude-haiku-4-5-20251001"},
		{"nobody counted", []llm.Event{llm.Text{Text: "a"}, llm.End{Stop: llm.Done}}, 0, false, "m"},
		{"one broke off", []llm.Event{use, llm.Text{Text: "a"}, llm.Again{Cause: cut}, llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}, 4, true, "m"},
		{"one broke off uncounted", []llm.Event{llm.Text{Text: "a"}, llm.Again{Cause: cut}, llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}, 2, false, "m"},
		{"one did not begin", []llm.Event{llm.Again{Cause: cut}, llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}, 2, true, "m"},
	} {
		o := options(place{&session.View{}, "x"}, scripted(func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) { give(yield, row.events) }))
		o.Limits.Price = llm.Price{Input: 2}
		a, k := newAgent(t, o), &memory{}
		a.store = k
		var used Used
		err := a.Turn(t.Context(), "go", func(e Event) {
			if e, ok := e.(Used); ok {
				used = e
			}
		})
		last := k.all[len(k.all)-1]
		if err != nil || math.Abs(used.Dollars-row.dollars) > 1e-9 || used.Priced != row.priced || last.Dollars != used.Dollars || last.Model != row.model {
			t.Errorf("%s: $%v, known %v, stored $%v of %s; %v", row.what, used.Dollars, used.Priced, last.Dollars, last.Model, err)
		}
	}
}

// What was paid for and is not stored is in the sum of the conversation all the same: an answer that was empty.
func TestOwed(t *testing.T) {
	use := llm.Usage{Input: 1_000_000}
	o := options(place{&session.View{}, "x"}, &inTurn{answers: [][]llm.Event{{use, llm.End{Stop: llm.Done}}, {llm.Text{Text: "a"}, use, llm.End{Stop: llm.Done}}}})
	o.Limits.Price = llm.Price{Input: 2}
	a, k := newAgent(t, o), &memory{}
	a.store = k
	told := 0.0
	if err := a.Turn(t.Context(), "go", func(e Event) {
		if e, ok := e.(Used); ok {
			told += e.Dollars
		}
	}); err != nil {
		t.Fatal(err)
	}
	if stored := k.all[len(k.all)-1].Dollars; told != 4 || stored != 4 {
		t.Errorf("told $%v, stored $%v", told, stored)
	}
}

// A call that the length limit cut off before its arguments is not made with none.
func TestCutBeforeArguments(t *testing.T) {
	made := 0
	list := fake{name: "list", call: func(context.Context, tool.Call) (tool.Result, error) { made++; return works("all"), nil }}
	cut := []llm.Event{call("1", "list", "{}"), call("2", "list", "{}"), llm.End{Stop: llm.Length}}
	a, k := newAgent(t, options(place{&session.View{}, "x"}, &inTurn{answers: [][]llm.Event{cut, says("Done.")}}, list)), &memory{}
	a.store = k
	if err := a.Turn(t.Context(), "go", nil); err != nil || made != 1 || !strings.Contains(k.all[3].Text, "length limit in the middle of this call") {
		t.Errorf("made %d, %q, %v", made, k.all[3].Text, err)
	}
}

// An answer that broke off for good is told with what it cost.
func TestBrokenOffIsPaidFor(t *testing.T) {
	o := options(place{&session.View{}, "x"}, scripted(func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		if yield(llm.Usage{Input: 1_000_000}, nil) && yield(llm.Text{Text: "half"}, nil) {
			yield(nil, &llm.Error{Provider: "p", Kind: llm.Cut})
		}
	}))
	o.Limits.Price = llm.Price{Input: 2}
	a := newAgent(t, o)
	a.store = &memory{}
	told := 0.0
	err := a.Turn(t.Context(), "go", func(e Event) {
		if e, ok := e.(Used); ok {
			told += e.Dollars
		}
	})
	if err == nil || told != 2 {
		t.Errorf("$%v, %v", told, err)
	}
}

// What is not looked at is not known to be paid for.
func TestPriced(t *testing.T) {
	paid := session.Message{Message: llm.Message{Role: llm.Assistant, Text: "a"}, Model: "m", Usage: llm.Usage{Output: 1}, Dollars: 1}
	for what, row := range map[string]struct {
		one  session.Message
		want bool
	}{
		"paid":            {paid, true},
		"a mark":          {session.Message{Message: llm.Message{Role: llm.Assistant, Text: "[interrupted]"}}, true},
		"no price":        {session.Message{Message: llm.Message{Role: llm.Assistant}, Model: "m", Usage: llm.Usage{Output: 1}}, false},
		"nobody counted":  {session.Message{Message: llm.Message{Role: llm.Assistant}, Model: "m"}, false},
		"a summary of it": {session.Message{Message: llm.Message{Role: llm.User}, Model: "m", Usage: llm.Usage{Output: 1}, Dollars: 1, Covers: 3}, false},
	} {
		if got := Priced([]session.Message{paid, row.one}); got != row.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
