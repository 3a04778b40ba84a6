package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
	"hermes/internal/sandbox/effect"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

// way is how commands get inside.
type way uint8

const (
	plainly   way = iota // docker exec for each command
	streaming            // the helper, over the standard streams of one engine client
	listening            // the helper, over a unix socket that both sides see
)

// Times of the helper.
const (
	idleTime  = 5 * time.Second // without a client, where the container goes with it
	keptTime  = 5 * time.Minute // where the container stays
	startTime = 20 * time.Second
)

// choose returns the best way there is.
func (b *Backend) choose(d *design) way {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case d.helper == "":
		return plainly
	case b.noHelper[d.key] != "":
		d.why = b.noHelper[d.key]
		return plainly
	case !d.near || b.noSocket[d.key]:
		return streaming
	}
	return listening
}

// open finds or makes a container and goes in, by the best way that is not known to fail. errAgain: one more is known to.
func (b *Backend) open(ctx context.Context, e *engine, d *design) (sandbox.Sandbox, error) {
	w := b.choose(d)
	box, err := b.enter(ctx, e, d, w)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case w == listening && (errors.Is(err, errNoSocket) || errors.Is(err, errNoHelper)):
		b.noSocket[d.key] = true
		return nil, fmt.Errorf("%w: %w", errAgain, err)
	case w == streaming && errors.Is(err, errNoHelper):
		b.noHelper[d.key] = err.Error()
		return nil, fmt.Errorf("%w: %w", errAgain, err)
	}
	return box, err
}

var (
	errNoHelper = errors.New("the helper does not run inside")
	errNoSocket = errors.New("the helper's socket does not work here")
)

// gone tells whether the engine itself went away.
func gone(err error) bool {
	return said(err, "cannot connect", "is the docker daemon running", "connection refused", "error during connect", "permission denied while trying")
}

// enter opens a sandbox by one way.
func (b *Backend) enter(ctx context.Context, e *engine, d *design, w way) (sandbox.Sandbox, error) {
	if w == streaming && !d.Reuse {
		return b.attached(ctx, e, d)
	}
	h, err := b.obtain(ctx, e, d, w)
	if err != nil {
		return nil, err
	}
	p := &place{b: b, e: e, d: d, held: h}
	switch w {
	case plainly:
		return b.plain(ctx, p)
	case streaming:
		p.Client, err = b.stream(ctx, p, []string{"exec", "-i", h.ID, runnerPath, runner.StdioMode})
	case listening:
		p.Client, err = b.socket(ctx, p)
	}
	return b.entered(ctx, p, err)
}

// entered gives a sandbox out that is what it should be, and gives up one that is not, or that could not be entered.
func (b *Backend) entered(ctx context.Context, p *place, err error) (sandbox.Sandbox, error) {
	if err == nil {
		err = b.judge(ctx, p)
	}
	if err == nil {
		err = p.leave(ctx)
	}
	if err != nil {
		p.abandon(ctx)
		return nil, err
	}
	return p, nil
}

// options is what the client of a helper has to know.
func (b *Backend) options(p *place) runner.Options {
	vars := p.vars()
	return runner.Options{
		Backend: Name, Search: vars["PATH"], Log: b.conf.Log, Queue: b.conf.Queue, Build: p.d.build,
		Start: runner.Start{Files: p.d.spec.InitFiles}, Cleanup: p.cleanup,
		State: snapshot.New(snapshot.Config{
			Vars: vars, Shell: "bash", Env: p.d.spec.Env, Dir: p.d.Workdir, Lasts: p.d.spec.Persistent, Judge: effect.Judge,
			Prelude: runner.PreludeFD, Write: runner.StateFD, Stores: b.conf.Stores,
		}),
	}
}

// standard is where programs are looked for when an image does not say.
const standard = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// vars are the variables that the image sets, where the owner did not set them otherwise.
func (p *place) vars() map[string]string {
	vars := map[string]string{"PATH": standard, "HOME": p.d.Home}
	for _, pair := range p.d.image.Config.Env {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" && name != "HOME" && !strings.ContainsRune(pair, 0) {
			vars[name] = value
		}
	}
	for name := range vars {
		if _, ok := p.d.spec.Env.Lookup(name); ok {
			delete(vars, name)
		}
	}
	if path, ok := p.d.spec.Env.Lookup("PATH"); ok {
		vars["PATH"] = path
	}
	return vars
}

