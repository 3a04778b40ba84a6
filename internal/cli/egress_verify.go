package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/guard/exposure"
	"hermes/internal/proxy/proof"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/ssh"
)

func newEgressVerify(stdio *IO) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify",
		Short: "Try from inside a sandbox that the proxy is the only way out, and what it lets through",
		Long: "Opens a sandbox whose one way out is a proxy that lets a made-up name through, and tries from inside: what is listed\n" +
			"must pass; past the proxy nothing may be reached, by whatever kind of socket; through it nothing that is not listed, under\n" +
			"whatever spelling, name in TLS, or reading of a request; and each refusal must be told. The servers that are tried are its\n" +
			"own, on this machine's loopback: nothing else is contacted. Exit code 0 only if everything is as asked.",
		Example: "  hermes egress verify\n  hermes egress verify --backend docker --json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return egressVerify(c.Context(), stdio, o) },
	}
	f := c.Flags()
	f.StringVar(&o.backend, "backend", "", "try `BACKEND` instead of terminal.backend")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return c
}

// exitAt is the port of the proxy inside.
const exitAt = 3128

func egressVerify(ctx context.Context, stdio *IO, o verifyOptions) error {
	return withApp(stdio, func(a *app.App, start string) (err error) {
		p, err := proof.New()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		box, at, err := openProof(ctx, stdio, a, o, start, p)
		if err != nil {
			return err
		}
		defer at.remove()
		answer, err := tryProof(ctx, stdio, box, at, p)
		if closed := box.Close(context.WithoutCancel(ctx)); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		return egressVerified(stdio, o, answer)
	})
}

// proofPlace is where a proof runs.
type proofPlace struct {
	backend, tree, dir string
	made               bool // tree was made for it
	open               bool // commands get the network whole, by the settings
}

func (at proofPlace) remove() {
	if at.made {
		_ = os.RemoveAll(at.tree)
	}
}

// openProof opens a sandbox with the proof's way out. A backend that can have none is opened as it is, to say what is open.
func openProof(ctx context.Context, stdio *IO, a *app.App, o verifyOptions, start string, p *proof.Proof) (sandbox.Sandbox, proofPlace, error) {
	at := proofPlace{backend: cmp.Or(o.backend, a.Backend()), dir: a.Sandboxes()}
	where := app.Where{Backend: at.backend, Start: start, Once: true}
	if at.backend != docker.Name && at.backend != ssh.Name {
		tree, err := plantTree(at.dir)
		if err != nil {
			return nil, at, err
		}
		at.tree, at.made, where.Dir = tree, true, tree
	}
	box, err := func() (sandbox.Sandbox, error) {
		var err error
		if where.Session, err = a.Session("verify"); err != nil {
			return nil, err
		}
		backend, spec, err := a.Sandbox(where)
		if err != nil {
			return nil, err
		}
		if spec.Env, err = a.Variables(at.backend); err != nil {
			return nil, err
		}
		if at.open, err = a.OpenNetwork(at.backend); err != nil {
			return nil, err
		}
		spec.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.AllowlistNet}
		spec.Exit = &sandbox.Exit{Port: exitAt, Attach: p.Client().Attach}
		box, err := backend.Open(ctx, spec)
		var missing *sandbox.MissingError
		if errors.As(err, &missing) && (at.backend == "local" || at.backend == ssh.Name) {
			spec.Network, spec.Exit = exposure.Network{}, nil
			box, err = backend.Open(ctx, spec)
		}
		return box, err
	}()
	if err != nil {
		at.remove()
		return nil, at, hinted(err)
	}
	return box, at, nil
}

// egressAnswer is the JSON form.
type egressAnswer struct {
	Backend string      `json:"backend"`
	OK      bool        `json:"ok"`
	Rows    []proof.Row `json:"rows"`
	Note    string      `json:"note,omitempty"`
}

// tryProof tries the kernel's doors and then the proxy.
func tryProof(ctx context.Context, stdio *IO, box sandbox.Sandbox, at proofPlace, p *proof.Proof) (a egressAnswer, err error) {
	a.Backend = at.backend
	e := box.Exposure()
	if at.backend != ssh.Name {
		self, err := os.Executable()
		if err != nil {
			return a, err
		}
		if at.backend == docker.Name {
			self = docker.ProbePath
		}
		if e, err = lookInside(ctx, stdio, box, at.backend, self, at.tree, at.dir); err != nil {
			return a, err
		}
	}
	a.Rows = doors(e)
	inside := from(box)
	if at.backend == ssh.Name {
		a.Note = "Commands run on another machine, with whatever network it has: Hermes gives them no way out, and takes none away."
	} else {
		a.Rows = append(a.Rows, p.Direct(ctx, inside)...)
	}
	switch {
	case e.Network.Force == exposure.AllowlistNet:
		a.Rows = append(a.Rows, p.Way(ctx, inside, exitAt)...)
		if at.open {
			a.Note = "That is what " + at.backend + " can hold. Your settings give commands there the whole network: for this one way out, hermes config set terminal.network allowlist"
		}
	case at.backend == "local":
		a.Note = "Commands of the backend local have this machine's own network. For a sandbox with one way out: --backend native."
	case a.Note == "":
		a.Note = "This sandbox has no way out, so that none was tried."
	}
	a.OK = true
	for _, r := range a.Rows {
		a.OK = a.OK && r.OK
	}
	return a, nil
}

