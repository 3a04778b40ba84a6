// Package cli is the command line: it turns arguments into calls of the guards, and their answers into text, JSON and an
// exit code.
//
// It decides nothing, and it is the only place that prints hints. It builds its commands in functions, so that a process
// that only answers one question pays for nothing else.
//
// Failure direction: whatever goes wrong before an answer exists ends with exit code 1, which is never "allow".
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes of check. Every other command ends with exitOK or exitFailed.
const (
	exitOK     = 0
	exitFailed = 1
	exitAsk    = 2
	exitDeny   = 3
)

// IO is everything the command line knows of the process around it.
type IO struct {
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool                    // Stdout is a terminal
	Width    int                     // its columns; 0 when not known
	Environ  func() []string         // the whole environment, as NAME=value
	Env      func(key string) string // value of an environment variable, "" when unset
	Dir      func() (string, error)  // the working directory
	Version  string                  // of the build; "" when it was not stamped

	direct io.Writer // Stdout as it was given, without the buffer of Main
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, stdio IO) int {
	out := bufio.NewWriterSize(stdio.Stdout, 1<<16)
	stdio.direct, stdio.Stdout = stdio.Stdout, out
	root := newRoot(&stdio)
	root.SetArgs(args)
	root.SetIn(stdio.Stdin)
	root.SetOut(out)
	root.SetErr(stdio.Stderr)
	err := root.ExecuteContext(ctx)
	if broken := out.Flush(); broken != nil && (err == nil || isExit(err)) {
		err = fmt.Errorf("write standard output: %w", bare(broken))
	}
	return report(stdio.Stderr, err)
}

// newRoot builds the command tree. What is not built yet is not in it.
func newRoot(stdio *IO) *cobra.Command {
	root := &cobra.Command{
		Use:   "hermes",
		Short: "An agent that works on your machine, and its guard",
		Long: "Hermes is an agent that works on your machine, and the guard around it: which commands could a text run, may they,\n" +
			"and where do they run? Nothing passes that could not be judged.\n\n" +
			"Alone at a terminal it opens a chat. What a pipe or a file holds it takes as one message, as chat -q - does, and answers\n" +
			"that.",
		Example: "  hermes\n" +
			"  echo 'what takes the room in /var?' | hermes\n" +
			"  hermes chat -q 'which ports are open, and to whom?'\n" +
			"  hermes check 'F=-rf; rm $F /etc'\n" +
			"  hermes exec 'git status'\n" +
			"  hermes check --jsonl < commands.jsonl",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	group(root)
	alone(root, stdio)
	root.AddCommand(newApprovals(stdio), newChat(stdio), newCheck(stdio), newAudit(stdio), newConfig(stdio), newDemo(stdio), newEgress(stdio), newExec(stdio), newModel(stdio), newSandbox(stdio), newSessions(stdio), newSetup(stdio), newTools(stdio), newVersion(stdio))
	help(root, stdio)
	return root
}

// group makes a command that only holds others: alone it prints its help, with an unknown word it says what was meant.
func group(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
}

// alone lets hermes without a command open a chat, where somebody is there to talk, or answer what it is given to read.
func alone(root *cobra.Command, stdio *IO) {
	var o chatOptions
	chatFlags(root.Flags(), &o)
	grouped := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		flags := c.Flags().NFlag() > 0
		if len(args) > 0 && !flags {
			return grouped(c, args)
		}
		if !isTerminal(stdio.Stdin) && !o.plain {
			text, err := readInput(stdio)
			if err == nil && !flags && strings.TrimSpace(text) == "" {
				return c.Help()
			}
			if err != nil {
				return err
			}
			stdio.Stdin, o.query, o.asked = strings.NewReader(text), "-", true
		}
		return openChat(c, stdio, o, args)
	}
}

// exitCode ends a command that has already said everything.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func isExit(err error) bool {
	var code exitCode
	return errors.As(err, &code)
}

// linesError is an error whose lines are printed as lines.
type linesError struct{ error }

func (e *linesError) Unwrap() error { return e.error }

// shown returns the lines, each fit for a terminal. None after the first stands at the margin, where Hermes speaks: they may hold what
// is in a file.
func (e *linesError) shown() string {
	lines := strings.Split(strings.TrimRight(e.Error(), "\n"), "\n")
	for i, l := range lines {
		if lines[i] = visible(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    ")); i > 0 && l != "" {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// report prints an error in our shape and returns the exit code that goes with it.
func report(w io.Writer, err error) int {
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	text := visible(err.Error())
	var several *linesError
	if errors.As(err, &several) {
		text = several.shown()
	}
	fmt.Fprintf(w, "hermes: %s\n", text)
	var hinted *hintError
	if errors.As(err, &hinted) {
		fmt.Fprintln(w, hinted.hint)
	}
	return exitFailed
}
