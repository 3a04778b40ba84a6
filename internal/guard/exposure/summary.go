package exposure

import (
	"fmt"
	"strings"

	"hermes/internal/guard"
)

// Summary says in one line, for prompts and results, what holds: "backend local (no boundary: this is your machine)".
func (e Exposure) Summary() string {
	name := e.Backend
	if name == "" {
		name = "unknown"
	}
	var parts []string
	if e.Boundary() {
		parts = append(parts, "boundary")
		if n := e.Network.Force; n == NoNet || n == AllowlistNet {
			parts = append(parts, "network "+n.String())
		} else {
			parts = append(parts, "network open")
		}
		if e.Tree == OwnersTree || e.Tree == UnknownTree {
			parts = append(parts, "your work tree is writable")
		}
	} else {
		parts = append(parts, "no boundary: "+e.noBoundary())
	}
	if len(e.Gaps) > 0 {
		parts = append(parts, "best effort, without "+strings.Join(e.Gaps, ", "))
	}
	if e.Runner == Plain && e.walls() {
		parts = append(parts, "plain bash")
	}
	return "backend " + name + " (" + strings.Join(parts, "; ") + ")"
}

// noBoundary returns the first reason why the host is not contained, and how many more there are.
func (e Exposure) noBoundary() string {
	if !e.walls() {
		if e.Place != "" {
			return "all of " + e.Place + " is open"
		}
		return "this is your machine"
	}
	_, reasons := e.Contains(guard.Host)
	first := reasons[0].Why
	for _, r := range reasons { // what was seen open says more than what is not known
		if d, ok := ParseDoor(r.Door); ok && e.Doors[d].Force == Open {
			first = r.Why
			break
		}
	}
	if more := len(reasons) - 1; more > 0 {
		return fmt.Sprintf("%s, and %d more", first, more)
	}
	return first
}

// walls tells whether any condition of a boundary holds.
func (e Exposure) walls() bool {
	for d, about := range doorTable {
		if about.host && e.Doors[d].Force == Shut {
			return true
		}
	}
	return e.Seccomp == Filter
}
