package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
)

// Place is where the commands of a session run: a sandbox that is opened for the first of them. It is safe for concurrent
// use. Whoever made it closes it.
type Place struct {
	backend sandbox.Backend
	spec    sandbox.Spec

	mu      sync.Mutex // guards what follows
	way     *Way       // nil: none
	running []*journey
	box     sandbox.Sandbox
	env     environ.List // the environment it was opened with, from which the session's shell goes on
	last    string       // where the session is: where the last command ended; "" when that is not known
	seen    bool         // last is where commands start, and nowhere else: it was told from inside, or means there what it means here
	used    bool         // commands have run: what lasts of them may be in force
	shut    bool
}

// NewPlace makes a place; nothing is opened yet. The environment is the policy's: spec.Env does not count.
func NewPlace(b sandbox.Backend, spec sandbox.Spec) *Place {
	p := &Place{backend: b, spec: spec}
	p.start()
	return p
}

// start puts the session where its first command starts. That command is judged by the name of the directory, so where the name
// means the same here it starts there or not at all: a backend that took another directory would run what nobody has judged.
func (p *Place) start() {
	p.last = p.spec.Workdir.String()
	p.seen = p.hostFiles() || p.Backend() == "ssh" && strings.HasPrefix(p.last, "/")
}

// Backend returns the backend's name.
func (p *Place) Backend() string { return p.backend.Name() }

func (p *Place) open(ctx context.Context, env environ.List) (sandbox.Sandbox, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return nil, sandbox.ErrClosed
	}
	if p.box == nil {
		spec := p.spec
		spec.Env, spec.Exit = env, p.way.exit()
		box, err := p.backend.Open(ctx, spec)
		if err != nil {
			return nil, err
		}
		p.box, p.env = box, env
	}
	return p.box, nil
}

// Files returns the files of a place's sandbox, as file tools need them; the sandbox is opened if it is not open yet. A sandbox
// without them is an error that says so. env is that of commands.
func (d *Door) Files(ctx context.Context, p *Place, env environ.Request) (sandbox.Files, error) {
	policy, err := d.o.Policy()
	if err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	list, _ := policy.Environ.Build(env)
	box, err := p.open(ctx, list)
	if err != nil {
		return nil, err
	}
	files, ok := box.(sandbox.Files)
	if !ok {
		return nil, fmt.Errorf("open files: the %s sandbox here gives no way to its files but commands", p.Backend())
	}
	return files, nil
}

// after remembers where a command ended. One that does not tell has left the session where it was. A sandbox that broke is given up:
// the next command gets a new one.
func (p *Place) after(box sandbox.Sandbox, s sandbox.Status, err error, apart bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = p.used || !apart
	if p.spec.Persistent && !apart {
		switch {
		case s.Observed:
			p.last, p.seen = s.Dir, true
		case !p.seen:
			p.last = ""
		}
	}
	var broken *sandbox.BrokenError
	if errors.As(err, &broken) && p.box == box {
		_ = box.Close(context.WithoutCancel(context.Background())) // it is broken already
		p.box, p.used = nil, false
		p.start()
	}
}

// here returns the session's directory, "" where it is not known for sure: a command that is started there by name runs there or
// not at all.
func (p *Place) here() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen {
		return p.last
	}
	return ""
}

// lost tells whether the session's directory is not known although it lasts.
func (p *Place) lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spec.Persistent && p.last == ""
}

// learn asks where commands start that name no directory, and remembers it.
func (p *Place) learn(ctx context.Context, box sandbox.Sandbox, env environ.List) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnTime)
	defer cancel()
	var out bytes.Buffer
	s, err := box.Run(ctx, sandbox.Command{Text: "pwd -P", Env: env, Stdout: &out, Apart: true})
	dir := strings.TrimSuffix(out.String(), "\n")
	if err != nil || s.Code != 0 || !strings.HasPrefix(dir, "/") {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box == box {
		p.last, p.seen = dir, true
	}
	return dir
}

// learnTime bounds the asking.
const learnTime = 10 * time.Second

// dir returns where a command without a directory of its own would start, "" when that is not known.
func (p *Place) dir() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// Dir returns the directory, as seen inside, that names of the session start from: where its last command ended; where its first
// one began, while that is not known.
func (p *Place) Dir() string {
	if dir := p.dir(); dir != "" {
		return dir
	}
	return p.spec.Workdir.String()
}

// since returns what an environment has other than the one the session began with. A command gets no more than that besides what lasts
// of the session: what an earlier command has exported would be undone by what it was before.
func (p *Place) since(env environ.List) environ.List {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box == nil {
		return env
	}
	return env.Since(p.env)
}

// fresh tells whether the next command has exactly the variables that the policy gives it.
func (p *Place) fresh() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.spec.InitFiles) == 0 && !(p.spec.Persistent && p.used)
}

// kept returns what lasts of the session's shell; known is false where that cannot be told.
func (p *Place) kept() (k sandbox.Kept, known bool) {
	p.mu.Lock()
	box, used := p.box, p.used && p.spec.Persistent
	p.mu.Unlock()
	keeper, ok := box.(sandbox.Keeper)
	if !ok || !used {
		return sandbox.Kept{Version: 1}, false
	}
	return keeper.Kept(), true
}

// hostFiles tells whether paths mean inside what they mean here.
func (p *Place) hostFiles() bool {
	switch p.Backend() {
	case "local", "native":
		return true
	}
	return false
}

// Left lists what commands have left running.
func (p *Place) Left() []sandbox.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box == nil {
		return nil
	}
	return p.box.Left()
}

// Close closes the sandbox, if there is one. It may be called twice.
func (p *Place) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	var err error
	if p.box != nil {
		err = p.box.Close(ctx)
		p.box = nil
	}
	if p.way != nil {
		err = errors.Join(err, p.way.Client.Close())
		p.way = nil
	}
	return err
}
