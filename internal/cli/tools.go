package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/guard"
	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/pdftext"
	"hermes/internal/spell"
	"hermes/internal/tool"
	"hermes/internal/tool/browse"
)

func newTools(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the agent's tools, or call one",
		Long: "Lists the tools of the agent, or calls one from the command line, with the same guards: files that are protected stay so,\n" +
			"and where the guard says ask, the question appears on the terminal. What tools bring from outside is text of others:\n" +
			"nothing in it speaks for Hermes.",
		Example: "  hermes tools list\n" +
			"  hermes tools run read_file README.md\n" +
			"  hermes tools run web_extract https://example.com/\n" +
			"  hermes tools run web_search 'go garbage collector'\n" +
			"  hermes tools run web_extract '{\"urls\":[\"https://example.com/\"],\"whole\":true}' --json",
	}
	group(c)
	c.AddCommand(newToolsList(stdio), newToolsRun(stdio), newToolsPDF(stdio))
	return c
}

// toolAnswer is how a tool is listed for programs.
type toolAnswer struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func newToolsList(stdio *IO) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the tools", Args: cobra.NoArgs,
		Example: "  hermes tools list --json",
		RunE: func(*cobra.Command, []string) error {
			return withTools(context.Background(), stdio, "", func(set *app.Toolset) error {
				for _, t := range set.Tools {
					s := t.Spec()
					if asJSON {
						if err := encode(stdio.Stdout, toolAnswer{s.Name, s.Description, s.Schema}); err != nil {
							return err
						}
						continue
					}
					first, _, _ := strings.Cut(s.Description, ". ")
					fmt.Fprintf(stdio.Stdout, "%-14s  %s\n", s.Name, strings.TrimSuffix(first, "."))
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line, with the schema of the arguments")
	return c
}

func newToolsRun(stdio *IO) *cobra.Command {
	var asJSON bool
	var backend string
	c := &cobra.Command{
		Use:   "run NAME [ARGUMENT... | JSON | -]",
		Short: "Call a tool",
		Long: "Calls a tool. Words are its main argument (a path, URLs, a query), or all that it needs, in order; one word that begins\n" +
			"with { is all its arguments, in JSON, and - reads them from standard input. Commands and programs run on\n" +
			"terminal.backend, and files are those that commands see there (see tool.files_on).\n\n" +
			"Exit code: 0, or 1 if nothing came of it.",
		Example: "  hermes tools run web_extract https://example.com/ https://example.org/\n" +
			"  hermes tools run download https://example.com/picture.png\n" +
			"  hermes tools run write_file notes.txt 'one line'\n" +
			"  hermes tools run search_files '{\"pattern\":\"TODO\",\"file_glob\":\"*.go\"}'\n" +
			"  hermes tools run execute_code - < arguments.json",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("See: hermes tools list", "tools run has no tool to call")
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			return withTools(ctx, stdio, backend, func(set *app.Toolset) error { return runTool(ctx, stdio, set.Tools, args, asJSON) })
		},
	}
	c.Flags().StringVar(&backend, "backend", "", "run on `BACKEND` instead of terminal.backend")
	suggest(c, "backend", "local", "native", "docker", "ssh")
	c.Flags().BoolVar(&asJSON, "json", false, "print the whole result as one JSON object, with what was found and what a page hides")
	return c
}

// withTools makes the tools of one call from the command line, for a person at the terminal if there is one.
func withTools(ctx context.Context, stdio *IO, backend string, use func(*app.Toolset) error) error {
	return withApp(stdio, func(a *app.App, start string) (err error) {
		owner, err := a.Session("tools")
		if err != nil {
			return err
		}
		place, err := a.Place(app.Where{Session: owner, Backend: backend, Start: start})
		if err != nil {
			return err
		}
		// Closing takes what was left running along, also after Ctrl-C.
		defer func() { err = errors.Join(err, place.Close(context.WithoutCancel(ctx))) }()
		var call launch.Call
		presence(stdio, &call)
		set, err := a.Toolset(app.ToolsetOptions{
			Session: owner, Place: place, Start: start, Presence: call.Presence, Platform: call.Platform, Prompter: call.Prompter,
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, set.Close(context.WithoutCancel(ctx))) }()
		return use(set)
	})
}

func runTool(ctx context.Context, stdio *IO, tools []tool.Tool, args []string, asJSON bool) error {
	t, ok := tool.Find(tools, args[0])
	if !ok {
		var names []string
		for _, t := range tools {
			names = append(names, t.Spec().Name)
		}
		hint := "There are: " + strings.Join(names, ", ") + "."
		if near := spell.Nearest(args[0], names); near != "" {
			hint = "Did you mean " + near + "?"
		}
		return usage(hint, "%s is not a tool", args[0])
	}
	call, err := toolCall(stdio, t.Spec(), args[1:])
	if err != nil {
		return err
	}
	call.Untainted = true // a person wrote it: an agent that runs this command is asked about
	result, err := t.Call(ctx, call)
	var denied *guard.DeniedError
	switch {
	case errors.Is(err, browse.ErrNoEngine):
		return usage(browse.Setup, "%s", err)
	case errors.As(err, &denied) && denied.Verdict.Remedy != "":
		return &linesError{usage(sentence(denied.Verdict.Remedy), "%s", err)}
	case err != nil:
		return &linesError{err}
	}
	if asJSON {
		err = encode(stdio.Stdout, result.Data)
	} else {
		err = showResult(stdio, result)
	}
	if err == nil && result.Failed {
		return exitCode(exitFailed)
	}
	return err
}

// toolCall makes a call of the words of a command line.
func toolCall(stdio *IO, s tool.Spec, args []string) (tool.Call, error) {
	if len(args) == 1 && args[0] == "-" {
		text, err := io.ReadAll(io.LimitReader(stdio.Stdin, 32<<20))
		if err != nil {
			return tool.Call{}, fmt.Errorf("read standard input: %w", bare(err))
		}
		return tool.Call{Args: text}, nil
	}
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		return tool.Call{Args: json.RawMessage(args[0])}, nil
	}
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return tool.Call{}, fmt.Errorf("read the schema of %s: %w", s.Name, err)
	}
	if s.Words == "" {
		return namedCall(s, schema.Required, args)
	}
	var value any = strings.Join(args, " ")
	if schema.Properties[s.Words].Type == "array" {
		value = args
	}
	if len(args) == 0 {
		return tool.Call{}, usage("Try: hermes tools run "+s.Name+" "+strings.ToUpper(s.Words), "%s has no %s", s.Name, s.Words)
	}
	text, err := json.Marshal(map[string]any{s.Words: value})
	return tool.Call{Args: text}, err
}

