package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hermes/internal/screen"
	"hermes/internal/spell"
)

// hintError is an error with a line that says what to type instead. The hint is no part of the error's text.
type hintError struct {
	text string
	hint string
}

func (e *hintError) Error() string { return e.text }

func usage(hint, format string, args ...any) error {
	return &hintError{text: fmt.Sprintf(format, args...), hint: hint}
}

// unknownCommand says that c has no such sub-command, and which one may have been meant.
func unknownCommand(c *cobra.Command, word string) error {
	names := []string{}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := "See " + c.CommandPath() + " --help."
	if near := spell.Nearest(word, names); near != "" {
		hint = "Did you mean " + c.CommandPath() + " " + near + "?"
	}
	return usage(hint, "%s is not a command of %s", word, name(c))
}

// flagError tells in our words what the flag parser has to say.
func flagError(c *cobra.Command, err error) error {
	if c.HasSubCommands() && c.Flags().NArg() > 0 {
		return unknownCommand(c, c.Flags().Arg(0))
	}
	flag := ""
	if _, rest, ok := strings.Cut(err.Error(), "unknown flag: "); ok {
		flag = rest
	} else if _, rest, ok := strings.Cut(err.Error(), "unknown shorthand flag: "); ok {
		_, word, _ := strings.Cut(rest, " in ")
		flag = word
	}
	if flag == "" {
		return usage("See "+c.CommandPath()+" --help.", "%s: %s", name(c), err)
	}
	names := []string{}
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	hint := "See " + c.CommandPath() + " --help."
	switch near := spell.Nearest(flag, names); {
	case near != "":
		hint = "Did you mean " + near + "?"
	case takesText(c):
		hint = "A text to judge goes in quotes: " + c.CommandPath() + " 'rm -rf build'"
	}
	return usage(hint, "%s is not a flag of %s", flag, name(c))
}

// name returns what a command is called in an error, which begins with "hermes" already.
func name(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "hermes ") }

// helpCols is how wide help is where nobody knows how wide the terminal is; lines longer than that are hard to read anywhere.
const helpCols = 120

// help prints the help of all commands below root in one shape: what it does, how it is called, examples, flags.
func help(root *cobra.Command, stdio *IO) {
	cols := helpCols
	if stdio.Width > 0 {
		cols = max(40, min(stdio.Width, helpCols))
	}
	root.SetUsageFunc(func(c *cobra.Command) error { showUsage(c, cols); return nil })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		w := c.OutOrStdout()
		for _, paragraph := range strings.Split(cmp.Or(c.Long, c.Short), "\n\n") {
			fmt.Fprintf(w, "%s\n\n", screen.Wrap(strings.ReplaceAll(paragraph, "\n", " "), cols, ""))
		}
		showUsage(c, cols)
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Use, c.Short, c.Long = "help [COMMAND...]", "Print the help of a command", ""
			c.Example = "  hermes help config set"
		case "completion":
			c.Short = "Print a script with which a shell completes commands and flags"
			c.Long = "Prints a script for your shell, which then completes commands, flags and their values when you press Tab."
			c.Example = "  source <(hermes completion bash)\n" +
				"  hermes completion zsh > \"${fpath[1]}/_hermes\"\n" +
				"  hermes completion fish > ~/.config/fish/completions/hermes.fish"
			for _, sub := range c.Commands() {
				sub.Short, sub.Long = "Print the script for "+sub.Name(), ""
				sub.Example = "  hermes completion " + sub.Name()
			}
		}
	}
}

// showUsage prints how a command is called, what is below it, and its flags: as they were written down, help last.
func showUsage(c *cobra.Command, cols int) {
	w := c.OutOrStderr()
	lines := []string{strings.TrimSuffix(c.UseLine(), " [flags]")}
	if c.HasAvailableSubCommands() {
		lines[0] = c.CommandPath() + " COMMAND"
	}
	if !c.HasParent() {
		lines = append([]string{c.CommandPath() + " [FLAG...]"}, lines...)
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", strings.Join(lines, "\n  "))
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintln(w, screen.Wrap(fmt.Sprintf("  %-12s %s", sub.Name(), sub.Short), cols, strings.Repeat(" ", 15)))
			}
		}
		fmt.Fprintf(w, "\nMore of each: %s COMMAND --help\n", c.CommandPath())
	}
	c.InitDefaultHelpFlag()
	c.InheritedFlags() // which adds those of the commands above
	c.Flags().SortFlags = false
	flags := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	flags.SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			flags.AddFlag(f)
		}
	})
	flags.AddFlag(c.Flags().Lookup("help"))
	fmt.Fprintf(w, "\nFlags:\n%s", strings.ReplaceAll(flags.FlagUsagesWrapped(cols), `SESSION[="`+last+`"]`, "[SESSION]    "))
}

// takesText tells whether c is check under one of its names.
func takesText(c *cobra.Command) bool { return c.Flags().Lookup("jsonl") != nil }
