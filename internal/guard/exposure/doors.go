package exposure

// Door is one way from a sandbox to something that is not its own.
type Door uint8

// The doors.
const (
	KeyFiles     Door = iota // key and credential files of the owner's home
	EnvSecrets               // secrets in the environment of commands
	HostWrite                // writing to the host outside the work tree and what is Hermes' own
	HostRead                 // reading the host beyond system, toolchains and the work tree
	HomeWrite                // writing to the owner's home
	RCFiles                  // writing to the owner's shell start files
	GitHooks                 // writing .git/hooks of the work tree
	GitConfig                // writing .git/config of the work tree, nested ones included
	LoopbackTCP              // TCP to the host's loopback
	LoopbackUDP              // UDP to the host's loopback
	NamedUnix                // the host's unix sockets by path
	AbstractUnix             // the host's abstract unix sockets
	EngineSocket             // the socket of a container engine
	HostProc                 // the host's processes in /proc, their environment
	Signals                  // signals to the host's processes
	HostNet                  // the host's network namespace
	UserNS                   // the host's or a new user namespace, with its capabilities
	Privileges               // gaining privileges through exec: shut = no_new_privs
	IOUring                  // io_uring
	BPF                      // bpf
	UserFault                // userfaultfd
	KeyCtl                   // the kernel's key rings
	Ptrace                   // tracing processes
	Netlink                  // netlink sockets
	VSock                    // sockets to the hypervisor
	RawSocket                // raw sockets
	PacketSocket             // packet sockets
	MultipathTCP             // multipath TCP, which Landlock does not see
	FastOpen                 // TCP fast open, which Landlock does not see
	TerminalPush             // pushing input into the terminal (TIOCSTI)
	DNS                      // resolving names that are not on the allow-list
	Metadata                 // the cloud's metadata address
	doorCount                // how many there are
)

// door tells about one Door.
type door struct {
	key        string // stable, in JSON
	name       string // for people
	shut, open string // what the columns say
	why        string // why it being open matters
	host       bool   // DESIGN: the host is contained only while it is shut
	exit       bool   // a way for data or commands to leave, whatever the network mode
	packets    bool   // a way for packets to leave, while there is a route
}

// The doors, in the order of the printed table. A row with host is a condition of a boundary.
var doorTable = [doorCount]door{
	KeyFiles:     {key: "key_files", name: "key files in home", shut: "absent", open: "readable", why: "key files can be read", host: true},
	EnvSecrets:   {key: "env_secrets", name: "secrets in the environment", shut: "none", open: "present", why: "the environment holds a secret", host: true},
	HostWrite:    {key: "host_write", name: "write outside the work tree", why: "the host's files can be written", host: true, exit: true},
	HostRead:     {key: "host_read", name: "read the host's files", why: "the host's files can be read", host: true},
	HomeWrite:    {key: "home_write", name: "write in home", why: "the home folder can be written", host: true, exit: true},
	RCFiles:      {key: "rc_files", name: "write shell start files", why: "shell start files can be written", host: true, exit: true},
	GitHooks:     {key: "git_hooks", name: "write in .git/hooks", why: "git hooks can be written"},
	GitConfig:    {key: "git_config", name: "write a .git/config", why: "git settings can be written"},
	LoopbackTCP:  {key: "loopback_tcp", name: "host loopback, TCP", why: "the host's loopback can be reached by TCP", host: true, exit: true},
	LoopbackUDP:  {key: "loopback_udp", name: "host loopback, UDP", why: "the host's loopback can be reached by UDP", host: true, exit: true},
	NamedUnix:    {key: "unix_named", name: "named unix sockets", why: "the host's unix sockets can be reached", host: true, exit: true},
	AbstractUnix: {key: "unix_abstract", name: "abstract unix sockets", why: "the host's abstract sockets can be reached", host: true, exit: true},
	EngineSocket: {key: "engine_socket", name: "engine socket", why: "the container engine can be told what to do", host: true, exit: true},
	HostProc:     {key: "host_proc", name: "host processes in /proc", why: "the host's processes can be looked into", host: true, exit: true},
	Signals:      {key: "signals", name: "signals to the host", why: "the host's processes can be signalled", host: true},
	HostNet:      {key: "host_net", name: "host network namespace", why: "it shares the host's network namespace", host: true},
	UserNS:       {key: "user_namespace", name: "user namespaces", why: "user namespaces can be entered or made", host: true},
	Privileges:   {key: "new_privileges", name: "new privileges by exec", why: "no_new_privs is not set", host: true},
	IOUring:      {key: "io_uring", name: "io_uring", why: "io_uring can be used"},
	BPF:          {key: "bpf", name: "bpf", why: "bpf can be used"},
	UserFault:    {key: "userfaultfd", name: "userfaultfd", why: "userfaultfd can be used"},
	KeyCtl:       {key: "keyctl", name: "key rings", why: "the kernel's key rings can be used"},
	Ptrace:       {key: "ptrace", name: "ptrace", why: "processes can be traced"},
	Netlink:      {key: "netlink", name: "netlink sockets", why: "netlink sockets can be opened"},
	VSock:        {key: "vsock", name: "vsock", why: "the hypervisor can be reached", exit: true},
	RawSocket:    {key: "raw", name: "raw sockets", why: "raw sockets can be opened", packets: true},
	PacketSocket: {key: "packet", name: "packet sockets", why: "packet sockets can be opened", packets: true},
	MultipathTCP: {key: "mptcp", name: "multipath TCP", why: "multipath TCP gets around the filter", packets: true},
	FastOpen:     {key: "fast_open", name: "TCP fast open", why: "TCP fast open gets around the filter", packets: true},
	TerminalPush: {key: "tiocsti", name: "input into the terminal", why: "input can be pushed into the terminal"},
	DNS:          {key: "dns", name: "DNS", why: "any name can be resolved, which carries data out", exit: true},
	Metadata:     {key: "metadata", name: "metadata address", why: "the metadata address can be reached", exit: true},
}

