package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newVersion builds the command that says which build this is.
func newVersion(stdio *IO) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  hermes version --json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v := struct {
				Version  string `json:"version"`
				Commit   string `json:"commit,omitempty"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{stdio.Version, commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if v.Version == "" {
				v.Version = "development"
			}
			if asJSON {
				return json.NewEncoder(stdio.Stdout).Encode(v)
			}
			line := "hermes " + v.Version
			if v.Commit != "" {
				line += " · " + v.Commit
			}
			_, err := fmt.Fprintf(stdio.Stdout, "%s · %s · %s\n", line, v.Go, v.Platform)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// commit returns the revision the toolchain stamped into the binary, "" when it stamped none.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("See "+c.CommandPath()+" --help.", "%s takes no argument, got %q", name(c), args[0])
	}
	return nil
}
