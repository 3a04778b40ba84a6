// Package role says which of the small program's three parts a process plays: the launcher of native sandboxes, the first
// process in one, or a runner on its own.
//
// It decides by the arguments alone and does nothing itself. Failure direction: a first process whose walls are not up ends
// before there is a command.
package role

import (
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/runner"
)

// Launcher is the argument that makes the program a launcher. The prefix of its groups and the directories for them may follow.
const Launcher = "launch"

// enter is the one with which the launcher starts it again, in new namespaces.
const enter = "enter"

// Main is the program's main function for the arguments of the process, of which the first is runner.Marker. It returns the
// exit code and must be called on the main thread before anything else.
func Main(args []string, hooks runner.Hooks) int {
	if len(args) > 1 {
		switch args[1] {
		case Launcher:
			var groups wall.Groups
			if len(args) > 2 {
				groups = wall.Groups{Prefix: args[2], Dirs: args[3:]}
			}
			return wall.Launch(runner.SocketFD, groups, runner.Marker, enter)
		case enter:
			if wall.Enter(runner.SocketFD) != nil {
				return 1 // whoever asked for it has the reason
			}
			args = nil
		}
	}
	return runner.Serve(args[min(len(args), 1):], runner.Parts{Hooks: hooks, Harden: harden})
}

// harden does what a runner cannot do by itself, which knows no walls.
func harden(h runner.Harden) error { return wall.Harden(h.Filter, h.DropCaps, h.Keep) }
