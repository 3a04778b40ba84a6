package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"hermes/internal/guard"
	"hermes/internal/guard/taint"
)

// textAnswer answers kind text.
type textAnswer struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Findings []threat        `json:"findings"`
}

type threat struct {
	ID     string `json:"id"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Quoted bool   `json:"quoted,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

func newTextAnswer(id json.RawMessage, found []taint.Finding) textAnswer {
	a := textAnswer{ID: id, Findings: []threat{}}
	for _, f := range found {
		a.Findings = append(a.Findings, threat{f.ID, f.Start, f.End, f.Quoted, f.Hidden})
	}
	return a
}

// scan answers one line of kind text.
func (a *asker) scan(r *request) (any, error) {
	if r.Text == nil {
		return nil, errors.New("text: missing")
	}
	scope, err := taint.ParseScope(or(r.Scope, cmp.Or(a.scope, taint.Context.String())))
	if err != nil {
		return nil, fmt.Errorf("scope: %w", err)
	}
	return newTextAnswer(r.ID, taint.Scan(*r.Text, scope)), nil
}

// textVerdict says what findings mean for a file that others wrote: quotations are shown, the rest keeps it out.
func textVerdict(found []taint.Finding) guard.Verdict {
	switch {
	case len(found) == 0:
		return guard.Allowed()
	case taint.Blocks(found):
		return guard.Verdict{Action: guard.Block, Tier: guard.Content, Rule: found[0].ID}
	}
	return guard.Verdict{Action: guard.Ask, Tier: guard.Content, Rule: found[0].ID}
}

// checkText prints what a text has that looks like an attack on its reader.
func checkText(stdio *IO, o checkOptions, text string) error {
	scope, err := taint.ParseScope(o.scope)
	if err != nil {
		return usage("Scopes: all, context, strict.", "--scope %s is not a scope", o.scope)
	}
	found := taint.Scan(text, scope)
	v := textVerdict(found)
	if o.json {
		return finish(stdio, v, newTextAnswer(nil, found))
	}
	p := newPage(stdio)
	if v.Action == guard.Allow {
		p.line("allow")
		return nil
	}
	for _, f := range found {
		word, note := "deny", ""
		if f.Quoted {
			word, note = "ask", "quoted by a text that warns of it"
		}
		if f.Hidden {
			note = "hidden from whoever looks at the text"
		}
		p.line(word + " · content/" + f.ID)
		p.marked(text, f.Start, f.End, note)
	}
	return exit(v.Action)
}