// harden is what the helper does to itself beside what the engine did.
func (b *Backend) harden(d *design) runner.Harden {
	filter, _ := b.filter(d)
	return runner.Harden{NoNewPrivs: true, Filter: filter}
}

// listen says how the helper is to wait.
func (b *Backend) listen(d *design, idle time.Duration, detach bool) runner.Listen {
	return runner.Listen{
		Socket: plan.SocketDir + "/" + socketName, Token: d.token, Idle: idle, Detach: detach, Harden: b.harden(d),
		// Whoever is inside as well is refused; where the host's processes can be seen, nobody could be told apart.
		Outside: d.Asked.Doors[exposure.HostProc].Asked != exposure.Unasked,
	}
}

// message writes the helper's instructions where only it reads them, and returns the path inside.
func (b *Backend) message(d *design, idle time.Duration, detach bool) (string, error) {
	d.token = randomBytes(32)
	text, err := b.listen(d, idle, detach).Message()
	if err != nil {
		return "", err
	}
	name := "listen-" + random(6)
	if err := os.WriteFile(filepath.Join(d.sockets, name), text, 0o600); err != nil {
		return "", err
	}
	return plan.SocketDir + "/" + name, nil
}

// socket connects to the helper in a container, and starts it if there is none.
func (b *Backend) socket(ctx context.Context, p *place) (*runner.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("the helper did not answer within %v", startTime))
	defer cancel()
	if p.held.main {
		return b.await(ctx, p)
	}
	tokens := p.d.sockets + "." + tokenName
	if p.d.Reuse { // others may have found it already, however new it is: one of them starts the helper
		if token, err := os.ReadFile(tokens); err == nil {
			if c, err := b.connect(ctx, p, token); err == nil {
				return c, nil
			}
		}
		done, err := serialize(ctx, b.conf.State, "runner-"+p.d.Name)
		if err != nil {
			return nil, err
		}
		defer done()
		if token, err := os.ReadFile(tokens); err == nil { // somebody else has started one meanwhile
			if c, err := b.connect(ctx, p, token); err == nil {
				return c, nil
			}
		}
		if err := os.MkdirAll(p.d.sockets, 0o700); err != nil {
			return nil, err
		}
	}
	p.d.token = randomBytes(32)
	text, err := b.listen(p.d, keptTime, true).Message()
	if err != nil {
		return nil, err
	}
	written, err := p.e.do(ctx, call{args: []string{"exec", "-i", p.held.ID, runnerPath, runner.ListenMode}, in: bytes.NewReader(text), time: startTime})
	if err != nil && len(written) == 0 {
		return nil, b.helpless(ctx, p, err)
	}
	if _, err := runner.Listening(written); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoHelper, err)
	}
	if err := replace(tokens, p.d.token); err != nil {
		return nil, err
	}
	return b.connect(ctx, p, p.d.token)
}

// replace writes a small file whole or not at all.
func replace(name string, text []byte) error {
	next := name + "." + random(4)
	err := os.WriteFile(next, text, 0o600)
	if err == nil {
		err = os.Rename(next, name)
	}
	if err != nil {
		_ = os.Remove(next)
	}
	return err
}

// connect greets the helper over its socket.
func (b *Backend) connect(ctx context.Context, p *place, token []byte) (*runner.Client, error) {
	o := b.options(p)
	o.Token = token
	c, err := runner.Connect(ctx, filepath.Join(p.d.sockets, socketName), o)
	var nobody *fs.PathError // there is no socket, or nobody listens at it
	if errors.As(err, &nobody) || errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("%w: %w", errNoSocket, err)
	}
	return c, err
}

