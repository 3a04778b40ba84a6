package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scripted answers each request with the next list of events; an error among them ends it.
type scripted struct {
	answers [][]any
	asked   []time.Time
	models  []string
}

func (s *scripted) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s.asked, s.models = append(s.asked, time.Now()), append(s.models, r.Model)
		answer := s.answers[0]
		s.answers = s.answers[1:]
		for _, e := range answer {
			if err, failed := e.(error); failed {
				yield(nil, err)
				return
			}
			if !yield(e.(Event), nil) {
				return
			}
		}
	}
}

func (s *scripted) waits() (out []time.Duration) {
	for i := 1; i < len(s.asked); i++ {
		out = append(out, s.asked[i].Sub(s.asked[i-1]))
	}
	return out
}

func fails(kind Kind, after time.Duration) error {
	return &Error{Provider: "p", Kind: kind, After: after}
}

func TestRetry(t *testing.T) {
	good := []any{Text{"hello"}, End{Stop: Done}}
	const s = time.Second
	for _, row := range []struct {
		name    string
		answers [][]any
		chance  float64
		waits   []time.Duration
		text    string
		fails   string
	}{
		{"nothing to repeat", [][]any{good}, 0, nil, "hello", ""},
		{"waits grow, with chance", [][]any{{fails(Overloaded, 0)}, {fails(Limited, 0)}, {fails(Unreachable, 0)}, good}, 0.5,
			[]time.Duration{375 * time.Millisecond, 750 * time.Millisecond, 1500 * time.Millisecond}, "hello", ""},
		{"never before the provider says", [][]any{{fails(Limited, 20*s)}, good}, 0, []time.Duration{20 * s}, "hello", ""},
		{"nor all at the same time", [][]any{{fails(Limited, 20*s)}, good}, 0.8, []time.Duration{20*s + 100*time.Millisecond}, "hello", ""},
		{"too long to wait", [][]any{{fails(Limited, 5*time.Minute)}}, 0, nil, "", "rate limited"},
		{"what was cut off counts no more", [][]any{{Text{"hel"}, fails(Cut, 0)}, good}, 0, []time.Duration{s / 4}, "hello", ""},
		{"what will not change is not repeated", [][]any{{fails(Auth, 0)}}, 0, nil, "", "not authorised"},
		{"nor what is not understood here", [][]any{{errors.New("odd")}}, 0, nil, "", "odd"},
		{"not for ever", [][]any{{fails(Overloaded, 0)}, {fails(Overloaded, 0)}, {fails(Overloaded, 0)}, {fails(Cut, 0)}}, 0, []time.Duration{s / 4, s / 2, s}, "", "cut off"},
		{"silence, which takes minutes, once", [][]any{{fails(Idle, 0)}, {fails(Idle, 0)}}, 0, []time.Duration{s / 4}, "", "silent"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &scripted{answers: row.answers}
			got, err := Collect(Retry{Provider: p, Rand: func() float64 { return row.chance }}.Stream(t.Context(), Request{}))
			if row.fails == "" && (err != nil || got.Text != row.text || got.End.Stop != Done) || row.fails != "" && (err == nil || !strings.Contains(err.Error(), row.fails)) {
				t.Errorf("%s: %q %v", row.name, got.Text, err)
			}
			if diff := cmp.Diff(row.waits, p.waits()); diff != "" {
				t.Errorf("%s: waits (-want +got)\n%s", row.name, diff)
			}
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("Esc")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(cause) })
		start := time.Now()
		p := &scripted{answers: [][]any{{fails(Limited, 30*time.Second)}}}
		_, err := Collect(Retry{Provider: p}.Stream(ctx, Request{}))
		if !errors.Is(err, cause) || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestRetryStopsWithItsListener(t *testing.T) {
	p := &scripted{answers: [][]any{{Text{"a"}, fails(Cut, 0)}}}
	for e := range (Retry{Provider: p}).Stream(t.Context(), Request{}) {
		if _, again := e.(Again); again {
			break
		}
	}
	if len(p.asked) != 1 {
		t.Errorf("asked %d times", len(p.asked))
	}
}

func TestChain(t *testing.T) {
	a := &scripted{answers: [][]any{{Text{"half"}, fails(Auth, 0)}}}
	b := &scripted{answers: [][]any{{Text{"whole"}, End{Stop: Done}}}}
	var events []string
	answer := &Answer{}
	for e, err := range (Chain{{Provider: a, Name: "a", Price: Price{Input: 1}}, {Provider: b, Name: "b", Model: "m2", Price: Price{Input: 2}}}).Stream(t.Context(), Request{Model: "m1"}) {
		if err != nil {
			t.Fatal(err)
		}
		answer.Add(e)
		events = append(events, fmt.Sprintf("%T", e))
		if again, ok := e.(Again); ok && (again.Choice != "b/m2" || again.Price.Input != 2) {
			t.Errorf("again %+v", again)
		}
	}
	if answer.Text != "whole" || strings.Join(events, " ") != "llm.Text llm.Again llm.Text llm.End" {
		t.Errorf("%q of %v", answer.Text, events)
	}
	if a.models[0] != "m1" || b.models[0] != "m2" {
		t.Errorf("asked for %v, %v", a.models, b.models)
	}

	a.answers, b.answers = [][]any{{fails(Auth, 0)}}, [][]any{{fails(Missing, 0)}}
	_, err := Collect(Chain{{Provider: a, Name: "a"}, {Provider: b, Name: "b"}}.Stream(t.Context(), Request{}))
	var all *ChainError
	if !errors.As(err, &all) || len(all.Errs) != 2 || !strings.Contains(err.Error(), "not found") {
		t.Errorf("none answers: %v", err)
	}
	if _, err := Collect(Chain(nil).Stream(t.Context(), Request{})); err == nil || !strings.Contains(err.Error(), "no provider is set") {
		t.Errorf("no choice: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.answers = [][]any{{context.Canceled}}
	if _, err := Collect(Chain{{Provider: a}, {Provider: b}}.Stream(ctx, Request{})); !errors.Is(err, context.Canceled) || len(b.asked) != 2 {
		t.Errorf("cancelled: %v, b was asked %d times", err, len(b.asked))
	}
}

func TestKnown(t *testing.T) {
	for _, row := range []struct {
		model   string
		context int
	}{
		{"claude-sonnet-4-6", 200_000}, {"anthropic/claude-sonnet-4.6", 200_000}, {"Claude-Sonnet-4-6", 200_000},
		{"openrouter/anthropic/claude-sonnet-4-6:thinking", 200_000}, {"my-own-model", 0}, {"", 0}, {"/", 0},
		{"claude-sonnet-4-5", 200_000}, {"anthropic/claude-sonnet-4.5:thinking", 200_000}, {"claude-sonnet-4", 0}, {"claude-sonnet-4-5-2025", 0}, {"claude", 0},
	} {
		got, ok := Known(row.model)
		if got.Context != row.context || ok != (row.context > 0) {
			t.Errorf("%q: %+v %v", row.model, got, ok)
		}
	}
	listed := models()
	listed["two-20250101"], listed["two-2025-02-02"], listed["one-2025-02-02"], listed["odd-2025020-2"] = Limits{Context: 1}, Limits{Context: 2}, Limits{Context: 3}, Limits{Context: 4}
	for name, want := range map[string]int{"two": 0, "two-20250101": 1, "one": 3, "odd": 0, "on": 0} {
		if got, ok := Known(name); got.Context != want || ok != (want > 0) {
			t.Errorf("%q: %+v %v", name, got, ok)
		}
	}
	for _, name := range []string{"two-20250101", "two-2025-02-02", "one-2025-02-02", "odd-2025020-2"} {
		delete(listed, name)
	}
	for name, l := range models() {
		p := l.Price
		if l.Context < 4096 || l.Output <= 0 || l.Output > l.Context || p.Input < 0 || p.Output < p.Input || p.CacheRead > p.Input || strings.ToLower(name) != name {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if len(models()) < 50 {
		t.Errorf("%d models", len(models()))
	}
}

func TestCost(t *testing.T) {
	price := Price{Input: 4, Output: 20, CacheRead: 0.4, CacheWrite: 5}
	for _, row := range []struct {
		price Price
		use   Usage
		want  float64
		known bool
	}{
		{price, Usage{Input: 1_000_000, Output: 100_000}, 6, true},
		{price, Usage{Input: 1_000_000, CacheRead: 500_000, CacheWrite: 100_000}, 0.4*4 + 0.2 + 0.5, true},
		{Price{Input: 4, Output: 20}, Usage{Input: 1_000_000, CacheRead: 1_000_000}, 4, true},
		{Price{}, Usage{Input: 1}, 0, false},
		{price, Usage{Input: 1_000_000, Dollars: 0.5}, 0.5, true},
		{price, Usage{}, 0, false}, // nobody counted
		{Price{}, Usage{Dollars: 0.5}, 0.5, true},
	} {
		if got, known := row.price.Cost(row.use); known != row.known || got < row.want-1e-9 || got > row.want+1e-9 {
			t.Errorf("%+v of %+v: %v %v, want %v", row.use, row.price, got, known, row.want)
		}
	}
}

// What is too long is known by the words of many providers, since only that is answered with a shorter request.
func TestTooLong(t *testing.T) {
	for _, row := range []struct {
		status        int
		code, message string
		want          Kind
	}{
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", TooLong},
		{400, "", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", TooLong},
		{400, "", "This model's maximum prompt length is 131072 but the request contains 180000 tokens.", TooLong},
		{400, "ValidationException", "Input is too long for requested model.", TooLong},
		{400, "string_above_max_length", "Invalid 'messages[1].content': string too long.", TooLong},
		{413, "rate_limit_exceeded", "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 9000", TooLong},
		{429, "tokens rate_limit_exceeded", "Request too large for gpt-x in organization o on tokens per min (TPM): Limit 30000, Requested 35000.", TooLong},
		{429, "tokens rate_limit_exceeded", "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 25000, Requested 9000.", Limited},
		{400, "", "too many tokens in the request", TooLong},
		{429, "ThrottlingException", "Too many tokens, please wait before trying again.", Limited},
		{400, "invalid_request_error", "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens", Invalid},
	} {
		if got := KindOf(row.status, row.code, row.message); got != row.want {
			t.Errorf("%d %s %s: %s, want %s", row.status, row.code, row.message, got, row.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	a := &Answer{}
	for _, e := range []Event{
		Thinking{Thought: Thought{Text: "lost"}}, Text{"lost"}, Call{ID: "lost"}, Again{},
		Thinking{Thought: Thought{Text: "a", From: "f"}}, Thinking{Thought: Thought{Text: "b", From: "f"}}, Thinking{Thought: Thought{Signature: "s", From: "f"}, Done: true},
		Thinking{Thought: Thought{Sealed: "x", From: "f"}}, Thinking{Thought: Thought{From: "f"}, Done: true},
		Text{"he"}, Text{"llo"}, Calling{"1", "t"}, Call{"1", "t", "{}"}, Usage{Input: 1}, Usage{Input: 1, Output: 2}, End{Stop: Calls},
	} {
		a.Add(e)
	}
	want := Message{Role: Assistant, Text: "hello", Thoughts: []Thought{{Text: "ab", Signature: "s", From: "f"}, {Sealed: "x", From: "f"}}, Calls: []Call{{"1", "t", "{}"}}}
	if diff := cmp.Diff(want, a.Message); diff != "" || a.Usage != (Usage{Input: 1, Output: 2}) || a.End.Stop != Calls {
		t.Errorf("(-want +got)\n%s%+v", diff, a.Usage)
	}
}

// What the owner can do is found behind whatever an error was wrapped in.
func TestNext(t *testing.T) {
	refused := &Error{Provider: "p", Kind: Payment}
	for _, row := range []struct {
		what string
		err  error
		want string
	}{
		{"alone", refused, refused.Next()},
		{"wrapped", fmt.Errorf("sum up: %w", refused), refused.Next()},
		{"of several providers, the first that says something", &ChainError{Errs: []error{context.Canceled, refused}}, refused.Next()},
		{"of somebody else", context.Canceled, ""},
		{"none", nil, ""},
	} {
		if got := Next(row.err); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}
