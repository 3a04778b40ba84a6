package app

import (
	"context"
	"crypto/rand"
	"hash/fnv"
	"net/netip"
	"slices"
	"sync"
	"time"

	"hermes/internal/audit"
	"hermes/internal/config"
	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/proxy"
	"hermes/internal/safehttp"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/ssh"
)

// OpenNetwork tells whether the settings give the commands of a backend the whole network.
func (a *App) OpenNetwork(backend string) (bool, error) {
	snap, err := a.settings()
	if err != nil {
		return false, err
	}
	t := &snap.Settings.Terminal
	mode := network(t, backend).Asked
	if backend == docker.Name {
		mode, _ = plan.NetworkMode(t.Network, t.Docker.Network)
	}
	return mode == exposure.OpenNet, nil
}

// exitPort is where commands in a sandbox of their own find the proxy.
const exitPort = 3128

// portOf is where commands of a session find the proxy. Sessions may share a container, or a machine, in which each has a port of
// its own.
func portOf(backend string, s scope.Session) uint16 {
	if backend != docker.Name && backend != ssh.Name {
		return exitPort
	}
	const first, ports = 20_000, 10_000 // below those that systems give away
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.String())) // never fails
	return uint16(first + h.Sum32()%ports)
}

// lookupTime bounds looking one name up.
const lookupTime = 10 * time.Second

// through gives a place its way out, where its network is an allow-list.
func (a *App) through(p *launch.Place, spec sandbox.Spec) {
	far := p.Backend() == ssh.Name
	if far && !a.leadsOut() || !far && spec.Network.Asked != exposure.AllowlistNet {
		return
	}
	w := &launch.Way{Port: portOf(p.Backend(), spec.Session), Store: kept{a.dir, a.store, networkAllow()}, Listed: a.listed}
	if far { // others on that machine can connect to the port, too
		w.Token = rand.Text()
	}
	w.Client = proxy.NewWithToken(p.Backend(), w.Token, proxy.Options{
		Policy: &exit{a: a}, Resolve: safehttp.Lookup(nil, lookupTime), Tell: func(d proxy.Decision) { a.reached(spec.Session, d) },
		Ask: func(ctx context.Context, q proxy.Question) bool { return a.door.Connect(ctx, p, q).Allowed() },
	})
	p.Through(w)
}

// leadsOut tells whether commands on another machine get a way out through this one.
func (a *App) leadsOut() bool {
	snap, _ := a.settings() // which tells the owner what is wrong
	return snap != nil && snap.Settings.Terminal.SSH.WayOut
}

// listed returns the list as it is now.
func (a *App) listed() []string {
	snap, _ := a.settings() // which tells the owner what is wrong
	if snap == nil {
		return nil
	}
	return snap.Settings.Terminal.NetworkAllow
}

// Backend is the one of the settings.
func (a *App) Backend() string {
	snap, err := a.settings()
	if err != nil {
		return ""
	}
	return snap.Settings.Terminal.Backend
}

// Sandboxes is the folder for what sandboxes keep.
func (a *App) Sandboxes() string { return a.dir.Join(sandboxes) }

// Exit returns what the settings let through a way out, and more besides: entries as in terminal.network_allow. Settings count as
// soon as they change.
func (a *App) Exit(more ...string) proxy.Policy { return &exit{a: a, more: more} }

// exit is what sandboxes may reach now: settings count as soon as they change. It is a proxy.Policy.
type exit struct {
	a    *App
	more []string // entries besides those of the settings

	mu     sync.Mutex
	snap   *config.Snapshot // that routes was made of
	routes egress.Routes
}

var _ proxy.Policy = (*exit)(nil)

func (e *exit) now() egress.Exit {
	policy := e.a.Egress()
	snap, _ := e.a.settings() // which tells the owner what is wrong
	e.mu.Lock()
	defer e.mu.Unlock()
	if snap != nil && snap != e.snap {
		routes, problems := egress.ParseRoutes(slices.Concat(snap.Settings.Terminal.NetworkAllow, e.more))
		for _, p := range problems {
			e.a.p.Tell("terminal.network_allow: " + p.Error())
		}
		e.snap, e.routes = snap, routes
	}
	return egress.Exit{Routes: e.routes, Policy: policy}
}

// Judge is proxy.Policy's.
func (e *exit) Judge(q egress.Request) egress.Ruling { return e.now().Judge(q) }

// Answers is proxy.Policy's.
func (e *exit) Answers(h egress.Host, port uint16, addrs []netip.Addr) guard.Verdict {
	return e.now().Answers(h, port, addrs)
}

// Reached writes down what came of a connection. A session that is none stays empty.
func (a *App) Reached(s scope.Session, d proxy.Decision) error {
	return a.log.Reached(audit.Ref{ID: d.Command, Session: s.String()}, Reach(d))
}

// Reach is what is written down of a connection.
func Reach(d proxy.Decision) audit.Reach {
	r := audit.Reach{
		Client: d.Client, Command: d.Command, Method: d.Target.Method, Target: d.Target.String(), Path: d.Target.Path, Verdict: d.Verdict.Action.String(),
		Rule: d.Verdict.Rule, Reason: d.Verdict.Reason, Asked: d.Asked, Up: d.Up, Down: d.Down, Duration: d.Took,
	}
	if d.Addr.IsValid() {
		r.Addr = d.Addr.String()
	}
	if d.Err != nil {
		r.Error = d.Err.Error()
	}
	return r
}

func (a *App) reached(s scope.Session, d proxy.Decision) {
	if err := a.Reached(s, d); err != nil {
		a.p.Tell("a connection is missing in the audit log: " + err.Error())
	}
}
