package exposure

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/guard"
)

const everything = guard.Host | guard.Work | guard.Remote | guard.Leak

// sealed is a sandbox in which all is as it should be: nothing reachable, its own work tree, no network.
func sealed() Exposure {
	e := Exposure{Backend: "native", Tree: OwnTree, Seccomp: Filter, Caps: Caps{Want: ByDefault, Known: true}, Runner: Resident,
		Network: Network{Want: ByDefault, Asked: NoNet, Force: NoNet, NoRoute: Shut}}
	for _, d := range AllDoors() {
		e.Doors.Ask(ByDefault, d)
		e.Doors.Found(d, Shut, "")
	}
	return e
}

func TestZeroContainsNothing(t *testing.T) {
	for _, h := range []guard.Harms{guard.Host, guard.Work, guard.Remote, guard.Leak, everything} {
		contained, reasons := (Exposure{}).Contains(h, Target{Host: "example.org", Port: 443})
		if contained != 0 || len(reasons) == 0 || (Exposure{}).Covers(h) {
			t.Errorf("%s: contained %s, reasons %v", h, contained, reasons)
		}
	}
	if (Exposure{}).Boundary() {
		t.Error("an empty report is a boundary")
	}
}

func TestNoHarmsAreNotCovered(t *testing.T) {
	if sealed().Covers(0) {
		t.Error("a finding that does not say what it harms is taken for contained")
	}
	if !sealed().Covers(everything) {
		_, reasons := sealed().Contains(everything)
		t.Errorf("a sealed sandbox does not contain everything: %v", reasons)
	}
}

