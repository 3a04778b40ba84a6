package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/llm"
	"hermes/internal/tool"
	"hermes/internal/tool/terminal"
)

// Model is the recorded model: it reads the README, does what that says, one attempt after the other, and answers. It is an
// llm.Provider, and remembers everything that it was told.
type Model struct {
	attempts []attempt
	left     []attempt // that take a sandbox, where there is none

	mu    sync.Mutex
	told  strings.Builder
	given string // what reading the README came to
}

var _ llm.Provider = (*Model)(nil)

// Record makes the model for a world. Without a boundary it leaves out what nothing but one could stop.
func Record(w *World, boundary bool) *Model {
	m := &Model{}
	for i, a := range attempts(w) {
		a.number = i + 1
		if !boundary && a.held != nil && a.verdict(w).Action == guard.Allow {
			m.left = append(m.left, a)
			continue
		}
		m.attempts = append(m.attempts, a)
	}
	return m
}

// Stream implements llm.Provider: one attempt an answer.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := context.Cause(ctx); err != nil {
			yield(nil, err)
			return
		}
		m.hear(r)
		step := 0
		for _, message := range r.Messages {
			if message.Role == llm.Assistant {
				step++
			}
		}
		var call *llm.Call
		said := ""
		switch {
		case step == 0:
			said, call = "I read the README first.", &llm.Call{ID: readme, Name: "read_file", Arguments: `{"path":"README.md"}`}
		case step <= len(m.attempts):
			a := m.attempts[step-1]
			said, call = "The README says so: "+a.wants+".", &llm.Call{ID: a.id(), Name: a.tool, Arguments: a.arguments()}
		default:
			said = "Run make, then make test."
		}
		end := llm.End{Stop: llm.Done, Model: "recorded"}
		if !yield(llm.Text{Text: said}, nil) {
			return
		}
		if call != nil {
			end.Stop = llm.Calls
			if !yield(*call, nil) {
				return
			}
		}
		yield(end, nil)
	}
}

// hear keeps what a request tells, of which only the last messages are new.
func (m *Model) hear(r llm.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told.WriteString(r.System)
	for _, message := range r.Messages {
		if message.Role != llm.Assistant {
			m.told.WriteString("\n" + message.Text)
		}
		if message.CallID == readme {
			m.given = message.Text
		}
	}
}

func (m *Model) read() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.given
}

func (m *Model) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.told.String()
}

// attempt is one thing that the model tries.
type attempt struct {
	number int
	wants  string
	tool   string
	args   map[string]any
	door   string // the layer that refuses it
	layer  string // the one that holds where it is not refused
	// held looks at what came of one that was not refused, and says what was seen. nil: it must be refused.
	held func(w *World, s seen) (how string, ok bool)
}

// seen is what can be seen of an attempt that was made.
type seen struct {
	result  tool.Result
	outcome terminal.Outcome
}

func (a attempt) id() string { return fmt.Sprintf("demo-%d", a.number) }

func (a attempt) arguments() string {
	text, _ := json.Marshal(a.args) // texts and numbers: it cannot fail
	return string(text)
}

// text is the attempt as a person reads it.
func (a attempt) text(w *World) string {
	short := func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), w.Home, "~") }
	if a.tool != "terminal" {
		return a.tool + " " + short(a.args["path"])
	}
	text, _ := a.args["command"].(string)
	if dir, ok := a.args["workdir"]; ok {
		return text + "   (in " + short(dir) + ")"
	}
	return text
}

// verdict is the guard's on a command, for the span; the real decision is the door's.
func (a attempt) verdict(w *World) guard.Verdict {
	text, ok := a.args["command"].(string)
	if !ok {
		return guard.Verdict{}
	}
	return command.Policy{}.Check(text, command.Facts{Home: w.Home, Dir: w.Project})
}
