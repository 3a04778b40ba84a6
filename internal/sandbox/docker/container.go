package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox/docker/plan"
)

func newName() string {
	var r [4]byte
	copy(r[:], randomBytes(4))
	return plan.NewName(r)
}

// held is a container that this process may use, and its claim on it.
type held struct {
	details
	use   *use
	fresh bool
	main  bool // its first process is the helper
}

// obtain finds a container of the plan's policy, or makes one.
func (b *Backend) obtain(ctx context.Context, e *engine, d *design, way way) (*held, error) {
	if !d.Reuse {
		return b.create(ctx, e, d, way)
	}
	// Two that look at the same time would make two.
	done, err := serialize(ctx, b.conf.State, "docker-"+plan.LabelValue(d.Labels[plan.LabelProfile]+"-"+d.Labels[plan.LabelTask]))
	if err != nil {
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	defer done()
	ids, err := e.list(ctx, labels(d.Filters, plan.LabelOwner+"="+d.Labels[plan.LabelOwner])...)
	if err != nil {
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	all, err := e.inspect(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	for _, c := range all {
		if c.label(plan.LabelFingerprint) != d.Fingerprint {
			b.retire(e, c)
			continue
		}
		h, err := b.attach(ctx, e, d, c)
		if err == nil {
			return h, nil
		}
		b.log(fmt.Sprintf("container %s is not used again: %v", c.name(), err))
		b.retire(e, c)
	}
	return b.create(ctx, e, d, way)
}

// labels turns a plan's filters into labels.
func labels(filters []string, more ...string) (out []string) {
	for _, f := range filters {
		out = append(out, strings.TrimPrefix(f, "label="))
	}
	return append(out, more...)
}

// attach claims a container that exists, wakes it, and makes sure that it is what it says.
func (b *Backend) attach(ctx context.Context, e *engine, d *design, c details) (*held, error) {
	if err := agrees(&c, d); err != nil {
		return nil, err
	}
	if err := keeps(&c, d); err != nil {
		return nil, err
	}
	u, err := claim(ctx, b.conf.State, c.name())
	if err != nil {
		return nil, err
	}
	switch {
	case c.State.Paused:
		_, err = e.do(ctx, call{args: []string{"unpause", c.ID}})
		b.log("container " + c.name() + " was paused, and goes on")
	case !c.State.Running:
		_, err = e.do(ctx, call{args: []string{"start", c.ID}})
	}
	if err == nil && (c.State.Paused || !c.State.Running) {
		var again []details
		again, err = e.inspect(ctx, c.ID)
		if err == nil && (len(again) != 1 || !again[0].State.Running || again[0].State.Paused) {
			err = errors.New("it does not run")
		} else if err == nil {
			c = again[0]
		}
	}
	if err != nil {
		u.release()
		return nil, err
	}
	d.Name = c.name()
	d.sockets = filepath.Join(filepath.Dir(d.sockets), c.name())
	return &held{details: c, use: u}, nil
}

// retire removes a container of another policy, unless somebody works in it.
func (b *Backend) retire(e *engine, c details) {
	if busy, err := owned(b.conf.State, c.name()); err != nil || busy {
		return
	}
	b.background(func(ctx context.Context) { _ = b.discard(ctx, e, c.ID, c.name()) })
}

// discard removes a container and the folder of its socket.
func (b *Backend) discard(ctx context.Context, e *engine, id, name string) error {
	err := e.remove(ctx, id)
	if err == nil && name != "" {
		_ = os.RemoveAll(filepath.Join(b.conf.State, SocketsDir, name))
	}
	return err
}

// create makes a container. What did not start is removed.
func (b *Backend) create(ctx context.Context, e *engine, d *design, way way) (*held, error) {
	for _, dir := range d.Dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open docker sandbox: %w", err)
		}
	}
	if d.sockets != "" {
		if err := os.MkdirAll(d.sockets, 0o700); err != nil {
			return nil, fmt.Errorf("open docker sandbox: %w", err)
		}
	}
	u, err := claim(ctx, b.conf.State, d.Name)
	if err != nil {
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	h := &held{use: u, fresh: true, main: way == listening && !d.Reuse}
	err = b.run(ctx, e, d, h)
	var all []details
	if err == nil {
		all, err = e.inspect(ctx, d.Name)
		if err == nil && len(all) != 1 {
			err = errVanished
		}
	}
	if err == nil {
		h.details = all[0]
		err = agrees(&h.details, d)
	}
	if err != nil {
		b.undo(ctx, e, d, u)
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	return h, nil
}

// undo removes what a failed start left.
func (b *Backend) undo(ctx context.Context, e *engine, d *design, u *use) {
	_ = b.discard(context.WithoutCancel(ctx), e, d.Name, d.Name)
	u.release()
}

// run has the engine start a container. One that is not kept goes when its first process ends, and that is the helper, which
// ends when nobody is connected to it.
func (b *Backend) run(ctx context.Context, e *engine, d *design, h *held) error {
	args := slices.Clone(d.Run)
	if !d.Reuse {
		args = slices.Insert(args, 1, "--rm")
	}
	if h.main {
		idle := []string{"sleep", "infinity"}
		if n := len(args) - len(idle); slices.Equal(args[n:], idle) {
			file, err := b.message(d, idleTime, false)
			if err != nil {
				return err
			}
			args = append(args[:n], runnerPath, "listen", file)
		} else {
			h.main = false
		}
	}
	_, err := e.do(ctx, call{args: args, time: runTime})
	return err
}

// agrees compares what the engine says of a container with the plan. What differs is an error: the container is not used.
func agrees(c *details, d *design) error {
	differs := func(what string, planned, found any) error {
		return fmt.Errorf("the engine made the container otherwise: %s is %v, not %v", what, found, planned)
	}
	if got := c.label(plan.LabelFingerprint); got != d.Fingerprint {
		return differs("its policy", short(d.Fingerprint), short(got))
	}
	h := &c.HostConfig
	if d.NetworkName != "" && h.NetworkMode != d.NetworkName {
		return differs("the network", d.NetworkName, h.NetworkMode)
	}
	opened := func(door exposure.Door) bool { return d.Asked.Doors[door].Asked == exposure.Unasked }
	if h.NetworkMode == "host" && !opened(exposure.HostNet) {
		return differs("the network", "its own", "the host's")
	}
	if h.Privileged && !opened(exposure.Privileges) {
		return differs("privileged", false, true)
	}
	for _, n := range [...]struct{ kind, mode string }{{"process", h.PidMode}, {"IPC", h.IpcMode}, {"user", h.UsernsMode}} {
		if n.mode == "host" && !opened(exposure.HostProc) {
			return differs("the "+n.kind+" namespace", "its own", "the host's")
		}
	}
	if d.Image() != "" && strings.TrimPrefix(c.Image, "sha256:") != d.Image() {
		return differs("the image", short(d.Image()), short(strings.TrimPrefix(c.Image, "sha256:")))
	}
	if h.CapDrop != nil && c.BoundingCaps == nil && len(h.CapDrop) == 0 {
		return differs("the dropped capabilities", "all", "none")
	}
	return agreeMounts(c, d)
}

// keeps compares the limits of a container that exists with those it was made with: the engine lets them be raised later.
// Those that this engine cannot set were told when it was planned.
func keeps(c *details, d *design) error {
	for _, l := range d.Asked.Limits {
		if l.Want == exposure.Unasked || l.Asked == 0 || slices.ContainsFunc(d.NotInForce, func(lack plan.Lack) bool { return lack.Limit == l.Name }) {
			continue
		}
		if n := stated(c, l.Name); n == 0 || n > l.Asked {
			return fmt.Errorf("its %s limit was raised since it was made: it is %d (0: none), not %d", l.Name, n, l.Asked)
		}
	}
	return nil
}

// Image returns the digest of the plan's image.
func (d *design) Image() string { return d.image.ID }

// agreeMounts compares the binds of the host.
func agreeMounts(c *details, d *design) error {
	planned := map[string]plan.Mount{}
	for _, m := range d.Mounts {
		planned[filepath.Clean(m.Target)] = m
	}
	for _, m := range c.Mounts {
		if m.Type != "bind" {
			continue
		}
		p, ok := planned[filepath.Clean(m.Destination)]
		if !ok {
			return fmt.Errorf("the engine made the container otherwise: %s of this machine is at %s", m.Source, m.Destination)
		}
		if m.RW && !p.Write {
			return fmt.Errorf("the engine made the container otherwise: %s can be written inside", m.Destination)
		}
	}
	return nil
}

func short(text string) string {
	if len(text) > 12 {
		return text[:12]
	}
	return text
}
