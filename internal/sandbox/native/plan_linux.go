package native

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native/seccomp"
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/probe"
)

// design is a sandbox before it exists.
type design struct {
	plan  wall.Plan // as a whole
	base  *base     // what it begins with, nil: nothing
	flags uintptr
	home  string // inside
	tree  string
	whose string // session and work tree

	fingerprint string            // of the policy
	key         [sha256.Size]byte // see identify

	asked exposure.Exposure
	notes []string // what a result should say
	gaps  []string // walls that are left out
	rules int      // of the system call filter

	held    []string // what of the work tree is held by mounts
	absent  []string // what must not appear in it
	made    []string // what is told when it appears in it
	covered []string // what of the system is hidden by mounts alone

	probe string            // the probe's program inside
	vars  map[string]string // variables that this place needs
	own   string            // a directory that goes with the sandbox

	named     []string // what of the host the owner named
	homeShown bool     // his home is among it, as writable
	keysShown string   // why keys can be read: it is among it, or what holds some
}

// bind is one path of the host that is shown in its own place.
type bind struct {
	path  string
	write bool
	soft  bool // no error when it does not exist
	rank  rank
}

type rank uint8

const (
	toolRank rank = iota // of what is shown at one path, the later holds
	readRank
	treeRank
	repoRank
	guardRank
	writeRank
)

// outline begins a plan: whether there may be such a sandbox at all, and in which namespaces.
func (b *Backend) outline(h *host, spec sandbox.Spec) (*design, error) {
	d := &design{probe: ProbePath, tree: spec.Workdir.String(), home: b.conf.Home}
	if home, ok := spec.Env.Lookup("HOME"); ok && filepath.IsAbs(home) && home != "/" {
		d.home = filepath.Clean(home)
	} else if filepath.IsAbs(d.home) { // no policy gives it to this surface: it is this sandbox's own
		d.vars = map[string]string{"HOME": d.home}
	}
	if err := b.settle(spec, d); err != nil {
		return nil, err
	}
	d.whose = spec.Session.String() + "\x00" + d.tree
	d.flags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	network := spec.Network.Asked != exposure.OpenNet
	if network {
		d.flags |= unix.CLONE_NEWNET
	}
	d.base = h.base(network)
	d.plan = d.base.whole()
	return d, nil
}

// complete plans the rest, from what was asked and what this machine has at this moment.
func (d *design) complete(b *Backend, h *host, spec sandbox.Spec) error {
	f := usual()
	d.plan.Filter, d.rules = f.program, f.rules
	d.plan.Limits = []wall.Rlimit{{Kind: unix.RLIMIT_CORE}, {Kind: unix.RLIMIT_MSGQUEUE}}
	d.covered = d.base.covered
	for _, path := range d.covered {
		d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: wall.Hide, Target: path, Missing: true})
	}
	d.plan.Write = append(d.plan.Write, d.home)
	if spec.Exit != nil {
		if err := d.names(cmp.Or(b.conf.State, spec.Home)); err != nil {
			return err
		}
	}
	if err := d.show(b, h, spec); err != nil {
		return err
	}
	d.walls(h)
	d.describe(h, spec)
	d.key = d.identify(&b.pool.mounts, spec)
	return nil
}

// identify returns what two sandboxes must have in common to stand in for each other: the plan, with the identity of
// everything of the host that it shows or hides and what is mounted there, whose it is, and all that its commands will find.
func (d *design) identify(mounts *mountWatch, spec sandbox.Spec) [sha256.Size]byte {
	plan := d.base.rest(d.plan) // what it begins with goes by the flags and the secrets
	plan.Filter = nil           // is the same for all
	text := binary.BigEndian.AppendUint64(plan.Marshal(), d.base.secrets)
	var sources []string
	for _, s := range d.plan.Steps {
		path := s.Source
		switch s.Kind {
		case wall.Hide:
			if path = s.Target; within("/proc", path) || within("/etc", path) { // its own; or counted with the secrets
				continue
			}
		case wall.Read, wall.Write, wall.Scratch:
			sources = append(sources, path)
			if slices.Contains(systemDirs[:], path) {
				continue
			}
		default:
			continue
		}
		text = appendFile(text, path)
	}
	text = mounts.around(text, sources)
	text = fmt.Appendf(text, "%d %q %q %q %q %v %v %q %v %v %q", d.flags, spec.Session, spec.Home, spec.Env.Strings(), spec.Env.Absent(),
		spec.Network, spec.Limits, spec.InitFiles, spec.Persistent, spec.BestEffort, spec.Secrets)
	return sha256.Sum256(text)
}

