// Package terminal holds the tools for commands: terminal, process, read_terminal, close_terminal.
//
// Every command passes launch, which decides, and so does what is typed into one that runs. What runs on is kept by package process.
// Nothing here wraps, redacts or strips escapes out of output (see launch, prompt).
//
// Failure direction: refuse. Output counts as from outside unless it is known that it cannot be.
package terminal

import (
	"time"

	"hermes/internal/approval"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/process"
	"hermes/internal/tool"
)

// Options are what the tools of one session have in common. Door, Place, Session, Processes and Environment are needed.
type Options struct {
	Door        *launch.Door
	Place       *launch.Place // where the session's commands run; its owner closes it, after the session's processes
	Session     scope.Session
	Processes   *process.Registry
	Environment func() environ.Request // whose environment commands get

	Presence approval.Presence
	Platform string
	Prompter approval.Prompter

	Timeout func() time.Duration // of a command that names none; nil: 180 s
	Longest time.Duration        // that a command in the foreground may take; 0: 600 s, or Timeout if that is more
}

// All returns the tools.
func All(o Options) []tool.Tool {
	return []tool.Tool{Run{o}, Process{o}, Read{o}, Close{o}}
}

var (
	_ tool.Tool = Run{}
	_ tool.Tool = Process{}
	_ tool.Tool = Read{}
	_ tool.Tool = Close{}
)

// Defaults of Options.
const (
	defaultTimeout = 180 * time.Second
	defaultLongest = 600 * time.Second
)

func (o *Options) timeout() time.Duration {
	if o.Timeout == nil || o.Timeout() <= 0 {
		return defaultTimeout
	}
	return o.Timeout()
}

func (o *Options) longest() time.Duration {
	if o.Longest > 0 {
		return o.Longest
	}
	return max(defaultLongest, o.timeout())
}