// The conditions of a boundary, in the words of the design. A door added to the table must be put on one of the two sides.
func TestConditionsOfABoundary(t *testing.T) {
	want := []string{"key_files", "env_secrets", "host_write", "host_read", "home_write", "rc_files", "loopback_tcp", "loopback_udp", "unix_named",
		"unix_abstract", "engine_socket", "host_proc", "signals", "host_net", "user_namespace", "new_privileges"}
	var got []string
	for _, d := range AllDoors() {
		for _, seen := range []Reach{Open, Unknown} {
			e := sealed()
			e.Doors[d].Force = seen
			contained, reasons := e.Contains(guard.Host)
			if contained == 0 && seen == Open {
				got = append(got, d.Key())
			}
			if named := slices.ContainsFunc(reasons, func(r Reason) bool { return r.Door == d.Key() && r.Harm == guard.Host && r.Why != "" }); named != (contained == 0) {
				t.Errorf("%s %s: contained %v, reasons %v", d.Key(), seen, contained, reasons)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func set(names ...string) (out CapSet) {
	for _, name := range names {
		c, ok := Cap(name)
		if !ok {
			panic(name)
		}
		out |= c
	}
	return out
}

func TestPrivilege(t *testing.T) {
	rows := []struct {
		what string
		edit func(*Exposure)
		want bool
	}{
		{"as a hardened container", func(e *Exposure) { e.Caps.Held = set("CAP_CHOWN", "dac_override", "FOWNER", "setuid", "setgid") }, true},
		{"one more", func(e *Exposure) { e.Caps.Held = set("chown", "net_raw") }, false},
		{"sys_admin", func(e *Exposure) { e.Caps.Held = set("sys_admin") }, false},
		{"one that has no name yet", func(e *Exposure) { e.Caps.Held = 1 << 55 }, false},
		{"not read back", func(e *Exposure) { e.Caps.Known = false }, false},
		{"allowed is not harmless", func(e *Exposure) { e.Caps.Held, e.Caps.Allowed = set("sys_admin"), set("sys_admin") }, false},
		{"no filter", func(e *Exposure) { e.Seccomp = NoFilter }, false},
		{"filter unknown", func(e *Exposure) { e.Seccomp = UnknownFilter }, false},
		{"plain bash", func(e *Exposure) { e.Runner = Plain }, true},
		{"the owner's work tree", func(e *Exposure) { e.Tree = OwnersTree }, true},
		{"an open network", func(e *Exposure) { e.Network.Force = OpenNet }, true},
	}
	for _, r := range rows {
		e := sealed()
		r.edit(&e)
		if e.Boundary() != r.want {
			t.Errorf("%s: boundary %v", r.what, e.Boundary())
		}
	}
}

func TestWork(t *testing.T) {
	rows := []struct {
		what string
		edit func(*Exposure)
		want bool
	}{
		{"own", func(e *Exposure) { e.Tree = OwnTree }, true},
		{"none", func(e *Exposure) { e.Tree = NoTree }, true},
		{"the owner's", func(e *Exposure) { e.Tree = OwnersTree }, false},
		{"unknown", func(e *Exposure) { e.Tree = UnknownTree }, false},
		{"own, but the host can be written", func(e *Exposure) { e.Doors[HostWrite].Force = Open }, false},
		{"own, but the engine obeys", func(e *Exposure) { e.Doors[EngineSocket].Force = Unknown }, false},
		{"own, with secrets about", func(e *Exposure) { e.Doors[EnvSecrets].Force = Open }, true},
	}
	for _, r := range rows {
		e := sealed()
		r.edit(&e)
		if e.Covers(guard.Work) != r.want {
			t.Errorf("%s: contained %v", r.what, e.Covers(guard.Work))
		}
	}
}

func TestRemoteAndLeak(t *testing.T) {
	list := func(entries ...string) func(*Exposure) {
		return func(e *Exposure) { e.Network.Force, e.Network.Allow = AllowlistNet, entries }
	}
	open := func(d Door) func(*Exposure) { return func(e *Exposure) { e.Doors[d].Force = Open } }
	evil := Target{"evil.example", 443}
	rows := []struct {
		what    string
		edit    func(*Exposure)
		targets []Target
		want    bool
	}{
		{"no network", func(*Exposure) {}, nil, true},
		{"open network", func(e *Exposure) { e.Network.Force = OpenNet }, []Target{evil}, false},
		{"unknown network", func(e *Exposure) { e.Network.Force = UnknownNet }, []Target{evil}, false},
		{"empty list", list(), nil, true},
		{"off the list", list("api.example"), []Target{evil}, true},
		{"on the list", list("api.example", "evil.example"), []Target{evil}, false},
		{"one of two on the list", list("api.example"), []Target{evil, {"api.example", 443}}, false},
		{"target unknown", list("api.example"), nil, false},
		{"target empty", list("api.example"), []Target{{}}, false},
		{"other capitals and a dot", list("EVIL.example."), []Target{{"Evil.Example.", 443}}, false},
		{"another port", list("evil.example:8443"), []Target{evil}, true},
		{"any port", list("evil.example:443"), []Target{{"evil.example", 0}}, false},
		{"below a wildcard", list("*.example"), []Target{evil}, false},
		{"below a dot", list(".example"), []Target{evil}, false},
		{"the wildcard's own domain", list("*.evil.example"), []Target{evil}, false},
		{"only a suffix in letters", list("*.l.example"), []Target{evil}, true},
		{"everything", list("*"), []Target{evil}, false},
		{"a pattern nobody reads", list("ev*l.example"), []Target{evil}, false},
		{"a URL as an entry", list("https://evil.example/x"), []Target{evil}, false},
		{"another script", list("еvil.example"), []Target{evil}, false},
		{"a target of another script", list("api.example"), []Target{{"еvil.example", 443}}, false},
		{"an address", list("[2001:db8::1]:443"), []Target{{"2001:db8::1", 443}}, false},
		{"another address", list("192.0.2.1"), []Target{{"192.0.2.2", 80}}, true},
		{"DNS answers any name", open(DNS), nil, false},
		{"metadata", open(Metadata), nil, false},
		{"host loopback", open(LoopbackTCP), nil, false},
		{"a host socket", open(NamedUnix), nil, false},
		{"the hypervisor", open(VSock), nil, false},
		{"the host can be written", open(HostWrite), nil, false},
		{"a secret inside, no way out", open(EnvSecrets), nil, true},
		{"raw packets without a route", open(RawSocket), nil, true},
		{"raw packets with a route", func(e *Exposure) { e.Doors[RawSocket].Force, e.Network.NoRoute = Open, Open }, nil, false},
		{"multipath TCP, route unknown", func(e *Exposure) { e.Doors[MultipathTCP].Force, e.Network.NoRoute = Unknown, Unknown }, nil, false},
	}
	for _, r := range rows {
		for _, harm := range []guard.Harms{guard.Remote, guard.Leak} {
			e := sealed()
			r.edit(&e)
			contained, reasons := e.Contains(harm, r.targets...)
			if (contained == harm) != r.want || (len(reasons) == 0) != r.want {
				t.Errorf("%s, %s: contained %v, %v", r.what, harm, contained == harm, reasons)
			}
		}
	}
}

// Each harm is judged on its own, and only what was asked for is answered.
func TestHarmsAreIndependent(t *testing.T) {
	e := sealed()
	e.Tree = OwnersTree
	contained, reasons := e.Contains(everything)
	if contained != everything&^guard.Work || len(reasons) != 1 || reasons[0].Harm != guard.Work {
		t.Errorf("contained %s, %v", contained, reasons)
	}
	if contained, reasons := e.Contains(guard.Host); contained != guard.Host || reasons != nil {
		t.Errorf("asked for host: %s, %v", contained, reasons)
	}
}

func TestFoundKeepsTheWorst(t *testing.T) {
	var d Doors
	d.Found(DNS, Shut, "stub")
	d.Found(DNS, Unknown, "late")
	if d.At(DNS) != (State{Unasked, Shut, "stub"}) {
		t.Errorf("unknown replaced an answer: %+v", d.At(DNS))
	}
	d.Found(DNS, Open, "answered")
	d.Found(DNS, Shut, "stub")
	if d.At(DNS) != (State{Unasked, Open, "answered"}) {
		t.Errorf("an open door was shut: %+v", d.At(DNS))
	}
	d.Found(doorCount, Open, "")
	d.Ask(Explicitly, DNS, doorCount)
	d.Ask(ByDefault, DNS)
	if d.At(DNS).Asked != Explicitly || d.At(doorCount) != (State{}) {
		t.Errorf("%+v", d.At(DNS))
	}
}

func TestCombine(t *testing.T) {
	quick, probed := Exposure{Backend: "native"}, sealed()
	probed.Probed = time.Unix(1000, 0)
	quick.Doors.Found(Signals, Open, "")
	got := quick.Combine(probed)
	if got.Doors.At(Signals).Force != Open || got.Doors.At(DNS).Force != Shut || !got.Probed.Equal(probed.Probed) || quick.Doors.At(DNS).Force != Unknown {
		t.Errorf("%+v", got.Doors)
	}
	if got.Seccomp != UnknownFilter || got.Boundary() {
		t.Error("an old probe vouches for what must be read at each opening")
	}
}

func TestRows(t *testing.T) {
	e := sealed()
	e.Limits = []Limit{
		{"memory", "bytes", Explicitly, 512 << 20, 512 << 20, CgroupV1},
		{"cpu", "milli", ByDefault, 1500, 0, NoGrade},
		{"pids", "", ByDefault, 256, 128, CgroupV2},
		{"files", "", Unasked, 0, 0, NoGrade},
	}
	e.Doors[IOUring] = State{Explicitly, Unknown, ""}
	e.Doors[GitHooks] = State{Unasked, Open, ""}
	e.Network = Network{Want: Explicitly, Asked: NoNet, Force: AllowlistNet}
	e.Caps = Caps{Want: ByDefault, Known: true, Held: set("chown"), Allowed: 0}
	rows := map[string]Row{}
	for _, r := range e.Rows() {
		if _, twice := rows[r.Key]; twice || r.Key == "" || r.Name == "" {
			t.Errorf("row %q", r.Key)
		}
		rows[r.Key] = r
	}
	for _, want := range []struct {
		key, asked, force string
		ok                bool
		note              string
	}{
		{"key_files", "absent", "absent", true, ""},
		{"env_secrets", "none", "none", true, ""},
		{"loopback_tcp", "no", "no", true, ""},
		{"io_uring", "no", "unknown", false, ""},
		{"git_hooks", "any", "yes", true, ""},
		{"limit_memory", "512 MiB", "512 MiB", true, "cgroup v1"},
		{"limit_cpu", "1.50", "none", false, ""},
		{"limit_pids", "256", "128", true, "cgroup v2"},
		{"limit_files", "any", "none", true, ""},
		{"network", "none", "allowlist", false, ""},
		{"capabilities", "none", "chown", false, ""},
		{"seccomp", "filter", "filter", true, ""},
	} {
		r := rows[want.key]
		if r.Asked != want.asked || r.Force != want.force || r.OK != want.ok || r.Note != want.note {
			t.Errorf("%s: %+v, want %+v", want.key, r, want)
		}
	}
	keys := func(rows []Row) (out []string) {
		for _, r := range rows {
			out = append(out, r.Key)
		}
		return out
	}
	if diff := cmp.Diff([]string{"io_uring", "network"}, keys(e.Missing())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"capabilities", "limit_cpu"}, keys(e.Lacking())); diff != "" {
		t.Error(diff)
	}
	// What is unknown is not known to be otherwise; capabilities count wherever they are asked for.
	if diff := cmp.Diff([]string{"capabilities", "network"}, keys(e.Unmet())); diff != "" {
		t.Error(diff)
	}
}

func TestDoorTable(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range AllDoors() {
		about := doorTable[d]
		if about.key == "" || about.name == "" || about.why == "" || seen[about.key] {
			t.Errorf("door %d: %+v", d, about)
		}
		seen[about.key] = true
		if back, ok := ParseDoor(d.Key()); !ok || back != d {
			t.Errorf("%s reads back as %s", d.Key(), back)
		}
	}
	if _, ok := ParseDoor("cat_flap"); ok {
		t.Error("an unknown door was found")
	}
}

func TestSummary(t *testing.T) {
	rows := []struct {
		edit func(*Exposure)
		want string
	}{
		{func(e *Exposure) { *e = Exposure{Backend: "local", Tree: OwnersTree} }, "backend local (no boundary: this is your machine)"},
		{func(e *Exposure) { *e = Exposure{Backend: "ssh", Place: "ci@build"} }, "backend ssh (no boundary: all of ci@build is open)"},
		{func(e *Exposure) { *e = Exposure{} }, "backend unknown (no boundary: this is your machine)"},
		{func(*Exposure) {}, "backend native (boundary; network none)"},
		{func(e *Exposure) { e.Tree = OwnersTree }, "backend native (boundary; network none; your work tree is writable)"},
		{func(e *Exposure) { e.Network.Force = OpenNet }, "backend native (boundary; network open)"},
		{func(e *Exposure) { e.Doors[EngineSocket].Force, e.Doors[KeyFiles].Force = Open, Unknown },
			"backend native (no boundary: the container engine can be told what to do, and 1 more)"},
		{func(e *Exposure) { e.Seccomp = NoFilter }, "backend native (no boundary: no system call filter is in force)"},
		{func(e *Exposure) { e.Gaps, e.Runner = []string{"Landlock"}, Plain },
			"backend native (boundary; network none; best effort, without Landlock; plain bash)"},
	}
	for _, r := range rows {
		e := sealed()
		r.edit(&e)
		if got := e.Summary(); got != r.want {
			t.Errorf("%s\nwant %s", got, r.want)
		}
	}
}

func TestJSON(t *testing.T) {
	e := sealed()
	e.Place, e.Means, e.Gaps, e.Probed = "u@h", []string{"seccomp 412 rules"}, []string{"Landlock"}, time.Unix(1_700_000_000, 0).UTC()
	e.Limits = []Limit{{"memory", "bytes", Explicitly, 1, 2, Rlimit}}
	e.Network.Allow = []string{"a.example"}
	e.Caps.Held, e.Caps.Allowed = set("chown")|1<<55, set("chown", "setuid")
	e.Doors[DNS] = State{Explicitly, Open, "answered x.example"}
	a, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Exposure
	if err := json.Unmarshal(a, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back, cmp.AllowUnexported(Exposure{})); diff != "" {
		t.Error(diff)
	}
	if b, _ := json.Marshal(back); string(a) != string(b) {
		t.Errorf("not stable:\n%s\n%s", a, b)
	}
	zero, _ := json.Marshal(Exposure{})
	const want = `{"version":1,"backend":"","contains":[],"doors":{},"seccomp":"unknown","network":{"want":"unasked","asked":"unknown","force":"unknown","no_route":"unknown"},"work_tree":"unknown","limits":[],"runner":"unknown"}`
	if string(zero) != want {
		t.Errorf("%s", zero)
	}
}

// What cannot be read is never read as a wall.
func TestJSONFailsClosed(t *testing.T) {
	for _, text := range []string{`{}`, `{"version":2}`, `[]`, `x`} {
		e := sealed()
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	a, _ := json.Marshal(sealed())
	for _, change := range [][2]string{
		{`"host_write":{"asked":"default","force":"shut"}`, `"host_write":{"asked":"default","force":"closed"}`},
		{`"host_write"`, `"host_wirte"`},
		{`"seccomp":"filter"`, `"seccomp":"strict"`},
		{`"held":[]`, `"held":["omnipotence"]`},
		{`"known":true`, `"known":false`},
	} {
		text := strings.Replace(string(a), change[0], change[1], 1)
		if text == string(a) {
			t.Fatalf("%s is not in %s", change[0], a)
		}
		var e Exposure
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Boundary() {
			t.Errorf("%s: boundary %v, %v", change[1], e.Boundary(), err)
		}
	}
}

func policy() Policy {
	return Policy{
		Backend: "docker", Engine: "docker 20", Image: "i:1", Digest: "sha256:0", User: "0:0", Workdir: "/w", Tree: OwnTree,
		Mounts: []Bind{{"/a", "/b", false, "nosuid"}, {"/c", "/d", true, ""}}, Tmpfs: []string{"/tmp", "/run"}, Caps: 3, Privs: []string{"nnp", "x"},
		Seccomp: "s", Landlock: "l", Limits: []Limit{{Name: "memory", Unit: "bytes", Want: ByDefault, Asked: 5}, {Name: "pids", Asked: 1}},
		Network: Network{Want: ByDefault, Asked: NoNet, Allow: []string{"a", "b"}}, Proxy: "p", EnvNames: []string{"A", "B"}, Runner: "r",
		Extra: []string{"-x", "-y"}, Scope: "session", Effort: true,
	}
}

// Any change of anything that counts is another policy.
func TestFingerprintCoversEverything(t *testing.T) {
	base := Fingerprint(policy())
	if !strings.HasPrefix(base, "v1-") || len(base) != 67 || base != Fingerprint(policy()) {
		t.Errorf("fingerprint %s", base)
	}
	// Measured values are no policy.
	measured := map[string]bool{
		"Network.Force": true, "Network.NoRoute": true, "Limits.Force": true, "Limits.Grade": true, "Doors.Force": true, "Doors.Detail": true,
	}
	seen := map[string]string{base: "nothing"}
	var walk func(name string, get func(*Policy) reflect.Value)
	walk = func(name string, get func(*Policy) reflect.Value) {
		p := policy()
		v := get(&p)
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), func(p *Policy) reflect.Value { return get(p).Field(i) })
			}
			return
		case reflect.Array, reflect.Slice:
			if v.Len() == 0 {
				t.Fatalf("%s is empty in the test", name)
			}
			walk(name, func(p *Policy) reflect.Value { return get(p).Index(0) })
			if v.Kind() == reflect.Slice {
				v.Set(v.Slice(1, v.Len()))
			} else {
				return
			}
		case reflect.String:
			v.SetString(v.String() + "!")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		default:
			v.SetUint(v.Uint() + 1)
		}
		got := Fingerprint(p)
		if measured[name] {
			if got != base {
				t.Errorf("%s, which is measured, changes the policy", name)
			}
			return
		}
		if what, same := seen[got]; same {
			t.Errorf("a change of %s looks like %s", name, what)
		}
		seen[got] = name
	}
	walk("", func(p *Policy) reflect.Value { return reflect.ValueOf(p).Elem() })
	if len(seen) < 35 {
		t.Errorf("only %d changes tried", len(seen))
	}
}

