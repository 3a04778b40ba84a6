package exposure

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// PolicyVersion changes whenever the meaning of a Policy does: what was opened under another version is not used again.
const PolicyVersion = 1

// Policy is all that decides what a sandbox will expose. Two sandboxes may stand in for each other only if their policies have
// one fingerprint.
type Policy struct {
	Backend  string
	Engine   string // program and version of the engine or kernel features used
	Image    string // name as configured
	Digest   string // what the name stood for
	User     string // user and group inside
	Workdir  string
	Tree     Tree
	Mounts   []Bind // in the order in which they are made
	Tmpfs    []string
	Caps     CapSet
	Privs    []string // security options, devices, namespaces shared with the host
	Seccomp  string   // hash of the filter
	Landlock string   // hash of the rules, with the ABI
	Limits   []Limit  // only what was asked counts
	Network  Network  // only what was asked counts
	Proxy    string   // the egress posture: proxy, certificates; without tokens
	EnvNames []string
	Runner   string   // hash of the helper
	Doors    Doors    // only what was asked counts
	Extra    []string // further arguments of the engine, in order
	Scope    string   // whose it is, where sandboxes are not shared
	Effort   bool     // runs with what the host can do
}

// Bind is one mount.
type Bind struct {
	Source, Target string
	Write          bool
	Options        string
}

// Fingerprint returns a stable name for the policy as a whole: "v1-" and 64 hexadecimal digits. Sets (capabilities, variables,
// the allow-list, tmpfs, limits) count without their order; lists whose order matters (mounts, extra arguments) count with it.
func Fingerprint(p Policy) string {
	f := digest{sha256.New()}
	f.text("hermes sandbox policy")
	f.number(PolicyVersion)
	for _, s := range []string{p.Backend, p.Engine, p.Image, p.Digest, p.User, p.Workdir, p.Tree.String(), p.Seccomp, p.Landlock, p.Proxy, p.Runner, p.Scope} {
		f.text(s)
	}
	f.flag(p.Effort)
	f.number(uint64(p.Caps))
	f.number(uint64(len(p.Mounts)))
	for _, m := range p.Mounts {
		f.text(m.Source)
		f.text(m.Target)
		f.flag(m.Write)
		f.text(m.Options)
	}
	f.list(p.Extra)
	for _, set := range [][]string{p.Tmpfs, p.Privs, p.EnvNames, p.Network.Allow} {
		set = slices.Sorted(slices.Values(set))
		f.list(slices.Compact(set))
	}
	f.number(uint64(p.Network.Want))
	f.number(uint64(p.Network.Asked))
	limits := slices.SortedFunc(slices.Values(p.Limits), func(a, b Limit) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	f.number(uint64(len(limits)))
	for _, l := range limits {
		f.text(l.Name)
		f.text(l.Unit)
		f.number(uint64(l.Want))
		f.number(l.Asked)
	}
	for d := range doorCount {
		f.text(d.Key())
		f.number(uint64(p.Doors[d].Asked))
	}
	return "v1-" + hex.EncodeToString(f.h.Sum(nil))
}

// digest writes values so that no two sequences of them look alike: each text after its length.
type digest struct{ h hash.Hash }

func (d digest) number(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	d.h.Write(b[:])
}

func (d digest) text(s string) {
	d.number(uint64(len(s)))
	d.h.Write([]byte(s))
}

func (d digest) list(items []string) {
	d.number(uint64(len(items)))
	for _, s := range items {
		d.text(s)
	}
}

func (d digest) flag(b bool) {
	if b {
		d.number(1)
	} else {
		d.number(0)
	}
}
