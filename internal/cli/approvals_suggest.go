package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/approval"
	history "hermes/internal/approval/suggest"
	"hermes/internal/config"
	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/guard/scope"
	"hermes/internal/redact"
	"hermes/internal/session"
)

// suggestion are the flags of approvals suggest.
type suggestion struct {
	days, least, limit int
	db, apply          string
	json               bool
}

// suggestAnswer is the whole answer as JSON.
type suggestAnswer struct {
	DB        string           `json:"db"`
	Days      int              `json:"days"`
	Proposals []proposalAnswer `json:"proposals"`
}

type proposalAnswer struct {
	N        int      `json:"n"`
	Pattern  string   `json:"pattern"`
	Kind     string   `json:"kind"` // glob or class
	Count    int      `json:"count"`
	Inferred int      `json:"inferred"` // of count: it ran, and who approved it is not stored
	Classes  []string `json:"classes"`
	Covers   string   `json:"covers"`
	Examples []string `json:"examples"`
}

// applyAnswer is what was added, as JSON.
type applyAnswer struct {
	Applied []string `json:"applied"`
	Size    int      `json:"allowlist_size"`
}

func (a *approvals) suggest() *cobra.Command {
	var o suggestion
	c := &cobra.Command{
		Use:   "suggest",
		Short: "Propose entries for command_allowlist out of what you approved again and again",
		Long: "Reads the stored conversations for commands that were asked about and that a person approved, and proposes entries that\n" +
			"would spare the question. Nothing is written without --apply.\n\n" +
			"What deletes, overwrites, ends processes, gives rights, touches keys or settings of the system, or runs what others\n" +
			"wrote is never proposed, however often it was approved. What YOLO, a mode, a rule or a model let pass does not count.\n" +
			"A database of another version does not say who approved: what ran there counts, and is marked.",
		Example: "  hermes approvals suggest\n" +
			"  hermes approvals suggest --days 0 --min-count 5\n" +
			"  hermes approvals suggest --apply 1,3",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.propose(c.Context(), o, c.Flags().Changed("apply")) },
	}
	f := c.Flags()
	f.StringVar(&o.apply, "apply", "", "add the proposals with these numbers, as `N[,M...]`")
	f.IntVar(&o.days, "days", 90, "look back `N` days; 0: at all there is")
	f.IntVar(&o.least, "min-count", 2, "propose what was approved `N` times at least")
	f.IntVar(&o.limit, "limit", 20, "propose `N` entries at most")
	f.StringVar(&o.db, "db", "", "the `FILE` to read (default: state.db of the home)")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return c
}

