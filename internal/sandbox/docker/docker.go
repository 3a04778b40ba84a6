// Package docker runs commands in containers of Docker or Podman: a hardened container that is kept or thrown away, and our
// helper inside it, so that a command costs a fork and not a call of the engine.
//
// What a container is made of is planned in plan, images are made in image; whether what is read back is a boundary is judged
// by guard/exposure. It talks to the engine only through the engine's own program.
//
// Failure direction: refuse. A container that is not what was asked for, by its own answer or by the engine's, is not used; a
// command is never run twice.
package docker

import (
	"context"
	"sync"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox/docker/plan"
)

// Name is the backend's name in settings.
const Name = "docker"

// Config says what a Backend works with.
type Config struct {
	Binary string // HERMES_DOCKER_BINARY; empty: what is found
	Search string // PATH of Hermes, where the engine's program is looked for
	// Client makes the environment of the engine's program, with the variables that travel to the inside through it.
	Client func(carry environ.List) environ.List
	Plan   plan.Settings
	// Runner returns the helper for an architecture in Go's words; an error: commands are run by docker exec.
	Runner func(arch string) (string, error)
	// Filter makes the system call filter of the helper, for this machine's architecture, and tells how much it refuses. nil:
	// the engine's own has to do.
	Filter  func() (program []byte, rules int)
	Probe   []string                      // the program that probes from inside, and its arguments; the first is a file of the host. Empty: no active probe
	Home    string                        // the owner's home, of which nothing is shown; the probe looks for it
	State   string                        // a directory of Hermes' own, 0700: sandboxes' homes, locks, answers of the probe
	Stores  func(name, value string) bool // which variables last in a session; nil: all that the names allow
	Queue   int                           // commands at once, 0: the runner's default
	Reaper  bool                          // containers that were left behind are removed, once a process
	Log     func(string)
	Engines *Engines // what was told by engines already; nil: nothing
	// Progress hears how the pull of an image goes on; nil: nobody.
	Progress func(string)
}

// Backend opens containers. It is safe for concurrent use. Close waits for what is being removed.
type Backend struct {
	conf Config

	filters func() (program []byte, rules int)

	mu     sync.Mutex
	engine *engine
	probed map[string]verdict // by fingerprint
	hashes map[string]string  // of programs, by what they looked like
	reaped bool
	tell   map[string]bool // fingerprints whose notes were told
	// What is known not to work, by a design's key: the helper, with the reason; its socket.
	noHelper map[string]string
	noSocket map[string]bool
	work     sync.WaitGroup // removals under way

	pulling sync.Mutex // held by the one who pulls an image
}

// verdict is what the active probe of a policy found.
type verdict struct {
	Exposure exposure.Exposure
	At       time.Time
}

// New returns a backend. It asks no engine before the first sandbox is opened.
func New(c Config) *Backend {
	if c.Filter == nil {
		c.Filter = func() ([]byte, int) { return nil, 0 }
	}
	return &Backend{conf: c, filters: sync.OnceValues(c.Filter), probed: map[string]verdict{}, hashes: map[string]string{}, tell: map[string]bool{}, noHelper: map[string]string{}, noSocket: map[string]bool{}}
}

// Name returns "docker".
func (b *Backend) Name() string { return Name }

func (b *Backend) log(text string) {
	if b.conf.Log != nil {
		b.conf.Log(text)
	}
}

// removeTime is how long Close waits for removals.
const removeTime = 15 * time.Second

// Close waits for containers that are being removed.
func (b *Backend) Close() error {
	done := make(chan struct{})
	go func() { b.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(removeTime):
	}
	return nil
}

// background does a piece of engine work that nobody waits for but Close.
func (b *Backend) background(f func(ctx context.Context)) {
	b.work.Add(1)
	go func() {
		defer b.work.Done()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		f(ctx)
	}()
}
