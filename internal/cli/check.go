package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/guard"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/command"
)

// maxText bounds what is read of one text or one line. The guard has a lower limit of its own; this one keeps a stream
// without an end from filling the memory.
const maxText = 16 << 20

// checkOptions are check's flags.
type checkOptions struct {
	kind, file  string
	deny, allow []string
	home, dir   string
	profile     string
	mode, scope string
	supervised  bool
	jsonl       bool
	json        bool
	explain     bool
}

// newCheck builds the command that asks the guards.
func newCheck(stdio *IO) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check TEXT | - | --file FILE | --jsonl [FILE]",
		Short: "Say whether a command may run, and why",
		Long: "Says which commands a text could run and whether they may. Nothing is executed.\n\n" +
			"Exit code: 0 allow, 2 ask, 3 deny, 1 if there is no answer. With --jsonl: 0, or 1 if a line was bad.",
		Example: "  hermes check 'F=-rf; rm $F /etc'\n" +
			"  hermes check --explain \"sudo sh -c 'make install'\"\n" +
			"  hermes check --deny 'git push --force*' 'cd repo && git push --force'\n" +
			"  hermes check --file deploy.sh\n" +
			"  hermes check --kind workdir '/srv/site'\n" +
			"  hermes check --kind url 'http://0x7f.1/'\n" +
			"  hermes check --kind write ~/.ssh/config\n" +
			"  hermes check --jsonl < commands.jsonl",
		RunE: func(c *cobra.Command, args []string) error { return runCheck(c, stdio, o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.kind, "kind", "command", "judge the text as `KIND`: command, url, read, write, text, workdir or redact; with --jsonl also env")
	f.StringVar(&o.file, "file", "", "read the text from `FILE`")
	f.StringArrayVar(&o.deny, "deny", nil, "refuse commands that match `GLOB` (may be repeated)")
	f.StringArrayVar(&o.allow, "allow", nil, "do not ask for commands that match `GLOB` or are of that rule (may be repeated)")
	f.StringVar(&o.home, "home", "", "the home `DIRECTORY` (default: yours)")
	f.StringVar(&o.dir, "cwd", "", "the `DIRECTORY` the command starts in (default: this one)")
	f.StringVar(&o.profile, "profile", "", "the profile `NAME` the command runs under")
	f.BoolVar(&o.supervised, "supervised", false, "judge as if run by a supervised gateway")
	f.StringVar(&o.mode, "mode", "", "redact in `MODE`: text, code, env, strict or off")
	f.StringVar(&o.scope, "scope", "context", "look for threats in a text as far as `SCOPE`: all, context or strict")
	f.BoolVar(&o.explain, "explain", false, "list each command found, and what is known of it")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.jsonl, "jsonl", false, "answer one JSON object a line for each line of input")
	suggest(c, "kind", "command", "url", "read", "write", "text", "workdir", "redact", "env")
	suggest(c, "scope", "all", "context", "strict")
	suggest(c, "mode", "text", "code", "env", "strict", "off")
	return c
}

// suggest completes a flag's value in the user's shell.
func suggest(c *cobra.Command, flag string, values ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was not declared: a mistake in newCheck
	}
}

func runCheck(c *cobra.Command, stdio *IO, o checkOptions, args []string) error {
	switch {
	case len(args) > 1:
		return usage("Put it in quotes: "+c.CommandPath()+" 'rm -rf build'",
			"%s takes one text, got %d", name(c), len(args))
	case len(args) == 1 && o.file != "":
		return usage("Leave out one of them.", "%s got both a text and --file", name(c))
	case !knownKind(o.kind):
		return usage("Kinds: "+kindList+".", "--kind %s is not a kind", o.kind)
	case o.kind == "env" && !o.jsonl:
		return usage("Try: echo '{\"kind\":\"env\",\"surface\":\"terminal\",\"env\":{\"PATH\":\"/bin\"}}' | "+c.CommandPath()+" --jsonl",
			"--kind env judges an environment, which is no text")
	case o.explain && (o.kind != "command" || o.jsonl):
		return usage("Leave it out, or check one command.", "--explain explains one command")
	}
	if o.jsonl {
		return checkLines(stdio, o, args)
	}
	text, err := readText(c, stdio, o, args)
	if err != nil {
		return err
	}
	switch o.kind {
	case "url":
		return checkURL(stdio, o, text)
	case "text":
		return checkText(stdio, o, text)
	case "read", "write":
		return checkFile(stdio, o, strings.TrimSuffix(text, "\n"))
	case "workdir":
		return checkWorkdir(stdio, o, strings.TrimSuffix(text, "\n"))
	case "redact":
		return checkRedact(stdio, o, text)
	}
	return checkCommand(stdio, o, text)
}

