package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/runner"
)

// Where things are inside beside what plan says. The helper's name is what it is started by.
const (
	runnerPath = "/.hermes/" + runner.Marker
	probePath  = "/.hermes/probe"
	socketName = "s"
	tokenName  = "token"
)

// SocketsDir is the folder of Config.State in which every container has one. It is there once there was a container.
const SocketsDir = "docker-sockets"

// ProbePath is where the probe's program is inside.
const ProbePath = probePath

// design is a container before it is looked for.
type design struct {
	plan.Plan
	image   image
	spec    sandbox.Spec
	helper  string // the helper's program on this machine, "" for none
	build   string // hash of it
	sockets string // the folder of its socket on this machine
	token   []byte // that the helper and its clients know
	near    bool   // containers run on this machine's kernel, as far as the engine tells
	why     string // why there is no helper
	key     string // the fingerprint of the policy without its scope: what is known of one container of it holds for all
}

// Open opens a sandbox; see sandbox.Backend. A container of the same policy is used again where the settings say so.
func (b *Backend) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if spec.Session.IsZero() || b.conf.State == "" || b.conf.Client == nil {
		return nil, errors.New("open docker sandbox: no session, no folder or no environment for the engine")
	}
	if err := os.MkdirAll(b.conf.State, 0o700); err != nil {
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	e, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	b.reap(e)
	img, err := b.ensure(ctx, e, b.conf.Plan.Image)
	if err != nil {
		return nil, b.trouble(e, err)
	}
	// A container may vanish between the look at it and its use. Nothing has run in it then: another one is taken.
	for try := 0; ; try++ {
		d, err := b.design(ctx, e, img, spec)
		if err != nil {
			return nil, err
		}
		p, err := b.open(ctx, e, d)
		if err == nil {
			b.told(d)
			return p, nil
		}
		if !errors.Is(err, errVanished) && !errors.Is(err, errAgain) || try == 3 || ctx.Err() != nil {
			return nil, b.trouble(e, err)
		}
		b.log(err.Error() + ": another container is made")
	}
}

var (
	errVanished = errors.New("the container is gone") // or ended, before anything was run in it
	errAgain    = errors.New("another way in is taken")
)

// told tells the owner what he should know of a container, once.
func (b *Backend) told(d *design) {
	b.mu.Lock()
	first := !b.tell[d.Fingerprint]
	b.tell[d.Fingerprint] = true
	b.mu.Unlock()
	if !first {
		return
	}
	for _, note := range d.Notes {
		b.log(note)
	}
	for _, r := range d.Risks {
		what := r.Setting
		if r.Text != what {
			what += " " + r.Text
		}
		b.log(what + ": " + r.Why)
	}
	for _, l := range d.NotInForce {
		text := l.What + " (" + l.Asked + ") is not in force: " + l.Why
		if l.Remedy != "" {
			text += " (" + l.Remedy + ")"
		}
		b.log(text)
	}
}

// trouble tells an engine that went away as what it is, and has it looked for again.
func (b *Backend) trouble(e *engine, err error) error {
	var known *sandbox.DegradedError
	if errors.As(err, &known) || !gone(err) {
		return err
	}
	b.mu.Lock()
	b.engine = nil
	b.mu.Unlock()
	b.conf.Engines.forget(e)
	return degraded(e, err)
}

// ready asks the engine once who it is. What fails is asked again the next time.
func (b *Backend) ready(ctx context.Context) (*engine, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine != nil {
		return b.engine, nil
	}
	e, err := b.conf.Engines.reach(ctx, b.conf)
	if err != nil {
		return nil, err
	}
	if e.os != "linux" {
		return nil, &sandbox.DegradedError{Backend: Name, Text: "the engine runs " + e.os + " containers", Remedy: "switch it to Linux containers"}
	}
	b.engine = e
	return e, nil
}

