package docker

import (
	"context"
	"errors"
	"fmt"

	"hermes/internal/sandbox"
)

// Check is one thing that has to be in order before a container can be opened.
type Check struct {
	Name   string // stable: engine, image, helper, limits
	OK     bool
	Text   string // what was found
	Remedy string // what to do when it is not in order
}

// Ready looks whether containers can be opened, without opening one and without pulling an image: for a doctor. Later checks
// are left out when an earlier one makes them pointless.
func (b *Backend) Ready(ctx context.Context) []Check {
	e, err := b.ready(ctx)
	if err != nil {
		c := Check{Name: "engine", Text: err.Error()}
		var degraded *sandbox.DegradedError
		if errors.As(err, &degraded) {
			c.Text, c.Remedy = degraded.Text, degraded.Remedy
		}
		return []Check{c}
	}
	out := []Check{{Name: "engine", OK: true, Text: e.title() + " (" + e.program + ")"}}
	name := b.conf.Plan.Image
	img, there, err := e.image(ctx, name)
	switch {
	case err != nil:
		return append(out, Check{Name: "image", Text: err.Error()})
	case !there:
		out = append(out, Check{Name: "image", Text: name + " is not here yet: the first command pulls it",
			Remedy: "docker pull " + name + ", or hermes sandbox image build"})
	default:
		out = append(out, Check{Name: "image", OK: true, Text: name + " (" + short(img.ID) + ")"})
	}
	return append(out, b.helperCheck(e, img), limitsCheck(e))
}

// helperCheck tells whether there is a helper for the containers' machine.
func (b *Backend) helperCheck(e *engine, img image) Check {
	arch := architecture(img.Architecture)
	if arch == "" {
		arch = e.arch
	}
	const slow = "commands are run by docker exec, without the helper's walls"
	switch {
	case e.far():
		return Check{Name: "helper", Text: "the engine runs on another machine: " + slow, Remedy: "use an engine on this machine"}
	case b.conf.Runner == nil:
		return Check{Name: "helper", Text: "there is none: " + slow}
	}
	path, err := b.conf.Runner(arch)
	if err != nil {
		return Check{Name: "helper", Text: fmt.Sprintf("none for %s: %v: %s", arch, err, slow)}
	}
	return Check{Name: "helper", OK: true, Text: path}
}

// limitsCheck tells which limits the engine cannot enforce.
func limitsCheck(e *engine) Check {
	missing := ""
	for _, l := range []struct {
		name string
		can  bool
	}{{"cpu", e.cpu}, {"memory", e.memory}, {"processes", e.pids}} {
		if !l.can {
			missing += " " + l.name
		}
	}
	if missing == "" {
		return Check{Name: "limits", OK: true, Text: "cpu, memory and processes"}
	}
	return Check{Name: "limits", Text: "not enforced by this engine:" + missing,
		Remedy: "rootless engines need control groups of version 2 with these controllers handed to your user"}
}
