// Package wall starts processes in namespaces of their own and puts up, from inside, the walls that a plan lists: a root of
// chosen mounts, Landlock, the system call filter, no capabilities.
//
// It is what the small launcher is made of, so it imports little and decides nothing: what a sandbox shows and allows is
// planned in native, and whether the result is a boundary is judged from what is read back.
//
// Failure direction: refuse. A wall that cannot be put up ends the process before any command exists, unless the plan says
// that it may be missing; then the report says so.
package wall

// Kind says what a Step of a plan does.
type Kind byte

// The kinds.
const (
	Read    Kind = 'r' // Source and all below, read-only
	Write   Kind = 'w' // Source and all below, writable
	Device  Kind = 'd' // the device node Source
	Tmpfs   Kind = 't' // an empty file system in memory; Text is its size in bytes, "" for the kernel's choice
	Proc    Kind = 'p' // the processes of the new namespace, read-only
	Devpts  Kind = 'v' // terminals of its own
	Dir     Kind = 'm' // an empty directory, 0700
	Link    Kind = 'l' // a symbolic link to Source
	File    Kind = 'f' // a file that holds Text, 0600
	Hide    Kind = 'h' // nothing: an empty file or directory in the place of what is there
	Scratch Kind = 's' // a directory of the host, made if it is not there, writable
)

// Empty is where inside, on a file system of its own, the empty things are that hide others.
const Empty = "/.nothing"

// Step is one step of putting the root together. Steps are done in order.
type Step struct {
	Kind    Kind
	Source  string // path on the host, or what a link says
	Target  string // absolute path inside
	Text    string
	Missing bool // no error when Source does not exist
}

// Groups are the control groups of one launcher's processes. Hermes makes them, and whoever of the two ends last removes them.
type Groups struct {
	Prefix string   // of their names, which nobody else's have; empty: there are none
	Dirs   []string // that they are made in
}

// Rlimit is one limit of setrlimit.
type Rlimit struct {
	Kind  int
	Value uint64
}

// Plan is what Enter does. It may come in parts: what all sandboxes have in common first, so that it is done while the rest is
// still being planned. Steps and paths of the parts are done in order, as those of one plan; the limits and the filter are the last one's.
type Plan struct {
	More       bool // another part follows, without which nothing is finished
	Namespaces bool // the process is in namespaces of its own: put a root together, configure the loopback
	Network    bool // it has a network namespace of its own
	Hostname   string
	Steps      []Step

	Landlock bool     // wanted; Report tells how far it came
	Read     []string // paths inside that may be read and executed
	Open     []string // the same, of many; a directory ends in a slash, and a link is not followed
	Write    []string // that may be written as well
	Devices  []string // devices that may be used as well
	Ports    bool     // no TCP port may be reached or opened: for a sandbox without a network namespace

	Filter []byte // the system call filter; empty: none
	Limits []Rlimit
}

// Report is what Enter tells of what it did and of what can be seen from where it is.
type Report struct {
	Failed   string // what could not be done; then nothing else counts and no command will run
	Errno    int
	Landlock int // ABI in force, 0 for none
	Skipped  []string
	Seen     map[string]string // file below /proc/self, or link in ns, and its text
}

// Marshal returns all of a plan: equal plans, and only those, give equal bytes.
func (p *Plan) Marshal() []byte {
	var w writer
	w.flag(p.More)
	w.flag(p.Namespaces)
	w.flag(p.Network)
	w.text(p.Hostname)
	w.number(uint64(len(p.Steps)))
	for _, s := range p.Steps {
		w.number(uint64(s.Kind))
		w.text(s.Source)
		w.text(s.Target)
		w.text(s.Text)
		w.flag(s.Missing)
	}
	w.flag(p.Landlock)
	w.list(p.Read)
	w.list(p.Open)
	w.list(p.Write)
	w.list(p.Devices)
	w.flag(p.Ports)
	w.text(string(p.Filter))
	w.number(uint64(len(p.Limits)))
	for _, l := range p.Limits {
		w.number(uint64(l.Kind))
		w.number(l.Value)
	}
	return w
}

func decodePlan(text []byte) (*Plan, error) {
	r := reader{rest: text}
	p := &Plan{More: r.flag(), Namespaces: r.flag(), Network: r.flag(), Hostname: r.text()}
	for range r.count() {
		p.Steps = append(p.Steps, Step{Kind: Kind(r.number()), Source: r.text(), Target: r.text(), Text: r.text(), Missing: r.flag()})
	}
	p.Landlock, p.Read, p.Open, p.Write, p.Devices, p.Ports = r.flag(), r.list(), r.list(), r.list(), r.list(), r.flag()
	p.Filter = []byte(r.text())
	for range r.count() {
		p.Limits = append(p.Limits, Rlimit{int(r.number()), r.number()})
	}
	return p, r.end()
}

func (r *Report) encode() []byte {
	var w writer
	w.text(r.Failed)
	w.number(uint64(r.Errno))
	w.number(uint64(r.Landlock))
	w.list(r.Skipped)
	w.number(uint64(len(r.Seen)))
	for name, text := range r.Seen {
		w.text(name)
		w.text(text)
	}
	return w
}

func decodeReport(text []byte) (*Report, error) {
	r := reader{rest: text}
	out := &Report{Failed: r.text(), Errno: int(r.number()), Landlock: int(r.number()), Skipped: r.list(), Seen: map[string]string{}}
	for range r.count() {
		name := r.text()
		out.Seen[name] = r.text()
	}
	return out, r.end()
}