// await connects to a helper that is the container's first process.
func (b *Backend) await(ctx context.Context, p *place) (*runner.Client, error) {
	pause := time.Millisecond
	for looked := time.Now(); ; pause = min(2*pause, 50*time.Millisecond) {
		c, err := b.connect(ctx, p, p.d.token)
		if err == nil || !errors.Is(err, errNoSocket) {
			return c, err
		}
		if time.Since(looked) > time.Second {
			looked = time.Now()
			all, asked := p.e.inspect(ctx, p.held.ID)
			if asked == nil && (len(all) == 0 || !all[0].State.Running) {
				return nil, fmt.Errorf("%w: it ended at once", errNoHelper)
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", errNoSocket, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// helpless tells why the helper did not start: it cannot run in this container, or there is no container any more.
func (b *Backend) helpless(ctx context.Context, p *place, err error) error {
	all, asked := p.e.inspect(ctx, p.held.ID)
	switch {
	case asked != nil:
		return err
	case len(all) == 0 || !all[0].State.Running || all[0].State.Paused:
		return fmt.Errorf("open docker sandbox: %w: %w", errVanished, err)
	}
	return fmt.Errorf("%w: %w", errNoHelper, err)
}

// pipe is the two-way stream of an engine's client.
type pipe struct {
	process  *child.Process
	in, out  *os.File
	complain *limited
}

func (s *pipe) Read(b []byte) (int, error)  { return s.out.Read(b) }
func (s *pipe) Write(b []byte) (int, error) { return s.in.Write(b) }

// Close ends the client. What it leads to sees the end of its input.
func (s *pipe) Close() error {
	err := s.in.Close()
	select {
	case <-s.process.Done():
	case <-time.After(2 * time.Second):
		s.process.Kill()
	}
	return errors.Join(err, s.out.Close())
}

// diesWithParent says that the engine's clients end with this process, however it ends. Elsewhere they end when their streams do.
const diesWithParent = runtime.GOOS == "linux"

// start starts an engine's client whose standard streams lead to the helper.
func (e *engine) start(ctx context.Context, args []string) (*pipe, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	s := &pipe{in: inWrite, out: outRead, complain: &limited{left: 64 << 10}}
	s.process, err = child.Start(context.WithoutCancel(ctx), child.Spec{
		Program: e.program, Args: args, Env: e.client(noVariables), Dir: "/", Session: true, DieWithParent: diesWithParent,
		Stdio: child.Stdio{In: inRead, Out: outWrite, Err: s.complain}, End: child.End{Leave: true},
	})
	_ = inRead.Close()
	_ = outWrite.Close()
	if err != nil {
		return nil, errors.Join(err, inWrite.Close(), outRead.Close())
	}
	return s, nil
}

// stream greets the helper over the streams of an engine's client.
func (b *Backend) stream(ctx context.Context, p *place, args []string) (*runner.Client, error) {
	s, err := p.e.start(ctx, args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("the helper did not answer within %v", startTime))
	defer cancel()
	o := b.options(p)
	harden := b.harden(p.d)
	o.Harden = &harden
	c, err := runner.DialStream(ctx, s, o)
	if err == nil {
		return c, nil
	}
	select {
	case <-s.process.Done():
	case <-time.After(time.Second):
		s.process.Kill()
	}
	text := reason(s.complain.String())
	if text == "" {
		return nil, fmt.Errorf("%w: %w", errNoHelper, err)
	}
	f := &failure{what: verb(args), text: text}
	if p.held != nil && p.held.ID != "" {
		return nil, b.helpless(ctx, p, f)
	}
	return nil, fmt.Errorf("%w: %w", errNoHelper, f)
}

// attached runs a container whose first process is the helper, over the streams of the client that started it: the container
// goes when they end.
func (b *Backend) attached(ctx context.Context, e *engine, d *design) (sandbox.Sandbox, error) {
	for _, dir := range append(slices.Clone(d.Dirs), d.sockets) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open docker sandbox: %w", err)
		}
	}
	u, err := claim(ctx, b.conf.State, d.Name)
	if err != nil {
		return nil, fmt.Errorf("open docker sandbox: %w", err)
	}
	args := slices.Clone(d.Run)
	n := len(args) - 2
	if args[1] != "-d" || !slices.Equal(args[n:], []string{"sleep", "infinity"}) {
		u.release()
		return nil, errors.New("open docker sandbox: the plan is not one of a container in the background")
	}
	args = append(slices.Concat([]string{"run", "-i", "--rm"}, args[2:n]), runnerPath, runner.StdioMode)
	p := &place{b: b, e: e, d: d, held: &held{use: u, fresh: true, main: true}}
	p.held.Name = d.Name
	p.Client, err = b.stream(ctx, p, args)
	if err == nil {
		var all []details
		all, err = e.inspect(ctx, d.Name)
		if err == nil && len(all) != 1 {
			err = errVanished
		}
		if err == nil {
			p.held.details = all[0]
			err = agrees(&p.held.details, d)
		}
	}
	return b.entered(ctx, p, err)
}

var _ io.ReadWriteCloser = (*pipe)(nil)
