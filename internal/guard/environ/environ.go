// Package environ decides which environment variables and credential files a child process may have, surface by surface.
//
// It does not start children (see child), does not read settings or files, and does not look for secrets in output (see
// redact). Everything it judges is handed to it.
//
// Layer 5 of 8. Failure direction: the variable or the file is left out, and a Note says so. A Policy that New did not make
// gives nothing to anybody.
package environ

import (
	"fmt"
	"strings"
)

// Surface is a kind of child. The zero Surface is no child at all: it gets nothing.
type Surface uint8

// The surfaces.
const (
	NoSurface   Surface = iota
	Foreground          // terminal commands of the local backend, quick commands, "!" commands
	Background          // background terminal processes, and the processes a backend keeps
	PTY                 // terminal processes on a terminal of their own
	Cron                // scripts of scheduled jobs that run without an agent
	Snapshot            // the login shell whose state is stored for later commands
	Child               // browser, ACP executors, TUI host: programs of Hermes' own that are no terminal
	ExecuteCode         // programs the model wrote, with tools behind an RPC
	Hook                // hooks and plugins, which are separate processes
	Native              // commands inside the native sandbox
	Docker              // commands inside a Docker or Podman container
	Apptainer           // commands inside an Apptainer instance
	Modal               // commands inside a Modal sandbox
	Daytona             // commands inside a Daytona sandbox
	Vercel              // commands inside a Vercel sandbox
	Kubernetes          // commands inside a pod
	SSH                 // commands on another machine, by SendEnv
	MCP                 // MCP servers on stdio
	Engine              // docker, podman, ssh, apptainer, kubectl: the client programs themselves
	Helper              // version probes and other programs that need nothing
	surfaces            // how many there are
)

var surfaceNames = [surfaces]string{
	NoSurface: "none", Foreground: "foreground", Background: "background", PTY: "pty", Cron: "cron", Snapshot: "snapshot",
	Child: "child", ExecuteCode: "execute_code", Hook: "hook", Native: "native", Docker: "docker", Apptainer: "singularity",
	Modal: "modal", Daytona: "daytona", Vercel: "vercel_sandbox", Kubernetes: "kubernetes", SSH: "ssh", MCP: "mcp",
	Engine: "engine", Helper: "helper",
}

// String returns the surface's stable name.
func (s Surface) String() string {
	if s < surfaces {
		return surfaceNames[s]
	}
	return fmt.Sprintf("surface(%d)", uint8(s))
}

// Surfaces returns the names ParseSurface gives the surfaces, without other spellings.
func Surfaces() []string { return append([]string(nil), surfaceNames[1:]...) }

// ParseSurface reads a surface's name. A few surfaces have more than one.
func ParseSurface(name string) (Surface, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "terminal", "terminal_local", "terminal_foreground", "local", "quick":
		return Foreground, nil
	case "terminal_background", "factory":
		return Background, nil
	case "terminal_pty":
		return PTY, nil
	case "terminal_snapshot":
		return Snapshot, nil
	case "nonterminal", "non_terminal":
		return Child, nil
	case "podman":
		return Docker, nil
	case "apptainer":
		return Apptainer, nil
	case "vercel":
		return Vercel, nil
	case "mcp_stdio":
		return MCP, nil
	}
	for s := NoSurface + 1; s < surfaces; s++ {
		if surfaceNames[s] == name {
			return s, nil
		}
	}
	return NoSurface, fmt.Errorf("%q is not one of %s", name, strings.Join(Surfaces(), ", "))
}

// terminal tells whether a person's shell is what the surface stands for.
func (s Surface) terminal() bool {
	switch s {
	case Foreground, Background, PTY, Cron, Snapshot:
		return true
	}
	return false
}

// walled tells whether nothing of the host's environment is there to begin with.
func (s Surface) walled() bool {
	switch s {
	case Docker, Apptainer, Modal, Daytona, Vercel, Kubernetes, SSH:
		return true
	}
	return false
}

// passes tells whether names that the owner or a skill declared may go through.
func (s Surface) passes() bool {
	return s.terminal() && s != Snapshot || s.walled() || s == ExecuteCode || s == Native
}
