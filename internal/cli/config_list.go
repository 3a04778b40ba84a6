package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/config"
	"hermes/internal/secret"
)

func joined(o opened, file string) string { return filepath.Join(o.path, file) }

func (s *settings) list() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:     "list [SECTION]",
		Short:   "List what is set, and where",
		Example: "  hermes config list\n  hermes config list --all terminal",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			section := strings.Join(args, "")
			snap, err := s.load()
			if err != nil {
				return err
			}
			if section != "" && len(config.Section(section)) == 0 {
				return notSetting(config.Unknown(section))
			}
			return s.print(answers(snap, section, all), asJSON)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list defaults, too")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return c
}

// answers collects the settings of a section; without one, the variables of .env as well.
func answers(snap *config.Snapshot, section string, all bool) []settingAnswer {
	out := []settingAnswer{}
	for _, v := range snap.Values(section) {
		if all || v.Source.Kind != config.FromDefault {
			a := settingAnswer{v.Name, shown(v), v.Source.String(), noteOf(v.Key)}
			if v.Source.Kind == config.FromDefault {
				a.Note = "" // nobody waits for it
			}
			out = append(out, a)
		}
	}
	if section != "" {
		return out
	}
	for _, a := range snap.EnvFile() {
		text := secret.Mask
		if !config.Hidden(a.Name) {
			text = a.Value.Reveal()
		}
		out = append(out, settingAnswer{Key: a.Name, Value: text, Source: fmt.Sprintf("%s:%d", config.EnvFile, a.Line)})
	}
	return out
}

func (s *settings) print(list []settingAnswer, asJSON bool) error {
	if asJSON {
		return encode(s.stdio.Stdout, list)
	}
	for _, a := range list {
		if a.Note != "" {
			a.Source += ", " + a.Note
		}
		if _, err := fmt.Fprintf(s.stdio.Stdout, "%s = %s  (%s)\n", a.Key, visible(config.Show(a.Value)), a.Source); err != nil {
			return err
		}
	}
	return nil
}

// keyAnswer is a row of the table of settings as JSON.
type keyAnswer struct {
	Key     string   `json:"key"`
	Type    string   `json:"type"`
	Values  []string `json:"values,omitempty"`
	Default string   `json:"default"`
	Env     string   `json:"env,omitempty"`
	File    string   `json:"file"`
	Doc     string   `json:"doc"`
	Effect  bool     `json:"in_effect"`
}

func (s *settings) keys() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "keys [SECTION]",
		Short:   "List the settings there are, with their meaning",
		Example: "  hermes config keys approvals",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			section := strings.Join(args, "")
			rows := config.Section(section)
			if k, ok := config.Find(section); ok && len(rows) == 0 {
				rows = []config.Key{k}
			}
			if len(rows) == 0 {
				return notSetting(config.Unknown(section))
			}
			out := []keyAnswer{}
			for _, k := range rows {
				if k.Retired != "" {
					continue
				}
				a := keyAnswer{Key: k.Name, Type: k.Kind.String(), Values: k.Values, Default: k.Default, Env: k.Env,
					File: config.File, Doc: k.Doc, Effect: k.InEffect}
				if k.EnvOnly {
					a.File = config.EnvFile
				}
				out = append(out, a)
			}
			if asJSON {
				return encode(s.stdio.Stdout, out)
			}
			return s.printKeys(out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return c
}

func (s *settings) printKeys(rows []keyAnswer) error {
	for _, a := range rows {
		about := a.Type
		if len(a.Values) > 0 {
			about = strings.Trim(strings.Join(a.Values, " | "), " |")
		}
		if a.Default != "" {
			about += ", default " + a.Default
		}
		if a.Env != "" {
			about += ", " + a.Env
		}
		if !a.Effect {
			about += ", " + notYet
		}
		if _, err := fmt.Fprintf(s.stdio.Stdout, "%s\n    %s\n    %s\n", a.Key, a.Doc, about); err != nil {
			return err
		}
	}
	return nil
}