type filter struct {
	program []byte
	rules   int
}

// usual is the filter of a sandbox in namespaces.
var usual = sync.OnceValue(func() (f filter) {
	f.program, f.rules = seccomp.Filter(seccomp.Options{})
	return f
})

// settle refuses work trees that would make the owner's everything the commands' own.
func (b *Backend) settle(spec sandbox.Spec, d *design) error {
	if d.tree == "" || !filepath.IsAbs(d.tree) {
		return fmt.Errorf("open native sandbox: work tree %q is not absolute", d.tree)
	}
	real, err := resolve(d.tree)
	if err != nil {
		return fmt.Errorf("open native sandbox: work tree: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return fmt.Errorf("open native sandbox: work tree %s is not a directory", d.tree)
	}
	named := func(path string) bool {
		return slices.ContainsFunc(spec.Write, func(w string) bool { return filepath.Clean(w) == path })
	}
	for _, own := range []string{b.conf.Home, spec.Home} {
		if own == "" {
			continue
		}
		if at, err := resolve(own); err == nil {
			own = at
		}
		if within(real, own) && !named(real) {
			return &sandbox.MissingError{Backend: Name, What: exposure.HomeWrite.String(),
				Why:    d.tree + " holds your home, so commands could write all of it",
				Remedy: "work in a folder below it, or name " + d.tree + " in terminal.native_write"}
		}
	}
	for _, dir := range append(systemDirs[:], "/proc", "/sys", "/dev", "/run", "/boot", "/var", "/home", "/root") {
		inner := within(dir, real) && dir != "/opt" && dir != "/var" && dir != "/home" && dir != "/root"
		if (inner || within(real, dir)) && !named(real) {
			return &sandbox.MissingError{Backend: Name, What: exposure.HostWrite.String(), Why: d.tree + " is the system's",
				Remedy: "work in a folder of your own, or name " + d.tree + " in terminal.native_write"}
		}
	}
	return nil
}

// show lists what of the owner's is shown: each path in its own place, those below after those above.
func (d *design) show(b *Backend, h *host, spec sandbox.Spec) error {
	g := guard(d.tree)
	if g.partial {
		d.notes = append(d.notes, "the work tree is too large to find every repository in it")
	}
	var all []bind
	for _, path := range h.tools(b.conf.Home, b.conf.Path) {
		all = append(all, bind{path, false, true, toolRank})
	}
	for _, list := range []struct {
		paths []string
		rank  rank
	}{{spec.Read, readRank}, {spec.Write, writeRank}} {
		for _, path := range list.paths {
			path = filepath.Clean(path)
			if !filepath.IsAbs(path) {
				return fmt.Errorf("open native sandbox: %s is not absolute", path)
			}
			if path == "/" {
				return fmt.Errorf("open native sandbox: / cannot be shown as a whole: name the folders in it")
			}
			if _, err := os.Stat(path); err != nil {
				d.notes = append(d.notes, path+" does not exist")
				continue
			}
			all = append(all, bind{path, list.rank == writeRank, true, list.rank})
			d.named = append(d.named, path)
		}
	}
	all = append(all, bind{d.tree, true, false, treeRank})
	if g.common != "" {
		d.notes = append(d.notes, "the repository of this work tree is shown as well: "+g.common)
	}
	for _, path := range g.repos {
		all = append(all, bind{path, true, false, repoRank})
	}
	for _, path := range g.paths {
		all = append(all, bind{path, false, false, guardRank})
	}
	d.held, d.absent = slices.Concat(g.repos, g.paths), g.absent
	d.made = g.made
	slices.SortStableFunc(all, func(x, y bind) int {
		return cmp.Or(byDepth(x.path, y.path), cmp.Compare(x.rank, y.rank))
	})
	shown := func(home string) bool {
		return slices.ContainsFunc(all, func(x bind) bool { return x.write && within(x.path, home) })
	}
	open := shown(d.home)
	if b.conf.Home != "" { // the owner's; commands may call another one home
		d.homeShown = shown(filepath.Clean(b.conf.Home))
		d.keysShown = keys(filepath.Clean(b.conf.Home), append([]string{d.tree}, d.named...))
	}
	if !open {
		d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: wall.Tmpfs, Target: d.home})
		if spec.Home != "" {
			cache := filepath.Join(spec.Home, "cache-"+short(d.tree))
			d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: wall.Scratch, Source: cache, Target: filepath.Join(d.home, ".cache")})
		}
		d.plan.Steps = append(d.plan.Steps,
			wall.Step{Kind: wall.Link, Source: ".cache/npm", Target: filepath.Join(d.home, ".npm")},
			wall.Step{Kind: wall.File, Target: filepath.Join(d.home, ".gitconfig"), Text: identity(b.conf.Home, []string{d.tree})})
	}
	for _, x := range all {
		kind := wall.Read
		if x.write {
			kind = wall.Write
			d.plan.Write = append(d.plan.Write, x.path)
		} else {
			d.plan.Read = append(d.plan.Read, x.path)
		}
		d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: kind, Source: x.path, Target: x.path, Missing: x.soft})
	}
	for _, link := range g.links { // covered by nothing: a link could be replaced by a folder
		d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: wall.Hide, Target: link, Missing: true})
	}
	if len(b.conf.Probe) > 0 {
		d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: wall.Read, Source: b.conf.Probe[0], Target: ProbePath})
	}
	return nil
}

