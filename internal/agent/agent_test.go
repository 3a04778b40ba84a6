package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/internal/guard/scope"
	"hermes/internal/guard/taint"
	"hermes/internal/home"
	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// place is a conversation in a store of its own.
type place struct {
	view *session.View
	id   string
}

func newPlace(t testing.TB, path string) place {
	t.Helper()
	v, close, err := viewOf(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(close)
	o, err := ownerOf()
	if err != nil {
		t.Fatal(err)
	}
	id, err := v.Begin(context.Background(), o, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return place{v, id}
}

func ownerOf() (scope.Session, error) {
	p, err := scope.ParseProfile("default")
	if err != nil {
		return scope.Session{}, err
	}
	return scope.ParseSession(p, "cli", "1")
}

func viewOf(path string) (*session.View, func(), error) {
	dir, err := home.Create(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := session.Open(context.Background(), dir)
	if err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	o, err := ownerOf()
	if err != nil {
		return nil, nil, err
	}
	v, err := s.View(o)
	return v, func() { s.Close(); dir.Close() }, err
}

func tempPlace(t testing.TB) place { return newPlace(t, filepath.Join(t.TempDir(), "home")) }

// plainPrompt is a prompt that can be read in a test.
type plainPrompt struct{ system string }

func (p plainPrompt) System(context.Context) (string, error) {
	if p.system == "" {
		return "You are a test.", nil
	}
	return p.system, nil
}

func (plainPrompt) Result(name string, r tool.Result, err error) (string, taint.Risk) {
	var out []string
	var risk taint.Risk
	for _, p := range r.Parts {
		risk = risk.And(p.Risk)
		text := p.Text
		if p.Origin == taint.Outside {
			text = `<untrusted_tool_result id="B0">` + text + `</untrusted_tool_result id="B0">`
			risk = risk.And(taint.Risk{Level: "low", Findings: []string{}})
		}
		out = append(out, text)
	}
	if err != nil {
		out = append(out, "error: "+err.Error())
	}
	return strings.Join(out, " "), risk
}

// fake is a tool made of a function.
type fake struct {
	name   string
	beside bool
	call   func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fake) Spec() tool.Spec {
	return tool.Spec{Name: f.name, Description: "Does " + f.name + ".", Schema: json.RawMessage(`{"type":"object"}`), Beside: f.beside}
}

func (f fake) Call(ctx context.Context, c tool.Call) (tool.Result, error) { return f.call(ctx, c) }

func works(text string) tool.Result {
	return tool.Result{Parts: []tool.Part{{Text: text, Origin: taint.Work}}}
}

// scripted answers from a function, without a wire.
type scripted func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool)

func (s scripted) Stream(ctx context.Context, r llm.Request) stream {
	return func(yield func(llm.Event, error) bool) { s(ctx, r, yield) }
}

// says is a whole answer.
func says(text string, calls ...llm.Call) []llm.Event {
	out := []llm.Event{llm.Usage{Input: 100, Output: 10}}
	if text != "" {
		out = append(out, llm.Text{Text: text})
	}
	stop := llm.Done
	for _, c := range calls {
		out, stop = append(out, c), llm.Calls
	}
	return append(out, llm.End{Stop: stop, Model: "m"})
}

func give(yield func(llm.Event, error) bool, events []llm.Event) {
	for _, e := range events {
		if !yield(e, nil) {
			return
		}
	}
}

// inTurn gives one answer after the other, and notes what it was asked.
type inTurn struct {
	mu      sync.Mutex
	answers [][]llm.Event
	asked   []llm.Request
}

func (s *inTurn) Stream(ctx context.Context, r llm.Request) stream {
	return func(yield func(llm.Event, error) bool) {
		s.mu.Lock()
		s.asked = append(s.asked, r)
		n := len(s.asked) - 1
		s.mu.Unlock()
		if n >= len(s.answers) {
			yield(nil, fmt.Errorf("request %d has no answer in the script", n))
			return
		}
		give(yield, s.answers[n])
	}
}

func options(p place, provider llm.Provider, tools ...tool.Tool) Options {
	return Options{View: p.view, Conversation: p.id, Provider: provider, Model: "m", Tools: tools, Prompt: plainPrompt{},
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "[redacted]") }}
}

