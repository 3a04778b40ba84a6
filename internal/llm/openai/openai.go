// Package openai asks models through chat completions, as OpenAI, OpenRouter, Ollama, llama.cpp, vLLM and LM Studio speak them.
//
// It sends nothing but what it is asked with, runs no tool, and does not retry. It reads the stream itself: the usual library
// takes a stream that was cut off for one that ended, gives up on servers that send many signs of life, and knows neither
// Retry-After nor all the names under which reasoning comes.
//
// Failure direction: an error. An answer without its end is cut off, whatever came.
package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"hermes/internal/llm"
	"hermes/internal/llm/wire"
)

// Client is an llm.Provider. It is safe for concurrent use. Whoever made it closes it.
type Client struct{ w *wire.Client }

// New returns a client. The base URL usually ends in /v1.
func New(c wire.Config) (*Client, error) {
	w, err := wire.New(c)
	if err != nil {
		return nil, err
	}
	return &Client{w}, nil
}

// Close closes connections that wait for more requests.
func (c *Client) Close() error { return c.w.Close() }

func (c *Client) header() map[string]string {
	if c.w.Key().Empty() {
		return nil // local servers want none
	}
	return map[string]string{"Authorization": "Bearer " + c.w.Key().Reveal()}
}

// Stream implements llm.Provider.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s := &stream{from: c.w.Name() + "/" + r.Model, yield: yield}
		for m, err := range c.w.Post(ctx, "/chat/completions", c.header(), body(r, c.official())) {
			if err != nil {
				yield(nil, err)
				return
			}
			if string(m.Data) == "[DONE]" {
				s.done = true
				break
			}
			if more, err := c.take(s, m.Data); err != nil {
				yield(nil, err)
				return
			} else if !more {
				return
			}
		}
		// Some servers close after the last chunk without [DONE]: what counts is that the model said why it stopped.
		if s.broken != "" {
			yield(nil, c.w.Said(0, "", "the answer ended with "+s.broken))
			return
		}
		if s.stop == "" {
			yield(nil, c.w.Cut())
			return
		}
		s.end()
	}
}

// official tells whether this is OpenAI's own service, which refuses fields that the others know by older names.
func (c *Client) official() bool {
	return strings.HasPrefix(c.w.BaseURL(), "https://api.openai.com/")
}

// take handles one chunk, and tells whether more are wanted.
func (c *Client) take(s *stream, data []byte) (bool, error) {
	var k chunk
	if err := json.Unmarshal(data, &k); err != nil {
		return false, c.w.Malformed(fmt.Errorf("chunk %.80q: %w", data, err))
	}
	if code, message, failed := wire.Complaint(k.Error); failed {
		return false, c.w.Said(statusOf(code), code, message)
	}
	if err := s.add(k); err != nil {
		return false, c.w.Malformed(err)
	}
	return !s.left, nil
}

// statusOf finds a status of HTTP among the words of a code, as OpenRouter writes it.
func statusOf(code string) int {
	for _, word := range strings.Fields(code) {
		var n int
		if _, err := fmt.Sscanf(word, "%d", &n); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

// Models returns what the provider offers.
func (c *Client) Models(ctx context.Context) ([]llm.Model, error) {
	return c.w.Models(ctx, "/models", c.header())
}
