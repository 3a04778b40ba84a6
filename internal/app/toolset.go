package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"hermes/internal/approval"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/process"
	"hermes/internal/tool"
	"hermes/internal/tool/editor"
	"hermes/internal/tool/notes"
	"hermes/internal/tool/program"
	"hermes/internal/tool/terminal"
	"hermes/internal/workspace"
)

// ToolsetOptions say whose tools, where they act, and who is asked.
type ToolsetOptions struct {
	Session  scope.Session
	Place    *launch.Place // where commands run; its owner closes it, after the Toolset
	Start    string        // the directory Hermes was started in
	Presence approval.Presence
	Platform string
	Prompter approval.Prompter    // nil: nobody can be asked
	Notify   func(process.Notice) // hears what the agent should be told of processes; nil: nobody
}

// Toolset is the tools of one conversation, and what they have in common. Whoever got it closes it.
type Toolset struct {
	Tools     []tool.Tool
	Files     *workspace.Workspace
	Memory    notes.Memory
	Todo      *notes.Todo
	Processes *process.Registry

	a    *App
	turn atomic.Pointer[workspace.Turn]
}

// Toolset makes the tools of a conversation, as the settings say now.
func (a *App) Toolset(o ToolsetOptions) (*Toolset, error) {
	if o.Place == nil || o.Session.IsZero() {
		return nil, errors.New("make tools: no session, or no place for its commands")
	}
	web, err := a.Tools(o.Session)
	if err != nil {
		return nil, err
	}
	t := &Toolset{a: a, Todo: &notes.Todo{}, Memory: a.memory(o)}
	if t.Files, err = a.Workspace(Files{o.Session, o.Place, o.Presence, o.Platform, o.Prompter}); err != nil {
		return nil, err
	}
	t.Processes = process.New(process.Options{Capture: a.Capture, Notify: o.Notify})
	files := a.editors()
	files.Workspace, files.Dir, files.Turn = t.Files, a.dirOf(o.Place, o.Start), t.turn.Load
	t.Tools = terminal.All(terminal.Options{
		Door: a.door, Place: o.Place, Session: o.Session, Processes: t.Processes, Environment: func() environ.Request { return a.Environment(o.Place) },
		Presence: o.Presence, Platform: o.Platform, Prompter: o.Prompter, Timeout: a.Timeout,
	})
	t.Tools = append(t.Tools, editor.Read{Options: files}, editor.Write{Options: files}, editor.Patch{Options: files}, editor.Search{Options: files})
	t.Tools = append(t.Tools, web...)
	t.Tools = append(t.Tools, program.Code{Options: a.programs(o, t.Tools)}, t.Memory, t.Todo)
	return t, nil
}

// programs says how programs of the agent run.
func (a *App) programs(o ToolsetOptions, tools []tool.Tool) program.Options {
	return program.Options{
		Launch: a.door.Run, Tools: tools, Capture: a.Capture, Redact: a.strictly,
		Base: func() launch.Call {
			return launch.Call{
				Session: o.Session, Place: o.Place, Env: a.Environment(o.Place), Presence: o.Presence, Platform: o.Platform, Prompter: o.Prompter,
			}
		},
		Names: func(r environ.Request) []string {
			rules, err := a.rules()
			if err != nil {
				return nil
			}
			list, _ := rules.Environ.Build(r)
			return list.Names()
		},
	}
}

// Begin begins a turn, as agent.Options.Begin: what it returns tells at the end which files could not be changed.
func (t *Toolset) Begin() func(context.Context) string {
	if !t.a.verifies() {
		t.turn.Store(nil)
		return nil
	}
	turn := &workspace.Turn{}
	t.turn.Store(turn)
	return func(ctx context.Context) string {
		timed, cancel := context.WithTimeout(ctx, verifyTime)
		defer cancel()
		return turn.Footer(timed, t.Files)
	}
}

// verifyTime bounds looking at files again when a turn ends.
const verifyTime = 10 * time.Second

// Close ends what commands have left running in the background.
func (t *Toolset) Close(ctx context.Context) error { return t.Processes.CloseAll(ctx) }
