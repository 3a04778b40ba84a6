// Package native is the sandbox of Linux itself: namespaces, Landlock, a system call filter and control groups, without a
// daemon and without root.
//
// It plans what a sandbox shows and allows and has it put up by a small launcher (see wall). Commands and files inside are the
// runner's business; whether what is read back is a boundary is judged by guard/exposure.
//
// Failure direction: refuse. What this kernel cannot put up is a *sandbox.MissingError, unless the Spec asks for best effort;
// then every exposure lists what is missing.
package native

import (
	"sync"
	"time"

	"hermes/internal/guard/exposure"
)

// Name is the backend's name in settings.
const Name = "native"

// ProbePath is where the probe's program is inside.
const ProbePath = "/run/hermes/probe"

// Config says what a Backend works with.
type Config struct {
	Launcher string   // the small program, or one that goes to role.Main when its name is runner.Marker
	Probe    []string // the program that probes from inside, and its arguments; the first is a file of the host. Empty: no active probe
	Home     string   // the owner's home, of which nothing is shown but toolchains and module caches
	Path     string   // the host's PATH: toolchains outside of system and home are shown
	Shell    string   // path of bash; empty: /bin/bash
	State    string   // a directory of Hermes' own, 0700, where open sandboxes are listed; empty: they are not
	Waiting  int      // how many sandboxes at most wait to be opened again as they were; 0: two, less: none
	Log      func(string)
}

// Backend opens native sandboxes. It is safe for concurrent use. Close ends its launcher and every sandbox that is still open.
type Backend struct {
	conf Config

	mu       sync.Mutex
	facts    *host
	launcher *launcher
	closed   bool
	pool     pool
	probed   map[string]verdict // by fingerprint
}

// verdict is what the active probe of a policy found.
type verdict struct {
	exposure exposure.Exposure
	at       time.Time
}

// New returns a backend. It starts nothing before the first sandbox is opened.
func New(c Config) *Backend {
	if c.Shell == "" {
		c.Shell = "/bin/bash"
	}
	if c.Waiting == 0 {
		c.Waiting = defaultWaiting
	}
	return &Backend{conf: c, probed: map[string]verdict{}, pool: pool{quit: make(chan struct{})}}
}

const defaultWaiting = 2

// Name returns "native".
func (b *Backend) Name() string { return Name }

func (b *Backend) log(text string) {
	if b.conf.Log != nil {
		b.conf.Log(text)
	}
}
