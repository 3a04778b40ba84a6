package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/probe"
)

// judge completes the exposure of a place: what can be read inside at once, what the engine says, and, at the first opening
// of a policy, what every door does when it is tried. Where inside and engine disagree, or where something that was asked for
// by name is not in force, it is an error.
func (b *Backend) judge(ctx context.Context, p *place) error {
	seen, err := p.look(ctx)
	if err != nil {
		return fmt.Errorf("open docker sandbox: look inside: %w", err)
	}
	e, err := readBack(p, seen)
	if err != nil {
		return fmt.Errorf("open docker sandbox: %w", err)
	}
	p.exposure, p.apart = e, !p.near(seen)
	p.closing.Lock()
	p.judged = true // from here on commands of ours run inside
	p.closing.Unlock()
	if err := b.try(ctx, p, seen); err != nil {
		return err
	}
	return refuse(&p.exposure, p.d.spec.BestEffort)
}

// look asks the helper what it can read of itself.
func (p *place) look(ctx context.Context) (probe.Seen, error) {
	answer, err := p.Client.Probe(ctx, probe.LookHook, nil)
	if err != nil {
		return nil, err
	}
	var seen probe.Seen
	if err := json.Unmarshal(answer, &seen); err != nil {
		return nil, err
	}
	return seen, nil
}

// readBack makes an exposure of what was asked and what was seen from inside, and compares it with what the engine says.
func readBack(p *place, seen probe.Seen) (exposure.Exposure, error) {
	e := p.d.Asked
	e.Backend, e.Runner = Name, exposure.Resident
	e.Limits = slices.Clone(e.Limits)
	host := probe.Seen(probe.Namespaces())
	now := probe.Read(seen, host)
	for _, door := range exposure.AllDoors() {
		e.Doors.Found(door, now.Doors[door].Force, now.Doors[door].Detail)
	}
	e.Caps.Known, e.Caps.Held = now.Caps.Known, now.Caps.Held
	e.Seccomp = now.Seccomp
	e.Network.Force, e.Network.NoRoute = now.Network.Force, now.Network.NoRoute
	if err := disagree(p, seen, &e); err != nil {
		return e, err
	}
	mounts(p, seen["mountinfo"], &e)
	limits(p, seen, &e)
	e.Means = means(p, seen)
	return e, nil
}

// disagree compares what the engine says of a container with what was seen inside.
func disagree(p *place, seen probe.Seen, e *exposure.Exposure) error {
	h := &p.held.HostConfig
	differ := func(what, engine, inside string) error {
		return fmt.Errorf("the engine and the container disagree on %s: the engine says %s, inside it is %s", what, engine, inside)
	}
	if h.NetworkMode == "none" && e.Network.NoRoute == exposure.Open {
		return differ("the network", "none", "there")
	}
	if allowed := e.Caps.Allowed; e.Caps.Known && !h.Privileged {
		if extra := e.Caps.Held &^ allowed; extra != 0 {
			return differ("capabilities", allowed.String(), e.Caps.Held.String())
		}
	}
	if h.PidMode != "host" && e.Doors[exposure.HostProc].Force == exposure.Open && p.near(seen) {
		return differ("the process namespace", "its own", "the host's")
	}
	if h.NetworkMode != "host" && e.Doors[exposure.HostNet].Force == exposure.Open && p.near(seen) {
		return differ("the network namespace", "its own", "the host's")
	}
	in := p.Client.Inside()
	if !in.NoNewPrivs {
		return differ("new privileges", "none", "possible")
	}
	return nil
}

// near tells whether the container runs on the kernel of this process.
func (p *place) near(seen probe.Seen) bool {
	own := bootID()
	return own == "" || strings.TrimSpace(seen["boot_id"]) == own
}

// Mounts that every engine makes of its own files, and file systems that are made new inside.
var engineMounts = [...]string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run/.containerenv", "/run/secrets",
	"/run/podman-init", "/dev/init"}

// engines tells whether a mount is of the engine's own files. Where its init is depends on the links of the image.
func engines(m mountPoint) bool {
	return slices.Contains(engineMounts[:], m.target) || !m.write && strings.HasSuffix(m.target, "/docker-init")
}

// mountPoint is one line of mountinfo.
type mountPoint struct {
	target string
	write  bool
	kind   string
}

func mountPoints(text string) (out []mountPoint, ok bool) {
	for line := range strings.Lines(text) {
		head, tail, cut := strings.Cut(strings.TrimSpace(line), " - ")
		f, t := strings.Fields(head), strings.Fields(tail)
		if !cut || len(f) < 6 || len(t) < 1 {
			return nil, false
		}
		out = append(out, mountPoint{f[4], slices.Contains(strings.Split(f[5], ","), "rw"), t[0]})
	}
	return out, len(out) > 0
}

