// Package app puts one process together: it turns the settings of a home into the options of each package, and hands out
// doors that are ready to use.
//
// It decides nothing itself, prints nothing and reads no flags (see cli). It is wiring: only fronts import it.
//
// Failure direction: refuse. Settings that cannot be read leave the last good ones in force, and where there never were any,
// nothing runs.
package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/config"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/scope"
	"hermes/internal/home"
	"hermes/internal/launch"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/backends"
	"hermes/internal/sandbox/capture"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/runner/program"
	"hermes/internal/sandbox/ssh"
	"hermes/internal/secret"
)

// Process is what an App knows of the process around it.
type Process struct {
	Env     func(name string) string // value of a variable, "" when unset
	Environ func() []string          // all of them, as NAME=value
	Version string
	OwnYolo bool              // HERMES_YOLO_MODE does not count here: whoever opens conversations switches it on in each
	Tell    func(text string) // hears what the owner should know; nil: nobody
	// HostKey is asked when another machine shows its key for the first time; nil: nobody can be asked, and it is refused.
	HostKey func(ctx context.Context, key ssh.HostKey) (bool, error)
}

// App is one process's wiring for one profile. It is safe for concurrent use. Whoever opened it closes it.
type App struct {
	p       Process
	base    map[string]string // the environment, as it was at the start
	dir     *home.Dir
	root    *os.Root // of the audit log
	log     *audit.Log
	store   *config.Store
	profile scope.Profile
	desk    *approval.Desk
	door    *launch.Door
	runner  func() string // the program that runs inside sandboxes
	reach   reach
	models  models
	engines docker.Engines

	mu     sync.Mutex // guards what follows
	key    []byte     // of the marks in redacted text: one secret has one mark in a process
	snap   *config.Snapshot
	told   string
	closes []io.Closer // backends that have something to close
	policy launch.Policy
}

