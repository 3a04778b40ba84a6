package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native/wall"
)

// resolver is what a sandbox with a way out finds as its resolv.conf: names are asked for at the way out.
const resolver = "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n"

// names shows the name server of the way out, in the place of the host's.
func (d *design) names(state string) error {
	at, err := resolve("/etc/resolv.conf")
	if err != nil || state == "" {
		return nil // programs that ask for no names go through the proxy all the same
	}
	path := filepath.Join(state, "resolv.conf")
	if text, err := os.ReadFile(path); err != nil || string(text) != resolver {
		if err := os.WriteFile(path, []byte(resolver), 0o644); err != nil {
			return fmt.Errorf("open native sandbox: %w", err)
		}
	}
	d.plan.Steps = append(d.plan.Steps, wall.Step{Kind: wall.Read, Source: path, Target: at, Missing: true})
	d.plan.Read = append(d.plan.Read, at)
	return nil
}

// leave gives a sandbox its way out. What was asked for explicitly and cannot be is an error; by default the sandbox then has no
// network, as its exposure says.
func (p *place) leave(ctx context.Context, spec sandbox.Spec, log func(string)) error {
	if spec.Exit == nil {
		return nil
	}
	stream, names, err := p.Client.Sockets(ctx, spec.Exit.Port)
	if err == nil {
		err = spec.Exit.Attach(stream, names)
	}
	switch {
	case errors.Is(err, sandbox.ErrClosed), ctx.Err() != nil:
		return err
	case err != nil && spec.Network.Want == exposure.Explicitly:
		return &sandbox.MissingError{Backend: Name, What: "network allow-list", Why: err.Error(), Remedy: "set terminal.network: none, or open"}
	case err != nil:
		log("the sandbox has no way out: " + err.Error())
	case p.exposure.Network.Force == exposure.NoNet && p.exposure.Network.NoRoute == exposure.Shut:
		p.exposure.Network.Force, p.exposure.Network.Allow = exposure.AllowlistNet, spec.Network.Allow
	}
	return nil
}