// readText returns the text to judge from the argument, standard input or a file.
func readText(c *cobra.Command, stdio *IO, o checkOptions, args []string) (string, error) {
	switch {
	case o.file == "-", o.file == "" && len(args) == 1 && args[0] == "-":
		return readAll(stdio.Stdin, "standard input")
	case o.file != "":
		f, err := os.Open(o.file)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", o.file, bare(err))
		}
		defer f.Close()
		return readAll(f, o.file)
	case len(args) == 0:
		return "", usage("Try: "+c.CommandPath()+" 'rm -rf /', or - to read standard input.",
			"%s has nothing to judge", name(c))
	}
	return args[0], nil
}

func readAll(r io.Reader, name string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", name, bare(err))
	case len(b) > maxText:
		return "", fmt.Errorf("read %s: more than %d MiB", name, maxText>>20)
	}
	return string(b), nil
}

// bare strips the operation and path that os adds, since our errors name them already.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func checkCommand(stdio *IO, o checkOptions, text string) error {
	policy, facts := command.Policy{Deny: o.deny, Allow: o.allow}, localFacts(stdio, o)
	if !o.explain {
		v := policy.Check(text, facts)
		if o.json {
			return finish(stdio, v, commandAnswer(nil, v))
		}
		newPage(stdio).verdict(text, v)
		return exit(v.Action)
	}
	v, program := policy.Explain(text, facts)
	if o.json {
		return finish(stdio, v, explainAnswer(v, &program, facts.Dir))
	}
	p := newPage(stdio)
	p.verdict(text, v)
	p.program(&program, facts.Dir)
	return exit(v.Action)
}

func checkWorkdir(stdio *IO, o checkOptions, text string) error {
	v, where := workdirVerdict(text)
	if o.json {
		return finish(stdio, v, workdirAnswer{Verdict: v.Action.String(), Reason: v.Reason})
	}
	p := newPage(stdio)
	if v.Action == guard.Allow {
		p.line("allow")
		return nil
	}
	p.line("deny · workdir · " + v.Reason)
	p.marked(text, where, where+1, "")
	return exit(v.Action)
}

// workdirVerdict judges a working directory; where is the guilty byte, -1 if there is none.
func workdirVerdict(text string) (v guard.Verdict, where int) {
	_, err := checked.ParseWorkdir(text)
	var bad *checked.Error
	switch {
	case err == nil:
		return guard.Allowed(), -1
	case errors.As(err, &bad):
		return guard.Verdict{Reason: bad.Reason()}, bad.Pos
	}
	return guard.Verdict{Reason: err.Error()}, -1
}

func checkRedact(stdio *IO, o checkOptions, text string) error {
	a := asker{checkOptions: o}
	clean, err := a.redact(text, o.mode)
	if err != nil {
		return fmt.Errorf("--mode: %w", err)
	}
	if o.json {
		return encode(stdio.Stdout, redactAnswer{Text: clean})
	}
	if !strings.HasSuffix(clean, "\n") && stdio.Terminal {
		clean += "\n"
	}
	_, err = io.WriteString(stdio.Stdout, clean)
	return err
}

// finish prints an answer as JSON and returns the exit code of its verdict.
func finish(stdio *IO, v guard.Verdict, answer any) error {
	if err := encode(stdio.Stdout, answer); err != nil {
		return err
	}
	return exit(v.Action)
}

func encode(w io.Writer, answer any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}

// exit returns the error that ends check with the exit code of an action.
func exit(a guard.Action) error {
	switch a {
	case guard.Allow:
		return nil
	case guard.Ask:
		return exitCode(exitAsk)
	default:
		return exitCode(exitDeny)
	}
}