func TestFingerprintOrder(t *testing.T) {
	base := Fingerprint(policy())
	rows := []struct {
		what string
		edit func(*Policy)
		same bool
	}{
		{"variables in another order", func(p *Policy) { p.EnvNames = []string{"B", "A", "A"} }, true},
		{"the allow-list in another order", func(p *Policy) { p.Network.Allow = []string{"b", "a"} }, true},
		{"limits in another order", func(p *Policy) { slices.Reverse(p.Limits) }, true},
		{"mounts in another order", func(p *Policy) { slices.Reverse(p.Mounts) }, false},
		{"arguments in another order", func(p *Policy) { slices.Reverse(p.Extra) }, false},
		{"letters moved to the next argument", func(p *Policy) { p.Extra = []string{"-x-", "y"} }, false},
		{"one list's end moved to the next", func(p *Policy) { p.Tmpfs, p.Privs = []string{"/tmp"}, []string{"/run", "nnp", "x"} }, false},
		{"text that is not UTF-8", func(p *Policy) { p.Image = "i:1\xff" }, false},
	}
	for _, r := range rows {
		p := policy()
		r.edit(&p)
		if (Fingerprint(p) == base) != r.same {
			t.Errorf("%s: same %v", r.what, !r.same)
		}
	}
	p := policy()
	p.EnvNames = []string{"B", "A"}
	Fingerprint(p)
	if p.EnvNames[0] != "B" {
		t.Error("the caller's list was sorted")
	}
}

