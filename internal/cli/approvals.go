package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/approval"
	"hermes/internal/redact"
)

// newApprovals builds the commands about what was approved for good.
func newApprovals(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "approvals",
		Short: "See, try out, take back and propose what is approved for good",
		Example: "  hermes approvals list\n" +
			"  hermes approvals suggest\n" +
			"  hermes approvals test 'git push --force'\n" +
			"  hermes approvals revoke 2",
	}
	group(c)
	a := &approvals{settings{stdio: stdio}}
	c.PersistentFlags().StringVar(&a.profile, "profile", "", "those of the profile `NAME`")
	c.AddCommand(a.list(), a.revoke(), a.suggest(), a.test())
	return c
}

// approvals is what the sub-commands share: the home and its settings.
type approvals struct{ settings }

// entryAnswer is an entry of the allow-list as JSON.
type entryAnswer struct {
	Number int    `json:"number"`
	Entry  string `json:"entry"`
	Kind   string `json:"kind"`
	Covers string `json:"covers"`
	Idle   bool   `json:"idle"` // it lifts nothing
}

func (a *approvals) list() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "list",
		Short: "List what was approved for good, and what each entry covers",
		Long: "Lists command_allowlist: what was answered with always, and what you have written there. What was approved for a\n" +
			"session only is not kept.",
		Example: "  hermes approvals list\n  hermes approvals list --json | jq '.[].entry'",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			snap, err := a.load()
			if err != nil {
				return err
			}
			return a.show(snap.Settings.Approvals.Allowlist, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return c
}

func (a *approvals) show(entries []string, asJSON bool) error {
	clean := redact.New(redact.Options{Mode: redact.Strict})
	answers := make([]entryAnswer, len(entries))
	for i, text := range entries {
		e := approval.Describe(text)
		answers[i] = entryAnswer{i + 1, clean.String(text), string(e.Kind), e.Covers, e.Idle}
	}
	if asJSON {
		return encode(a.stdio.Stdout, answers)
	}
	p := newPage(a.stdio)
	if len(answers) == 0 {
		p.line("Nothing is approved for good.")
		return nil
	}
	for i, one := range answers {
		e := approval.Describe(entries[i])
		p.line(fmt.Sprintf("%3d  %s", one.Number, visible(clean.String(e.Shown))))
		p.line("     " + string(e.Kind) + ": " + e.Covers)
	}
	return nil
}

func (a *approvals) revoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NUMBER|TEXT...",
		Short: "Take back what was approved for good",
		Long: "Removes entries from command_allowlist: by the number that list shows, by their text, or by a part of it that no other\n" +
			"entry has. Where it could be another one, nothing is removed.",
		Example: "  hermes approvals revoke 2\n  hermes approvals revoke 'git push *'",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("See hermes approvals list.", "%s takes the number or the text of an entry", name(c))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.remove(args) },
	}
}

func (a *approvals) remove(args []string) error {
	o, err := a.open(false)
	if err != nil {
		return err
	}
	defer o.close()
	if o.dir == nil {
		return usage("See hermes approvals list.", "revoke: nothing is approved for good")
	}
	list := app.Allowlist(o.dir, o.Store)
	entries, err := list.List()
	if err != nil {
		return a.explain(err)
	}
	clean := redact.New(redact.Options{Mode: redact.Strict})
	var gone []string
	for _, arg := range args {
		entry, err := pick(entries, arg, clean)
		if err != nil {
			return err
		}
		if !slices.Contains(gone, entry) {
			gone = append(gone, entry)
		}
	}
	for _, entry := range gone {
		if err := list.Remove(entry); err != nil {
			return a.explain(fmt.Errorf("revoke: %w", err))
		}
		fmt.Fprintf(a.stdio.Stdout, "revoked: %s\n", visible(clean.String(approval.Describe(entry).Shown)))
	}
	return nil
}

// pick returns the one entry that is meant.
func pick(entries []string, arg string, clean *redact.Redactor) (string, error) {
	if len(entries) == 0 {
		return "", usage("See hermes approvals list.", "revoke: nothing is approved for good")
	}
	found := map[string]bool{}
	add := func(which func(i int, entry string) bool) {
		for i, entry := range entries {
			if which(i, entry) {
				found[entry] = true
			}
		}
	}
	n, notNumber := strconv.Atoi(arg)
	add(func(i int, entry string) bool {
		return entry == arg || approval.Describe(entry).Shown == arg || notNumber == nil && i+1 == n
	})
	if len(found) == 0 && notNumber != nil && arg != "" {
		add(func(_ int, entry string) bool { return strings.Contains(entry, arg) })
	}
	switch len(found) {
	case 0:
		return "", usage("See hermes approvals list.", "revoke: no entry is %q", arg)
	case 1:
		for entry := range found {
			return entry, nil
		}
	}
	var lines []string
	for i, entry := range entries {
		if found[entry] {
			lines = append(lines, fmt.Sprintf("  %d  %s", i+1, visible(clean.String(entry))))
		}
	}
	return "", usage("It could be:\n"+strings.Join(lines, "\n"), "revoke: %q is not clear, and nothing was removed", arg)
}
