package wire

import (
	"context"
	"errors"

	"hermes/internal/llm"
)

// Models fetches a list of models in the form {"data":[{"id":…}]} from a path below the base URL, with the limits that servers
// tell under names of their own. The list is not nil.
func (c *Client) Models(ctx context.Context, path string, header map[string]string) ([]llm.Model, error) {
	var list struct {
		Data *[]struct {
			ID      string `json:"id"`
			Context int    `json:"context_length"`     // OpenRouter
			Max     int    `json:"max_model_len"`      // vLLM
			LM      int    `json:"max_context_length"` // LM Studio
			Meta    struct {
				Now   int `json:"n_ctx"`
				Train int `json:"n_ctx_train"` // llama.cpp
			} `json:"meta"`
			Top struct {
				Output int `json:"max_completion_tokens"`
			} `json:"top_provider"`
		} `json:"data"`
		Object string `json:"object"`
	}
	if err := c.Get(ctx, path, header, &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		if list.Object == "list" { // with data: null, which is an empty list
			return []llm.Model{}, nil
		}
		return nil, c.Malformed(errors.New("no list of models"))
	}
	out := make([]llm.Model, 0, len(*list.Data))
	for _, m := range *list.Data {
		l := llm.Limits{Output: m.Top.Output}
		for _, n := range []int{m.Context, m.Max, m.LM, m.Meta.Now, m.Meta.Train} {
			if l.Context == 0 {
				l.Context = n
			}
		}
		if m.ID != "" {
			out = append(out, llm.Model{ID: m.ID, Limits: l})
		}
	}
	return out, nil
}