// Key returns the door's stable name.
func (d Door) Key() string {
	if d < doorCount {
		return doorTable[d].key
	}
	return "unknown"
}

// String returns the door's name for people.
func (d Door) String() string {
	if d < doorCount {
		return doorTable[d].name
	}
	return "unknown"
}

// ParseDoor returns the door of a key.
func ParseDoor(key string) (Door, bool) {
	for d := range doorCount {
		if doorTable[d].key == key {
			return d, true
		}
	}
	return doorCount, false
}

// AllDoors returns the doors in table order.
func AllDoors() []Door {
	out := make([]Door, doorCount)
	for d := range doorCount {
		out[d] = d
	}
	return out
}

// say returns the word for a state of the door.
func (d door) say(r Reach) string {
	switch {
	case r == Unknown:
		return "unknown"
	case r == Shut && d.shut != "":
		return d.shut
	case r == Shut:
		return "no"
	case d.open != "":
		return d.open
	}
	return "yes"
}

// Row is one line of `sandbox verify`.
type Row struct {
	Key     string
	Name    string
	Asked   string // "any" when nothing was asked
	Force   string
	OK      bool   // what was asked is in force
	Matters bool   // the host is not contained while this is open
	Note    string // by what, or what was seen
	want    Want
}

// Rows returns the table of everything that was asked and is in force, in a fixed order.
func (e Exposure) Rows() []Row {
	var out []Row
	for d, about := range doorTable {
		s := e.Doors[d]
		row := Row{Key: about.key, Name: about.name, Asked: "any", Force: about.say(s.Force), OK: true, Matters: about.host, Note: s.Detail, want: s.Asked}
		if s.Asked != Unasked {
			row.Asked, row.OK = about.say(Shut), s.Force == Shut
		}
		out = append(out, row)
	}
	out = append(out, e.capsRow(), e.seccompRow(), e.networkRow())
	for _, l := range e.Limits {
		row := Row{Key: "limit_" + l.Name, Name: l.Name + " limit", Asked: "any", Force: l.show(l.Force), OK: l.Holds(), want: l.Want}
		if l.Want != Unasked && l.Asked != 0 {
			row.Asked = l.show(l.Asked)
		}
		if l.Grade != NoGrade {
			row.Note = l.Grade.String()
		} else {
			row.Force = "none"
		}
		out = append(out, row)
	}
	return out
}

func (e Exposure) capsRow() Row {
	row := Row{Key: "capabilities", Name: "capabilities", Asked: "any", Force: e.Caps.held(), OK: true, Matters: true, want: e.Caps.Want}
	if e.Caps.Want != Unasked {
		row.Asked, row.OK = e.Caps.Allowed.String(), e.Caps.Known && e.Caps.Held&^e.Caps.Allowed == 0
	}
	return row
}

// seccompRow counts a filter as asked for wherever new privileges were asked to be shut: the two come together.
func (e Exposure) seccompRow() Row {
	row := Row{Key: "seccomp", Name: "system call filter", Asked: "any", Force: e.Seccomp.String(), OK: true, Matters: true}
	if want := e.Doors[Privileges].Asked; want != Unasked {
		row.Asked, row.OK, row.want = Filter.String(), e.Seccomp == Filter, want
	}
	return row
}

func (e Exposure) networkRow() Row {
	row := Row{Key: "network", Name: "network", Asked: "any", Force: e.Network.Force.String(), OK: true, want: e.Network.Want}
	if e.Network.Want != Unasked {
		row.Asked, row.OK = e.Network.Asked.String(), e.Network.Force >= e.Network.Asked
	}
	return row
}

// Missing returns the rows that were asked for explicitly and are not in force: opening must fail, unless the owner let it run
// anyway, and then every result says so.
func (e Exposure) Missing() []Row { return e.lacking(Explicitly) }

// Lacking returns the rows that are a default and not in force: reported, and the rest goes on.
func (e Exposure) Lacking() []Row { return e.lacking(ByDefault) }

// Unmet returns the rows that are known not to be as they were asked by name: opening must not go on with them. Capabilities and
// the system call filter count as asked by name wherever they are asked at all; a default that is not in force is only reported.
func (e Exposure) Unmet() (out []Row) {
	for _, row := range e.Rows() {
		named := row.want == Explicitly || row.Key == "capabilities" || row.Key == "seccomp"
		if named && !row.OK && row.Force != "unknown" {
			out = append(out, row)
		}
	}
	return out
}

func (e Exposure) lacking(want Want) []Row {
	var out []Row
	for _, row := range e.Rows() {
		if !row.OK && row.want == want {
			out = append(out, row)
		}
	}
	return out
}