// inVirtual tells whether a mount is of a kind that shows no file of the host.
func inVirtual(m mountPoint) bool {
	switch m.kind {
	case "tmpfs", "proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2", "ramfs", "dev": // the last is gVisor's
		return true
	}
	return strings.HasPrefix(m.target, "/dev/") || strings.HasPrefix(m.target, "/proc/") || strings.HasPrefix(m.target, "/sys/")
}

// mounts compares what is mounted inside with the plan: whatever else there is could be the host's.
func mounts(p *place, text string, e *exposure.Exposure) {
	points, ok := mountPoints(text)
	if !ok {
		return // unknown counts as open
	}
	read, write := exposure.Shut, exposure.Shut
	detail := ""
	for _, m := range points {
		if m.target == "/" || inVirtual(m) || engines(m) {
			continue
		}
		known, owners, may := p.planned(m.target)
		switch {
		case !known:
			read, detail = exposure.Open, m.target
			if m.write {
				write = exposure.Open
			}
		case owners || m.write && !may:
			// What the owner mounted was judged when it was planned; see Risks.
			if m.write && !may {
				write, detail = exposure.Open, m.target
			}
		}
	}
	for _, r := range p.d.Risks {
		for _, door := range r.Opens {
			e.Doors.Found(door, exposure.Open, r.Text)
		}
	}
	e.Doors.Found(exposure.HostRead, read, detail)
	e.Doors.Found(exposure.HostWrite, write, detail)
	for _, door := range [...]exposure.Door{exposure.KeyFiles, exposure.HomeWrite, exposure.RCFiles} {
		e.Doors.Found(door, read, detail)
	}
}

// planned tells whether the plan mounts something at a place inside, whether that is the owner's, and may be written.
func (p *place) planned(target string) (known, owners, write bool) {
	for _, m := range p.d.Mounts {
		if filepath.Clean(m.Target) == target {
			return true, !m.Mine, m.Write
		}
	}
	for _, m := range p.held.Mounts { // volumes the engine made itself, as an image asks for
		if m.Type == "volume" && filepath.Clean(m.Destination) == target {
			return true, false, m.RW
		}
	}
	return false, false, false
}

// own lists where file systems are mounted inside that are the container's own or Hermes'.
func (p *place) own() []string {
	out := append([]string{"/"}, engineMounts[:]...)
	for _, m := range p.d.Mounts {
		if m.Mine || m.Kind == container.Memory {
			out = append(out, filepath.Clean(m.Target))
		}
	}
	for _, m := range p.held.Mounts {
		if m.Type == "volume" {
			out = append(out, filepath.Clean(m.Destination))
		}
	}
	if p.apart {
		out = append(out, "/proc", "/sys") // of a kernel of its own
	}
	return out
}

// limits reads which limits are in force: from inside where that is possible, else as the engine says.
func limits(p *place, seen probe.Seen, e *exposure.Exposure) {
	for i := range e.Limits {
		l := &e.Limits[i]
		if n, grade, ok := control(seen, l.Name); ok {
			l.Force, l.Grade = n, grade
			if n == 0 {
				l.Grade = exposure.NoGrade
			}
			continue
		}
		l.Force = stated(&p.held.details, l.Name)
		if l.Force > 0 {
			l.Grade = exposure.Engine
		}
	}
	for _, lack := range p.d.NotInForce {
		if !slices.Contains(e.Gaps, lack.What) && strings.HasSuffix(lack.What, "limit") {
			e.Means = append(e.Means, "no "+lack.What)
		}
	}
}

// stated returns a limit as the engine says it is set, 0 for none.
func stated(c *details, name string) uint64 {
	h := &c.HostConfig
	switch name {
	case "memory":
		return uint64(max(h.Memory, 0))
	case "pids":
		if h.PidsLimit != nil {
			return uint64(max(*h.PidsLimit, 0))
		}
	case "cpu":
		if n := uint64(max(h.NanoCpus, 0)) / 1e6; n != 0 || h.CpuPeriod <= 0 {
			return n
		}
		return uint64(max(h.CpuQuota, 0)) * 1000 / uint64(h.CpuPeriod)
	case "disk":
		if size, ok := h.StorageOpt["size"]; ok {
			return bytesOf(size)
		}
	}
	return 0
}

// control reads a limit of the control groups from what was seen inside. 0: none.
func control(seen probe.Seen, name string) (n uint64, grade exposure.Grade, ok bool) {
	number := func(text string) (uint64, bool) {
		text = strings.TrimSpace(text)
		if text == "max" || text == "-1" {
			return 0, true
		}
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	}
	switch name {
	case "memory":
		if text, there := seen["cgroup/memory.max"]; there {
			n, ok = number(text)
			return n, exposure.CgroupV2, ok
		}
		if text, there := seen["cgroup/memory/memory.limit_in_bytes"]; there {
			if n, ok = number(text); n > 1<<60 {
				n = 0
			}
			return n, exposure.CgroupV1, ok
		}
	case "pids":
		if text, there := seen["cgroup/pids.max"]; there {
			n, ok = number(text)
			return n, exposure.CgroupV2, ok
		}
		if text, there := seen["cgroup/pids/pids.max"]; there {
			n, ok = number(text)
			return n, exposure.CgroupV1, ok
		}
	case "cpu":
		if text, there := seen["cgroup/cpu.max"]; there {
			f := strings.Fields(text)
			if len(f) != 2 {
				return 0, 0, false
			}
			quota, ok := number(f[0])
			period, ok2 := number(f[1])
			if !ok || !ok2 || period == 0 {
				return 0, 0, false
			}
			return quota * 1000 / period, exposure.CgroupV2, true
		}
		quota, ok := number(seen["cgroup/cpu/cpu.cfs_quota_us"])
		period, ok2 := number(seen["cgroup/cpu/cpu.cfs_period_us"])
		if ok && ok2 && period > 0 {
			return quota * 1000 / period, exposure.CgroupV1, true
		}
	}
	return 0, 0, false
}

