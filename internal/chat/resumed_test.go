package chat

import (
	"context"
	"strings"
	"testing"

	"hermes/internal/agent"
	"hermes/internal/llm"
	"hermes/internal/session"
)

// A conversation that is opened again shows at once what it takes, as the provider counted it last.
func TestResumedStatus(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.does("hello")
		counted := session.Message{Message: llm.Message{Role: llm.Assistant, Text: "counted"}, Usage: llm.Usage{Input: 4000, Output: 50}, Dollars: 0.25}
		if _, err := s.view.Append(context.Background(), s.ids[0], counted); err != nil {
			t.Fatal(err)
		}
		s.does("/title Counted")
		s.does("/new now")
		if st := s.chat.Status(); st.Context != 0 || st.Input != 0 {
			t.Errorf("a new one: %+v", st)
		}
		s.does("/resume Counted")
		if st := s.chat.Status(); st.ID != s.ids[0] || st.Context != 4050 || st.Input != 4000 || st.Output != 50 || st.Dollars != 0.25 || !st.Priced {
			t.Errorf("%+v", st)
		}
	})
}

// What a sandbox contains that nobody has opened is not known, and not told.
func TestUnopened(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.shut = true
		if got := s.does("/status"); !strings.Contains(got, "commands      native, not opened yet, in /w") || !s.chat.Status().Unopened {
			t.Errorf("%s", got)
		}
		s.shut = false
		if got := s.does("/status"); !strings.Contains(got, "native, which contains harm") || s.chat.Status().Unopened {
			t.Errorf("%s", got)
		}
	})
}

// What was taken back takes no room in the context any more.
func TestUndoneStatus(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.does("hello")
		before := s.chat.Status().Context
		s.does("a second message, which is quite a bit longer than the first one was")
		s.chat.heard(agent.Used{Usage: llm.Usage{Input: 4000, Output: 50}, Context: 4050, Limit: 8000})
		s.does("/undo now")
		if got := s.chat.Status().Context; got == 0 || got > before {
			t.Errorf("%d tokens, want at most the %d before it", got, before)
		}
	})
}

// What all answers cost is known only while nobody has given one whose price is not.
func TestPriced(t *testing.T) {
	play(t, nil, func(s *stage) {
		for _, step := range []struct {
			priced, want bool
		}{{true, true}, {false, false}, {true, false}} {
			s.chat.heard(agent.Used{Usage: llm.Usage{Input: 1, Output: 1}, Dollars: 0.5, Priced: step.priced})
			if got := s.chat.Status().Priced; got != step.want {
				t.Errorf("after an answer whose price is known (%v): %v, want %v", step.priced, got, step.want)
			}
		}
	})
}
