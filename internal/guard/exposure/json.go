package exposure

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hermes/internal/guard"
)

// jsonVersion is the version of the JSON form.
const jsonVersion = 1

type jsonExposure struct {
	Version  int                  `json:"version"`
	Backend  string               `json:"backend"`
	Place    string               `json:"place,omitempty"`
	Contains []string             `json:"contains"` // for readers; not read back
	Doors    map[string]jsonState `json:"doors"`    // what is neither asked nor known is left out
	Caps     *jsonCaps            `json:"capabilities,omitempty"`
	Seccomp  string               `json:"seccomp"`
	Network  jsonNetwork          `json:"network"`
	Tree     string               `json:"work_tree"`
	Limits   []jsonLimit          `json:"limits"`
	Runner   string               `json:"runner"`
	Means    []string             `json:"means,omitempty"`
	Gaps     []string             `json:"gaps,omitempty"`
	Probed   *time.Time           `json:"probed,omitempty"`
}

type jsonState struct {
	Asked  string `json:"asked"`
	Force  string `json:"force"`
	Detail string `json:"detail,omitempty"`
}

type jsonCaps struct {
	Asked   string   `json:"asked"`
	Known   bool     `json:"known"`
	Held    []string `json:"held"`
	Allowed []string `json:"allowed"`
}

type jsonNetwork struct {
	Want    string   `json:"want"`
	Asked   string   `json:"asked"`
	Force   string   `json:"force"`
	NoRoute string   `json:"no_route"`
	Allow   []string `json:"allow,omitempty"`
}

type jsonLimit struct {
	Name  string `json:"name"`
	Unit  string `json:"unit,omitempty"`
	Want  string `json:"want"`
	Asked uint64 `json:"asked"`
	Force uint64 `json:"force"`
	Grade string `json:"grade"`
}

// MarshalJSON writes the stable form for the audit, the runner's protocol and `sandbox verify --json`.
func (e Exposure) MarshalJSON() ([]byte, error) {
	contained, _ := e.Contains(guard.Host | guard.Work | guard.Remote | guard.Leak)
	j := jsonExposure{
		Version: jsonVersion, Backend: e.Backend, Place: e.Place, Contains: contained.List(), Doors: map[string]jsonState{},
		Seccomp: e.Seccomp.String(), Tree: e.Tree.String(), Limits: []jsonLimit{}, Runner: e.Runner.String(), Means: e.Means, Gaps: e.Gaps,
		Network: jsonNetwork{e.Network.Want.String(), e.Network.Asked.String(), e.Network.Force.String(), e.Network.NoRoute.String(), e.Network.Allow},
	}
	for d := range doorCount {
		if s := e.Doors[d]; s != (State{}) {
			j.Doors[d.Key()] = jsonState{s.Asked.String(), s.Force.String(), s.Detail}
		}
	}
	if e.Caps != (Caps{}) {
		j.Caps = &jsonCaps{e.Caps.Want.String(), e.Caps.Known, e.Caps.Held.List(), e.Caps.Allowed.List()}
	}
	for _, l := range e.Limits {
		j.Limits = append(j.Limits, jsonLimit{l.Name, l.Unit, l.Want.String(), l.Asked, l.Force, l.Grade.String()})
	}
	if !e.Probed.IsZero() {
		at := e.Probed.UTC().Truncate(time.Second)
		j.Probed = &at
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. A word it does not know is read as unknown; a capability it does not know, as
// held by somebody who may do everything.
func (e *Exposure) UnmarshalJSON(text []byte) error {
	var j jsonExposure
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("read exposure: %w", err)
	}
	if j.Version != jsonVersion {
		return fmt.Errorf("read exposure: version %d, want %d", j.Version, jsonVersion)
	}
	out := Exposure{
		Backend: j.Backend, Place: j.Place, Seccomp: Seccomp(index(seccompNames[:], j.Seccomp)), Tree: Tree(index(treeNames[:], j.Tree)),
		Runner: Runner(index(runnerNames[:], j.Runner)), Means: j.Means, Gaps: j.Gaps,
		Network: Network{
			Want: Want(index(wantNames[:], j.Network.Want)), Asked: Mode(index(modeNames[:], j.Network.Asked)),
			Force: Mode(index(modeNames[:], j.Network.Force)), NoRoute: Reach(index(reachNames[:], j.Network.NoRoute)), Allow: j.Network.Allow,
		},
	}
	for key, s := range j.Doors {
		if d, ok := ParseDoor(key); ok {
			out.Doors[d] = State{Want(index(wantNames[:], s.Asked)), Reach(index(reachNames[:], s.Force)), s.Detail}
		}
	}
	if j.Caps != nil {
		held, known := capSet(j.Caps.Held)
		allowed, _ := capSet(j.Caps.Allowed)
		out.Caps = Caps{Want(index(wantNames[:], j.Caps.Asked)), j.Caps.Known && known, held, allowed}
	}
	for _, l := range j.Limits {
		out.Limits = append(out.Limits, Limit{l.Name, l.Unit, Want(index(wantNames[:], l.Want)), l.Asked, l.Force, Grade(index(gradeNames[:], l.Grade))})
	}
	if j.Probed != nil {
		out.Probed = *j.Probed
	}
	*e = out
	return nil
}

// index returns the place of a word, 0 for one that is not there.
func index(words []string, word string) int { return max(0, slices.Index(words, word)) }

// capSet reads names and numbers; it is false when one is neither.
func capSet(names []string) (set CapSet, ok bool) {
	ok = true
	for _, name := range names {
		c, known := Cap(name)
		if !known {
			var n uint
			if _, err := fmt.Sscanf(name, "%d", &n); err != nil || n > 63 {
				ok = false
				continue
			}
			c = 1 << n
		}
		set |= c
	}
	return set, ok
}