// Opening or forgetting anything never contains more.
func FuzzOpeningContainsNoMore(f *testing.F) {
	f.Add(uint64(0), uint64(1), uint8(3), uint8(3), uint8(2), "a.example", "b.example")
	f.Fuzz(func(t *testing.T, shut, open uint64, tree, mode, noRoute uint8, allow, target string) {
		e := sealed()
		e.Tree, e.Network.Force, e.Network.NoRoute, e.Network.Allow = Tree(tree), Mode(mode), Reach(noRoute), []string{allow}
		for d := range doorCount {
			e.Doors[d].Force = Unknown
			if shut&(1<<d) != 0 {
				e.Doors[d].Force = Shut
			}
		}
		worse := e
		for d := range doorCount {
			if open&(1<<d) != 0 {
				worse.Doors[d].Force = Open
			}
		}
		before, _ := e.Contains(everything, Target{target, 443})
		after, reasons := worse.Contains(everything, Target{target, 443})
		if after&^before != 0 {
			t.Errorf("opening doors contains more: %s, was %s", after, before)
		}
		for _, r := range reasons {
			if after&r.Harm != 0 {
				t.Errorf("%s is contained, and yet %v", r.Harm, r)
			}
		}
		if text, err := json.Marshal(worse); err != nil || fmt.Sprint(worse.Summary()) == "" {
			t.Errorf("%s: %v", text, err)
		}
	})
}
