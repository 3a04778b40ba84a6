package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/redact"
)

// kindList names the kinds of question that check answers.
const kindList = "command, url, read, write, text, workdir, redact, env"

func knownKind(kind string) bool {
	switch kind {
	case "command", "url", "read", "write", "text", "workdir", "redact", "env":
		return true
	}
	return false
}

// request is one line of --jsonl. Which fields count depends on the kind.
type request struct {
	ID   json.RawMessage `json:"id"`
	Kind *string         `json:"kind"`

	Command    *string           `json:"command"`
	Deny       []string          `json:"deny"`
	Allowlist  []string          `json:"allowlist"`
	Supervised *bool             `json:"supervised"`
	Profile    *string           `json:"profile"`
	Home       *string           `json:"home"`
	HermesHome string            `json:"hermes_home"`
	Cwd        *string           `json:"cwd"`
	Env        map[string]string `json:"env"`
	Files      map[string]string `json:"files"`
	Tracked    []string          `json:"tracked"`
	Ignored    []string          `json:"ignored"`

	Workdir *string `json:"workdir"`

	Path     *string `json:"path"`
	RealHome string  `json:"real_home"`
	SafeRoot string  `json:"safe_root"`

	Text  *string `json:"text"`
	Mode  *string `json:"mode"`
	Scope *string `json:"scope"`

	Surface     *string           `json:"surface"`
	Passthrough []string          `json:"passthrough"`
	ServerEnv   map[string]string `json:"server_env"`

	urlRequest
}

// verdictAnswer answers kind command.
type verdictAnswer struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Verdict  string          `json:"verdict"`
	Tier     string          `json:"tier"`
	Rule     string          `json:"rule"`
	Harms    []string        `json:"harms"`
	Findings []finding       `json:"findings"`
}

type finding struct {
	Rule   string `json:"rule"`
	Tier   string `json:"tier"`
	Reason string `json:"reason"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
}

type workdirAnswer struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Verdict string          `json:"verdict"`
	Reason  string          `json:"reason"`
}

type redactAnswer struct {
	ID   json.RawMessage `json:"id,omitempty"`
	Text string          `json:"text"`
}

type errorAnswer struct {
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error"`
}

func commandAnswer(id json.RawMessage, v guard.Verdict) verdictAnswer {
	a := verdictAnswer{
		ID: id, Verdict: v.Action.String(), Tier: v.Tier.String(), Rule: v.Rule, Harms: v.Harms.List(),
		Findings: make([]finding, len(v.Findings)),
	}
	for i, f := range v.Findings {
		a.Findings[i] = finding{Rule: f.Rule, Tier: f.Tier.String(), Reason: f.Reason, Start: f.Start, End: f.End}
	}
	return a
}

// asker answers requests. Flags stand in for what a request leaves out.
type asker struct {
	checkOptions
	redactor *redact.Redactor // made at the first need, so that marks for one secret agree within a process
	policy   command.Policy   // of the last line
	checker  *command.Checker // policy, compiled: most streams have the same on every line
}

func (a *asker) compiled(p command.Policy) *command.Checker {
	if a.checker == nil || !slices.Equal(p.Deny, a.policy.Deny) || !slices.Equal(p.Allow, a.policy.Allow) {
		a.policy, a.checker = p, command.Compile(p)
	}
	return a.checker
}

// answer returns the answer to one request, or an error that begins with the name of the guilty field.
func (a *asker) answer(r *request) (any, error) {
	switch kind := or(r.Kind, a.kind); kind {
	case "command":
		if r.Command == nil {
			return nil, errors.New("command: missing")
		}
		policy := command.Policy{Deny: join(a.deny, r.Deny), Allow: join(a.allow, r.Allowlist)}
		return commandAnswer(r.ID, a.compiled(policy).Check(*r.Command, a.facts(r))), nil
	case "read", "write":
		return a.fileLine(r, kind)
	case "workdir":
		if r.Workdir == nil {
			return nil, errors.New("workdir: missing")
		}
		v, _ := workdirVerdict(*r.Workdir)
		return workdirAnswer{ID: r.ID, Verdict: v.Action.String(), Reason: v.Reason}, nil
	case "redact":
		if r.Text == nil {
			return nil, errors.New("text: missing")
		}
		clean, err := a.redact(*r.Text, or(r.Mode, a.mode))
		if err != nil {
			return nil, fmt.Errorf("mode: %w", err)
		}
		return redactAnswer{ID: r.ID, Text: clean}, nil
	case "url":
		return a.url(r)
	case "text":
		return a.scan(r)
	case "env":
		return environment(r)
	default:
		return nil, fmt.Errorf("kind: %q is not one of %s", kind, kindList)
	}
}

func (a *asker) redact(text, mode string) (string, error) {
	m, err := redact.ParseMode(mode)
	if err != nil {
		return "", err
	}
	if a.redactor == nil {
		a.redactor = redact.New(redact.Options{})
	}
	return a.redactor.With(m).String(text), nil
}

// join appends without writing into the first list's memory.
func join(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	return append(a[:len(a):len(a)], b...)
}

// or returns what the line says, and what the flag says if the line is silent.
func or[T any](field *T, flag T) T {
	if field != nil {
		return *field
	}
	return flag
}
