package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hermes/internal/app"
	"hermes/internal/approval"
	"hermes/internal/config"
	"hermes/internal/guard"
	"hermes/internal/guard/checked"
	"hermes/internal/launch"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/backends"
	"hermes/internal/sandbox/capture"
	"hermes/internal/screen"
	"hermes/internal/spell"
)

// Exit codes of exec beside the command's own.
const (
	exitRefused     = 125 // as of docker run: the command has not run
	exitInterrupted = 130
)

// execOptions are exec's flags. None of them approves anything.
type execOptions struct {
	backend string
	dir     string
	timeout string
	json    bool
}

// newExec builds the command that runs one command.
func newExec(stdio *IO) *cobra.Command {
	var o execOptions
	c := &cobra.Command{
		Use:   "exec 'TEXT' | -- PROGRAM [ARGUMENT...]",
		Short: "Run one command through guard, approval and sandbox",
		Long: "Runs one command: a shell text, or after -- a program with its arguments, without a shell. The guard judges it; where\n" +
			"it says ask, the question appears on the terminal, and Enter denies. Without a terminal there is nobody to ask, and\n" +
			"what would be asked about is refused. No flag approves.\n\n" +
			"Standard input goes to the command unless it is a terminal. Secrets are taken out of the output.\n\n" +
			"Exit code: the command's own; 124 if it took too long, 125 if it was refused and has not run, 126 and 127 as of a\n" +
			"shell, 130 after Ctrl-C.",
		Example: "  hermes exec 'git status'\n" +
			"  hermes exec -- git commit -m 'a message; with ${signs}'\n" +
			"  hermes exec --backend native --timeout 10m 'go test ./...'\n" +
			"  hermes exec --json 'make' | jq .decision",
		RunE: func(c *cobra.Command, args []string) error { return runExec(c, stdio, o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.backend, "backend", "", "run on `BACKEND` instead of terminal.backend")
	f.StringVar(&o.dir, "cwd", "", "run in `DIRECTORY`")
	f.StringVar(&o.timeout, "timeout", "", "end it after `TIME`: seconds or 5m, 0 never (default: terminal.timeout)")
	f.BoolVar(&o.json, "json", false, "print one JSON object: output, decision and what was in force")
	suggest(c, "backend", "local", "native", "docker", "ssh")
	return c
}

func runExec(c *cobra.Command, stdio *IO, o execOptions, args []string) error {
	call, err := execCall(c, stdio, o, args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	a, err := app.Open(app.Process{Env: stdio.Env, Environ: stdio.Environ, Version: stdio.Version, HostKey: askHostKey(stdio), Tell: func(text string) {
		fmt.Fprintln(stdio.Stderr, "hermes: "+visible(text))
	}})
	if err != nil {
		return refusedBy(stdio, err)
	}
	defer a.Close()
	start, err := stdio.Dir()
	if err != nil {
		return refusedBy(stdio, fmt.Errorf("working directory: %w", bare(err)))
	}
	if call.Session, err = a.Session("exec"); err != nil {
		return err
	}
	call.Place, err = a.Place(app.Where{Session: call.Session, Backend: o.backend, Dir: o.dir, Start: start})
	if err != nil {
		return refusedBy(stdio, err)
	}
	// Closing takes what the command has left running along, also after Ctrl-C.
	defer call.Place.Close(context.WithoutCancel(ctx))
	if call.Timeout < 0 {
		call.Timeout = a.Timeout()
	}
	call.Env = a.Environment(call.Place)
	presence(stdio, &call)
	return execute(ctx, stdio, o, a, call)
}

// execCall reads the arguments.
func execCall(c *cobra.Command, stdio *IO, o execOptions, args []string) (launch.Call, error) {
	call := launch.Call{Timeout: -1}
	switch dash := c.ArgsLenAtDash(); {
	case len(args) == 0:
		return call, usage("Try: hermes exec 'git status'", "exec has nothing to run")
	case dash == 0:
		call.Argv = args
	case dash > 0:
		return call, usage("Write either a text or, after --, a program.", "exec got a text in front of --")
	case len(args) > 1:
		return call, usage("Put it in quotes, or write -- in front: hermes exec -- "+visible(launch.Quote(args)), "exec takes one text, got %d", len(args))
	case strings.TrimSpace(args[0]) == "":
		return call, usage("Try: hermes exec 'git status'", "exec has nothing to run")
	default:
		call.Text = args[0]
	}
	if o.dir != "" {
		if _, err := checked.ParseWorkdir(o.dir); err != nil {
			return call, fmt.Errorf("--cwd: %w", err)
		}
	}
	if o.timeout != "" {
		d, err := seconds(o.timeout)
		if err != nil {
			return call, usage("Write seconds, or 90s, 5m, 1h; 0 is no limit.", "--timeout %q is no time", o.timeout)
		}
		call.Timeout = d
	}
	if !isTerminal(stdio.Stdin) {
		call.Stdin = stdio.Stdin
	}
	return call, nil
}

func seconds(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = errors.New("negative")
	}
	return d, err
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// presence finds out who can be asked.
func presence(stdio *IO, call *launch.Call) {
	signals := approval.ReadSignals(stdio.Env)
	signals.Interactive = false // that somebody is there shows in the terminal alone
	at := newTerminal(stdio)
	if at != nil {
		signals.Interactive = true
	}
	call.Presence, call.Platform = signals.Presence(), signals.Platform
	if at != nil && call.Presence == approval.Person {
		call.Prompter = at
	}
}

// execute runs the call and ends with its exit code.
func execute(ctx context.Context, stdio *IO, o execOptions, a *app.App, call launch.Call) error {
	var out, errs *capture.Buffer
	if o.json {
		out, errs = a.Capture(), a.Capture()
		call.Stdout, call.Stderr = out, errs
	} else {
		call.Stdout, call.Stderr = live{stdio.Stdout}, stdio.Stderr
		if at, ok := call.Prompter.(*atTerminal); ok {
			if stdio.Terminal {
				call.Stdout = &quiet{call.Stdout, at}
			}
			if isTerminal(stdio.Stderr) {
				call.Stderr = &quiet{call.Stderr, at}
			}
		}
	}
	r, err := a.Door().Run(ctx, call)
	if o.json {
		if broken := encode(stdio.Stdout, ledger(r, err, out, errs)); broken != nil {
			return broken
		}
	} else {
		for _, w := range r.Warnings {
			fmt.Fprintln(stdio.Stderr, "hermes: "+visible(w))
		}
	}
	switch {
	case err != nil && o.json:
		return exitCode(exitRefused)
	case err != nil && r.Decision.Message != "": // it was refused because of that
		code := refusedBy(stdio, err)
		refusal(stdio, r)
		return code
	case err != nil:
		return refusedBy(stdio, err)
	case r.Refused():
		if !o.json {
			refusal(stdio, r)
		}
		if r.Decision.Outcome == approval.Cancelled {
			return exitCode(exitInterrupted)
		}
		return exitCode(exitRefused)
	case r.Status.Interrupted:
		return exitCode(exitInterrupted)
	case r.Status.Code != 0:
		return exitCode(r.Status.Code)
	}
	return nil
}

// refusal tells why a command has not run, and what can be done.
func refusal(stdio *IO, r launch.Result) {
	say := func(text string) {
		if stdio.Terminal && isTerminal(stdio.Stderr) {
			text = screen.Wrap(text, newPage(stdio).cols, "")
		}
		fmt.Fprintln(stdio.Stderr, text)
	}
	say(visible(r.Decision.Message))
	v := r.Verdict
	if len(v.Findings) > 0 && v.Findings[0].Runs != "" {
		say("It would run: " + visible(v.Findings[0].Runs))
	}
	var next []string
	for _, s := range []string{r.Decision.Remedy, v.Remedy} {
		if s != "" && (len(next) == 0 || next[0] != sentence(visible(s))) {
			next = append(next, sentence(visible(s)))
		}
	}
	if len(next) > 0 {
		say(strings.Join(next, " "))
	}
}

// refusedBy tells why nothing could run, for a reason other than the command, and returns the exit code for it.
func refusedBy(stdio *IO, err error) error {
	var missing *sandbox.MissingError
	var degraded *sandbox.DegradedError
	var problems config.Problems
	var denied *guard.DeniedError
	var unknown *backends.UnknownError
	switch {
	case errors.As(err, &unknown):
		fmt.Fprintf(stdio.Stderr, "hermes: %s\nChoose one of them: --backend %s, or for every command hermes config set terminal.backend %[2]s.\n",
			visible(err.Error()), nearestBackend(unknown))
	case errors.As(err, &problems):
		problem(stdio.Stderr, problems)
		return exitCode(exitRefused)
	case errors.As(err, &missing) && missing.Remedy != "":
		fmt.Fprintf(stdio.Stderr, "hermes: %s\n%s\n", visible(err.Error()), sentence(visible(missing.Remedy)))
	case errors.As(err, &degraded) && degraded.Remedy != "":
		fmt.Fprintf(stdio.Stderr, "hermes: %s\n%s\n", visible(err.Error()), sentence(visible(degraded.Remedy)))
	case errors.As(err, &denied) && denied.Verdict.Remedy != "":
		fmt.Fprintf(stdio.Stderr, "hermes: %s\n%s\n", visible(err.Error()), sentence(visible(denied.Verdict.Remedy)))
	default:
		fmt.Fprintf(stdio.Stderr, "hermes: %s\n", visible(err.Error()))
	}
	return exitCode(exitRefused)
}

// nearestBackend returns the backend that was most likely meant.
func nearestBackend(e *backends.UnknownError) string {
	if near := spell.Nearest(e.Name, e.Names); near != "" {
		return near
	}
	return e.Names[0]
}

// live passes output on at once, although standard output is buffered.
type live struct{ w io.Writer }

func (l live) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	if err == nil {
		err = flush(l.w)
	}
	return n, err
}