// design plans a container from the settings, the engine and what was asked.
func (b *Backend) design(ctx context.Context, e *engine, img image, spec sandbox.Spec) (*design, error) {
	d := &design{image: img, spec: spec, near: !e.far() && near(b.conf.Plan.Runtime)}
	s := b.conf.Plan
	s.Name = newName()
	s.Digest, s.Env, s.Secrets = img.ID, spec.Env, spec.Secrets
	if s.SandboxRoot == "" {
		s.SandboxRoot = b.conf.State
	}
	s.Owner = b.owner()
	if s.Profile == "" {
		s.Profile = spec.Session.Profile().String()
	}
	if s.Task == "" {
		s.Task = "default"
		if !s.Persistent {
			s.Task = spec.Session.String()
		}
	}
	if spec.Network.Asked != exposure.UnknownNet {
		s.Network, s.NetworkSet, s.Allow = spec.Network.Asked, spec.Network.Want == exposure.Explicitly, spec.Network.Allow
	}
	limit(&s.Limits, spec.Limits)
	b.bring(e, &s, d)
	if err := b.names(e, &s, spec); err != nil {
		return nil, err
	}
	if len(b.conf.Probe) > 0 && !e.far() {
		s.Probe = plan.Showing{Source: b.conf.Probe[0], Target: probePath}
	}
	p, err := plan.New(s, b.facts(ctx, e, img))
	var missing *sandbox.MissingError
	if err != nil {
		if errors.As(err, &missing) {
			return nil, err
		}
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	d.Plan = p
	policy := p.Policy
	policy.Scope = ""
	d.key = exposure.Fingerprint(policy)
	return d, nil
}

// bring plans the helper: its program and the folder of its socket.
func (b *Backend) bring(e *engine, s *plan.Settings, d *design) {
	arch := architecture(d.image.Architecture)
	if arch == "" {
		arch = e.arch
	}
	if e.far() {
		d.why = "the engine runs on another machine, which does not have the helper"
		return
	}
	if b.conf.Runner == nil {
		d.why = "there is no helper"
		return
	}
	path, err := b.conf.Runner(arch)
	if err == nil {
		d.build, err = b.hash(path)
	}
	if err != nil {
		d.why = err.Error()
		return
	}
	d.helper = path
	s.Runner, s.RunnerHash = plan.Showing{Source: path, Target: runnerPath}, d.build
	if filter, _ := b.filter(d); len(filter) > 0 {
		sum := sha256.Sum256(filter)
		s.Seccomp = hex.EncodeToString(sum[:])
	}
	d.sockets = filepath.Join(b.conf.State, SocketsDir, s.Name)
	s.Sockets = plan.Showing{Source: d.sockets, Target: plan.SocketDir}
}

// filter returns the system call filter for a container's helper and how much it refuses, nil where there is none for its
// architecture.
func (b *Backend) filter(d *design) ([]byte, int) {
	if arch := architecture(d.image.Architecture); arch != "" && arch != runtime.GOARCH {
		return nil, 0
	}
	if program, rules := b.filters(); rules > 0 { // a filter without rules is one for a system that is not known: it kills
		return program, rules
	}
	return nil, 0
}

// hash returns the hash of a program, which is read once.
func (b *Backend) hash(path string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
	if sum, ok := b.hashes[key]; ok {
		return sum, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	b.hashes[key] = hex.EncodeToString(h.Sum(nil))
	return b.hashes[key], nil
}

// limit takes limits that were asked of this sandbox over the ones of the settings.
func limit(l *plan.Limits, asked sandbox.Limits) {
	set := func(to *plan.Limit, n int64, unit float64) {
		switch {
		case n == sandbox.Unlimited:
			*to = plan.Limit{}
		case n > 0:
			*to = plan.Limit{Value: float64(n) / unit, Set: asked.Asked}
		}
	}
	set(&l.CPU, asked.CPU, 1000)
	set(&l.Memory, asked.Memory, 1<<20)
	set(&l.PIDs, asked.PIDs, 1)
	set(&l.Disk, asked.Disk, 1<<20)
}

// near tells whether a runtime runs containers on this machine's kernel.
func near(runtime string) bool {
	switch runtime {
	case "", "runc", "crun", "youki", "io.containerd.runc.v2":
		return true
	}
	return false
}

// owner names this home among those whose containers one engine has.
func (b *Backend) owner() string {
	sum := sha256.Sum256([]byte(resolved(b.conf.State)))
	return hex.EncodeToString(sum[:8])
}
