package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/launch"
)

// trial are the flags of approvals test.
type trial struct {
	deny, allow []string
	dir         string
	json        bool
}

func (a *approvals) test() *cobra.Command {
	var o trial
	c := &cobra.Command{
		Use:   "test TEXT | -",
		Short: "Say what your rules make of a command, and which of them",
		Long: "Judges a command with the rules in your settings: approvals.deny, approvals.command_approval_required and\n" +
			"command_allowlist. It names those that have a say. Nothing is executed and nothing is written.\n\n" +
			"What a mode, a session or a sandbox would lift is not looked at. Exit code: 0 allow, 2 ask, 3 deny, 1 if there is no\n" +
			"answer.",
		Example: "  hermes approvals test 'git push --force'\n" +
			"  hermes approvals test --allow 'git push *' 'git push --force'",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("Put it in quotes: "+c.CommandPath()+" 'rm -rf build'", "%s takes one text, got %d", name(c), len(args))
			}
			text, err := readText(c, a.stdio, checkOptions{}, args)
			if err != nil {
				return err
			}
			return a.try(text, o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.deny, "deny", nil, "as if approvals.deny had `GLOB`, too (may be repeated)")
	f.StringArrayVar(&o.allow, "allow", nil, "as if command_allowlist had `ENTRY`, too (may be repeated)")
	f.StringVar(&o.dir, "cwd", "", "the `DIRECTORY` the command starts in (default: this one)")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return c
}

// trialAnswer is a verdict with the owner's rules that have a say in it.
type trialAnswer struct {
	verdictAnswer
	Rules []ruleAnswer `json:"rules"`
}

type ruleAnswer struct {
	List   string `json:"list"`
	Number int    `json:"number"`
	Entry  string `json:"entry"`
	Whole  bool   `json:"whole"` // of the allow-list: alone it is enough
}

func (a *approvals) try(text string, o trial) error {
	snap, err := a.load()
	if err != nil {
		return err
	}
	rules := app.Rules(&snap.Settings)
	rules.Deny, rules.Allow = join(rules.Deny, o.deny), join(rules.Allow, o.allow)
	facts := localFacts(a.stdio, checkOptions{dir: o.dir, profile: a.profile})
	prog := rules.Parse(text, facts)
	v, matches := rules.Judge(&prog, facts), rules.Matches(&prog, facts)
	if o.json {
		answer := trialAnswer{verdictAnswer: commandAnswer(nil, v), Rules: []ruleAnswer{}}
		for _, m := range matches {
			answer.Rules = append(answer.Rules, ruleAnswer{m.List, m.Number, m.Entry, m.Whole})
		}
		return finish(a.stdio, v, answer)
	}
	p := newPage(a.stdio)
	p.verdict(text, v)
	if len(matches) > 0 {
		p.line("")
	}
	for _, m := range matches {
		p.line(matchLine(m))
	}
	return exit(v.Action)
}

// matchLine tells one of the owner's rules, and what it does.
func matchLine(m launch.Match) string {
	does := "lifts a part of the question"
	switch {
	case strings.HasSuffix(m.List, "deny"):
		does = "refuses it"
	case strings.HasSuffix(m.List, "required"):
		does = "asks"
	case m.Whole:
		does = "lifts the question"
	}
	return m.List + " " + strconv.Itoa(m.Number) + ": " + visible(m.Entry) + " (" + does + ")"
}
