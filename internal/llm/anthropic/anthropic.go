// Package anthropic asks models through the messages API of Anthropic, with prompt caching and thinking.
//
// It sends nothing but what it is asked with, runs no tool, and does not retry. It reads the stream itself: the maker's library
// takes a stream that was cut off for one that ended, reads variables and files of its own for keys and addresses, and triples
// what is linked into the binary.
//
// Failure direction: an error. An answer without its end is cut off, whatever came.
package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"

	"hermes/internal/llm"
	"hermes/internal/llm/wire"
)

const version = "2023-06-01"

// Client is an llm.Provider. It is safe for concurrent use. Whoever made it closes it.
type Client struct{ w *wire.Client }

// New returns a client. The base URL has no /v1 at its end.
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
	out := map[string]string{"anthropic-version": version}
	if !c.w.Key().Empty() {
		out["x-api-key"] = c.w.Key().Reveal()
	}
	return out
}

// Stream implements llm.Provider.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s := &stream{from: c.w.Name() + "/" + r.Model, yield: yield}
		for m, err := range c.w.Post(ctx, "/v1/messages", c.header(), body(r, s.from)) {
			if err != nil {
				yield(nil, err)
				return
			}
			var e event
			if err := json.Unmarshal(m.Data, &e); err != nil {
				yield(nil, c.w.Malformed(fmt.Errorf("event %.80q: %w", m.Data, err)))
				return
			}
			if e.Type == "error" {
				code, message, _ := wire.Complaint(e.Error)
				yield(nil, c.w.Said(0, code, message))
				return
			}
			if err := s.add(e); err != nil {
				yield(nil, c.w.Malformed(err))
				return
			}
			if s.left || s.ended {
				return
			}
		}
		yield(nil, c.w.Cut())
	}
}

// Models returns what the provider offers, with the limits it tells.
func (c *Client) Models(ctx context.Context) ([]llm.Model, error) {
	var out []llm.Model
	for after := ""; ; {
		var page struct {
			Data []struct {
				ID     string `json:"id"`
				Input  int    `json:"max_input_tokens"`
				Output int    `json:"max_tokens"`
			} `json:"data"`
			More bool   `json:"has_more"`
			Last string `json:"last_id"`
		}
		path := "/v1/models?limit=1000"
		if after != "" {
			path += "&after_id=" + url.QueryEscape(after)
		}
		if err := c.w.Get(ctx, path, c.header(), &page); err != nil {
			return nil, err
		}
		for _, m := range page.Data {
			out = append(out, llm.Model{ID: m.ID, Limits: llm.Limits{Context: m.Input, Output: m.Output}})
		}
		if !page.More || page.Last == "" || page.Last == after || len(page.Data) == 0 {
			return out, nil
		}
		after = page.Last
	}
}
