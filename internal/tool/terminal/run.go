package terminal

import (
	"context"
	"encoding/json"
	"errors"

	"hermes/internal/tool"
)

// Run is the tool terminal: it runs commands.
type Run struct{ Options }

// Process is the tool process: what runs in the background.
type Process struct{ Options }

// Read is the tool read_terminal.
type Read struct{ Options }

// Close is the tool close_terminal.
type Close struct{ Options }

var errSoon = errors.New("not there yet")

func (Run) Spec() tool.Spec {
	return tool.Spec{Name: "terminal", Schema: json.RawMessage(`{"type":"object"}`)}
}
func (Process) Spec() tool.Spec {
	return tool.Spec{Name: "process", Schema: json.RawMessage(`{"type":"object"}`)}
}
func (Read) Spec() tool.Spec {
	return tool.Spec{Name: "read_terminal", Schema: json.RawMessage(`{"type":"object"}`)}
}
func (Close) Spec() tool.Spec {
	return tool.Spec{Name: "close_terminal", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (Run) Call(context.Context, tool.Call) (tool.Result, error)     { return tool.Result{}, errSoon }
func (Process) Call(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errSoon }
func (Read) Call(context.Context, tool.Call) (tool.Result, error)    { return tool.Result{}, errSoon }
func (Close) Call(context.Context, tool.Call) (tool.Result, error)   { return tool.Result{}, errSoon }
