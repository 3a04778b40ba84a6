// Package tool says what a tool of the agent is: what it is called with, and what it gives back, each part with its origin.
//
// It holds no tool, and decides nothing: each tool asks the door of what it does. What comes back is wrapped and cleaned on its
// way into a prompt, by whoever calls.
//
// Failure direction: a part whose origin nobody set is from outside; arguments that are not what a tool takes are refused.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"hermes/internal/approval"
	"hermes/internal/guard/taint"
	"hermes/internal/session"
)

// Tool is something an agent can do. Its implementations are in the packages below this one.
//
// Call is safe for concurrent use and ends with its context. An error is about the call as a whole (arguments that cannot be
// read, something the guards refuse); what went wrong with a part of it is told in the result.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, c Call) (Result, error)
}

// Spec is what a model, or a person, is told of a tool.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments, as JSON Schema
	Words       string          // the argument that plain words stand for, on a command line
	Beside      bool            // it changes nothing, and may run beside other calls of the same answer
}

// Call is one call.
type Call struct {
	ID   string          // of the call in its conversation; may be empty
	Args json.RawMessage // one JSON object
	Tell func(Update)    // hears how it goes while it runs, one at a time; nil: nobody

	Untainted bool // nothing in the conversation came from outside; false: something did, or nobody knows
}

// Update is what a person is told of a call while it runs.
type Update struct {
	Output string // a piece of what a command prints, redacted
	Note   string // one line: what it does now, or what it waits for
}

// Result is what came of a call.
type Result struct {
	Parts    []Part
	Failed   bool             // nothing came of it
	Data     any              // the whole result for programs, which encoding/json can write
	Diff     string           // what it changed, unified, for people; a model is not shown it
	Summary  string           // one line for people: "exit code 1", "3 files"
	Approved session.Approval // who let it run, where that was asked; stored with it
}

// Say tells how a call goes, if anybody hears it.
func (c Call) Say(u Update) {
	if c.Tell != nil {
		c.Tell(u)
	}
}

// Part is a piece of a result that comes from one place.
type Part struct {
	Text   string
	Origin taint.Origin // the zero value is from outside
	Source string       // where it comes from: a URL or a file; empty if from nowhere in particular
	Risk   taint.Risk   // what was found in it
}

// Own is a part that holds only Hermes' words.
func Own(text string) Part { return Part{Text: text, Origin: taint.Own} }

// ApprovedBy says who let a call run, as it is stored with its result; zero where nobody was asked.
func ApprovedBy(d approval.Decision) session.Approval {
	switch d.Outcome {
	case approval.Answered:
		by := d.By
		if by == "" || by == "user" {
			by = "person"
		}
		return session.Approval{By: by, How: d.Choice.String()}
	case approval.Reviewed:
		return session.Approval{By: "model", How: string(d.Outcome)}
	case approval.Contained, approval.Listed, approval.Granted:
		return session.Approval{By: "rule", How: string(d.Outcome)}
	case approval.YOLO, approval.ModeOff, approval.Headless:
		return session.Approval{By: "mode", How: string(d.Outcome)}
	}
	return session.Approval{}
}

// Decode reads the arguments of a call into a struct. What the tool does not know is refused, by name.
func Decode(c Call, into any) error {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		c.Args = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read arguments: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read arguments: more than one object")
	}
	return nil
}

// Find returns the tool of a name.
func Find(tools []Tool, name string) (Tool, bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Spec().Name == name })
	if i < 0 {
		return nil, false
	}
	return tools[i], true
}
