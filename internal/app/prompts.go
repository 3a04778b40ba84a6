package app

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"hermes/internal/agent"
	"hermes/internal/guard"
	"hermes/internal/guard/taint"
	"hermes/internal/prompt"
	"hermes/internal/tool"
)

// prompts makes the texts of a conversation, as agent.Prompt.
type prompts struct {
	p    *prompt.Prompt
	note func(string) // hears what the person should know of texts that instruct, once
	told *told
}

// told is what was said already. The zero value is ready.
type told struct {
	mu    sync.Mutex // guards what follows
	texts map[string]bool
}

// first tells whether a text was not said before.
func (t *told) first(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.texts == nil {
		t.texts = map[string]bool{}
	}
	was := t.texts[text]
	t.texts[text] = true
	return !was
}

var _ agent.Prompt = prompts{}

// System implements agent.Prompt.
func (p prompts) System(ctx context.Context) (string, error) {
	s, err := p.p.System(ctx)
	for _, w := range s.Warnings {
		if p.told.first(w) {
			p.note(w)
		}
	}
	return s.Text, err
}

// Result implements agent.Prompt: each part by where it comes from. An error is Hermes' own word about a call that was not made;
// one of a tool that reads outside may carry words from there, unless it is a refusal.
func (p prompts) Result(name string, r tool.Result, err error) (string, taint.Risk) {
	var parts []string
	var all taint.Risk
	add := func(b prompt.Block) {
		text, risk, instructs := p.p.Judged(b)
		parts = append(parts, text)
		all = all.And(risk)
		if instructs {
			p.instructs(cmp.Or(b.Source, "what "+name+" brought"), risk.Findings)
		}
	}
	for _, part := range r.Parts {
		add(prompt.Block{Tool: name, Source: part.Source, Text: part.Text, Origin: part.Origin, Risk: part.Risk})
	}
	if err != nil {
		origin := taint.Own
		if denied := (*guard.DeniedError)(nil); taint.ToolOrigin(name) == taint.Outside && !errors.As(err, &denied) {
			origin = taint.Outside
		}
		add(prompt.Block{Tool: name, Text: "Error: " + err.Error(), Origin: origin})
	}
	if len(parts) == 0 {
		parts = append(parts, "(nothing)")
	}
	return strings.Join(parts, "\n"), all
}

// instructs tells the person of a result that tries to instruct the model, once.
func (p prompts) instructs(source string, findings []string) {
	text := prompt.Clean(source) + " tries to instruct the model (" + strings.Join(findings, ", ") + "). It came to it marked as data."
	if p.told.first(text) {
		p.note(text)
	}
}
