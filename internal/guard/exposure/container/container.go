// Package container says what the settings of a container open: each mount and each flag of `docker run` and `podman run`, and
// whether it is refused until the owner accepts it by name.
//
// It starts no engine and looks at no file (see sandbox/docker); what a path or a volume really is comes in as functions, and
// what they do not know counts as the worst.
//
// Part of layer 4 (see guard/exposure). Failure direction: refuse. A flag it does not know is an error, since what follows it
// could not be read either.
package container

import (
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
)

// Engine is a container engine, by its command line.
type Engine uint8

// The engines. The zero Engine is none: nothing can be read for it.
const (
	NoEngine Engine = iota
	Docker
	Podman
)

// String returns the engine's word.
func (e Engine) String() string {
	switch e {
	case Docker:
		return "docker"
	case Podman:
		return "podman"
	}
	return "unknown engine"
}

// Risk is what one setting opens.
type Risk struct {
	Name    string          // stable; what accepts it in terminal.docker_accept_risk
	Text    string          // the flag or volume as the owner wrote it
	Also    []string        // other ways to write what accepts it: --name=value, the path that is mounted
	Setting string          // the key it stands in; filled in by the caller
	Opens   []exposure.Door // doors that can no longer be asked to be shut
	Harms   guard.Harms     // what the container no longer contains
	Caps    exposure.CapSet // capabilities it adds
	Why     string          // in words, without a full stop
	Refused bool            // not used unless accepted by name; otherwise it is used, and told
}

// Accepted tells whether a list of terminal.docker_accept_risk names the risk: by its name, by the mount or flag as it was
// written or as --name=value, or by the path that is mounted. Blanks around an entry do not count; there is no entry for
// everything.
func (r Risk) Accepted(accepted []string) bool {
	return slices.ContainsFunc(accepted, func(entry string) bool {
		entry = strings.TrimSpace(entry)
		return entry != "" && (entry == r.Name || entry == r.Text || slices.Contains(r.Also, entry))
	})
}

// Kind is what a path of the host is.
type Kind uint8

// The kinds of paths. The zero Kind is not known, and counts as the worst there can be at that place.
const (
	UnknownKind Kind = iota
	Missing
	File
	Dir
	Socket
	Device
)

// Path is what is at a path of the host.
type Path struct {
	Real string // with all links followed, as far as it exists; absolute
	Kind Kind
}

// Host is what judging needs to know of the machine. The zero Host knows nothing: every bind mount is then refused.
type Host struct {
	Engine Engine
	// Look returns what is at an absolute path; false when that could not be found out.
	Look func(path string) (Path, bool)
	// Volume returns the path of the host that a named volume stands for, "" when it is the engine's own (or is yet to be
	// made); false when that could not be found out.
	Volume  func(name string) (string, bool)
	Home    string   // the owner's home, for ~
	Homes   []string // all homes that are to be kept out, with links followed; Home included or not
	Hermes  string   // Hermes' own home, with links followed
	Dir     string   // what relative sources are relative to
	Sockets []string // sockets of engines on this machine, with links followed, besides those of everywhere
	Work    []string // targets inside that are the declared work tree
	Windows bool     // paths of the host are those of Windows
}
