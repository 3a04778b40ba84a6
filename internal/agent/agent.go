// Package agent is the turn: a model is asked, what it asks for is done, and what came of it is given back, until it answers.
//
// It decides nothing about what a call may do (each tool asks the door of what it does), wraps no text (see prompt), and prints
// nothing (see Event).
//
// Failure direction: stop. A call that cannot be read is answered to the model and not made; what could not be stored ends the
// turn.
package agent

import (
	"errors"
	"fmt"
	"sync"

	"hermes/internal/llm"
	"hermes/internal/tool"
)

// Unasked begins what is told to an agent without a word of the person's: that a process has ended, and what it printed. It counts as
// nobody's wish.
const Unasked = "[From Hermes, not from the person] "

// Agent holds one conversation with a model. One turn runs at a time; Steer, Set and Pending may be called at any time, from any
// goroutine. There is nothing to close.
type Agent struct {
	o     Options
	store store
	specs []tool.Spec
	tools []llm.Tool

	mu      sync.Mutex // guards what is below, and the four fields of o that Set changes
	busy    bool
	steered []string
	learnt  int // tokens that the model takes, as its errors tell; 0: none told
}

// New makes an agent for a conversation that exists.
func New(o Options) (*Agent, error) {
	switch {
	case o.View == nil, o.Conversation == "":
		return nil, errors.New("make agent: no conversation is named")
	case o.Prompt == nil:
		return nil, errors.New("make agent: nobody makes its prompt")
	case o.Redact == nil:
		return nil, errors.New("make agent: nobody takes secrets out")
	}
	if err := check(o.Provider, o.Model); err != nil {
		return nil, fmt.Errorf("make agent: %w", err)
	}
	if o.Steps <= 0 {
		o.Steps = defaultSteps
	}
	if o.Time <= 0 {
		o.Time = defaultTime
	}
	a := &Agent{o: o, store: o.View}
	seen := map[string]bool{}
	for _, t := range o.Tools {
		s := t.Spec()
		if s.Name == "" || seen[s.Name] {
			return nil, fmt.Errorf("make agent: two tools are named %q, or one has no name", s.Name)
		}
		seen[s.Name] = true
		a.specs = append(a.specs, s)
		a.tools = append(a.tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return a, nil
}

func check(p llm.Provider, model string) error {
	switch {
	case p == nil:
		return errors.New("no provider is set")
	case model == "":
		return errors.New("no model is named")
	}
	return nil
}

// Set changes who is asked, from the next request on. What the conversation holds stays; thoughts that another model signed are
// not sent to the new one.
func (a *Agent) Set(p llm.Provider, model string, l llm.Limits, e llm.Effort) error {
	if err := check(p, model); err != nil {
		return fmt.Errorf("set model: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o.Provider, a.o.Model, a.o.Limits, a.o.Effort, a.learnt = p, model, l, e, 0
	return nil
}

// Steer hands the model a message of the person with the next request of the turn that runs, or at the beginning of the next turn.
// It is stored when it is handed over.
func (a *Agent) Steer(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steered = append(a.steered, text)
}

// Unsteer takes back what Steer was given and the model has not been told yet.
func (a *Agent) Unsteer() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.steered
	a.steered = nil
	return out
}

// begin claims the agent for one turn.
func (a *Agent) begin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy {
		return ErrBusy
	}
	a.busy = true
	return nil
}

func (a *Agent) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
}

// asked is whom a request goes to.
type asked struct {
	provider llm.Provider
	model    string
	limits   llm.Limits // with what was learnt
	effort   llm.Effort
	context  int // that is known
}

func (a *Agent) who() asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.o.Limits
	if a.learnt > 0 && (l.Context <= 0 || a.learnt < l.Context) {
		l.Context = a.learnt
	}
	return asked{a.o.Provider, a.o.Model, l, a.o.Effort, a.o.Limits.Context}
}

// least is what every model takes, in tokens.
const least = 2000

// learn notes that the model takes no more than so many tokens.
func (a *Agent) learn(tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.learnt = max(least, tokens)
}
