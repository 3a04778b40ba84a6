package openai

import (
	"encoding/json"

	"hermes/internal/llm"
)

type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	Choice   string    `json:"tool_choice,omitempty"`
	Stream   bool      `json:"stream"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Output    int    `json:"max_tokens,omitempty"`
	OutputNew int    `json:"max_completion_tokens,omitempty"` // OpenAI's own name for it today
	Effort    string `json:"reasoning_effort,omitempty"`
	Heat      *int   `json:"temperature,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content *string `json:"content"` // null beside calls
	Calls   []call  `json:"tool_calls,omitempty"`
	CallID  string  `json:"tool_call_id,omitempty"`
}

type call struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments loose  `json:"arguments"`
	} `json:"function"`
}

// loose is a text that some servers write as what the text would say: arguments as an object.
type loose string

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case data[0] != '"':
		*l = loose(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(l))
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

// body writes a request in the format of chat completions.
func body(r llm.Request, official bool) request {
	out := request{Model: r.Model, Stream: true, Effort: string(r.Effort)}
	out.Options.Usage = true
	if r.Steady {
		out.Heat = new(int)
	}
	if official {
		out.OutputNew = r.Output
	} else {
		out.Output = r.Output
	}
	if r.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: &r.System})
	}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, messageOf(m))
	}
	for _, t := range r.Tools {
		to := tool{Type: "function"}
		to.Function.Name, to.Function.Description, to.Function.Parameters = t.Name, t.Description, t.Schema
		out.Tools = append(out.Tools, to)
	}
	if r.NoCalls && len(out.Tools) > 0 {
		out.Choice = "none"
	}
	return out
}

func messageOf(m llm.Message) message {
	out := message{Role: string(m.Role), CallID: m.CallID, Content: &m.Text}
	for _, c := range m.Calls {
		to := call{ID: c.ID, Type: "function"}
		to.Function.Name, to.Function.Arguments = c.Name, loose(arguments(c.Arguments))
		out.Calls = append(out.Calls, to)
	}
	if len(out.Calls) > 0 && m.Text == "" {
		out.Content = nil
	}
	return out
}

// arguments are what goes back to a provider of what a model wrote: servers that parse it would refuse the whole conversation
// for one malformed call.
func arguments(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	quoted, _ := json.Marshal(map[string]string{"malformed": text})
	if text == "" {
		return "{}"
	}
	return string(quoted)
}
