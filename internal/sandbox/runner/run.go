package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/snapshot"
)

// Run runs one command; see sandbox.Sandbox.
func (c *Client) Run(ctx context.Context, cmd sandbox.Command) (sandbox.Status, error) {
	if err := cmd.Check(); err != nil {
		return sandbox.Status{}, err
	}
	begin := time.Now()
	ctx, cancel := sandbox.WithTimeout(ctx, cmd.Timeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.done:
		return sandbox.Status{}, c.over()
	case <-ctx.Done():
		return sandbox.Ended(ctx, sandbox.Status{Wall: time.Since(begin)})
	}
	if cmd.Text != "" {
		c.bootstrap(ctx)
	}
	p, err := c.opt.State.Plan(cmd)
	if err != nil {
		return sandbox.Status{}, err
	}
	return c.run(ctx, cmd, p, begin)
}

// run runs what was planned, and lets the state take what it wrote.
func (c *Client) run(ctx context.Context, cmd sandbox.Command, p snapshot.Plan, begin time.Time) (sandbox.Status, error) {
	end, state, status, err := c.exchange(ctx, cmd, p)
	status.Wall = time.Since(begin)
	if err != nil {
		return status, err
	}
	if end.fault != "" {
		return status, fmt.Errorf("run %s: %s", p.Argv[0], end.fault)
	}
	status.Signal = int(end.signal)
	status.CPU = time.Duration(end.user+end.system) * time.Microsecond
	status.Left = processes(end.left)
	switch {
	case status.TimedOut:
		status.Code = 124
	case status.Interrupted:
		status.Code = 130
	case end.signal != 0:
		status.Code = 128 + int(end.signal)
	default:
		status.Code = int(end.code)
		if end.note == "" && !cmd.Apart {
			status.Dir, status.Observed = c.opt.State.Apply(p, state)
		}
	}
	return status, nil
}

// exchange sends the request and follows it to its end.
func (c *Client) exchange(ctx context.Context, cmd sandbox.Command, p snapshot.Plan) (result, []byte, sandbox.Status, error) {
	var status sandbox.Status
	var end result
	room := 4 // started, state, exit
	if c.opt.Framed {
		room = 2*window/frameCost + 8
	}
	id, frames, err := c.place(false, room)
	if err != nil {
		return end, nil, status, err
	}
	defer c.forget(id)
	q := request{argv: p.Argv, env: p.Env, dir: p.Dir, near: cmd.Dir == "", prelude: p.Prelude, state: p.Write, framed: c.opt.Framed, search: c.search(p.Env)}
	st, err := c.streams(id, cmd, &q)
	if err != nil {
		return end, nil, status, err
	}
	defer st.finish()
	err = c.send(frame{kind: runKind, id: id, body: q.encode(), fds: st.remote})
	st.sent()
	if err != nil {
		c.fail(err)
		return end, nil, status, c.over()
	}
	var state []byte
	cancelled, resize, signals, failed := ctx.Done(), cmd.Resize, cmd.Signals, st.failed
	var bound <-chan time.Time // after which a runner that does not answer is broken
	for {
		select {
		case f := <-frames:
			switch f.kind {
			case startedKind:
				st.terminal(f)
			case outputKind:
				st.output(f)
			case creditKind:
				st.credit(f)
			case stateKind:
				state = append(state, f.body...)
			case exitKind:
				if err := end.decode(f.body); err != nil {
					c.fail(err)
					return end, nil, status, c.over()
				}
				return end, state, status, st.drain(end.note)
			}
		case size, ok := <-resize:
			if !ok {
				resize = nil
				continue
			}
			st.resize(size)
		case sig, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			w := writer{}
			w.num(uint64(max(sig.Number, 0)))
			w.flag(sig.Tree)
			_ = c.send(frame{kind: signalKind, id: id, body: w.b})
		case <-cancelled:
			cancelled = nil
			status.TimedOut = sandbox.TimedOut(ctx)
			status.Interrupted = !status.TimedOut
			bound = c.end(id, cmd.Grace)
		case <-failed: // nobody takes what it says
			failed = nil
			if bound == nil {
				cancelled, bound = nil, c.end(id, cmd.Grace)
			}
		case <-bound:
			c.fail(errors.New("the runner does not answer"))
		case <-c.done:
			return end, nil, status, c.over()
		}
	}
}

// end asks for the end of a command's tree.
func (c *Client) end(id uint32, grace time.Duration) <-chan time.Time {
	if grace == 0 {
		grace = c.opt.Grace
	}
	w := writer{}
	w.num(uint64(max(grace, 0) / time.Millisecond))
	if err := c.send(frame{kind: endKind, id: id, body: w.b}); err != nil {
		c.fail(err)
	}
	return time.After(max(grace, 0) + answerTime)
}

// search returns the directories in which a bare program name is looked up.
func (c *Client) search(env []string) string {
	for _, pair := range env {
		if path, ok := strings.CutPrefix(pair, "PATH="); ok {
			return path
		}
	}
	return c.opt.Search
}

// bootstrap runs the login shell whose state the session begins with. When it fails, a bare bash tells what is broken: the
// login shell, which is then left out, or everything but the login shell, which is then used each time.
//
// If ctx ends meanwhile nothing was learnt, and the next command tries again.
func (c *Client) bootstrap(ctx context.Context) {
	c.boot.Lock()
	defer c.boot.Unlock()
	if c.booted || !c.opt.Start.Login && len(c.opt.Start.Files) == 0 {
		return
	}
	defer func() { c.booted = ctx.Err() == nil }()
	try := func(p snapshot.Plan, limit time.Duration) (result, []byte, bool) {
		ctx, cancel := sandbox.WithTimeout(ctx, limit)
		defer cancel()
		end, state, status, err := c.exchange(ctx, sandbox.Command{Grace: -1}, p)
		return end, state, err == nil && end.fault == "" && !status.TimedOut && !status.Interrupted
	}
	p := c.opt.State.Bootstrap(c.opt.Start.Files, c.opt.Start.Login)
	if _, state, ok := try(p, bootTime); ok && c.opt.State.Bootstrapped(p, state) {
		return
	}
	end, _, ok := try(c.opt.State.Bare(), bareTime)
	if ctx.Err() != nil {
		return
	}
	if ok && end.code == 0 && end.signal == 0 {
		c.log("the login shell does not get to its end: commands run without its start files")
		return
	}
	c.log("bash runs only as a login shell: every command reads its start files")
	c.opt.State.Login()
}

func (c *Client) log(text string) {
	if c.opt.Log != nil {
		c.opt.Log(text)
	}
}
