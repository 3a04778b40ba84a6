// Package ssh runs commands on another machine, through the owner's own OpenSSH client: the owner's ssh_config, agents and jump
// hosts work as they do by hand. One connection carries everything of a sandbox; a runner that is copied once over it starts
// the commands, so that a command costs no new session.
//
// The machine at the other end is not contained, and says so; this one is not touched. Which commands run is not decided here
// (see guard/command and launch), nor what of the environment they get (see guard/environ).
//
// Failure direction: refuse. A host key that nobody confirmed is never accepted, nothing is typed in place of the owner, and a
// command whose connection was cut is told as unknown and never run again.
package ssh

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/filesync"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

// Name is the backend's name in settings.
const Name = "ssh"

// Config says what the backend is made of. It is wide because each field is a fact of its own that only the caller has.
type Config struct {
	Host, User string // as in the settings; checked when a sandbox is opened
	Port       int64  // 0: the one ssh_config says
	Key        string // private key file; empty: what ssh_config and the agent have

	Program string       // the OpenSSH client; empty: ssh, looked up in Search
	Search  string       // PATH of Hermes
	Env     environ.List // for the client itself; nothing of it reaches the other machine but what ssh_config sends
	File    string       // settings in place of the owner's ssh_config; empty: the owner's
	State   string       // directory of Hermes' own, 0700, for the control socket; empty: below /tmp

	// Runner returns the runner for a system, as Go names systems; nil or false: bash is started for each command.
	Runner func(goos, goarch string) (Program, bool)
	// Confirm is asked when a host shows a key for the first time; nil or false: refused.
	Confirm func(ctx context.Context, key HostKey) (bool, error)
	// Stores says which variables last; nil: all that the names allow.
	Stores func(name, value string) bool
	// Sync keeps files there as they are here; nil: none are.
	Sync *filesync.Config

	Login bool // a login shell runs before the first text
	Queue int  // commands at once, 0: the runner's default
	Grace time.Duration
	Log   func(string) // what the owner should know; may be nil
}

// Program is a runner to copy.
type Program struct {
	Path string // where it is here
	Sum  string // its SHA-256, in hexadecimal digits
}

// Backend is the backend. It is safe for concurrent use.
type Backend struct {
	conf Config

	mu       sync.Mutex // guards what follows
	programs map[string]Program
}

// New returns the backend.
func New(c Config) *Backend { return &Backend{conf: c, programs: map[string]Program{}} }

// runner returns the runner for a system, which is looked for once. Only a Sum that is one counts: it becomes part of a script.
func (b *Backend) runner(goos, goarch string) (Program, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := goos + "/" + goarch
	p, ok := b.programs[key]
	if !ok && b.conf.Runner != nil {
		if p, ok = b.conf.Runner(goos, goarch); ok {
			b.programs[key] = p
		}
	}
	return p, ok && len(p.Sum) == 2*sha256.Size && strings.Trim(p.Sum, "0123456789abcdef") == ""
}

// Name returns "ssh".
func (b *Backend) Name() string { return Name }

var _ sandbox.Backend = (*Backend)(nil)

// openTime bounds the opening as a whole, questions to a person apart.
const openTime = 2 * time.Minute

// Open connects and opens a place for the commands of one session. Spec.Workdir is a path there; "~" is the home there.
func (b *Backend) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if spec.Session.IsZero() || spec.Workdir.IsZero() {
		return nil, errors.New("open ssh sandbox: no session or no work tree")
	}
	to, err := b.target()
	if err != nil {
		return nil, err
	}
	gaps, err := missing(spec)
	if err != nil {
		return nil, err
	}
	p := &place{b: b, to: to, spec: spec, gaps: gaps}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	if p.plain {
		return p, nil
	}
	return &withFiles{p}, nil
}

// target checks where to go.
func (b *Backend) target() (checked.Remote, error) {
	if b.conf.Host == "" {
		return checked.Remote{}, &sandbox.DegradedError{
			Backend: Name, Text: "no host is set",
			Remedy: "Set it: `hermes config set terminal.ssh_host HOST`, and terminal.ssh_user",
		}
	}
	to, err := checked.ParseRemote(b.conf.User, b.conf.Host, b.conf.Port)
	if err != nil {
		return to, fmt.Errorf("open ssh sandbox: %w", err)
	}
	return to, nil
}

func (b *Backend) log(text string) {
	if b.conf.Log != nil {
		b.conf.Log(text)
	}
}

// missing returns what was asked for and is not to be had there; an error if the owner does not take it so.
func missing(spec sandbox.Spec) (gaps []string, err error) {
	const why = "commands run on the other machine itself"
	refuse := func(what string) {
		if !spec.BestEffort && err == nil {
			err = &sandbox.MissingError{Backend: Name, What: what, Why: why, Remedy: "use the native or docker backend"}
		}
		gaps = append(gaps, what)
	}
	if n := spec.Network; n.Want == exposure.Explicitly && n.Asked != exposure.OpenNet && n.Asked != exposure.UnknownNet {
		refuse("network " + n.Asked.String())
	}
	if l := spec.Limits; l.Asked && (l.PIDs > 0 || l.Memory > 0 || l.CPU > 0 || l.Disk > 0) {
		refuse("limits")
	}
	return gaps, err
}

// unconfined is the exposure of another machine.
func unconfined(spec sandbox.Spec, at string, gaps []string) exposure.Exposure {
	e := exposure.Exposure{
		Backend: Name, Place: at, Tree: exposure.OwnersTree, Network: spec.Network, Seccomp: exposure.NoFilter, Gaps: gaps,
	}
	e.Network.Force = exposure.OpenNet
	for d := range e.Doors {
		if door := exposure.Door(d); door != exposure.EnvSecrets {
			e.Doors.Found(door, exposure.Open, "commands run on "+at+" itself")
		}
	}
	return e
}

// state returns what lasts of a session on a machine that told f.
func (b *Backend) state(spec sandbox.Spec, f facts) *snapshot.State {
	shell, posix := f.bash, false
	if shell == "" {
		shell, posix = f.sh, true
	}
	given := environ.Parse(spec.Env.Strings())
	vars := map[string]string{}
	for name, value := range f.vars {
		if _, ok := given[name]; !ok {
			vars[name] = value
		}
	}
	return snapshot.New(snapshot.Config{
		Shell: shell, Posix: posix, Env: spec.Env, Dir: f.dir, Vars: vars, Lasts: spec.Persistent, Judge: effect.Judge,
		Stores: b.conf.Stores, Prelude: runner.PreludeFD, Write: runner.StateFD,
	})
}
