package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/config"
	"hermes/internal/guard/scope"
	"hermes/internal/llm"
	"hermes/internal/session"
)

// newSessions builds the commands over stored conversations.
func newSessions(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List, search, show, rename, export and delete conversations",
		Long: "Works on the conversations of this profile, as they are stored in its state.db. A session is named by its id, the\n" +
			"beginning of it, or its title.",
		Example: "  hermes sessions list\n  hermes sessions search 'docker compose'\n  hermes sessions show 20261201-0930",
	}
	group(c)
	c.AddCommand(newSessionsList(stdio), newSessionsSearch(stdio), newSessionsShow(stdio), newSessionsRename(stdio), newSessionsExport(stdio),
		newSessionsDelete(stdio))
	return c
}

// withSessions opens the conversations of the profile that the environment names. They must exist.
func withSessions(ctx context.Context, stdio *IO, f func(v *session.View) error) error {
	o, err := (&settings{stdio: stdio}).open(false)
	if err != nil {
		return err
	}
	defer o.close()
	none := usage("They begin with the first conversation.", "open sessions: there are none in %s", o.path)
	if o.dir == nil {
		return none
	}
	if _, err := o.dir.Stat(session.File); errors.Is(err, fs.ErrNotExist) {
		return none
	}
	_, name, err := config.Locate(stdio.Env)
	if err != nil {
		return err
	}
	profile := "default"
	if !name.IsZero() {
		profile = name.String()
	}
	operator, err := scope.ParseProfile(profile)
	if err != nil {
		return err
	}
	store, err := session.Open(ctx, o.dir)
	if err != nil {
		return err
	}
	view, err := store.View(operator)
	if err == nil {
		err = f(view)
	}
	var ambiguous *session.AmbiguousError
	switch {
	case errors.Is(err, session.ErrNone):
		err = usage("See hermes sessions list.", "%s", err)
	case errors.As(err, &ambiguous):
		err = usage("Write more of the id.", "%s", err)
	}
	return errors.Join(err, store.Close())
}

// withSession is withSessions for the one that text names.
func withSession(ctx context.Context, stdio *IO, text string, f func(v *session.View, i session.Info) error) error {
	return withSessions(ctx, stdio, func(v *session.View) error {
		i, err := v.Find(ctx, text)
		if err != nil {
			return err
		}
		return f(v, i)
	})
}

func wantArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n || len(args) > 0 && args[0] == "" {
			return usage("See "+c.CommandPath()+" --help.", "%s: say %s", name(c), what)
		}
		return nil
	}
}

