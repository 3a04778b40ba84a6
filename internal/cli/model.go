package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/llm"
)

// modelAnswer is what there is, as JSON.
type modelAnswer struct {
	Model     string        `json:"model"` // in force; "" where none is set
	Providers []offerAnswer `json:"providers"`
}

type offerAnswer struct {
	Provider string         `json:"provider"`
	Models   []offeredModel `json:"models"`
	Error    string         `json:"error,omitempty"`
}

type offeredModel struct {
	ID      string `json:"id"`
	Context int    `json:"context,omitempty"`
}

// newModel builds the command that shows and sets the model.
func newModel(stdio *IO) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "model [PROVIDER:NAME]",
		Short: "List the models there are, or choose one",
		Long: "Lists the models of every provider that is set up: those of the settings, and those whose key is set. With a name it is\n" +
			"written to the settings, once it is clear whose it is and how it is reached. hermes setup asks for the rest.",
		Example: "  hermes model\n  hermes model anthropic:claude-sonnet-4-6\n  hermes model --json | jq -r '.providers[].models[].id'",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && strings.TrimSpace(args[0]) == "" {
				return usage("Like: hermes model openrouter:anthropic/claude-sonnet-4.6", "%s takes one name", name(c))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return withApp(stdio, func(a *app.App, _ string) error {
				if len(args) == 1 {
					return chooseModel(c.Context(), stdio, a, args[0])
				}
				return listModels(c.Context(), stdio, a, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func chooseModel(ctx context.Context, stdio *IO, a *app.App, text string) error {
	m, err := a.Model(text)
	if err != nil {
		return modelHint(err)
	}
	s := &settings{stdio: stdio}
	o, err := s.open(true)
	if err != nil {
		return err
	}
	defer o.close()
	file, err := o.Set(ctx, "model", m.String())
	if err != nil {
		return s.explain(err)
	}
	return s.told(o, "model", file)
}

func listModels(ctx context.Context, stdio *IO, a *app.App, asJSON bool) error {
	answer := modelAnswer{Providers: []offerAnswer{}}
	now, err := a.Model("")
	switch {
	case err == nil:
		answer.Model = now.String()
	case !errors.Is(err, app.ErrNoModel):
		fmt.Fprintln(stdio.Stderr, "hermes: "+visible(err.Error()))
	}
	offers, err := a.Models(ctx)
	if err != nil {
		return err
	}
	for _, o := range offers {
		one := offerAnswer{Provider: o.Service, Models: []offeredModel{}}
		if o.Err != nil {
			one.Error = o.Err.Error()
		}
		for _, m := range o.Models {
			known, _ := llm.Known(m.ID)
			one.Models = append(one.Models, offeredModel{m.ID, m.Limits.Or(known).Context})
		}
		answer.Providers = append(answer.Providers, one)
	}
	if asJSON {
		return encode(stdio.Stdout, answer)
	}
	p := newPage(stdio)
	if len(answer.Providers) == 0 {
		return usage("Choose one with hermes setup.", "no provider is set up")
	}
	for _, one := range answer.Providers {
		if one.Error != "" {
			p.line(visible(one.Provider + ": " + one.Error))
		}
		for _, m := range one.Models {
			mark, full := "  ", one.Provider+":"+m.ID
			if full == answer.Model {
				mark = "* "
			}
			if m.Context > 0 {
				full += fmt.Sprintf("  (%d tokens)", m.Context)
			}
			p.line(mark + visible(full))
		}
	}
	if answer.Model == "" {
		p.line("")
		p.line("None is set: hermes model PROVIDER:NAME")
	}
	return nil
}

// modelHint adds to an error about a model what to do about it.
func modelHint(err error) error {
	if next := llm.Next(err); next != "" {
		return usage(next, "%s", err)
	}
	return err
}
