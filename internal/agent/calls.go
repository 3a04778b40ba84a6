package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"hermes/internal/llm"
	"hermes/internal/spell"
	"hermes/internal/tool"
)

// The bounds of one answer.
const (
	mostCalls     = 32      // that are made
	mostStored    = 128     // that are answered at all
	mostArguments = 4 << 20 // bytes
)

// job is one call on its way.
type job struct {
	call    llm.Call // as it is stored and shown
	args    json.RawMessage
	tool    tool.Tool
	beside  bool
	refusal string // why it is not made; "": it is
	counts  bool   // the refusal is for what the call says, and the same call will get it again
	same    string // what it has in common with calls that ask for the same
}

// jobs reads the calls of an answer. Whatever is wrong with one is answered to the model. In what is stored, ids are unique and
// names are such as both formats take.
func (t *turn) jobs(answer *llm.Answer) []job {
	calls := answer.Calls
	if len(calls) > mostStored {
		t.notice(fmt.Sprintf("The model made %d calls in one answer. The first %d are answered, the others left out.", len(calls), mostStored))
		calls = calls[:mostStored]
	}
	seen := map[string]bool{}
	out := make([]job, len(calls))
	for i, c := range calls {
		j := job{call: llm.Call{Name: nameOf(c.Name), Arguments: arguments(c.Arguments, t.redact)}, same: same(c)}
		switch {
		case c.Name == "":
			j.refusal, j.counts = "The call names no tool. There are: "+t.names()+".", true
		case c.ID != "" && seen[c.ID]:
			j.refusal = fmt.Sprintf("An earlier call of the same answer has the id %q too, so that it could not be told which result is whose. Make this call again.", c.ID)
		case i >= mostCalls:
			j.refusal = fmt.Sprintf("Too many calls in one answer: at most %d are made. Make this call again in the next answer.", mostCalls)
		default:
			j.refusal = t.read(&j, c, answer.End.Stop == llm.Length && i == len(answer.Calls)-1)
			j.counts = j.refusal != ""
		}
		seen[c.ID] = true
		j.call.ID = t.history.fresh(c.ID)
		out[i] = j
	}
	return out
}

// read finds the tool and the arguments of a call, or says why it cannot be made.
func (t *turn) read(j *job, c llm.Call, cut bool) (refusal string) {
	found, ok := tool.Find(t.a.o.Tools, c.Name)
	if !ok {
		return t.unknown(c.Name)
	}
	args, err := object(c.Arguments)
	if err != nil || cut && string(args) == "{}" { // as what had not begun looks, too
		if cut {
			return "The answer reached its length limit in the middle of this call, so that it is not whole. Make it again, in smaller pieces."
		}
		return fmt.Sprintf("The arguments are not what a call takes, one JSON object: %v. Write them again.", err)
	}
	j.tool, j.args, j.beside = found, args, found.Spec().Beside
	return ""
}

// object reads arguments as one JSON object. None at all are an empty one.
func object(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return json.RawMessage("{}"), nil
	case len(trimmed) > mostArguments:
		return nil, fmt.Errorf("%d bytes, at most %d", len(trimmed), mostArguments)
	case trimmed[0] != '{':
		return nil, fmt.Errorf("they begin with %.20q", trimmed)
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	var whole json.RawMessage
	if err := d.Decode(&whole); err != nil {
		return nil, readable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return whole, twice(whole)
}

func readable(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("they end in the middle")
	case errors.As(err, &syntax):
		return fmt.Errorf("%w at byte %d", err, syntax.Offset)
	}
	return err
}

// twice is an error for an object that gives a field twice, in whatever case: what a person is shown could then be another value
// than the one that is used.
func twice(object json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		folded := strings.Map(fold, name)
		if seen[folded] {
			return fmt.Errorf("the field %q is there twice", name)
		}
		seen[folded] = true
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	return nil
}

// fold is what all cases of a letter have in common, those of other alphabets included, as encoding/json finds fields by it.
func fold(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// same is equal for calls that ask for the same, however their arguments are written.
func same(c llm.Call) string {
	d := json.NewDecoder(strings.NewReader(c.Arguments))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil && !d.More() {
		if text, err := json.Marshal(v); err == nil {
			return c.Name + "\x00" + string(text)
		}
	}
	return c.Name + "\x00" + strings.TrimSpace(c.Arguments)
}

// nameOf is a name that both formats take in a conversation.
func nameOf(name string) string {
	const most = 64
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if out == "" {
		return "unnamed"
	}
	return out[:min(most, len(out))]
}

func (t *turn) names() string {
	if len(t.a.specs) == 0 {
		return "none"
	}
	names := make([]string, len(t.a.specs))
	for i, s := range t.a.specs {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// unknown says that there is no such tool, and which one may be meant.
func (t *turn) unknown(name string) string {
	best, least := "", 0
	lower := strings.ToLower(name)
	for _, s := range t.a.specs {
		d := spell.Distance(lower, s.Name)
		if strings.Contains(lower, s.Name) || len(lower) > 2 && strings.Contains(s.Name, lower) {
			d = 0
		}
		if best == "" || d < least {
			best, least = s.Name, d
		}
	}
	text := fmt.Sprintf("There is no tool %.80q.", name)
	if best != "" && least <= len(best)/2 {
		text += fmt.Sprintf(" Is %s meant?", best)
	}
	return text + " There are: " + t.names() + "."
}
