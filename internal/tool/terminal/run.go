package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/process"
	"hermes/internal/sandbox"
	"hermes/internal/shell"
	"hermes/internal/tool"
)

// Run is the tool terminal: it runs commands.
type Run struct{ Options }

// Spec implements tool.Tool.
func (r Run) Spec() tool.Spec {
	return tool.Spec{
		Name: "terminal", Words: "command",
		Description: "Run a shell command (bash) and return what it prints and its exit code. Directory, exported variables, functions and aliases last from " +
			"one command to the next. What runs on (servers, watchers, long builds) belongs in the background: background true returns at once with a session_id " +
			"for the tool process; do not use &, nohup or setsid for that. Use read_file, write_file, patch and search_files for files. A command may be refused, or " +
			"a person asked about it: a refusal is final, for other commands with the same outcome too.",
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
			`"command":{"type":"string","description":"shell text"},`+
			`"background":{"type":"boolean","default":false,"description":"run on, and return at once"},`+
			`"timeout":{"type":"integer","minimum":1,"description":"seconds after which it is ended; default %d, at most %d in the foreground; in the background none by default"},`+
			`"workdir":{"type":"string","description":"absolute directory to run in; default: where the last command ended"},`+
			`"pty":{"type":"boolean","default":false,"description":"on a terminal, for programs that want one (REPLs, editors, ssh); with background true they can be typed into (process) and looked at (read_terminal)"},`+
			`"notify_on_complete":{"type":"boolean","default":false,"description":"background only: you are told when it ends, once"},`+
			`"watch_patterns":{"type":"array","items":{"type":"string"},"maxItems":16,"description":"background only: you are told, at most every 15 s, when a line has one of these texts. For what happens on the way (errors, readiness), not for the end: that is notify_on_complete"}`+
			`},"required":["command"],"additionalProperties":false}`, r.timeout()/time.Second, r.longest()/time.Second)),
	}
}

type runArgs struct {
	Command    string   `json:"command"`
	Background bool     `json:"background"`
	Timeout    *int64   `json:"timeout"`
	Workdir    string   `json:"workdir"`
	PTY        bool     `json:"pty"`
	Notify     bool     `json:"notify_on_complete"`
	Watch      []string `json:"watch_patterns"`
}

// maxTimeout is a year: more seconds than fit a duration must not become few.
const maxTimeout = 365 * 24 * 3600

// check refuses what no command can be run with, and says what of it will not count.
func (r Run) check(a *runArgs) (timeout time.Duration, notes []string, err error) {
	switch {
	case strings.TrimSpace(a.Command) == "":
		return 0, nil, errors.New("read arguments: no command")
	case strings.ContainsRune(a.Command, 0):
		return 0, nil, errors.New("read arguments: a NUL byte cannot be part of a command")
	case a.Timeout != nil && (*a.Timeout < 1 || *a.Timeout > maxTimeout):
		return 0, nil, fmt.Errorf("read arguments: timeout %d is not a number of seconds from 1 to %d", *a.Timeout, maxTimeout)
	}
	if a.Workdir != "" {
		dir, err := checked.ParseWorkdir(a.Workdir)
		if err != nil {
			return 0, nil, fmt.Errorf("read arguments: %w; nothing was run", err)
		}
		if a.Workdir = dir.String(); !absolute(a.Workdir) {
			return 0, nil, fmt.Errorf("read arguments: workdir %q is not absolute", a.Workdir)
		}
	}
	if a.Timeout != nil {
		timeout = time.Duration(*a.Timeout) * time.Second
	}
	if a.Background {
		if a.Notify && len(a.Watch) > 0 {
			a.Watch = nil
			notes = append(notes, "watch_patterns do not count beside notify_on_complete")
		}
		return timeout, notes, nil
	}
	if timeout == 0 {
		timeout = r.timeout()
	}
	if timeout > r.longest() {
		return 0, nil, fmt.Errorf("read arguments: in the foreground a command may take %d s at most, not %d: run it with background true and notify_on_complete true",
			r.longest()/time.Second, timeout/time.Second)
	}
	if a.Notify || len(a.Watch) > 0 {
		notes = append(notes, "notify_on_complete and watch_patterns are for background commands, and did not count")
	}
	return timeout, notes, nil
}

// absolute tells whether a directory is absolute, wherever it may be.
func absolute(dir string) bool {
	return path.IsAbs(dir) || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/') || strings.HasPrefix(dir, `\\`)
}

// screenSize is what terminals have to begin with.
var screenSize = sandbox.Size{Rows: 30, Cols: 100}

// early is how long the start of a background command is watched: most of what cannot run at all has ended by then.
const early = 300 * time.Millisecond

// Call implements tool.Tool.
func (r Run) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args runArgs
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	timeout, notes, err := r.check(&args)
	if err != nil {
		return tool.Result{}, err
	}
	out := &live{call: c}
	defer out.stop()
	prog := shell.Parse(args.Command, shell.Options{})
	p, err := r.Processes.Start(ctx, r.spec(args, timeout, out, &prog))
	if err != nil {
		return tool.Result{}, err
	}
	a := answer{o: &r.Options, args: args, prog: &prog, p: p, notes: notes, timeout: timeout}
	if args.Background {
		p.Wait(ctx, early)
		return a.background(), nil
	}
	if wait(p) {
		r.Processes.Forget(p)
		return a.foreground(), nil
	}
	a.notes = append(a.notes, "the person wants it to go on in the background, as long as it takes")
	return a.background(), nil
}

// wait waits for a command in the foreground. It is false if the person lets it go on in the background instead (see
// process.Process.Detach).
func wait(p *process.Process) bool {
	select {
	case <-p.Done():
	case <-p.Detached():
	}
	select {
	case <-p.Detached():
		return false
	default:
		return true
	}
}

// spec says how to run a command.
func (r Run) spec(a runArgs, timeout time.Duration, out *live, prog *shell.Program) process.Spec {
	call := launch.Call{
		Session: r.Session, Place: r.Place, Text: a.Command, Dir: a.Workdir, Env: r.Environment(),
		Presence: r.Presence, Platform: r.Platform, Prompter: r.Prompter, Timeout: timeout, Apart: a.Background,
	}
	if a.PTY {
		size := screenSize
		call.Terminal = &size
	}
	typed, dir := &launch.Typed{}, ""
	return process.Spec{
		Session: r.Session, Terminal: call.Terminal, Typed: a.Background, Waited: !a.Background, Notify: a.Notify, Watch: a.Watch, Tee: out,
		Origin: func(s launch.Started) taint.Origin {
			dir = s.Result.Dir
			if s.Program != nil { // an alias of an earlier command may make another one of it
				return origin(s.Program, s.Result.Exposure)
			}
			return origin(prog, s.Result.Exposure)
		},
		Run: func(ctx context.Context, s process.Streams) (launch.Result, error) {
			call := call
			call.Stdin, call.Stdout, call.Stderr, call.Resize, call.Display, call.Started = s.Stdin, s.Output, s.Output, s.Resize, s.Display, s.Started
			call.Unbound = s.Detached
			return r.Door.Run(ctx, call)
		},
		Judge: func(ctx context.Context, text string) (launch.Result, error) {
			call := call
			call.Dir = dir
			return r.Door.Type(ctx, call, typed, text)
		},
	}
}

// live passes output on while the call lasts.
type live struct {
	mu   sync.Mutex // guards what follows, and the order of writes
	call tool.Call
	over bool
}

func (l *live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.call.Say(tool.Update{Output: string(p)})
	}
	return len(p), nil
}

func (l *live) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
