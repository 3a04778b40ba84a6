package local

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/snapshot"
)

var (
	_ sandbox.Sandbox = (*resident)(nil)
	_ sandbox.Files   = (*resident)(nil)
)

// resident is a sandbox with a runner.
type resident struct {
	*runner.Client
	b     *Backend
	state *snapshot.State
	temp  string
	e     exposure.Exposure
}

// Exposure says that nothing is contained.
func (r *resident) Exposure() exposure.Exposure { return r.e }

// Run runs a command. A session's directory that is gone is left for the nearest above it.
func (r *resident) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	if c.Dir == "" {
		if dir := r.state.Dir(); !enterable(dir) {
			r.state.Move(r.b.usable(dir, r.temp))
		}
	}
	return r.Client.Run(ctx, c)
}

// startTime bounds the start of a runner.
const startTime = 10 * time.Second

// resident starts a runner and greets it.
func (b *Backend) resident(ctx context.Context, conf snapshot.Config, start runner.Start, e exposure.Exposure,
	temp string) (sandbox.Sandbox, error) {
	leash, watched, err := b.watcher()
	if err != nil {
		return nil, err
	}
	process, conn, err := b.runner(ctx, leash)
	if err != nil {
		_ = leash.Close()
		<-watched
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	state := snapshot.New(conf)
	end := func() {
		select {
		case <-process.Done():
		case <-time.After(startTime):
			process.Kill()
			<-process.Done()
		}
		_ = leash.Close()
	}
	var harden *runner.Harden
	if memory := b.memory(); memory > 0 {
		harden = &runner.Harden{Data: memory}
	}
	client, err := runner.Dial(ctx, conn, runner.Options{
		Backend: "local", State: state, Search: conf.Vars["PATH"], Start: start, Queue: b.conf.Queue, Grace: b.conf.Grace, Log: b.conf.Log,
		Harden: harden, Cleanup: end,
	})
	if err != nil {
		process.Kill()
		end()
		return nil, err
	}
	<-watched // before the first command, so that nothing runs unwatched
	if err := client.Watch(leash); err != nil {
		_ = client.Close(ctx)
		return nil, fmt.Errorf("tell the watcher: %w", err)
	}
	e.Runner = exposure.Resident
	return &resident{Client: client, b: b, state: state, temp: temp, e: e}, nil
}

// runner starts a runner, which holds the leash, and returns the connection to it.
func (b *Backend) runner(ctx context.Context, leash *os.File) (*child.Process, *os.File, error) {
	ours, theirs, err := runner.Pair()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close()
	process, err := child.Start(context.WithoutCancel(ctx), child.Spec{
		Program: b.conf.Runner, Name: runner.Marker, Args: []string{runner.WatchedMode}, Dir: "/", Session: true,
		// Asked to end, not killed: it has the commands to take along. It cannot see to that itself, as it is not sure to run on
		// the thread that the death is told to.
		DieWithParent: true, DeathSignal: syscall.SIGTERM,
		Stdio: child.Stdio{Files: []*os.File{theirs, leash}}, End: child.End{Leave: true},
	})
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	return process, ours, nil
}

// watcher starts the process that cleans up when both this one and the runner are killed at once, beside what else there is to
// start. It ends when nobody holds the leash any more. The channel is closed once it is there, or cannot be: then a runner of
// the same program cannot either.
func (b *Backend) watcher() (leash *os.File, there <-chan struct{}, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	_ = r.Fd() // the watcher's end blocks
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.Close()
		_, _ = child.Start(context.Background(), child.Spec{
			Program: b.conf.Runner, Name: runner.Marker, Args: []string{runner.WatchMode}, Dir: "/", Session: true,
			Stdio: child.Stdio{Files: []*os.File{r}}, End: child.End{Leave: true},
		})
	}()
	return w, done, nil
}
