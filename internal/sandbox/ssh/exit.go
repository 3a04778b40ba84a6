package ssh

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"hermes/internal/child"
)

// exitSocket is the proxy's socket in a connection's private directory.
const exitSocket = "x"

// forwardTime bounds the asking for a forwarded port.
const forwardTime = 20 * time.Second

// lead gives the other machine a way out through this one: a port of its loopback that leads to the proxy's socket here. Whoever is
// on that machine can connect to the port, so that the proxy asks for a token. Nothing is taken away from the machine's own network.
func (p *place) lead(ctx context.Context, l *link) error {
	exit := p.spec.Exit
	switch {
	case exit == nil || exit.Listen == nil:
		return nil
	case l.dir == "":
		return errors.New("ssh cannot share a connection on this system")
	}
	socket := filepath.Join(l.dir, exitSocket)
	if err := exit.Listen(socket); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, forwardTime)
	defer cancel()
	// The control socket is all it needs: the owner's settings name forwards of their own, which are not asked for here.
	said := &tail{limit: 4 << 10}
	spec := p.b.spec(append([]string{"-F", "none", "-S", filepath.Join(l.dir, "m"), "-o", "ProxyCommand=false", "-O", "forward",
		"-R", fmt.Sprintf("127.0.0.1:%d:%s", exit.Port, socket)}, destination(p.to)...)...)
	spec.Stdio = child.Stdio{Out: said, Err: said}
	spec.End = child.End{Grace: -1}
	status, err := child.Run(ctx, spec)
	switch {
	case err != nil:
		return err
	case status.Exit() != 0:
		return fmt.Errorf("the server does not forward port %d (AllowTcpForwarding in its settings, or somebody else has it): %s", exit.Port, said.line())
	}
	p.led = fmt.Sprintf("way out through this machine at port %d there", exit.Port)
	return nil
}
