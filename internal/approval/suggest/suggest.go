// Package suggest proposes entries for the allow-list out of what a person approved again and again.
//
// It reads no database (see session), judges no command itself (it is given the judge), and writes nothing: a proposal counts
// only once its owner has taken it over.
//
// Failure direction: no proposal. Only a class of commands that is listed here is ever proposed, so a new rule is not; what a model,
// a mode, a rule or YOLO let pass counts nothing; and what would not lift the very question it was found in, or what a secret is
// part of, is left out.
package suggest

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/screen"
	"hermes/internal/session"
)

// Options say what is proposed, and by whose rules.
type Options struct {
	// Judge returns the verdict of the owner's rules on a command, with these entries as the whole allow-list.
	Judge    func(text string, allow []string) guard.Verdict
	Listed   []string            // the allow-list as it is
	Redact   func(string) string // for what is shown
	Home     string              // is shown as ~
	MinCount int                 // approvals that a proposal needs; less than 1 is 1
	Limit    int                 // proposals; less than 1 is 1
}

// Proposal is one entry that could be added to the allow-list.
type Proposal struct {
	Pattern  string
	Class    bool // it is the key of a rule, and covers all that this rule would ask about
	Count    int
	Inferred int      // of Count: it ran, and who approved it is not stored
	Classes  []string // the keys of the rules that asked
	Examples []string // without secrets
}

const (
	maxExamples = 3
	maxExample  = 100 // columns
)

// Find returns what the history says, the most frequent first.
func Find(history iter.Seq2[session.Past, error], o Options) ([]Proposal, error) {
	m := &miner{o: o, seen: map[string][]found{}, by: map[string]*Proposal{}}
	for past, err := range history {
		if err != nil {
			return nil, err
		}
		m.add(past)
	}
	var out []Proposal
	for _, p := range m.by {
		if p.Count >= max(1, o.MinCount) {
			slices.Sort(p.Classes)
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Pattern, b.Pattern))
	})
	return out[:min(len(out), max(1, o.Limit))], nil
}

// miner counts. A command is judged once, however often it stands in the history.
type miner struct {
	o    Options
	seen map[string][]found
	by   map[string]*Proposal
}

// found is one entry that could be proposed for a command.
type found struct {
	pattern string
	classes []string
	isClass bool
}

func (m *miner) add(past session.Past) {
	if !approved(past) {
		return
	}
	text := commandIn(past.Arguments)
	if text == "" {
		return
	}
	all, known := m.seen[text]
	if !known {
		all = m.o.entries(text)
		m.seen[text] = all
	}
	for _, f := range all {
		m.count(f, text, past.Inferred)
	}
}

func (m *miner) count(f found, text string, inferred bool) {
	p := m.by[f.pattern]
	if p == nil {
		p = &Proposal{Pattern: f.pattern, Class: f.isClass}
		m.by[f.pattern] = p
	}
	p.Count++
	if inferred {
		p.Inferred++
	}
	for _, c := range f.classes {
		if !slices.Contains(p.Classes, c) {
			p.Classes = append(p.Classes, c)
		}
	}
	if example := m.o.example(text); len(p.Examples) < maxExamples && !slices.Contains(p.Examples, example) {
		p.Examples = append(p.Examples, example)
	}
}

// example is a command as it is shown.
func (o Options) example(text string) string {
	if o.Redact == nil {
		return ""
	}
	text = o.Redact(text)
	if o.Home != "" && o.Home != "/" {
		text = strings.ReplaceAll(text, o.Home+"/", "~/")
	}
	return screen.OneLine(text, maxExample)
}

// commandIn returns the command of a call of the terminal, "" if there is none in what the model wrote.
func commandIn(arguments string) string {
	var args struct {
		Command string `json:"command"`
	}
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return ""
	}
	return strings.TrimSpace(args.Command)
}

// approved tells whether a person approved a call. Where nobody wrote down who did, it counts if it ran.
func approved(past session.Past) bool {
	if past.Inferred {
		return !refused(past.Result)
	}
	switch past.Approved.By {
	case "", "mode", "rule", "model", "policy", "guardian", "owner", "nobody":
		return false
	}
	switch past.Approved.How {
	case "once", "session", "always":
		return past.Answered
	}
	return false
}

// refused tells whether a stored result says that the command did not run.
func refused(result string) bool {
	for _, mark := range []string{
		"BLOCKED (hardline)", "BLOCKED: ", "BLOCKED by ", "Blocked: ", "The user has NOT consented", "Asking the user for approval",
		"approval_required",
	} {
		if strings.Contains(result, mark) {
			return true
		}
	}
	return false
}
