package agent

import (
	"context"
	"errors"
	"time"

	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Options are what an agent works with. View, Conversation, Provider, Model, Prompt and Redact must be there.
type Options struct {
	View         *session.View
	Conversation string // its id; it is stored as it happens
	Provider     llm.Provider
	Model        string
	Limits       llm.Limits // of the model, as far as known
	Effort       llm.Effort
	Summaries    Model       // writes the summaries of long conversations; zero: the one above
	Tools        []tool.Tool // no two of one name
	Prompt       Prompt
	Begin        func() (footer func(context.Context) string) // is called when a turn begins; what its footer says at the end is part of Done. nil: nothing
	Steps        int                                          // requests of one turn; 0: 90
	Time         time.Duration                                // of one turn, with the waits for a person; 0: two hours
	Redact       func(string) string                          // takes secrets out of what calls are given and give, before it is stored, shown or sent to a model. nil is refused
}

// Model is a model for a task beside the conversation. The zero value is none.
type Model struct {
	Provider llm.Provider
	Name     string
	Limits   llm.Limits // as far as known
}

// Prompt makes what a model is told. Implementations are safe for concurrent use.
type Prompt interface {
	System(ctx context.Context) (string, error) // once for each turn

	// Result is what came of a call, cleaned, and wrapped where it is from outside, with what was found in it.
	Result(name string, r tool.Result, err error) (text string, risk taint.Risk)
}

// The limits of one turn where Options name none.
const (
	defaultSteps = 90
	defaultTime  = 2 * time.Hour
)

// Errors that callers tell apart.
var (
	ErrBusy  = errors.New("a turn is under way")
	ErrEmpty = errors.New("there is nothing in the message")
)