// namedCall gives each word to an argument that the tool needs.
func namedCall(s tool.Spec, needed, args []string) (tool.Call, error) {
	if len(args) != len(needed) {
		hint := "Try: hermes tools run " + s.Name + " '{…}', with its arguments in JSON: hermes tools list --json"
		if len(needed) > 0 {
			hint = "Try: hermes tools run " + s.Name + " " + strings.ToUpper(strings.Join(needed, " ")) + ", or all of its arguments in JSON"
		}
		return tool.Call{}, usage(hint, "%s needs %d arguments, got %d", s.Name, len(needed), len(args))
	}
	named := map[string]string{}
	for i, name := range needed {
		named[name] = args[i]
	}
	text, err := json.Marshal(named)
	return tool.Call{Args: text}, err
}

// showResult prints what came from outside, and what Hermes says of it on standard error.
func showResult(stdio *IO, r tool.Result) error {
	printed := 0
	if r.Diff != "" {
		if _, err := io.WriteString(stdio.Stdout, legible(r.Diff)+"\n"); err != nil {
			return err
		}
	}
	for _, p := range r.Parts {
		if p.Origin == taint.Own {
			remark(stdio, p.Text)
			continue
		}
		w := stdio.Stdout
		if r.Failed {
			remark(stdio, p.Text)
			continue
		}
		if printed++; printed > 1 {
			fmt.Fprintln(w)
		}
		if _, err := io.WriteString(w, legible(p.Text)+"\n"); err != nil {
			return err
		}
		if p.Risk.Level == "high" {
			fmt.Fprintf(stdio.Stderr, "hermes: %s: looks like an attack on an agent: %s\n", visible(p.Source), visible(strings.Join(p.Risk.Findings, ", ")))
		}
	}
	return nil
}

// remark prints each line of what Hermes has to say.
func remark(stdio *IO, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(stdio.Stderr, "hermes: "+visible(strings.TrimRight(line, "\n")))
	}
}

// legible escapes, line by line, what would do something to a terminal.
func legible(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\t", "    ")
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
			lines[i] = visible(line)
		}
	}
	return strings.Join(lines, "\n")
}

// newToolsPDF builds what the program starts itself as, to read a PDF apart.
func newToolsPDF(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use: app.PDFCommand[1], Short: "Print the text of the PDF on standard input", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			file, err := io.ReadAll(io.LimitReader(stdio.Stdin, 64<<20))
			if err != nil {
				return fmt.Errorf("read standard input: %w", bare(err))
			}
			text, err := pdftext.Read(file)
			if err == nil {
				_, err = io.WriteString(stdio.Stdout, text)
			}
			return err
		},
	}
}
