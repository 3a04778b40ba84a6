package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native/wall"
	"hermes/internal/sandbox/probe"
)

// landlockGap is how results name that there is no Landlock.
const landlockGap = "Landlock"

// readBack makes an exposure of what a sandbox was asked to be and what was seen from inside.
func (d *design) readBack(h *host, r *wall.Report) exposure.Exposure {
	e := d.asked
	seen := probe.Read(probe.Seen(r.Seen), probe.Seen(h.self))
	for _, door := range exposure.AllDoors() {
		e.Doors.Found(door, seen.Doors[door].Force, seen.Doors[door].Detail)
	}
	e.Caps.Known, e.Caps.Held = seen.Caps.Known, seen.Caps.Held
	e.Seccomp = seen.Seccomp
	e.Network.Force, e.Network.NoRoute = seen.Network.Force, seen.Network.NoRoute
	d.readMounts(&e, r.Seen["mountinfo"])
	e.Gaps = append(slices.Clone(e.Gaps), d.gaps...)
	if r.Landlock == 0 {
		e.Gaps = append(e.Gaps, landlockGap)
	}
	return e
}

// readMounts compares what is mounted inside with what was planned.
func (d *design) readMounts(e *exposure.Exposure, mounts string) {
	if mounts == "" || !d.plan.Namespaces {
		return
	}
	planned := map[string]bool{}                         // target, and whether it may be written
	made := map[string]bool{"/": true, wall.Empty: true} // new inside
	for _, s := range d.plan.Steps {
		switch s.Kind {
		case wall.Read, wall.Device:
			planned[s.Target] = false
		case wall.Write, wall.Scratch:
			planned[s.Target] = true
		case wall.Tmpfs, wall.Proc, wall.Devpts, wall.Hide:
			made[s.Target] = true
		}
	}
	write, read := exposure.Shut, exposure.Shut
	for line := range strings.Lines(mounts) {
		m, ok := parseMount(line)
		if !ok {
			return
		}
		if m.source == m.kind && made[m.target] {
			continue
		}
		target, may, ok := covering(planned, m.target)
		if !ok {
			read = exposure.Open
		}
		if !strings.HasPrefix(target, "/dev/") && !may && slices.Contains(strings.Split(m.options, ","), "rw") {
			write = exposure.Open
		}
	}
	e.Doors.Found(exposure.HostWrite, write, "")
	e.Doors.Found(exposure.HostRead, read, "")
	e.Doors.Found(exposure.KeyFiles, read, "")
	e.Doors.Found(exposure.HomeWrite, write, "")
	e.Doors.Found(exposure.RCFiles, write, "")
	if d.keysShown != "" {
		e.Doors.Found(exposure.KeyFiles, exposure.Open, d.keysShown)
	}
	if d.homeShown {
		e.Doors.Found(exposure.HomeWrite, exposure.Open, "the home is shown as it is")
		e.Doors.Found(exposure.RCFiles, exposure.Open, "the home is shown as it is")
	}
}

// covering returns the planned mount that a mount belongs to: itself, or one above that brought it along.
func covering(planned map[string]bool, target string) (path string, write, ok bool) {
	for path = target; ; {
		if write, ok = planned[path]; ok {
			return path, write, true
		}
		i := strings.LastIndexByte(path, '/')
		if i <= 0 {
			return target, false, false
		}
		path = path[:i]
	}
}

