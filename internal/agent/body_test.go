package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"hermes/internal/llm"
)

// validBody reads a request as its provider would, and says what that would refuse.
func validBody(path string, body []byte) error {
	if strings.HasSuffix(path, "/chat/completions") {
		return validChat(body)
	}
	return validMessages(body)
}

func validChat(body []byte) error {
	var r struct {
		Messages []struct {
			Role    string  `json:"role"`
			Content *string `json:"content"`
			CallID  string  `json:"tool_call_id"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	var all []llm.Message
	for _, m := range r.Messages {
		if m.Role == "system" {
			continue
		}
		to := llm.Message{Role: llm.Role(m.Role), CallID: m.CallID}
		if m.Content != nil {
			to.Text = *m.Content
		}
		for _, c := range m.Calls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("arguments %q", c.Function.Arguments)
			}
			to.Calls = append(to.Calls, llm.Call{ID: c.ID, Name: c.Function.Name})
		}
		all = append(all, to)
	}
	return valid(all)
}

func validMessages(body []byte) error {
	var r struct {
		Messages []struct {
			Role    string `json:"role"`
			Content []struct {
				Type, Text, Name, ID string
				CallID               string          `json:"tool_use_id"`
				Input                json.RawMessage `json:"input"`
			} `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	var all []llm.Message
	for i, m := range r.Messages {
		if i > 0 && r.Messages[i-1].Role == m.Role {
			return fmt.Errorf("message %d: roles do not alternate", i)
		}
		to := llm.Message{Role: llm.Role(m.Role)}
		for k, b := range m.Content {
			switch b.Type {
			case "text":
				if b.Text == "" {
					return fmt.Errorf("message %d: an empty block", i)
				}
				to.Text += b.Text
			case "tool_use":
				if len(b.Input) == 0 || b.Input[0] != '{' {
					return fmt.Errorf("message %d: input %s", i, b.Input)
				}
				to.Calls = append(to.Calls, llm.Call{ID: b.ID, Name: b.Name})
			case "tool_result":
				if to.Text != "" {
					return fmt.Errorf("message %d: block %d is a result behind a text", i, k)
				}
				all = append(all, llm.Message{Role: llm.Result, CallID: b.CallID})
			}
		}
		if to.Text != "" || len(to.Calls) > 0 {
			all = append(all, to)
		} else if m.Role == "assistant" {
			return fmt.Errorf("message %d says nothing", i)
		}
	}
	return valid(all)
}
