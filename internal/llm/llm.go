// Package llm says what a model is asked and what it answers, whoever runs it, and makes of several providers one that lasts:
// with retries, fallbacks, limits and prices.
//
// It opens no connection (see wire), speaks no provider's format (see openai, anthropic), runs no tool, and does not judge
// what a model says.
//
// Failure direction: an error. An answer that was cut off, or that cannot be read, is never taken for a whole one.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
)

// Provider answers requests. The implementations are openai.Client, anthropic.Client, Retry and Chain. Safe for concurrent use.
//
// Stream asks once each time the sequence is ranged over. It gives events until End, which is the last one of a whole answer,
// or one error, after which nothing follows. Leaving the loop, or the end of ctx, ends the request; what came before counts as
// far as it goes. Errors are *Error, *ChainError, or the cause of ctx.
type Provider interface {
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// Request is what a model is asked.
type Request struct {
	Model    string
	System   string
	Messages []Message
	Tools    []Tool
	NoCalls  bool   // none of the tools may be called: they are only told of, for the calls that Messages hold
	Output   int    // most tokens of the answer; 0: what the provider gives, or the model can
	Effort   Effort // how long it may think
	Steady   bool   // as little chance in the answer as the provider allows; some models refuse that
}

// Effort is how long a model may think before it answers. The zero value leaves that to the provider.
type Effort string

// The efforts. All providers know those in the middle; where one is not known, the provider says so.
const (
	NoEffort Effort = "none"
	Minimal  Effort = "minimal"
	Low      Effort = "low"
	Medium   Effort = "medium"
	High     Effort = "high"
	Highest  Effort = "xhigh"
)

// Role says who speaks.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Result    Role = "tool" // what came of one call
)

// Message is one turn of the conversation.
type Message struct {
	Role     Role
	Text     string
	Thoughts []Thought // of the assistant; they go back only to who signed them
	Calls    []Call    // of the assistant
	CallID   string    // of a Result: which call it answers
	Failed   bool      // of a Result: the call did not do what was asked
}

// Thought is one stretch of what a model thought.
type Thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"` // proves to its provider that the model wrote it
	Sealed    string `json:"sealed,omitempty"`    // in place of the text, where the provider does not show it
	From      string `json:"from,omitempty"`      // provider and model
}

// Tool is one thing a model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its arguments, an object in JSON Schema
}

// Call is a tool that a model asks for. Arguments are as the model wrote them, which may be no JSON.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Event is one part of an answer: Text, Thinking, Calling, Call, Usage, Again or End.
type Event interface{ event() }

// Text is a piece of the answer.
type Text struct{ Text string }

// Thinking is a piece of what the model thinks. The last piece of a stretch carries its signature and says Done.
type Thinking struct {
	Thought
	Done bool
}

// Calling says that the model has begun to write the arguments of a call. Its Call follows once they are whole.
type Calling struct{ ID, Name string }

// Again says that everything that came before it in this answer counts no more: the request is made once more, after a wait.
type Again struct {
	Cause   error
	Attempt int    // 2 is the first repetition; 1 the first try of another provider
	Choice  string // the provider and model asked next, where they change
	Price   Price  // of that model; zero: not known
}

// End is the end of a whole answer.
type End struct {
	Stop  Stop
	Model string // that answered, as the provider calls it
}

// Stop says why a model stopped.
type Stop string

// Why a model stops.
const (
	Done     Stop = "done"
	Calls    Stop = "calls"    // it waits for what comes of its calls
	Length   Stop = "length"   // it may not say more
	Filtered Stop = "filtered" // the provider or the model refuses
)

func (Text) event()     {}
func (Thinking) event() {}
func (Calling) event()  {}
func (Call) event()     {}
func (Usage) event()    {}
func (Again) event()    {}
func (End) event()      {}

// Usage counts tokens. A provider that counts more than once in an answer gives the whole each time.
type Usage struct {
	Input      int     `json:"input"` // all of the request, cached or not
	Output     int     `json:"output"`
	CacheRead  int     `json:"cache_read,omitempty"`  // of Input
	CacheWrite int     `json:"cache_write,omitempty"` // of Input
	Thought    int     `json:"thought,omitempty"`     // of Output
	Dollars    float64 `json:"dollars,omitempty"`     // if the provider says so; 0: it does not
}

// Plus returns the sum of two answers' use.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Thought: u.Thought + v.Thought, Dollars: u.Dollars + v.Dollars,
	}
}

// Answer gathers events. The zero value is ready; it is for one goroutine.
type Answer struct {
	Message
	Usage Usage
	End   End // zero while the answer is not whole

	text strings.Builder
	open bool // the last thought goes on
}

// Add adds one event.
func (a *Answer) Add(e Event) {
	a.Role = Assistant
	switch e := e.(type) {
	case Text:
		a.text.WriteString(e.Text)
		a.Text = a.text.String()
	case Thinking:
		a.think(e)
	case Call:
		a.Calls = append(a.Calls, e)
	case Usage:
		a.Usage = e
	case Again:
		*a = Answer{Message: Message{Role: Assistant}}
	case End:
		a.End = e
	}
}

func (a *Answer) think(e Thinking) {
	if !a.open {
		a.Thoughts = append(a.Thoughts, Thought{})
	}
	t := &a.Thoughts[len(a.Thoughts)-1]
	t.Text += e.Text
	t.Signature += e.Signature
	t.Sealed += e.Sealed
	t.From = e.From
	a.open = !e.Done
}

// Collect gathers a whole answer. With an error it gives what had come.
func Collect(events iter.Seq2[Event, error]) (*Answer, error) {
	a := &Answer{}
	for e, err := range events {
		if err != nil {
			return a, err
		}
		a.Add(e)
	}
	return a, nil
}
