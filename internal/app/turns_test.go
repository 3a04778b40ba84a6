package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/llm"
	"hermes/internal/llm/llmtest"
)

// What the settings say of a turn, and what is wrong in them.
func TestTurnSettings(t *testing.T) {
	for _, row := range []struct {
		settings string
		steps    int
		time     time.Duration
		effort   llm.Effort
	}{
		{"", 90, 2 * time.Hour, ""},
		{"agent: {max_turns: 3, run_budget_seconds: 60, reasoning_effort: high}\n", 3, time.Minute, llm.High},
		{"agent: {reasoning_effort: none}\n", 90, 2 * time.Hour, llm.NoEffort},
		{"agent: {reasoning_effort: a lot, max_turns: 0, run_budget_seconds: soon}\n", 90, 2 * time.Hour, ""}, // told, and the defaults hold
		{"agent: {max_turns: 9000000000000000000, run_budget_seconds: 9000000000000000000}\n", 1<<31 - 1, 365 * 24 * time.Hour, ""},
	} {
		snap, err := newWorld(t, row.settings).open(t).settings()
		if err != nil {
			t.Errorf("%q: %v", row.settings, err)
			continue
		}
		if steps, most, effort := turns(snap); steps != row.steps || most != row.time || effort != row.effort {
			t.Errorf("%q: %d steps, %v, effort %q", row.settings, steps, most, effort)
		}
	}
}

// The settings of a turn hold in a conversation, also for a model that it changes to.
func TestTurnLimits(t *testing.T) {
	server := llmtest.New(t, "-- model-1 --\ncall todo {}\n-- model-2 --\nsay That is all.\n-- model-3 --\nsay Hello.\n")
	w := newWorld(t, "model: own:test-model\nproviders: {own: {base_url: "+server.URL+"/v1}}\nterminal: {backend: local}\nagent: {max_turns: 1, reasoning_effort: low}\n")
	w.write(t, ".env", "OWN_API_KEY=correct-horse-battery\n")
	c, err := w.open(t).Chats(t.Context(), Talks{Dir: w.home, Platform: "cli", Presence: approval.Person})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	talk, err := c.Open(t.Context(), chat.Start{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = talk.Close(context.Background()) })
	var heard []agent.Event
	hear := func(e agent.Event) { heard = append(heard, e) }
	if err := talk.Agent.Turn(t.Context(), "begin", hear); err != nil {
		t.Fatal(err)
	}
	if done, ok := heard[len(heard)-1].(agent.Done); !ok || done.Why != agent.Steps {
		t.Errorf("%+v", heard[len(heard)-1])
	}
	if !slices.ContainsFunc(heard, func(e agent.Event) bool {
		n, ok := e.(agent.Notice)
		return ok && strings.Contains(n.Text, "agent.max_turns")
	}) {
		t.Error("the person is not told which setting ended the turn")
	}
	if _, _, err := talk.Switch(t.Context(), "own:other"); err != nil {
		t.Fatal(err)
	}
	if err := talk.Agent.Turn(t.Context(), "go on", hear); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range server.Seen() {
		if !strings.Contains(r.Path, "chat/completions") {
			continue
		}
		if n++; !strings.Contains(string(r.Body), `"reasoning_effort":"low"`) {
			t.Errorf("request %d without the effort: %.300s", n, r.Body)
		}
	}
	if n != 3 {
		t.Errorf("%d requests", n)
	}
}

// What another provider's model costs is not taken from its maker's list.
func TestFallbackPrice(t *testing.T) {
	first, second := llmtest.New(t, "status 401 auth no"), llmtest.New(t, "usage 1000 10\nsay from the second")
	w := newWorld(t, "model: a:x\nfallback_models: ['b:claude-sonnet-4-6']\nproviders: {a: {base_url: '"+first.URL+"/v1'}, b: {base_url: '"+second.URL+"/v1'}}\n")
	m, err := w.open(t).Model("")
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for e, err := range m.Provider.Stream(t.Context(), llm.Request{Model: m.Name, Messages: []llm.Message{{Role: llm.User, Text: "hi"}}}) {
		if err != nil {
			t.Fatal(err)
		}
		if again, ok := e.(llm.Again); ok {
			said = true
			if again.Choice != "b/claude-sonnet-4-6" || again.Price != (llm.Price{}) {
				t.Errorf("%+v", again)
			}
		}
	}
	if !said {
		t.Error("the second was not asked")
	}
}
