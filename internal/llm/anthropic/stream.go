package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"hermes/internal/llm"
)

type event struct {
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
	Index   int             `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

type usage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
}

// stream puts an answer together.
type stream struct {
	from  string
	yield func(llm.Event, error) bool

	model string
	stop  llm.Stop
	open  map[int]*building // blocks that are still coming
	input int               // tokens that were not cached
	used  llm.Usage
	ended bool
	left  bool // nobody wants more
}

type building struct {
	kind      string
	call      llm.Call
	arguments strings.Builder
}

func (s *stream) emit(e llm.Event) {
	if !s.left {
		s.left = !s.yield(e, nil)
	}
}

// add handles one event. Types that are not known are passed over: the API may add some.
func (s *stream) add(e event) error {
	switch e.Type {
	case "message_start":
		s.model = e.Message.Model
		s.count(e.Message.Usage)
		if s.used.Input > 0 { // it is paid for, also if the answer breaks off
			s.emit(s.used)
		}
	case "content_block_start":
		s.begin(e)
	case "content_block_delta":
		return s.piece(e)
	case "content_block_stop":
		return s.finish(e.Index)
	case "message_delta":
		if e.Delta.Stop != "" {
			s.stop = stopOf(e.Delta.Stop)
		}
		if e.Usage != nil {
			s.count(*e.Usage)
			s.emit(s.used)
		}
	case "message_stop":
		if len(s.open) > 0 || s.stop == "" {
			return fmt.Errorf("the message ends before what is in it")
		}
		s.ended = true
		s.emit(llm.End{Stop: s.stop, Model: s.model})
	}
	return nil
}

// count takes over what was counted: later counts are of the whole, and leave out what has not changed.
func (s *stream) count(u usage) {
	set := func(to *int, n *int) {
		if n != nil {
			*to = *n
		}
	}
	set(&s.input, u.Input)
	set(&s.used.Output, u.Output)
	set(&s.used.CacheRead, u.CacheRead)
	set(&s.used.CacheWrite, u.CacheWrite)
	s.used.Input = s.input + s.used.CacheRead + s.used.CacheWrite
}

func stopOf(reason string) llm.Stop {
	switch reason {
	case "tool_use":
		return llm.Calls
	case "max_tokens", "model_context_window_exceeded":
		return llm.Length
	case "refusal":
		return llm.Filtered
	}
	return llm.Done
}

func (s *stream) begin(e event) {
	b := &building{kind: e.Block.Type}
	if s.open == nil {
		s.open = map[int]*building{}
	}
	s.open[e.Index] = b
	switch b.kind {
	case "text":
		if e.Block.Text != "" {
			s.emit(llm.Text{Text: e.Block.Text})
		}
	case "thinking":
		if e.Block.Thinking != "" || e.Block.Signature != "" {
			s.emit(llm.Thinking{Thought: llm.Thought{Text: e.Block.Thinking, Signature: e.Block.Signature, From: s.from}})
		}
	case "redacted_thinking":
		s.emit(llm.Thinking{Thought: llm.Thought{Sealed: e.Block.Data, From: s.from}})
	case "tool_use":
		b.call = llm.Call{ID: e.Block.ID, Name: e.Block.Name}
		if text := string(e.Block.Input); text != "{}" && text != "null" {
			b.arguments.WriteString(text)
		}
		s.emit(llm.Calling{ID: b.call.ID, Name: b.call.Name})
	}
}

func (s *stream) piece(e event) error {
	b := s.open[e.Index]
	if b == nil {
		return fmt.Errorf("a piece of block %d, which has no beginning", e.Index)
	}
	switch e.Delta.Type {
	case "text_delta":
		s.emit(llm.Text{Text: e.Delta.Text})
	case "thinking_delta":
		s.emit(llm.Thinking{Thought: llm.Thought{Text: e.Delta.Thinking, From: s.from}})
	case "signature_delta":
		s.emit(llm.Thinking{Thought: llm.Thought{Signature: e.Delta.Signature, From: s.from}})
	case "input_json_delta":
		b.arguments.WriteString(e.Delta.JSON)
	}
	return nil
}

func (s *stream) finish(index int) error {
	b := s.open[index]
	if b == nil {
		return fmt.Errorf("the end of block %d, which has no beginning", index)
	}
	delete(s.open, index)
	switch b.kind {
	case "thinking", "redacted_thinking":
		s.emit(llm.Thinking{Thought: llm.Thought{From: s.from}, Done: true})
	case "tool_use":
		if b.call.Arguments = b.arguments.String(); b.call.Arguments == "" {
			b.call.Arguments = "{}"
		}
		s.emit(b.call)
	}
	return nil
}
