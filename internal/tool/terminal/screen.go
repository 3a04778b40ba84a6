package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/process"
	"hermes/internal/tool"
)

// Read is the tool read_terminal: what a person would see on a terminal that the agent has opened.
type Read struct{ Options }

// Close is the tool close_terminal. It puts a terminal away and ends nothing.
type Close struct{ Options }

// The bounds of a terminal's size, and of what is shown above it.
const (
	maxRows  = 200
	maxCols  = 500
	maxAbove = 1000
)

// Spec implements tool.Tool.
func (Read) Spec() tool.Spec {
	return tool.Spec{
		Name: "read_terminal", Words: "process_id", Description: "Show what a person would see on a terminal that you opened (terminal with pty and background true): its screen as text, and " +
			"where the cursor is. history also shows lines that have gone off its top. rows and cols give it another size first.",
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
			`"process_id":{"type":"string","description":"session_id of the process; may be left out if there is one terminal"},`+
			`"history":{"type":"integer","minimum":0,"maximum":%d,"default":0},`+
			`"rows":{"type":"integer","minimum":1,"maximum":%d},"cols":{"type":"integer","minimum":1,"maximum":%d}},"additionalProperties":false}`, maxAbove, maxRows, maxCols)),
	}
}

// Shown is what a program is told of a screen.
type Shown struct {
	State
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Row     int    `json:"cursor_row"` // from 1
	Col     int    `json:"cursor_col"`
	Title   string `json:"title,omitempty"`
	History int    `json:"history_lines,omitempty"` // of Output
}

// Call implements tool.Tool.
func (r Read) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	var a struct {
		ID      string `json:"process_id"`
		History int    `json:"history"`
		Rows    *int   `json:"rows"`
		Cols    *int   `json:"cols"`
	}
	if err := tool.Decode(c, &a); err != nil {
		return tool.Result{}, err
	}
	if a.History < 0 || a.History > maxAbove {
		return tool.Result{}, fmt.Errorf("read arguments: history %d is not from 0 to %d", a.History, maxAbove)
	}
	p, err := r.terminal(a.ID)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Rows != nil || a.Cols != nil {
		if err := resize(p, a.Rows, a.Cols); err != nil {
			return tool.Result{}, err
		}
		p.Settle(stillTime, stillTime, answerTime)
	}
	v, err := p.Look(a.History)
	if err != nil {
		return tool.Result{}, fmt.Errorf("read the terminal of %s: %w", p.ID(), err)
	}
	return shown(p, v), nil
}

func resize(p *process.Process, rows, cols *int) error {
	v, err := p.Look(0)
	if err != nil {
		return fmt.Errorf("read the terminal of %s: %w", p.ID(), err)
	}
	if rows == nil {
		rows = &v.Rows
	}
	if cols == nil {
		cols = &v.Cols
	}
	if *rows < 1 || *rows > maxRows || *cols < 1 || *cols > maxCols {
		return fmt.Errorf("read arguments: a terminal has from 1 to %d rows and from 1 to %d cols", maxRows, maxCols)
	}
	if err := p.Resize(*rows, *cols); err != nil {
		return fmt.Errorf("resize the terminal of %s: %w", p.ID(), err)
	}
	return nil
}

// shown is a screen as a result.
func shown(p *process.Process, v process.View) tool.Result {
	i := p.Info()
	d := Shown{State: stateOf(i), Rows: v.Rows, Cols: v.Cols, Row: v.Row + 1, Col: v.Col + 1, Title: v.Title, History: v.Above}
	d.Output = strings.Join(v.Lines, "\n")
	says := []string{fmt.Sprintf("%s. Its terminal has %d rows and %d columns; the cursor is in row %d, column %d.", d.line(), v.Rows, v.Cols, d.Row, d.Col)}
	if v.Hidden {
		says = append(says, "The cursor does not show.")
	}
	if v.Above > 0 {
		says = append(says, fmt.Sprintf("The first %d lines have gone off the top.", v.Above))
	}
	out := tool.Result{Data: d, Summary: d.line()}
	if d.Output == "" {
		says = append(says, "The screen is empty.")
	} else {
		out.Parts = append(out.Parts, printed(d.Output, i.Origin))
	}
	if !i.Running() {
		p.Told()
	}
	out.Parts = append(out.Parts, tool.Own(strings.Join(says, "\n")))
	return out
}

// terminal finds a process with a terminal: the one that is named, or the only one.
func (o *Options) terminal(id string) (*process.Process, error) {
	if id != "" {
		return o.find(id, "process_id")
	}
	var all []*process.Process
	for _, p := range o.Processes.List(o.Session) {
		if p.Info().Screen {
			all = append(all, p)
		}
	}
	switch len(all) {
	case 0:
		return nil, errors.New("no terminal is open: terminal with pty and background true opens one")
	case 1:
		return all[0], nil
	}
	return nil, fmt.Errorf("read arguments: process_id is needed%s", known(all))
}

// Spec implements tool.Tool.
func (Close) Spec() tool.Spec {
	return tool.Spec{
		Name: "close_terminal", Words: "process_id", Description: "Put away the terminal of a process that you do not look at any more. The process runs on; process kill ends it.",
		Schema: json.RawMessage(`{"type":"object","properties":{"process_id":{"type":"string","description":"session_id of the process"}},"required":["process_id"],"additionalProperties":false}`),
	}
}

// Call implements tool.Tool.
func (t Close) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	var a struct {
		ID string `json:"process_id"`
	}
	if err := tool.Decode(c, &a); err != nil {
		return tool.Result{}, err
	}
	p, err := t.find(a.ID, "process_id")
	if err != nil {
		return tool.Result{}, err
	}
	if err := p.CloseTerminal(); err != nil {
		return tool.Result{}, fmt.Errorf("close the terminal of %s: %w", p.ID(), err)
	}
	s := stateOf(p.Info())
	return tool.Result{Data: s, Summary: "terminal closed", Parts: []tool.Part{tool.Own(fmt.Sprintf("The terminal of %s is put away. %s.", p.ID(), s.line()))}}, nil
}