// Open opens the home that the environment names, making it where there is none, and puts everything together.
func Open(p Process) (*App, error) {
	if p.Tell == nil {
		p.Tell = func(string) {}
	}
	path, name, err := config.Locate(p.Env)
	if err != nil {
		return nil, err
	}
	a := &App{p: p, base: environ.Parse(p.Environ()), key: make([]byte, 32)}
	_, _ = rand.Read(a.key) // never fails: the runtime ends the process instead
	if a.dir, err = openHome(path, name); err != nil {
		return nil, err
	}
	if err := a.open(name); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func openHome(path string, name checked.ProfileName) (*home.Dir, error) {
	dir, err := home.Create(path)
	if err != nil || name.IsZero() {
		return dir, err
	}
	own, err := dir.Profile(name, false)
	return own, errors.Join(err, dir.Close())
}

func (a *App) open(name checked.ProfileName) (err error) {
	profile := "default"
	if !name.IsZero() {
		profile = name.String()
	}
	if a.profile, err = scope.ParseProfile(profile); err != nil {
		return err
	}
	a.store = config.New(a.dir, a.p.Env)
	if err := errors.Join(a.dir.MkdirAll("audit"), a.dir.MkdirAll(sandboxes)); err != nil {
		return err
	}
	if a.root, err = os.OpenRoot(a.dir.Join("audit")); err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	a.log, err = audit.Open(a.root, audit.Options{Now: time.Now, Version: a.p.Version, Told: func(m audit.Mark) {
		a.p.Tell("the audit log was damaged: " + string(m.Damage) + ". See hermes audit verify.")
	}})
	if err != nil {
		return err
	}
	a.runner = sync.OnceValue(a.findRunner)
	a.desk = approval.New(approval.Options{YOLO: !a.p.OwnYolo && approval.Truthy(a.p.Env("HERMES_YOLO_MODE"))})
	if _, err := a.settings(); err != nil {
		return err
	}
	a.door = launch.New(launch.Options{Policy: a.rules, Desk: a.desk, Log: a.log})
	return nil
}

// findRunner returns the program that runs inside sandboxes, "" where there is none.
func (a *App) findRunner() string {
	found, err := program.Find(a.dir.Join(sandboxes))
	if err != nil {
		a.p.Tell(err.Error())
		return ""
	}
	return found.Path
}

// sandboxes is the folder of the home for what sandboxes keep.
const sandboxes = "sandboxes"

// Door returns the way to run commands.
func (a *App) Door() *launch.Door { return a.door }

// Desk returns the place of questions and grants.
func (a *App) Desk() *approval.Desk { return a.desk }

// Close closes what the App has opened. Places are their owners' to close, before it.
func (a *App) Close() error {
	var err error
	a.mu.Lock()
	for _, c := range a.closes {
		err = errors.Join(err, c.Close())
	}
	a.closes = nil
	a.mu.Unlock()
	if a.log != nil {
		err = errors.Join(err, a.log.Close())
	}
	if a.root != nil {
		err = errors.Join(err, a.root.Close())
	}
	return errors.Join(err, a.dir.Close())
}

// Session makes a session of its own for one call from the command line.
func (a *App) Session(origin string) (scope.Session, error) {
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	return scope.ParseSession(a.profile, origin, hex.EncodeToString(id))
}

// Where says where a session's commands shall run.
type Where struct {
	Session scope.Session
	Backend string // empty: as the settings say
	Dir     string // absolute; empty: as the settings say, seen from Start
	Start   string // the directory Hermes was started in
	Once    bool   // a container is not kept, whatever the settings say
	Lasts   bool   // a conversation's: directory, exports and functions last from command to command, unless the settings say no
}

// Place makes a place for commands. The caller closes it.
func (a *App) Place(w Where) (*launch.Place, error) {
	backend, spec, err := a.Sandbox(w)
	if err != nil {
		return nil, err
	}
	place := launch.NewPlace(backend, spec)
	a.through(place, spec)
	return place, nil
}

// Sandbox returns the backend for a place, which the App closes, and what its sandbox shall be; the environment is left out.
func (a *App) Sandbox(w Where) (sandbox.Backend, sandbox.Spec, error) {
	snap, err := a.settings()
	if err != nil {
		return nil, sandbox.Spec{}, err
	}
	name := w.Backend
	if name == "" {
		name = snap.Settings.Terminal.Backend
	}
	backend, err := backends.Find(name, a.backends(snap, w, name))
	if err != nil {
		return nil, sandbox.Spec{}, err
	}
	if c, ok := backend.(io.Closer); ok {
		a.mu.Lock()
		a.closes = append(a.closes, c)
		a.mu.Unlock()
	}
	spec, err := a.spec(snap, name, w)
	return backend, spec, err
}

// Timeout is how long a command may take unless somebody says otherwise.
func (a *App) Timeout() time.Duration {
	snap, err := a.settings()
	if err != nil {
		return time.Second
	}
	return time.Duration(snap.Settings.Terminal.Timeout) * time.Second
}

// Capture makes a buffer for a command's output, as long as the settings say. What does not fit is kept in the home.
func (a *App) Capture() *capture.Buffer {
	c := capture.Config{Dir: a.dir.Join("output"), Log: func(err error) { a.p.Tell(err.Error()) }}
	if snap, err := a.settings(); err == nil {
		c.Limit = int(snap.Settings.Tools.MaxBytes)
	}
	return capture.New(c)
}

// Environment returns what commands of a place get their environment from.
func (a *App) Environment(p *launch.Place) environ.Request {
	r := a.request(p.Backend())
	r.Exit = p.Exit()
	return r
}

// Variables returns the environment that commands of a backend get.
func (a *App) Variables(backend string) (environ.List, error) {
	rules, err := a.rules()
	if err != nil {
		return environ.List{}, err
	}
	list, _ := rules.Environ.Build(a.request(backend))
	return list, nil
}

func (a *App) request(backend string) environ.Request {
	r := environ.Request{Surface: surface(backend), Base: a.base, Profile: map[string]string{}}
	snap, err := a.settings()
	if err != nil {
		return environ.Request{}
	}
	for _, item := range snap.EnvFile() {
		r.Profile[item.Name] = item.Value.Reveal()
	}
	if backend == docker.Name {
		r.Server = snap.Settings.Terminal.Docker.Env
	}
	_, missing := a.dir.Stat("home")
	r.Home = environ.Home{
		Mode: environ.ParseHomeMode(snap.Settings.Terminal.HomeMode), Container: contained(backend), Real: a.base["HOME"],
		Own: a.dir.Join("home"), OwnExists: missing == nil,
	}
	return r
}

// surface says what a backend's commands count as.
func surface(backend string) environ.Surface {
	if s, err := environ.ParseSurface(backend); err == nil {
		return s
	}
	return environ.NoSurface
}

func contained(backend string) bool {
	return backend != "local" && backend != "ssh" && backend != "native"
}

// secrets returns every value that is held as a secret, under its name where it has one.
func secrets(snap *config.Snapshot) []environ.Secret {
	var out []environ.Secret
	named := map[string]bool{}
	add := func(name string, value secret.String) {
		if !value.Empty() {
			out = append(out, environ.Secret{Name: name, Value: value})
			named[value.Reveal()] = true
		}
	}
	for _, item := range snap.EnvFile() {
		if config.Hidden(item.Name) {
			add(item.Name, item.Value)
		}
	}
	for _, v := range config.Variables() {
		if v.Secret {
			if value, source, ok := snap.Variable(v.Name); ok && source.Kind == config.FromProcess {
				add(v.Name, value)
			}
		}
	}
	for _, name := range claimed(&snap.Settings) { // whatever the owner calls the keys of his providers
		if value, source, ok := snap.Variable(name); ok && source.Kind == config.FromProcess && !named[value.Reveal()] {
			add(name, value)
		}
	}
	for _, value := range snap.Secrets() {
		if !named[value.Reveal()] {
			out = append(out, environ.Secret{Value: value})
		}
	}
	return out
}