// judge completes an exposure: by the active probe, at the first opening of a policy, or by what that found. Then it refuses
// what is not as it was asked, unless the owner said that it may be.
func (b *Backend) judge(ctx context.Context, p *place, d *design, spec sandbox.Spec) error {
	e := &p.exposure
	if slices.Contains(e.Gaps, landlockGap) && !spec.BestEffort {
		return &sandbox.MissingError{Backend: Name, What: landlockGap, Why: "this kernel was built without it, or started without it",
			Remedy: "add landlock to the kernel's parameter lsm=, or " + effortRemedy}
	}
	if leaks(spec) {
		e.Doors.Found(exposure.EnvSecrets, exposure.Open, "the environment holds a secret")
	}
	key := d.fingerprint
	b.mu.Lock()
	known, ok := b.probed[key]
	b.mu.Unlock()
	if !ok && len(b.conf.Probe) > 0 {
		found, err := b.probe(ctx, p, d, spec)
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("open native sandbox: %w", context.Cause(ctx))
		case err != nil:
			b.log("the sandbox could not be probed: " + err.Error())
		default:
			known, ok = verdict{found, found.Probed}, true
			b.mu.Lock()
			b.probed[key] = known
			b.mu.Unlock()
		}
	}
	if ok {
		*e = e.Combine(known.exposure)
	}
	for _, row := range e.Unmet() {
		if !spec.BestEffort {
			return unmet(row)
		}
		if !slices.Contains(e.Gaps, row.Name) {
			e.Gaps = append(e.Gaps, row.Name)
		}
	}
	return nil
}

const effortRemedy = "set terminal.native_best_effort: true to run without it; every result then says so"

// unmet says why what was asked for by name is not in force, and what to do.
func unmet(row exposure.Row) error {
	e := &sandbox.MissingError{Backend: Name, What: row.Name, Why: row.Note, Remedy: effortRemedy}
	name, limit := strings.CutPrefix(row.Key, "limit_")
	switch {
	case !limit:
		return e
	case name == "disk":
		e.Why = "commands write to the file systems of this machine, where this backend cannot limit them"
		e.Remedy = "use the backend docker, where storage has quotas"
	case row.Force != "none":
		e.Why = row.Force + " is in force, by " + row.Note
		e.Remedy = "ask for another value"
	case os.Getuid() == 0:
		e.Why = "there is no control group here in which " + name + " can be limited"
		e.Remedy = "make /sys/fs/cgroup writable for Hermes, with the controller " + name
	default:
		e.Why = "this user may not make a control group in which " + name + " is limited"
		e.Remedy = "let systemd hand the controller down (`systemctl edit user@.service`: [Service] Delegate=cpu memory pids; log in " +
			"again) and start Hermes by `systemd-run --user --scope hermes`"
	}
	e.Remedy += "; or take the limit away: hermes config unset terminal.container_" + name + "; or " + effortRemedy
	return e
}

// leaks tells whether the environment holds a secret.
func leaks(spec sandbox.Spec) bool {
	for _, pair := range spec.Env.Strings() {
		for _, secret := range spec.Secrets {
			if len(secret) > 3 && strings.Contains(pair, secret) {
				return true
			}
		}
	}
	return false
}

// probeTime bounds the active probe as a whole.
const probeTime = 10 * time.Second

// probe tries every door from inside, as a command does.
func (b *Backend) probe(ctx context.Context, p *place, d *design, spec sandbox.Spec) (exposure.Exposure, error) {
	var e exposure.Exposure
	dir := spec.Home
	if dir == "" || within(d.tree, dir) {
		dir = "/tmp"
	}
	stage, err := probe.SetUp(dir)
	if err != nil {
		return e, fmt.Errorf("set up: %w", err)
	}
	defer stage.Close()
	t := stage.Targets
	t.Home, t.Tree, t.Shown = b.conf.Home, d.tree, d.named
	text, err := json.Marshal(t)
	if err != nil {
		return e, err
	}
	var out, trouble strings.Builder
	status, err := p.Run(ctx, sandbox.Command{
		Argv:   append([]string{d.probe}, append(slices.Clone(b.conf.Probe[1:]), string(text))...),
		Stdout: &out, Stderr: &trouble, Timeout: probeTime,
	})
	switch {
	case err != nil:
		return e, err
	case status.Code != 0:
		return e, fmt.Errorf("exit code %d: %s", status.Code, strings.TrimSpace(trouble.String()))
	}
	if err := json.Unmarshal([]byte(out.String()), &e); err != nil {
		return e, err
	}
	if e.Probed.IsZero() {
		return e, errors.New("it found nothing")
	}
	return e, nil
}