func newAgent(t testing.TB, o Options) *Agent {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// heard gathers events.
type heard struct {
	mu     sync.Mutex
	events []Event
}

func (h *heard) hear(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *heard) done(t testing.TB) Done {
	t.Helper()
	d, ok := h.events[len(h.events)-1].(Done)
	if !ok {
		t.Fatalf("the last event is %T", h.events[len(h.events)-1])
	}
	return d
}

func stored(t testing.TB, p place) []session.Message {
	t.Helper()
	all, err := p.view.Messages(context.Background(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// memory keeps one conversation where no disk is needed.
type memory struct{ all []session.Message }

func (k *memory) Append(_ context.Context, _ string, m session.Message) (int64, error) {
	m.ID = int64(len(k.all) + 1)
	k.all = append(k.all, m)
	return m.ID, nil
}

func (k *memory) Live(context.Context, string) ([]session.Message, error) { return k.live(), nil }

func (k *memory) Last(context.Context, string) (m session.Message, ok bool, err error) {
	if all := k.live(); len(all) > 0 {
		m, ok = all[len(all)-1], true
	}
	return m, ok, nil
}

// live is what session.View.Live makes of it.
func (k *memory) live() []session.Message {
	last := -1
	for i, m := range k.all {
		if m.Covers > 0 {
			last = i
		}
	}
	if last < 0 {
		return k.all
	}
	out := []session.Message{k.all[last]}
	for _, m := range k.all {
		if m.Covers == 0 && m.ID > k.all[last].Covers {
			out = append(out, m)
		}
	}
	return out
}

func shown(m session.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role))
	if m.Role == llm.Result {
		fmt.Fprintf(&b, " %s %s", m.CallID, m.Tool)
		if m.Failed {
			b.WriteString(" failed")
		}
		if m.Approved != (session.Approval{}) {
			fmt.Fprintf(&b, " approved by %s, %s", m.Approved.By, m.Approved.How)
		}
	}
	if m.Covers > 0 {
		fmt.Fprintf(&b, " covers %d", m.Covers)
	}
	fmt.Fprintf(&b, " | %s", strings.ReplaceAll(m.Text, "\n", "⏎"))
	for _, t := range m.Thoughts {
		fmt.Fprintf(&b, " | thought %q", t.Text)
	}
	for _, c := range m.Calls {
		fmt.Fprintf(&b, " | %s %s %s", c.ID, c.Name, c.Arguments)
	}
	return b.String()
}

// valid says what a provider of either format would refuse in a request.
func valid(messages []llm.Message) error {
	var last llm.Message
	open, ids := []string(nil), map[string]bool{}
	for i, m := range messages {
		switch {
		case m.Role == llm.Result:
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Errorf("message %d answers %q, open are %q", i, m.CallID, open)
			}
			open = open[1:]
			last = m
			continue
		case len(open) > 0:
			return fmt.Errorf("message %d comes before the results of %q", i, open)
		case i == 0 && m.Role != llm.User:
			return fmt.Errorf("the first message is of the %s", m.Role)
		case i > 0 && m.Role == last.Role:
			return fmt.Errorf("message %d: the %s speaks twice", i, m.Role)
		case m.Text == "" && len(m.Calls) == 0:
			return fmt.Errorf("message %d is empty", i)
		}
		for _, c := range m.Calls {
			if ids[c.ID] || c.ID == "" {
				return fmt.Errorf("message %d: the id %q is not unique", i, c.ID)
			}
			ids[c.ID] = true
			if nameOf(c.Name) != c.Name {
				return fmt.Errorf("message %d: no name: %q", i, c.Name)
			}
			open = append(open, c.ID)
		}
		last = m
	}
	if len(open) > 0 {
		return fmt.Errorf("no results of %q", open)
	}
	if last.Role == llm.Assistant {
		return errors.New("the assistant spoke last")
	}
	return nil
}