// bytesOf reads a size as engines write it.
func bytesOf(text string) uint64 {
	text = strings.ToLower(strings.TrimSpace(text))
	unit := uint64(1)
	for suffix, n := range map[string]uint64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = rest, n
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n * unit
}

// means says by what it is done.
func means(p *place, seen probe.Seen) (out []string) {
	if r := p.held.HostConfig.Runtime; r != "" && r != "runc" && r != "oci" {
		out = append(out, r)
	}
	if !p.near(seen) {
		out = append(out, "a kernel of its own")
	}
	if filter, rules := p.b.filter(p.d); len(filter) > 0 {
		out = append(out, fmt.Sprintf("seccomp %d rules", rules))
	}
	if p.d.Reuse {
		return append(out, "kept")
	}
	return append(out, "thrown away at the end")
}

// probeTime bounds the active probe as a whole, keepTime is how long its answer counts.
const (
	probeTime = 15 * time.Second
	keepTime  = 24 * time.Hour
)

// try has every door tried from inside, at the first opening of a policy; later openings take that answer.
func (b *Backend) try(ctx context.Context, p *place, seen probe.Seen) error {
	if len(b.conf.Probe) == 0 {
		return nil
	}
	key := p.d.key + " " + p.release(seen)
	known, ok := b.remember(key)
	if !ok {
		found, err := b.probe(ctx, p)
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("open docker sandbox: %w", context.Cause(ctx))
		case err != nil:
			b.log("the container could not be probed: " + err.Error())
			return nil
		}
		known = verdict{found, time.Now()}
		b.keep(key, known)
	}
	p.exposure = p.exposure.Combine(known.Exposure)
	return nil
}

// release tells kernels apart: an answer of one says nothing of another.
func (p *place) release(seen probe.Seen) string {
	if p.apart {
		return p.e.title() + " " + p.held.HostConfig.Runtime
	}
	return strings.TrimSpace(seen["boot_id"])
}

// probe starts the probe's program inside, as a command.
func (b *Backend) probe(ctx context.Context, p *place) (exposure.Exposure, error) {
	var e exposure.Exposure
	stage, err := probe.SetUp(b.conf.State)
	if err != nil {
		return e, fmt.Errorf("set up: %w", err)
	}
	defer stage.Close()
	text, err := json.Marshal(p.Targets(stage.Targets))
	if err != nil {
		return e, err
	}
	var out, trouble strings.Builder
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	status, err := p.Client.Run(ctx, sandbox.Command{
		Argv: append([]string{probePath}, append(slices.Clone(b.conf.Probe[1:]), string(text))...), Dir: "/", Stdout: &out, Stderr: &trouble, Timeout: probeTime,
	})
	if err != nil {
		return e, err
	}
	if status.Code != 0 {
		return e, fmt.Errorf("exit code %d: %s", status.Code, strings.TrimSpace(trouble.String()))
	}
	if err := json.Unmarshal([]byte(out.String()), &e); err != nil {
		return e, err
	}
	return e, nil
}

// Targets completes what the probe is to reach for with what it has to know of the container.
func (p *place) Targets(t probe.Targets) probe.Targets {
	t.Home, t.Tree, t.Own = p.b.conf.Home, p.d.Workdir, p.own()
	return t
}

// ProbeProgram returns where the probe's program is inside.
func (p *place) ProbeProgram() string { return probePath }

// refuse finds what was asked for by name and is not in force. With best effort it is told with every result instead.
func refuse(e *exposure.Exposure, effort bool) error {
	for _, row := range e.Unmet() {
		if effort {
			if !slices.Contains(e.Gaps, row.Name) {
				e.Gaps = append(e.Gaps, row.Name)
			}
			continue
		}
		return &sandbox.MissingError{Backend: Name, What: row.Name, Why: row.Note, Remedy: remedy(row.Key)}
	}
	return nil
}

func remedy(key string) string {
	if _, limit := strings.CutPrefix(key, "limit_"); limit {
		return "this engine does not enforce it: take the limit out of terminal.container_*, or use an engine that does"
	}
	return "see `hermes sandbox verify --backend docker`, and what terminal.docker_extra_args and terminal.docker_volumes open"
}
