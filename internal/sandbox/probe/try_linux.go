package probe

import (
	"context"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox/probe/look"
)

// total bounds the active probe, patience one try that waits for something.
const (
	total    = 5 * time.Second
	patience = 150 * time.Millisecond
)

// attempt tries one door.
type attempt struct {
	door exposure.Door
	try  func(*probe) (exposure.Reach, string)
}

// probe is one look around.
type probe struct {
	targets Targets
	seen    Seen
	quick   exposure.Exposure
	homes   []string
	environ []string
}

// attempts has every door once, in the order of the table.
func attempts() []attempt {
	return []attempt{
		{exposure.KeyFiles, (*probe).keyFiles},
		{exposure.EnvSecrets, (*probe).envSecrets},
		{exposure.HostWrite, (*probe).hostWrite},
		{exposure.HostRead, (*probe).hostRead},
		{exposure.HomeWrite, (*probe).homeWrite},
		{exposure.RCFiles, (*probe).rcFiles},
		{exposure.GitHooks, (*probe).gitHooks},
		{exposure.GitConfig, (*probe).gitConfig},
		{exposure.LoopbackTCP, (*probe).loopbackTCP},
		{exposure.LoopbackUDP, (*probe).loopbackUDP},
		{exposure.NamedUnix, (*probe).namedUnix},
		{exposure.AbstractUnix, (*probe).abstractUnix},
		{exposure.EngineSocket, (*probe).engineSocket},
		{exposure.HostProc, (*probe).hostProc},
		{exposure.Signals, (*probe).signals},
		{exposure.HostNet, (*probe).hostNet},
		{exposure.UserNS, (*probe).userNS},
		{exposure.Privileges, (*probe).privileges},
		{exposure.IOUring, (*probe).ioUring},
		{exposure.BPF, (*probe).bpf},
		{exposure.UserFault, (*probe).userFault},
		{exposure.KeyCtl, (*probe).keyCtl},
		{exposure.Ptrace, (*probe).ptrace},
		{exposure.Netlink, (*probe).netlink},
		{exposure.VSock, (*probe).vsock},
		{exposure.RawSocket, (*probe).rawSocket},
		{exposure.PacketSocket, (*probe).packetSocket},
		{exposure.MultipathTCP, (*probe).multipath},
		{exposure.FastOpen, (*probe).fastOpen},
		{exposure.TerminalPush, (*probe).terminalPush},
		{exposure.DNS, (*probe).dns},
		{exposure.Metadata, (*probe).metadata},
	}
}

// Try tries every door from where this process is, and returns what it found with what can be read at once. A door that could
// not be tried in time stays unknown.
func Try(ctx context.Context, t Targets, now time.Time) exposure.Exposure {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	p := &probe{targets: t, seen: Look()}
	p.quick = Read(p.seen, t.Host)
	p.environ = split0(readAll("/proc/self/environ"))
	p.homes = homes(t.Home, p.environ)
	e := p.quick
	for _, a := range attempts() {
		if ctx.Err() != nil {
			break
		}
		reach, detail := a.try(p)
		if reach != exposure.Unknown {
			e.Doors[a.door].Force, e.Doors[a.door].Detail = reach, detail
		}
	}
	e.Probed = now
	return e
}

// Look reads what can be read at once of this process.
func Look() Seen { return look.Here() }

// Namespaces reads the identities of this process's namespaces.
func Namespaces() Seen { return look.Namespaces() }