func (a *approvals) propose(ctx context.Context, f suggestion, apply bool) error {
	o, err := a.open(apply)
	if err != nil {
		return err
	}
	defer o.close()
	snap, err := o.Load()
	if err != nil {
		return a.explain(err)
	}
	if f.db == "" {
		f.db = o.path + "/" + session.File
		if o.dir != nil {
			f.db = o.dir.Join(session.File)
		}
	}
	profile, err := a.operator()
	if err != nil {
		return err
	}
	var since time.Time
	if f.days > 0 {
		since = time.Now().AddDate(0, 0, -f.days)
	}
	found, err := history.Find(session.Calls(ctx, f.db, profile, "terminal", since), a.mining(snap, f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage("It begins with the first conversation; --db names another one.", "Session database not found: %s", f.db)
	case err != nil:
		return err
	case apply:
		return a.apply(o, found, f)
	}
	return a.proposed(found, f)
}

// mining says by whose rules history is looked at: the owner's, without what a file or a work tree of today would say.
func (a *approvals) mining(snap *config.Snapshot, f suggestion) history.Options {
	rules := app.Rules(&snap.Settings)
	listed := rules.Allow
	facts := command.Facts{Home: a.stdio.Env("HOME"), HermesHome: a.stdio.Env("HERMES_HOME"), Profile: a.profile}
	clean := redact.New(redact.Options{Mode: redact.Strict, Known: snap.Secrets()})
	return history.Options{
		Judge: func(text string, allow []string) guard.Verdict {
			rules.Allow = allow
			p := rules.Parse(text, facts)
			return rules.Judge(&p, facts)
		},
		Listed: listed, Redact: clean.String, Home: facts.Home, MinCount: f.least, Limit: f.limit,
	}
}

// operator returns the profile whose conversations are read.
func (a *approvals) operator() (scope.Profile, error) {
	name := a.profile
	if name == "" {
		_, p, err := config.Locate(a.stdio.Env)
		if err != nil {
			return scope.Profile{}, err
		}
		name = p.String()
	}
	if name == "" {
		name = "default"
	}
	return scope.ParseProfile(name)
}

func (a *approvals) proposed(found []history.Proposal, f suggestion) error {
	if f.json {
		answer := suggestAnswer{DB: f.db, Days: f.days, Proposals: []proposalAnswer{}}
		for i, p := range found {
			answer.Proposals = append(answer.Proposals, proposalAnswer{i + 1, p.Pattern, kindOf(p), p.Count, p.Inferred, p.Classes, coversOf(p), p.Examples})
		}
		return encode(a.stdio.Stdout, answer)
	}
	when := "all history"
	if f.days > 0 {
		when = "last " + strconv.Itoa(f.days) + " days"
	}
	p := newPage(a.stdio)
	if len(found) == 0 {
		p.line("Nothing to propose: no command was approved often enough (" + when + ") whose class may be allowed for good.")
		return nil
	}
	p.line("Proposed command_allowlist additions (from approval history, " + when + "):")
	for i, one := range found {
		text := fmt.Sprintf("%3d. %s    — approved %dx", i+1, visible(one.Pattern), one.Count)
		if one.Class {
			text += " (class key)"
		}
		if one.Inferred > 0 {
			text += fmt.Sprintf(" (%d of them inferred: it ran, and who approved it is not stored)", one.Inferred)
		}
		p.line("")
		p.line(text)
		p.line("     covers: " + coversOf(one))
		if !one.Class {
			p.line("     class: " + strings.Join(one.Classes, "; "))
		}
		for _, example := range one.Examples {
			p.line("     e.g. " + visible(example))
		}
	}
	p.line("")
	p.line("Nothing was changed. hermes approvals suggest --apply N[,M...] adds entries; hermes approvals revoke takes them back.")
	return nil
}

func kindOf(p history.Proposal) string {
	if p.Class {
		return "class"
	}
	return "glob"
}

func coversOf(p history.Proposal) string {
	if !p.Class && strings.HasSuffix(p.Pattern, " *") {
		return "every single command that begins with " + strings.TrimSuffix(p.Pattern, " *") + ", with whatever options"
	}
	return approval.Describe(p.Pattern).Covers
}

// apply adds proposals by number. With one wrong number nothing is written.
func (a *approvals) apply(o opened, found []history.Proposal, f suggestion) error {
	var chosen []string
	for text := range strings.SplitSeq(f.apply, ",") {
		text = strings.TrimSpace(text)
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return usage("Nothing was written. Numbers are those that hermes approvals suggest prints.", "--apply error: %q is not a number", text)
		case len(found) == 0:
			return usage("Nothing was written. hermes approvals suggest says what would be.", "--apply error: nothing is proposed")
		case n < 1 || n > len(found):
			return usage("Nothing was written. Numbers are those that hermes approvals suggest prints, with the same flags.",
				"--apply error: there is no proposal %d, only 1 to %d", n, len(found))
		case !slices.Contains(chosen, found[n-1].Pattern):
			chosen = append(chosen, found[n-1].Pattern)
		}
	}
	list := app.Allowlist(o.dir, o.Store)
	for _, entry := range chosen {
		if err := list.Add(entry); err != nil {
			return a.explain(fmt.Errorf("suggest: %w", err))
		}
	}
	entries, err := list.List()
	if err != nil {
		return a.explain(err)
	}
	if f.json {
		return encode(a.stdio.Stdout, applyAnswer{chosen, len(entries)})
	}
	for _, entry := range chosen {
		fmt.Fprintf(a.stdio.Stdout, "+ %s\n", visible(entry))
	}
	fmt.Fprintf(a.stdio.Stdout, "command_allowlist has %s now.\n", entriesOf(len(entries)))
	return nil
}

func entriesOf(n int) string {
	if n == 1 {
		return "one entry"
	}
	return fmt.Sprintf("%d entries", n)
}
