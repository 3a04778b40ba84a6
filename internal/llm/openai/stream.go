package openai

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"hermes/internal/llm"
)

type chunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index   int    `json:"index"`
		Delta   delta  `json:"delta"`
		Message delta  `json:"message"` // of an answer that is no stream
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
}

type delta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Reasoning string `json:"reasoning"`         // OpenRouter, Ollama, newer vLLM
	Thought   string `json:"reasoning_content"` // DeepSeek, llama.cpp, vLLM, LM Studio
	Calls     []call `json:"tool_calls"`
}

type usage struct {
	Input        int     `json:"prompt_tokens"`
	Output       int     `json:"completion_tokens"`
	Cost         float64 `json:"cost"` // OpenRouter
	InputDetails struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Thought int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// stream puts an answer together.
type stream struct {
	from  string
	yield func(llm.Event, error) bool

	model    string
	stop     llm.Stop
	broken   string // why the server says that it could not go on
	thinking bool
	calls    []*building
	done     bool // [DONE] came
	left     bool // nobody wants more
}

// building is a call whose arguments are still coming.
type building struct {
	index     int
	call      llm.Call
	arguments strings.Builder
	told      bool
}

// isWhole tells whether a piece with a name and no id begins another call: this one has all its arguments, or another name.
func (b *building) isWhole(name string) bool {
	return b.call.Name != "" && (name != b.call.Name || b.arguments.Len() > 0 && json.Valid([]byte(b.arguments.String())))
}

func (s *stream) emit(e llm.Event) {
	if !s.left {
		s.left = !s.yield(e, nil)
	}
}

func (s *stream) add(k chunk) error {
	if k.Model != "" {
		s.model = k.Model
	}
	for _, c := range k.Choices {
		if c.Index != 0 {
			continue // one was asked for
		}
		for _, d := range []delta{c.Delta, c.Message} {
			if err := s.delta(d); err != nil {
				return err
			}
		}
		switch c.Finish {
		case "":
		case "error", "abort", "network_error", "insufficient_system_resource":
			s.broken = c.Finish
		default:
			s.stop = stopOf(c.Finish)
		}
	}
	if u := k.Usage; u != nil {
		s.emit(llm.Usage{Input: u.Input, Output: u.Output, CacheRead: u.InputDetails.Cached, CacheWrite: u.InputDetails.Write,
			Thought: u.OutputDetails.Thought, Dollars: u.Cost})
	}
	return nil
}

func stopOf(finish string) llm.Stop {
	switch finish {
	case "length", "max_tokens":
		return llm.Length
	case "tool_calls", "function_call":
		return llm.Calls
	case "content_filter", "sensitive", "safety":
		return llm.Filtered
	}
	return llm.Done
}

func (s *stream) delta(d delta) error {
	thought := d.Thought
	if thought == "" {
		thought = d.Reasoning // some send both, with the same text
	}
	if thought != "" {
		s.thinking = true
		s.emit(llm.Thinking{Thought: llm.Thought{Text: thought, From: s.from}})
	}
	if text := d.Content + d.Refusal; text != "" {
		s.thought()
		s.emit(llm.Text{Text: text})
	}
	for _, c := range d.Calls {
		s.thought()
		if err := s.part(c); err != nil {
			return err
		}
	}
	return nil
}

// thought ends a stretch of thinking.
func (s *stream) thought() {
	if s.thinking {
		s.thinking = false
		s.emit(llm.Thinking{Thought: llm.Thought{From: s.from}, Done: true})
	}
}

// part adds a piece of a call. Servers that write calls whole often leave the index out, or give all of them index 0: a new id
// is a new call.
func (s *stream) part(c call) error {
	var b *building
	for _, have := range s.calls {
		if c.Index != nil && have.index == *c.Index || c.Index == nil && (c.ID == "" || c.ID == have.call.ID) {
			b = have
		}
	}
	if b == nil || c.ID != "" && b.call.ID != "" && c.ID != b.call.ID || c.ID == "" && c.Function.Name != "" && b.isWhole(c.Function.Name) {
		if c.Function.Name == "" {
			return fmt.Errorf("a piece of a call that has no beginning")
		}
		b = &building{index: len(s.calls)}
		if c.Index != nil {
			b.index = *c.Index
		}
		s.calls = append(s.calls, b)
	}
	if b.call.ID == "" {
		b.call.ID = c.ID
	}
	if b.call.Name == "" {
		b.call.Name = c.Function.Name
	}
	b.arguments.WriteString(string(c.Function.Arguments))
	if !b.told && b.call.Name != "" {
		b.told = true
		s.emit(llm.Calling{ID: b.call.ID, Name: b.call.Name})
	}
	return nil
}

// end gives what is known only now.
func (s *stream) end() {
	s.thought()
	for _, b := range s.calls {
		b.call.Arguments = b.arguments.String()
		if b.call.ID == "" {
			b.call.ID = "call_" + rand.Text()[:16] // results are matched by it, over all turns
		}
		s.emit(b.call)
	}
	if len(s.calls) > 0 && s.stop == llm.Done {
		s.stop = llm.Calls // some say stop
	}
	s.emit(llm.End{Stop: s.stop, Model: s.model})
}
