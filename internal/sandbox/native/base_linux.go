package native

import (
	"cmp"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/native/wall"
)

// base is what all sandboxes of this machine in namespaces begin with: the system and what is made new inside, and Landlock's
// rules for that. It is sent before anything else is planned, to a process that waits for any policy too.
type base struct {
	plan    wall.Plan
	covered []string // what of the system has to be hidden by mounts: where there is no Landlock
	secrets uint64   // which look at the system's secrets it goes by
}

// base returns it for sandboxes with a network of their own or the host's. It is the same value as long as it would be the same.
func (h *host) base(network bool) *base {
	private, number := h.secret()
	h.lock.Lock()
	defer h.lock.Unlock()
	at := 0
	if network {
		at = 1
	}
	if b := h.bases[at]; b != nil && b.secrets == number {
		return b
	}
	h.bases[at] = h.plan(network, private)
	h.bases[at].secrets = number
	return h.bases[at]
}

// plan lists the system, and what is made new inside.
func (h *host) plan(network bool, private secrets) *base {
	b := &base{plan: wall.Plan{More: true, Namespaces: true, Network: network, Hostname: "hermes", Landlock: true}}
	add := func(steps ...wall.Step) { b.plan.Steps = append(b.plan.Steps, steps...) }
	add(h.system...)
	add(wall.Step{Kind: wall.Proc, Target: "/proc"})
	for _, path := range procSecrets {
		add(wall.Step{Kind: wall.Hide, Target: path, Missing: true})
	}
	for _, dev := range [...]string{"null", "zero", "full", "random", "urandom", "tty"} {
		add(wall.Step{Kind: wall.Device, Source: "/dev/" + dev, Target: "/dev/" + dev, Missing: dev != "null"})
		b.plan.Devices = append(b.plan.Devices, "/dev/"+dev)
	}
	for to, from := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		add(wall.Step{Kind: wall.Link, Source: from, Target: "/dev/" + to})
	}
	slices.SortStableFunc(b.plan.Steps[len(b.plan.Steps)-5:], func(a, b wall.Step) int { return cmp.Compare(a.Target, b.Target) })
	add(
		wall.Step{Kind: wall.Devpts, Target: "/dev/pts"},
		wall.Step{Kind: wall.Tmpfs, Target: "/dev/shm"},
		wall.Step{Kind: wall.Tmpfs, Target: "/tmp", Text: "50%"},
		wall.Step{Kind: wall.Dir, Target: "/run"},
		wall.Step{Kind: wall.Dir, Target: "/var"},
		wall.Step{Kind: wall.Link, Source: "/run", Target: "/var/run"},
		wall.Step{Kind: wall.Tmpfs, Target: "/var/tmp", Text: "50%"},
	)
	b.plan.Devices = append(b.plan.Devices, "/dev/pts")
	// Root may read root's own files. Landlock says what of /etc is to be read, whatever the host puts there later. Where there is
	// none they are covered, which has to be watched: a cover falls off when the host replaces what is below it.
	if h.landlock == 0 {
		b.covered = private.hidden
	}
	for _, dir := range h.readable {
		if dir == etc && h.landlock > 0 && len(private.hidden) > 0 {
			b.plan.Open = private.open
		} else {
			b.plan.Read = append(b.plan.Read, dir)
		}
	}
	b.plan.Read = append(b.plan.Read, "/proc", "/dev", "/run", "/var")
	b.plan.Write = append(b.plan.Write, "/tmp", "/var/tmp", "/dev/shm", "/dev/pts")
	return b
}

// whole begins a plan with a base.
func (b *base) whole() wall.Plan {
	p := b.plan
	p.More = false
	p.Steps, p.Read, p.Open = slices.Clip(p.Steps), slices.Clip(p.Read), slices.Clip(p.Open)
	p.Write, p.Devices = slices.Clip(p.Write), slices.Clip(p.Devices)
	return p
}

// rest returns what of a plan that began with it is still to be sent.
func (b *base) rest(p wall.Plan) *wall.Plan {
	if b == nil {
		return &p
	}
	p.Steps, p.Read, p.Open = p.Steps[len(b.plan.Steps):], p.Read[len(b.plan.Read):], p.Open[len(b.plan.Open):]
	p.Write, p.Devices = p.Write[len(b.plan.Write):], p.Devices[len(b.plan.Devices):]
	return &p
}

// shown returns the identity of what of the host it shows.
func (b *base) shown() (out []byte) {
	for _, s := range b.plan.Steps {
		if s.Kind == wall.Read || s.Kind == wall.Device {
			out = appendFile(out, s.Source)
		}
	}
	return out
}

// appendFile appends which file is at a path. What is not there is all zeroes.
func appendFile(text []byte, path string) []byte {
	var info unix.Stat_t
	_ = unix.Stat(path, &info)
	text = binary.BigEndian.AppendUint64(text, info.Dev)
	text = binary.BigEndian.AppendUint64(text, info.Ino)
	return binary.BigEndian.AppendUint32(text, info.Mode)
}