func newSessionsList(stdio *IO) *cobra.Command {
	var f session.Filter
	asJSON := false
	c := &cobra.Command{
		Use: "list", Short: "List conversations, the one used last first", Args: noArgs,
		Example: "  hermes sessions list -n 5\n  hermes sessions list --source telegram --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return withSessions(c.Context(), stdio, func(v *session.View) error {
				list, err := v.List(c.Context(), f)
				if err != nil {
					return err
				}
				return printSessions(stdio.Stdout, list, asJSON)
			})
		},
	}
	c.Flags().IntVarP(&f.Limit, "limit", "n", 20, "list at most `N`; 0 lists all")
	c.Flags().StringVar(&f.Origin, "source", "", "only those from `NAME`: cli, telegram, …")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func printSessions(w io.Writer, list []session.Info, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, i := range list {
			if err := enc.Encode(i.Export()); err != nil {
				return fmt.Errorf("write standard output: %w", bare(err))
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", i.ID, i.Updated.Local().Format("2006-01-02 15:04"), i.Owner.Origin(), count(i.Messages, "message"), titled(i))
	}
	return t.Flush()
}

// titled is what a conversation is called on a screen.
func titled(i session.Info) string {
	if i.Title != "" {
		return visible(i.Title)
	}
	if i.First != "" {
		return visible("“" + i.First + "”")
	}
	return "(empty)"
}

func newSessionsSearch(stdio *IO) *cobra.Command {
	limit, asJSON := 20, false
	c := &cobra.Command{
		Use: "search WORDS...", Short: "Find messages that have all words", Args: cobra.ArbitraryArgs,
		Long:    "Finds messages that have all words, each also as the beginning of one; \"in quotes\" words stand side by side.",
		Example: "  hermes sessions search firewall rule\n  hermes sessions search '\"docker compose up\"'",
		RunE: func(c *cobra.Command, args []string) error {
			return withSessions(c.Context(), stdio, func(v *session.View) error {
				hits, err := v.Search(c.Context(), strings.Join(args, " "), limit)
				if err != nil {
					return err
				}
				return printHits(stdio, hits, asJSON)
			})
		},
	}
	c.Flags().IntVarP(&limit, "limit", "n", 20, "print at most `N` messages")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func printHits(stdio *IO, hits []session.Hit, asJSON bool) error {
	enc := json.NewEncoder(stdio.Stdout)
	enc.SetEscapeHTML(false)
	for _, h := range hits {
		if !asJSON {
			fmt.Fprintf(stdio.Stdout, "%s  %s  %s  %s\n    %s\n", h.Info.ID, h.At.Local().Format("2006-01-02 15:04"), h.Role, titled(h.Info), visible(h.Text))
			continue
		}
		err := enc.Encode(struct {
			Session string    `json:"session"`
			Message int64     `json:"message"`
			Role    string    `json:"role"`
			At      time.Time `json:"timestamp"`
			Text    string    `json:"text"`
		}{h.Info.ID, h.Message, h.Role, h.At.UTC(), h.Text})
		if err != nil {
			return fmt.Errorf("write standard output: %w", bare(err))
		}
	}
	if len(hits) == 0 && !asJSON {
		fmt.Fprintln(stdio.Stdout, "Nothing found.")
	}
	return nil
}

func newSessionsShow(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use: "show SESSION", Short: "Print a conversation", Args: wantArgs(1, "which session"),
		Example: "  hermes sessions show 20261201-0930",
		RunE: func(c *cobra.Command, args []string) error {
			return withSession(c.Context(), stdio, args[0], func(v *session.View, i session.Info) error {
				all, err := v.Messages(c.Context(), i.ID)
				if err != nil {
					return err
				}
				fmt.Fprintf(stdio.Stdout, "%s  %s  %s\n", i.ID, i.Owner.Origin(), titled(i))
				for _, m := range all {
					printMessage(stdio.Stdout, m)
				}
				return nil
			})
		},
	}
}

func printMessage(w io.Writer, m session.Message) {
	notes := ""
	switch {
	case m.Covers > 0:
		notes = " (summary)"
	case m.Undone:
		notes = " (taken back)"
	case m.Approved.By != "":
		notes = " (approved by " + visible(m.Approved.By) + ", " + visible(m.Approved.How) + ")"
	}
	who := string(m.Role)
	if m.Role == llm.Result && m.Tool != "" {
		who = visible(m.Tool)
	}
	fmt.Fprintf(w, "\n%s %s%s\n", m.At.Local().Format("15:04:05"), who, notes)
	for line := range strings.Lines(m.Text) {
		fmt.Fprintf(w, "  %s\n", visible(strings.TrimRight(line, "\r\n")))
	}
	for _, call := range m.Calls {
		fmt.Fprintf(w, "  → %s %s\n", visible(call.Name), visible(call.Arguments))
	}
}

func newSessionsRename(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use: "rename SESSION TITLE", Short: "Give a conversation a title", Args: wantArgs(2, "which session, and its title"),
		Example: "  hermes sessions rename 20261201-0930 'the broken build'",
		RunE: func(c *cobra.Command, args []string) error {
			return withSession(c.Context(), stdio, args[0], func(v *session.View, i session.Info) error {
				return v.Rename(c.Context(), i.ID, args[1])
			})
		},
	}
}

func newSessionsExport(stdio *IO) *cobra.Command {
	return &cobra.Command{
		Use: "export SESSION", Short: "Print a conversation as lines of JSON", Args: wantArgs(1, "which session"),
		Example: "  hermes sessions export 20261201-0930 > session.jsonl",
		RunE: func(c *cobra.Command, args []string) error {
			return withSession(c.Context(), stdio, args[0], func(v *session.View, i session.Info) error {
				return v.Export(c.Context(), i.ID, stdio.Stdout)
			})
		},
	}
}

func newSessionsDelete(stdio *IO) *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use: "delete SESSION", Short: "Delete a conversation for good", Args: wantArgs(1, "which session"),
		Example: "  hermes sessions delete 20261201-0930 --yes",
		Long:    "Deletes a conversation with all its messages. It shows what would be deleted; with --yes it does it.",
		RunE: func(c *cobra.Command, args []string) error {
			return withSession(c.Context(), stdio, args[0], func(v *session.View, i session.Info) error {
				if err := printSessions(stdio.Stdout, []session.Info{i}, false); err != nil {
					return err
				}
				if !yes {
					return usage("hermes sessions delete --yes "+i.ID+" deletes it.", "delete session %s: nothing was deleted", i.ID)
				}
				if err := v.Delete(c.Context(), i.ID); err != nil {
					return err
				}
				fmt.Fprintln(stdio.Stdout, "Deleted.")
				return nil
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "delete it")
	return c
}
