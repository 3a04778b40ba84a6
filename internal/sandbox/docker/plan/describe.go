package plan

import (
	"slices"
	"strings"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// describe says what was asked in the words of exposure, and makes the fingerprint of it all.
func (b *builder) describe() error {
	e := &b.p.Asked
	e.Backend = "docker"
	e.Runner = exposure.Plain
	if b.s.Runner.Source != "" && !b.f.Remote {
		e.Runner = exposure.Resident
	}
	e.Tree = exposure.OwnTree
	if b.theirWork {
		e.Tree = exposure.OwnersTree
	}
	var open []exposure.Door
	for _, r := range b.p.Risks {
		open = append(open, r.Opens...)
	}
	for _, d := range exposure.AllDoors() {
		if want := b.want(d); want != exposure.Unasked && !slices.Contains(open, d) {
			e.Doors.Ask(want, d)
		}
	}
	e.Caps = exposure.Caps{Want: exposure.Explicitly, Allowed: b.caps}
	want := exposure.ByDefault
	if b.s.NetworkSet || b.s.Network != exposure.OpenNet {
		want = exposure.Explicitly
	}
	e.Network = exposure.Network{Want: want, Asked: b.s.Network}
	if b.s.Network == exposure.AllowlistNet {
		e.Network.Allow = slices.Clone(b.s.Allow)
	}
	e.Limits = b.limits
	b.fingerprint()
	labels := b.labels()
	b.base = slices.Concat(b.base, labels, []string{"-w", b.p.Workdir})
	return nil
}

// want says how a door is asked to be shut before anything opens it.
func (b *builder) want(d exposure.Door) exposure.Want {
	switch d {
	case exposure.GitHooks, exposure.GitConfig:
		if b.theirWork {
			return exposure.Unasked // an engine shows a folder as a whole
		}
		return exposure.ByDefault
	case exposure.DNS, exposure.Metadata:
		if b.s.Network == exposure.OpenNet {
			return exposure.Unasked
		}
	case exposure.Privileges:
		if b.s.Snap {
			return exposure.ByDefault // by the helper alone
		}
	case exposure.IOUring, exposure.BPF, exposure.UserFault, exposure.KeyCtl, exposure.Ptrace, exposure.Netlink, exposure.VSock,
		exposure.RawSocket, exposure.PacketSocket, exposure.MultipathTCP, exposure.FastOpen, exposure.TerminalPush:
		return exposure.ByDefault // by the helper's filter, and in part by the engine's
	}
	return exposure.Explicitly
}

// fingerprint makes the policy that decides whether a container may be used again. The engine's version is not part of it:
// a newer engine keeps the walls a container was made with. Neither is where the helper's socket lies.
func (b *builder) fingerprint() {
	s, f := b.s, b.f
	p := exposure.Policy{
		Backend: "docker", Engine: f.Engine.String(), Image: s.Image, Digest: s.Digest, User: b.p.User, Workdir: b.p.Workdir, Tree: b.p.Asked.Tree,
		Tmpfs: b.tmpfs, Caps: b.caps, Seccomp: s.Seccomp, Limits: b.limits, Network: b.p.Asked.Network, Proxy: s.Posture, Runner: s.RunnerHash,
		Doors: b.p.Asked.Doors, Extra: s.ExtraArgs,
	}
	if f.Rootless {
		p.Engine += " rootless"
	}
	p.Privs = append(slices.Clone(b.privs), "runtime "+s.Runtime, "shm "+strings.TrimSpace(s.Shm))
	for _, yes := range []struct {
		set  bool
		name string
	}{{s.Snap, "snap"}, {f.S6, "s6"}, {s.Persistent, "persistent"}, {f.SELinux, "selinux"}, {s.AsHostUser, "host user"}} {
		if yes.set {
			p.Privs = append(p.Privs, yes.name)
		}
	}
	for _, lack := range b.p.NotInForce {
		p.Privs = append(p.Privs, "without "+lack.What)
	}
	p.Privs = append(p.Privs, "proxies "+strings.Join(slices.Sorted(slices.Values(f.ClientProxies)), ","))
	for _, name := range slices.Concat(s.InitEnv, s.Forward) {
		if _, ok := s.Env.Lookup(name); ok {
			p.EnvNames = append(p.EnvNames, name)
		}
	}
	for _, m := range b.p.Mounts {
		bind := m.Bind
		if m.Kind == container.Bind && b.host.Look != nil {
			if at, ok := b.host.Look(m.Source); ok {
				bind.Options += " is " + at.Real
			}
		}
		if m.Mine && m.Source == s.Sockets.Source && m.Target == s.Sockets.Target {
			bind.Source, bind.Options = "", ""
		}
		p.Mounts = append(p.Mounts, bind)
	}
	p.Scope = "profile " + s.Profile + "\x00task " + s.Task
	if s.SharedKey != "" {
		p.Scope = "shared " + s.SharedKey + "\x00task " + s.Task
	}
	b.p.Policy = p
	b.p.Fingerprint = exposure.Fingerprint(p)
	b.p.Labels[LabelFingerprint] = b.p.Fingerprint
}
