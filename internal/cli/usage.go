package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// showUsage prints how a command is called, what is below it, and its flags.
func showUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	line := strings.TrimSuffix(c.UseLine(), " [flags]")
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	fmt.Fprintf(w, "\nFlags:\n%s", strings.ReplaceAll(c.Flags().FlagUsages(), `SESSION[="`+last+`"]`, "[SESSION]    "))
	return nil
}

// takesText tells whether c is check under one of its names.
func takesText(c *cobra.Command) bool { return c.Flags().Lookup("jsonl") != nil }
