// Package exposure says what an opened sandbox lets its commands reach, and whether that is a boundary.
//
// It judges a report; it does not look (see sandbox/probe) and does not ask anyone (see approval). What a report leaves out
// counts as open.
//
// Layer 4 of 8. Failure direction: refuse. The zero Exposure contains nothing.
package exposure

import (
	"fmt"
	"time"
)

// Reach says whether something can be reached from inside.
type Reach uint8

// What was found. The zero Reach counts as open everywhere.
const (
	Unknown Reach = iota
	Open
	Shut
)

var reachNames = [...]string{Unknown: "unknown", Open: "open", Shut: "shut"}

// String returns the word used in JSON.
func (r Reach) String() string { return word(reachNames[:], int(r)) }

// Want says whether a wall was asked for.
type Want uint8

// How a wall can be asked for.
const (
	Unasked    Want = iota // nobody asked for it: open as declared
	ByDefault              // the backend's default; if the host cannot do it, that is reported and the rest goes on
	Explicitly             // the owner asked for it by name; if it is not in force, opening fails
)

var wantNames = [...]string{Unasked: "unasked", ByDefault: "default", Explicitly: "explicit"}

// String returns the word used in JSON.
func (w Want) String() string { return word(wantNames[:], int(w)) }

// State is one wall: asked for or not, in force or not.
type State struct {
	Asked  Want
	Force  Reach
	Detail string // what was seen, for a person; may be empty
}

// Tree says whose the work tree is that the commands write to.
type Tree uint8

// The work trees.
const (
	UnknownTree Tree = iota // counts as the owner's
	OwnersTree              // the owner's folder, writable
	OwnTree                 // the sandbox's own: ephemeral, or in Hermes' directory
	NoTree                  // nothing is writable that lasts
)

var treeNames = [...]string{UnknownTree: "unknown", OwnersTree: "owner", OwnTree: "own", NoTree: "none"}

// String returns the word used in JSON.
func (t Tree) String() string { return word(treeNames[:], int(t)) }

// Mode is what the network lets through.
type Mode uint8

// The modes of the network.
const (
	UnknownNet   Mode = iota // counts as open
	OpenNet                  // no limit
	AllowlistNet             // only what the allow-list names, through the proxy
	NoNet                    // nothing
)

var modeNames = [...]string{UnknownNet: "unknown", OpenNet: "open", AllowlistNet: "allowlist", NoNet: "none"}

// String returns the word used in settings and JSON.
func (m Mode) String() string { return word(modeNames[:], int(m)) }

// Network is what was asked of the network and what is in force.
type Network struct {
	Want    Want
	Asked   Mode
	Force   Mode
	NoRoute Reach    // Shut: read back that no interface but a private loopback exists, so that no packet can leave
	Allow   []string // host, host:port, *.domain; what AllowlistNet lets through
}

// Seccomp is the state of the system call filter.
type Seccomp uint8

// The states of the filter.
const (
	UnknownFilter Seccomp = iota // counts as none
	NoFilter
	Filter
)

var seccompNames = [...]string{UnknownFilter: "unknown", NoFilter: "none", Filter: "filter"}

// String returns the word used in JSON.
func (s Seccomp) String() string { return word(seccompNames[:], int(s)) }

// Grade says by what a limit is in force.
type Grade uint8

// The grades, weakest first.
const (
	NoGrade  Grade = iota // not in force
	Rlimit                // for each process on its own
	CgroupV1              // for all of them together
	CgroupV2              // the same
	Engine                // by the container engine or the cloud, as it reports
)

var gradeNames = [...]string{NoGrade: "none", Rlimit: "rlimit", CgroupV1: "cgroup v1", CgroupV2: "cgroup v2", Engine: "engine"}

// String returns the words shown beside a limit.
func (g Grade) String() string { return word(gradeNames[:], int(g)) }

// Runner says what runs the commands inside.
type Runner uint8

// The runners.
const (
	UnknownRunner Runner = iota
	Resident             // our helper, inside
	Plain                // bash -c for each command, without the helper's own walls
)

var runnerNames = [...]string{UnknownRunner: "unknown", Resident: "resident", Plain: "plain"}

// String returns the word used in JSON.
func (r Runner) String() string { return word(runnerNames[:], int(r)) }

func word(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return names[0]
}

// Exposure is what was read back from inside a sandbox. It is a value: copies share only the slices, which nobody changes.
type Exposure struct {
	Backend string // local, native, docker, …
	Place   string // where the commands run when that is another machine: user@host
	Doors   Doors
	Caps    Caps
	Seccomp Seccomp
	Network Network
	Tree    Tree
	Limits  []Limit
	Runner  Runner
	Means   []string  // by what it is done, for the heading of a table: "Landlock ABI 7", "seccomp 412 rules"
	Gaps    []string  // what this kernel or engine lacks, where the owner let it run anyway
	Probed  time.Time // when every door was last tried; zero: only what can be read at once was read
}

// Doors is the state of every door, by Door.
type Doors [doorCount]State

// At returns the state of a door; of a door that does not exist, the zero State.
func (d Doors) At(door Door) State {
	if door < doorCount {
		return d[door]
	}
	return State{}
}

// Ask records that a door was asked to be shut.
func (d *Doors) Ask(want Want, doors ...Door) {
	for _, door := range doors {
		if door < doorCount {
			d[door].Asked = max(d[door].Asked, want)
		}
	}
}

// Found records what was seen of a door. Of two answers the worse one stays: once seen open, a door is open.
func (d *Doors) Found(door Door, seen Reach, detail string) {
	if door >= doorCount || seen == Unknown {
		return
	}
	if s := &d[door]; s.Force != Open {
		s.Force, s.Detail = seen, detail
	}
}

// Combine joins what was read at this opening with the answer of an earlier active probe of the same policy: for each door the
// worse of the two, so that neither can whitewash the other. Only the doors are taken from probed.
func (e Exposure) Combine(probed Exposure) Exposure {
	for door := range doorCount {
		e.Doors.Found(door, probed.Doors[door].Force, probed.Doors[door].Detail)
		e.Doors.Ask(probed.Doors[door].Asked, door)
	}
	e.Probed = probed.Probed
	return e
}

// Limit is one resource limit. Zero means none.
type Limit struct {
	Name  string // memory, pids, cpu, disk, files, …
	Unit  string // "bytes", "milli" (thousandths of a CPU) or "" for a count
	Want  Want
	Asked uint64
	Force uint64
	Grade Grade
}

// Holds tells whether what was asked for is in force, or stricter.
func (l Limit) Holds() bool {
	return l.Want == Unasked || l.Asked == 0 || l.Grade != NoGrade && l.Force != 0 && l.Force <= l.Asked
}

// show prints a limit's value for people.
func (l Limit) show(n uint64) string {
	switch {
	case n == 0:
		return "none"
	case l.Unit == "milli":
		return fmt.Sprintf("%d.%02d", n/1000, n%1000/10)
	case l.Unit != "bytes":
		return fmt.Sprint(n)
	}
	for _, u := range []struct {
		size uint64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