// doors are the kernel's doors to a network, as rows.
func doors(e exposure.Exposure) []proof.Row {
	rows := []proof.Row{{
		Key: "network", Name: "network", Asked: exposure.AllowlistNet.String(), Force: e.Network.Force.String(),
		OK: e.Network.Force == exposure.AllowlistNet,
	}, {Key: "route", Name: "a route to anywhere", Asked: "none", Force: "some"}}
	switch e.Network.NoRoute {
	case exposure.Shut:
		rows[1].Force, rows[1].OK = "none", true
	case exposure.Unknown:
		rows[1].Force = proof.Unknown
	}
	for _, d := range []struct {
		door  exposure.Door
		bound bool // to the sandbox's own network: without a route it leads nowhere
	}{
		{exposure.HostNet, false}, {exposure.NamedUnix, false}, {exposure.AbstractUnix, false}, {exposure.EngineSocket, false}, {exposure.VSock, false},
		{exposure.RawSocket, true}, {exposure.PacketSocket, true}, {exposure.Netlink, true}, {exposure.MultipathTCP, true}, {exposure.FastOpen, true},
		{exposure.DNS, false}, {exposure.Metadata, false},
	} {
		found := e.Doors.At(d.door)
		r := proof.Row{Key: d.door.Key(), Name: d.door.String(), Asked: proof.Unreachable, Note: found.Detail}
		switch {
		case found.Force == exposure.Shut:
			r.Force, r.OK = proof.Unreachable, true
		case found.Force == exposure.Open && d.bound && e.Network.NoRoute == exposure.Shut:
			r.Force, r.OK, r.Note = proof.Unreachable, true, "can be made, and leads nowhere"
		case found.Force == exposure.Open:
			r.Force = proof.Reached
		default:
			r.Force = proof.Unknown
		}
		rows = append(rows, r)
	}
	return rows
}

// egressVerified prints the answer and returns the exit code.
func egressVerified(stdio *IO, o verifyOptions, a egressAnswer) error {
	if o.json {
		if err := json.NewEncoder(stdio.Stdout).Encode(a); err != nil {
			return err
		}
	} else {
		yes, no := "✓", "✗"
		if !unicodeLocale(stdio.Env) {
			yes, no = "ok", "NOT AS ASKED"
		}
		fmt.Fprintf(stdio.Stdout, "%s\n\n", a.Backend)
		w := tabwriter.NewWriter(stdio.Stdout, 0, 8, 3, ' ', 0)
		fmt.Fprintf(w, "  tried from inside\tasked\tin force\n")
		held := 0
		for _, r := range a.Rows {
			mark, note := no, ""
			if r.OK {
				held++
				mark = yes
			}
			if r.Note != "" {
				note = "  (" + visible(r.Note) + ")"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s%s\n", r.Name, r.Asked, r.Force, mark, note)
		}
		_ = w.Flush()
		fmt.Fprintf(stdio.Stdout, "\n%d asked, %d as asked.%s\n", len(a.Rows), held, strings.TrimSuffix(" "+a.Note, " "))
	}
	if !a.OK {
		return exitCode(exitFailed)
	}
	return nil
}

// refusedInside is the exit code of relay where there was nobody to connect to.
const refusedInside = 9

// relay carries bytes between its standard streams and a connection. What it starts is gone when it ends.
const relay = `exec 4<&0 3<>"/dev/$0/$1/$2" || exit 9
cat <&4 >&3 &
cat <&3
kill $! 2>/dev/null
exit 0`

// from opens connections inside a sandbox, by the shell there.
func from(box sandbox.Sandbox) proof.Dial {
	return func(ctx context.Context, network, address string) (io.ReadWriteCloser, error) {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		in, typed := io.Pipe()
		shown, out := io.Pipe()
		c := &inside{Reader: shown, Writer: typed, done: make(chan struct{})}
		c.end = sync.OnceFunc(func() {
			_ = typed.Close()
			_ = shown.Close()
			cancel()
			<-c.done
		})
		go func() {
			defer close(c.done)
			var trouble strings.Builder
			status, err := box.Run(ctx, sandbox.Command{
				Argv: []string{"bash", "-c", relay, network, at.Addr().String(), fmt.Sprint(at.Port())}, Stdin: in, Stdout: out, Stderr: &trouble,
			})
			if err != nil {
				err = fmt.Errorf("%w: %w", proof.ErrUntried, err)
			} else if !status.Interrupted {
				err = relayed(status.Code, trouble.String())
			}
			_ = in.Close()
			_ = out.CloseWithError(err)
		}()
		return c, nil
	}
}

// relayed tells how the shell fared. That nobody was there is something else than a shell that cannot connect at all.
func relayed(code int, trouble string) error {
	text := cmp.Or(strings.TrimSpace(trouble), fmt.Sprintf("exit code %d", code))
	switch {
	case code == 0:
		return nil
	case code != refusedInside && code != 1, strings.Contains(text, "No such file"), strings.Contains(text, "not found"):
		return fmt.Errorf("%w: %s", proof.ErrUntried, text)
	}
	return errors.New(text)
}

// inside is a connection that a command in a sandbox holds.
type inside struct {
	io.Reader
	io.Writer
	end  func()
	done chan struct{}
}

func (c *inside) Close() error {
	c.end()
	return nil
}