// keys tells why keys below a home can be read where some paths are shown, "" if they cannot. The probe tries the same from
// inside; this is for openings without one.
func keys(home string, shown []string) string {
	files := probe.KeyFiles(home)
	for _, path := range shown {
		if within(path, home) {
			return "the home is shown as it is"
		}
		for _, key := range files {
			if !within(path, key) {
				continue
			}
			if _, err := os.Stat(key); err == nil {
				return path + " holds keys"
			}
		}
	}
	return ""
}

// byDepth compares paths so that one comes before what is below it, and that before its neighbours.
func byDepth(x, y string) int {
	for i := 0; i < len(x) && i < len(y); i++ {
		switch a, b := x[i], y[i]; {
		case a == b:
		case a == '/':
			return -1
		case b == '/':
			return 1
		default:
			return cmp.Compare(a, b)
		}
	}
	return cmp.Compare(len(x), len(y))
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// walls notes which walls this kernel lacks; opening will say so, or go on.
func (d *design) walls(h *host) {
	if h.landlock == 0 {
		d.notes = append(d.notes, "this kernel has no Landlock")
	}
}

// describe says what was asked, in the words of exposure.
func (d *design) describe(h *host, spec sandbox.Spec) {
	e := &d.asked
	e.Backend = Name
	e.Runner = exposure.Resident
	e.Tree = exposure.OwnersTree
	if spec.Home != "" && within(spec.Home, d.tree) {
		e.Tree = exposure.OwnTree
	}
	for _, door := range exposure.AllDoors() {
		switch door {
		case exposure.LoopbackTCP, exposure.LoopbackUDP, exposure.HostNet, exposure.DNS, exposure.Metadata:
			if !d.plan.Network {
				continue // the owner asked for an open network
			}
		}
		want := exposure.Explicitly
		if door == exposure.GitHooks || door == exposure.GitConfig {
			want = exposure.ByDefault // where a repository is too odd to be held, that is told, and work goes on
		}
		e.Doors.Ask(want, door)
	}
	e.Caps.Want = exposure.Explicitly
	e.Network = spec.Network
	e.Network.Force, e.Network.NoRoute = exposure.UnknownNet, exposure.Unknown
	if e.Network.Asked == exposure.UnknownNet {
		e.Network.Asked, e.Network.Want = exposure.NoNet, exposure.ByDefault
	}
}

// print computes the fingerprint of the policy.
func (d *design) print(h *host, spec sandbox.Spec) {
	filter := sha256.Sum256(d.plan.Filter)
	e := &d.asked
	p := exposure.Policy{
		Backend: Name, Engine: h.release + " flags " + strconv.FormatUint(uint64(d.flags), 16), User: fmt.Sprintf("%d:%d", h.uid, h.gid),
		Workdir: d.tree, Tree: e.Tree, Seccomp: hex.EncodeToString(filter[:]),
		Landlock: fmt.Sprintf("abi %d read %q write %q devices %q open %q", h.landlock, d.plan.Read, d.plan.Write, d.plan.Devices, d.plan.Open),
		Network:  e.Network, EnvNames: spec.Env.Names(), Doors: e.Doors, Scope: spec.Session.String(), Effort: spec.BestEffort,
		Limits: []exposure.Limit{{Name: "memory", Asked: uint64(spec.Limits.Memory)}, {Name: "pids", Asked: uint64(spec.Limits.PIDs)},
			{Name: "cpu", Asked: uint64(spec.Limits.CPU)}, {Name: "disk", Asked: uint64(spec.Limits.Disk)}},
	}
	for _, s := range d.plan.Steps {
		p.Mounts = append(p.Mounts, exposure.Bind{Source: s.Source, Target: s.Target, Write: s.Kind == wall.Write, Options: string(s.Kind) + s.Text})
	}
	d.fingerprint = exposure.Fingerprint(p)
}
