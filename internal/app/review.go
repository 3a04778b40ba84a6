package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hermes/internal/config"
	"hermes/internal/llm"
)

// maxVerdict bounds what the reviewing model may write, in tokens. Its answer is one word; a model that thinks first needs room
// for that, and what is longer than a word decides nothing.
const maxVerdict = 1024

// review asks the model for approvals, as approval.Reviewer. Whatever goes wrong is an error, which leaves the decision to a
// person.
func (a *App) review(ctx context.Context, instructions, data string) (string, error) {
	snap, err := a.settings()
	if err != nil {
		return "", err
	}
	m, err := a.Auxiliary("approval")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience(&snap.Settings.Models))
	defer cancel()
	r := llm.Request{Model: m.Name, System: instructions, Messages: []llm.Message{{Role: llm.User, Text: data}}, Output: maxVerdict, Steady: true}
	answer, err := llm.Collect(m.Provider.Stream(ctx, r))
	var refused *llm.Error
	if errors.As(err, &refused) && refused.Kind == llm.Invalid { // some models let nobody choose how steady they are
		r.Steady = false
		answer, err = llm.Collect(m.Provider.Stream(ctx, r))
	}
	switch {
	case err != nil:
		return "", err
	case answer.End.Stop != llm.Done || len(answer.Calls) > 0:
		return "", fmt.Errorf("review: %s stopped with %s", m, answer.End.Stop)
	}
	return answer.Text, nil
}

// patience is how long the reviewing model is waited for.
func patience(set *config.Models) time.Duration { return time.Duration(set.ApprovalWait) * time.Second }
