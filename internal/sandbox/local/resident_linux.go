package local

import (
	"context"
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
	ours, theirs, err := runner.Pair()
	if err != nil {
		return nil, err
	}
	process, err := child.Start(context.WithoutCancel(ctx), child.Spec{
		Program: b.conf.Runner, Name: runner.Marker, Dir: "/", Session: true,
		// Asked to end, not killed: it has the commands to take along. It cannot see to that itself, as it is not sure to run on
		// the thread that the death is told to.
		DieWithParent: true, DeathSignal: syscall.SIGTERM,
		Stdio: child.Stdio{Files: []*os.File{theirs}}, End: child.End{Leave: true},
	})
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	state := snapshot.New(conf)
	client, err := runner.Dial(ctx, ours, runner.Options{
		Backend: "local", State: state, Search: conf.Vars["PATH"], Start: start, Queue: b.conf.Queue, Grace: b.conf.Grace, Log: b.conf.Log,
		Cleanup: func() {
			select {
			case <-process.Done():
			case <-time.After(startTime):
				process.Kill()
				<-process.Done()
			}
		},
	})
	if err != nil {
		process.Kill()
		<-process.Done()
		return nil, err
	}
	e.Runner = exposure.Resident
	return &resident{Client: client, b: b, state: state, temp: temp, e: e}, nil
}
