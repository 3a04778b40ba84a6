package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
)

// resolver is what a container with a way out has as its resolv.conf: names are asked for at the way out.
const resolver = "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n"

const (
	resolvConf   = "/etc/resolv.conf"
	resolverName = "docker-resolv.conf" // in Config.State
)

// names plans the name server of the way out, in the place of the one that the engine would write down.
func (b *Backend) names(e *engine, s *plan.Settings, spec sandbox.Spec) error {
	if s.Network != exposure.AllowlistNet || spec.Exit == nil || e.far() {
		return nil
	}
	path := filepath.Join(b.conf.State, resolverName)
	if text, err := os.ReadFile(path); err != nil || string(text) != resolver {
		if err := replace(path, []byte(resolver)); err != nil {
			return fmt.Errorf("open docker sandbox: %w", err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil { // whoever commands run as reads it
		return fmt.Errorf("open docker sandbox: %w", err)
	}
	s.Resolver = plan.Showing{Source: path, Target: resolvConf}
	return nil
}

// leave gives a sandbox its way out: sockets that are made inside and served here. What was asked for by name and cannot be is an
// error; by default the sandbox then has no network, as its exposure says.
func (p *place) leave(ctx context.Context) error {
	exit := p.d.spec.Exit
	if exit == nil || p.d.Network != exposure.AllowlistNet {
		return nil
	}
	var err error
	switch {
	case p.Client == nil:
		err = fmt.Errorf("without the helper inside nothing leads out (%s)", p.d.why)
	case p.apart:
		err = errors.New("the container runs on a kernel of its own, out of which no socket can be handed")
	default:
		var stream, names *os.File
		if stream, names, err = p.Client.Sockets(ctx, exit.Port); err == nil {
			err = exit.Attach(stream, names)
		}
	}
	network := &p.exposure.Network
	switch {
	case errors.Is(err, sandbox.ErrClosed), ctx.Err() != nil:
		return err
	case err != nil && p.d.Asked.Network.Want == exposure.Explicitly:
		return &sandbox.MissingError{Backend: Name, What: "network allow-list", Why: err.Error(), Remedy: "set terminal.network: none, or open"}
	case err != nil:
		p.b.log("the container has no way out: " + err.Error())
	case network.Force == exposure.NoNet && network.NoRoute == exposure.Shut:
		network.Force, network.Allow = exposure.AllowlistNet, p.d.spec.Network.Allow
	}
	return nil
}
