package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"hermes/internal/llm"
)

type request struct {
	Model    string    `json:"model"`
	Output   int       `json:"max_tokens"`
	System   []block   `json:"system,omitempty"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	Choice   *choice   `json:"tool_choice,omitempty"`
	Stream   bool      `json:"stream"`
	Thinking *thinking `json:"thinking,omitempty"`
	Heat     *int      `json:"temperature,omitempty"`
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	CallID    string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	Failed    bool            `json:"is_error,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control,omitempty"`
}

type choice struct {
	Type string `json:"type"`
}

type cache struct {
	Type string `json:"type"`
}

var ephemeral = &cache{"ephemeral"}

const (
	defaultOutput = 8192 // tokens, where nobody knows the model
	leastBudget   = 1024 // of thinking, that the API takes
)

// body writes a request in the format of the messages API. Thoughts of another provider or model stay out: it could not check
// them.
func body(r llm.Request, from string) request {
	known, _ := llm.Known(r.Model)
	out := request{Model: r.Model, Output: r.Output, Stream: true, Messages: messages(r.Messages, from)}
	if out.Output == 0 {
		out.Output = known.Output
		if known.Context > 0 { // the API refuses a request that could with its answer be longer than the context
			out.Output = min(out.Output, known.Context/4)
		}
	}
	if out.Output == 0 {
		out.Output = defaultOutput
	}
	if budget := budgetOf(r.Effort); budget > 0 && !thoughtless(out.Messages) {
		if budget >= out.Output { // the answer needs room behind the thoughts
			budget = out.Output / 2
		}
		if budget >= leastBudget {
			out.Thinking = &thinking{"enabled", budget}
		}
	}
	if r.Steady && out.Thinking == nil { // the API takes no other than its own beside thoughts
		out.Heat = new(int)
	}
	if r.System != "" {
		out.System = []block{{Type: "text", Text: r.System, Cache: ephemeral}}
	}
	for _, t := range r.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].Cache = ephemeral
		if r.NoCalls {
			out.Choice = &choice{"none"}
		}
	}
	// What is the same in the next request is kept: tools, system, and the conversation up to here and up to the turn before,
	// so that the next request finds what this one wrote.
	marked := 0
	for i := len(out.Messages) - 1; i >= 0 && marked < 2; i-- {
		if m := out.Messages[i]; m.Role == "user" {
			m.Content[len(m.Content)-1].Cache = ephemeral
			marked++
		}
	}
	return out
}

// thoughtless tells whether the model is in the middle of calls that another model began, or one that did not think: the API then
// takes no thinking before the next answer to the person.
func thoughtless(messages []message) bool {
	n := len(messages)
	if n < 2 || messages[n-1].Content[0].Type != "tool_result" {
		return false
	}
	switch messages[n-2].Content[0].Type {
	case "thinking", "redacted_thinking":
		return false
	}
	return true
}

func budgetOf(e llm.Effort) int {
	switch e {
	case llm.Minimal:
		return leastBudget
	case llm.Low:
		return 2048
	case llm.Medium:
		return 8192
	case llm.High:
		return 24576
	case llm.Highest:
		return 49152
	}
	return 0
}

// messages joins neighbours of one role, as the API wants it, and leaves empty ones out, which it refuses.
func messages(in []llm.Message, from string) []message {
	var out []message
	for _, m := range in {
		role, blocks := "user", []block(nil)
		switch m.Role {
		case llm.Assistant:
			role, blocks = "assistant", said(m, from)
		case llm.Result:
			blocks = []block{{Type: "tool_result", CallID: callID(m.CallID), Content: m.Text, Failed: m.Failed}}
		default:
			if strings.TrimSpace(m.Text) != "" {
				blocks = []block{{Type: "text", Text: m.Text}}
			}
		}
		if len(blocks) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			continue
		}
		out = append(out, message{role, blocks})
	}
	return out
}

func said(m llm.Message, from string) (out []block) {
	for _, t := range m.Thoughts {
		switch {
		case t.From != from:
		case t.Sealed != "":
			out = append(out, block{Type: "redacted_thinking", Data: t.Sealed})
		case t.Signature != "":
			out = append(out, block{Type: "thinking", Thinking: &t.Text, Signature: t.Signature})
		}
	}
	if strings.TrimSpace(m.Text) != "" { // the API refuses a block of blanks, which models write before calls
		out = append(out, block{Type: "text", Text: m.Text})
	}
	for _, c := range m.Calls {
		out = append(out, block{Type: "tool_use", ID: callID(c.ID), Name: c.Name, Input: input(c.Arguments)})
	}
	return out
}

// callID is an id as the API takes it: other providers, which the conversation may have begun with, write dots and colons.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// input is what a model wrote as arguments, as the object that the API wants.
func input(text string) json.RawMessage {
	if t := bytes.TrimSpace([]byte(text)); len(t) > 0 && t[0] == '{' && json.Valid(t) {
		return t
	}
	if text == "" {
		return json.RawMessage("{}")
	}
	quoted, _ := json.Marshal(map[string]string{"malformed": text})
	return quoted
}
