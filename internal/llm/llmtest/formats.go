package llmtest

import (
	"strings"
)

type object = map[string]any

// pieces cuts a text as a model sends it: some characters at a time.
func pieces(text string) []string {
	var out []string
	for runes := []rune(text); len(runes) > 0; {
		n := min(5, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

// chat is the format of chat completions.
type chat struct{}

func (chat) chunk(p *player, delta object, finish any) {
	p.event("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": p.model,
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (c *chat) begin(p *player) { c.chunk(p, object{"role": "assistant", "content": ""}, nil) }

func (c *chat) text(p *player, text string) {
	for _, piece := range pieces(text) {
		c.chunk(p, object{"content": piece}, nil)
	}
}

func (c *chat) think(p *player, text string) {
	for _, piece := range pieces(text) {
		c.chunk(p, object{"reasoning_content": piece}, nil)
	}
}

func (c *chat) call(p *player, id, name, arguments string) {
	index := p.calls - 1
	c.chunk(p, object{"tool_calls": []object{{"index": index, "id": id, "type": "function", "function": object{"name": name, "arguments": ""}}}}, nil)
	for _, piece := range pieces(arguments) {
		c.chunk(p, object{"tool_calls": []object{{"index": index, "function": object{"arguments": piece}}}}, nil)
	}
}

func (c *chat) fail(p *player, kind, message string) {
	p.event("", object{"error": object{"type": kind, "code": kind, "message": message}})
}

func (c *chat) finish(p *player) {
	reason := map[string]string{"done": "stop", "calls": "tool_calls", "length": "length", "filtered": "content_filter"}[p.stop]
	c.chunk(p, object{}, reason)
	p.event("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": p.model, "choices": []object{},
		"usage": object{"prompt_tokens": p.input, "completion_tokens": p.output, "total_tokens": p.input + p.output,
			"prompt_tokens_details": object{"cached_tokens": p.cached}}})
	p.send("data: [DONE]\n\n")
}

// messages is the format of the messages API.
type messages struct {
	index int
	open  string // the type of the block that is being written
}

func (m *messages) begin(p *player) {
	p.event("message_start", object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "content": []any{},
		"model": p.model, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": p.input - p.cached, "output_tokens": 1,
			"cache_read_input_tokens": p.cached, "cache_creation_input_tokens": 0}}})
	p.event("ping", object{"type": "ping"})
}

// block begins a block, or goes on with one of the same type.
func (m *messages) block(p *player, kind string, block object) {
	if m.open == kind && kind != "tool_use" {
		return
	}
	m.close(p)
	m.open = kind
	block["type"] = kind
	p.event("content_block_start", object{"type": "content_block_start", "index": m.index, "content_block": block})
}

func (m *messages) close(p *player) {
	if m.open == "" {
		return
	}
	if m.open == "thinking" {
		m.delta(p, object{"type": "signature_delta", "signature": "c2lnbmVk"})
	}
	p.event("content_block_stop", object{"type": "content_block_stop", "index": m.index})
	m.index++
	m.open = ""
}

func (m *messages) delta(p *player, delta object) {
	p.event("content_block_delta", object{"type": "content_block_delta", "index": m.index, "delta": delta})
}

func (m *messages) text(p *player, text string) {
	m.block(p, "text", object{"text": ""})
	for _, piece := range pieces(text) {
		m.delta(p, object{"type": "text_delta", "text": piece})
	}
}

func (m *messages) think(p *player, text string) {
	m.block(p, "thinking", object{"thinking": "", "signature": ""})
	for _, piece := range pieces(text) {
		m.delta(p, object{"type": "thinking_delta", "thinking": piece})
	}
}

func (m *messages) call(p *player, id, name, arguments string) {
	m.block(p, "tool_use", object{"id": strings.Replace(id, "call_", "toolu_", 1), "name": name, "input": object{}})
	for _, piece := range pieces(arguments) {
		m.delta(p, object{"type": "input_json_delta", "partial_json": piece})
	}
}

func (m *messages) fail(p *player, kind, message string) {
	p.event("error", object{"type": "error", "error": object{"type": kind, "message": message}})
}

func (m *messages) finish(p *player) {
	m.close(p)
	reason := map[string]string{"done": "end_turn", "calls": "tool_use", "length": "max_tokens", "filtered": "refusal"}[p.stop]
	p.event("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": p.output}})
	p.event("message_stop", object{"type": "message_stop"})
}
