package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/sandbox/docker/plan"
)

// orphaned is for how long a kept container may lie ended before it is removed.
const orphaned = 600 * time.Second

// reap removes, once a process and beside everything else, what owners that are gone left behind.
func (b *Backend) reap(e *engine) {
	b.mu.Lock()
	first := !b.reaped && b.conf.Reaper
	b.reaped = true
	b.mu.Unlock()
	if !first {
		return
	}
	b.background(func(ctx context.Context) {
		if _, err := b.sweep(ctx, e, orphaned); err != nil {
			b.log("containers that were left behind could not be removed: " + err.Error())
		}
	})
}

// sweep removes this home's containers that nobody has a claim on: those that were to go with their owner at once, those that
// are kept once they have been ended for a while.
func (b *Backend) sweep(ctx context.Context, e *engine, age time.Duration) (removed []string, err error) {
	done, err := serialize(ctx, b.conf.State, "docker-reaper")
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := b.containers(ctx, e)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, c := range all {
		if !orphan(c, age) {
			continue
		}
		if busy, err := owned(b.conf.State, c.name()); err != nil || busy {
			errs = append(errs, err)
			continue
		}
		if err := b.discard(ctx, e, c.ID, c.name()); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", c.name(), err))
			continue
		}
		removed = append(removed, c.name())
	}
	b.tidy(all)
	return removed, errors.Join(errs...)
}

// orphan tells whether a container that nobody has a claim on may go.
func orphan(c details, age time.Duration) bool {
	if time.Since(c.Created) < 2*time.Minute && c.State.Status == "created" {
		return false // somebody is making it
	}
	switch {
	case c.HostConfig.AutoRemove:
		return true
	case c.State.Running, c.State.Paused, c.State.Restarting:
		return false
	case c.State.FinishedAt.Year() < 2000:
		return false // unknown
	}
	return time.Since(c.State.FinishedAt) > age
}

// tidy removes the folders of sockets whose container is gone.
func (b *Backend) tidy(all []details) {
	entries, err := os.ReadDir(filepath.Join(b.conf.State, SocketsDir))
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), "."+tokenName)
		if slices.ContainsFunc(all, func(c details) bool { return c.name() == name }) {
			continue
		}
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < 10*time.Minute {
			continue // its container may be on its way
		}
		if busy, err := owned(b.conf.State, name); err == nil && !busy {
			_ = os.RemoveAll(filepath.Join(b.conf.State, SocketsDir, entry.Name()))
		}
	}
}

// Record tells about a container of this home.
type Record struct {
	Name    string    `json:"name"`
	Image   string    `json:"image"`
	Status  string    `json:"status"`
	Task    string    `json:"task"`
	Profile string    `json:"profile"`
	Policy  string    `json:"policy"`
	Kept    bool      `json:"kept"`
	Busy    bool      `json:"busy"` // somebody works in it
	Created time.Time `json:"created"`
}

// containers looks at the containers of this home.
func (b *Backend) containers(ctx context.Context, e *engine) ([]details, error) {
	ids, err := e.list(ctx, plan.LabelAgent+"=1", plan.LabelOwner+"="+b.owner())
	if err != nil {
		return nil, err
	}
	return e.inspect(ctx, ids...)
}

// List lists the containers of this home.
func (b *Backend) List(ctx context.Context) ([]Record, error) {
	e, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	all, err := b.containers(ctx, e)
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, c := range all {
		busy, err := owned(b.conf.State, c.name())
		if err != nil {
			return nil, err
		}
		out = append(out, Record{
			Name: c.name(), Image: c.Config.Image, Status: c.State.Status, Task: c.label(plan.LabelTask), Profile: c.label(plan.LabelProfile),
			Policy: c.label(plan.LabelFingerprint), Kept: !c.HostConfig.AutoRemove, Busy: busy, Created: c.Created,
		})
	}
	return out, nil
}

// ErrUnknown says that no container of this home has a name.
var ErrUnknown = errors.New("no such container of this home")

// Stop ends a container with everything in it and removes it. What is in its folders on this machine stays.
func (b *Backend) Stop(ctx context.Context, name string) error {
	e, err := b.ready(ctx)
	if err != nil {
		return err
	}
	all, err := e.inspect(ctx, name)
	if err != nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	if len(all) != 1 || all[0].name() != name || all[0].label(plan.LabelAgent) != "1" || all[0].label(plan.LabelOwner) != b.owner() {
		return fmt.Errorf("stop %s: %w", name, ErrUnknown)
	}
	_, _ = e.do(ctx, call{args: []string{"stop", "--time", "10", all[0].ID}, time: runTime})
	return b.discard(ctx, e, all[0].ID, name)
}

// Clean removes what owners that are gone left behind, without regard to how long ago, and returns the names.
func (b *Backend) Clean(ctx context.Context) ([]string, error) {
	e, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	return b.sweep(ctx, e, 0)
}

// IsName tells whether a name is one that containers of ours have. Native sandboxes have longer ones.
func IsName(name string) bool {
	rest, ok := strings.CutPrefix(name, "hermes-")
	return ok && len(rest) == 8 && strings.Trim(rest, "0123456789abcdef") == ""
}
