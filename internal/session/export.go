package session

import (
	"time"

	"hermes/internal/guard/taint"
	"hermes/internal/llm"
)

type infoJSON struct {
	Kind     string    `json:"kind"`
	ID       string    `json:"id"`
	Profile  string    `json:"profile"`
	Source   string    `json:"source"`
	Key      string    `json:"key"`
	Title    string    `json:"title,omitempty"`
	Parent   string    `json:"parent_session_id,omitempty"`
	Model    string    `json:"model,omitempty"`
	Started  time.Time `json:"started_at"`
	Updated  time.Time `json:"updated_at"`
	Messages int       `json:"messages"`
	Input    int       `json:"input_tokens,omitempty"`
	Output   int       `json:"output_tokens,omitempty"`
	Dollars  float64   `json:"cost,omitempty"`
}

type messageJSON struct {
	Kind     string        `json:"kind"`
	ID       int64         `json:"id"`
	Role     string        `json:"role"`
	Content  string        `json:"content"`
	Calls    []toolCall    `json:"tool_calls,omitempty"`
	CallID   string        `json:"tool_call_id,omitempty"`
	Tool     string        `json:"tool_name,omitempty"`
	At       time.Time     `json:"timestamp"`
	Failed   bool          `json:"failed,omitempty"`
	Thoughts []llm.Thought `json:"reasoning,omitempty"`
	Model    string        `json:"model,omitempty"`
	Usage    *llm.Usage    `json:"usage,omitempty"`
	By       string        `json:"approved_by,omitempty"`
	How      string        `json:"approved_how,omitempty"`
	Covers   int64         `json:"covers,omitempty"`
	Risk     *taint.Risk   `json:"_tool_output_risk,omitempty"`
	Undone   bool          `json:"undone,omitempty"`
}

// Export is a description as it is written as JSON.
func (i Info) Export() any { return exportedInfo(i) }

func exportedInfo(i Info) infoJSON {
	return infoJSON{"session", i.ID, i.Owner.Profile().String(), i.Owner.Origin(), i.Owner.Key(), i.Title, i.Parent, i.Model,
		i.Started.UTC(), i.Updated.UTC(), i.Messages, i.Input, i.Output, i.Dollars}
}

func exportedMessage(m Message) messageJSON {
	out := messageJSON{Kind: "message", ID: m.ID, Role: string(m.Role), Content: m.Text, CallID: m.CallID, Tool: m.Tool, At: m.At.UTC(),
		Failed: m.Failed, Thoughts: m.Thoughts, Model: m.Model, By: m.Approved.By, How: m.Approved.How, Covers: m.Covers, Undone: m.Undone}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, callOf(c))
	}
	if m.Usage != (llm.Usage{}) {
		out.Usage = &m.Usage
	}
	if m.Risk.Level != "" {
		out.Risk = &m.Risk
	}
	return out
}

func callOf(c llm.Call) toolCall {
	out := toolCall{ID: c.ID, Type: "function"}
	out.Function.Name, out.Function.Arguments = c.Name, c.Arguments
	return out
}
