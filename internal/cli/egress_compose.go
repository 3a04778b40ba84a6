package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"hermes/internal/compose"
)

// composeOptions are the flags of egress compose.
type composeOptions struct {
	compose.Options
	allowFile string
	force     bool
}

func newEgressCompose(stdio *IO) *cobra.Command {
	var o composeOptions
	c := &cobra.Command{
		Use:   "compose [DIRECTORY]",
		Short: "Write files for Docker Compose in which an agent has one way out, and a script that checks it",
		Long: "Writes compose.yaml, allow.txt and check.sh into a directory: an agent on an internal network alone, and the proxy on\n" +
			"that and another. The list is that of terminal.network_allow with --allow and --allow-file. With --squid the proxy is\n" +
			"squid, which compares no names in TLS. Images are named by digest; those that are left out Compose takes from\n" +
			"AGENT_IMAGE and PROXY_IMAGE. What is there already stays, unless --force is given.",
		Example: "  hermes egress compose deploy --allow api.example.org\n" +
			"  cd deploy && AGENT_IMAGE=… PROXY_IMAGE=… docker compose up -d && ./check.sh\n" +
			"  hermes egress compose deploy --squid --force",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return egressCompose(stdio, o, args) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.Allow, "allow", nil, "let `HOST` through (may be repeated)")
	f.StringVar(&o.allowFile, "allow-file", "", "let through what is in `FILE`, an entry a line")
	f.StringVar(&o.Agent, "agent-image", "", "the agent's `IMAGE`, as NAME@sha256:DIGEST")
	f.StringVar(&o.Proxy, "proxy-image", "", "the proxy's `IMAGE`, as NAME@sha256:DIGEST")
	f.StringVar(&o.Subnet, "subnet", compose.DefaultSubnet, "the addresses of the inner `NETWORK`")
	f.BoolVar(&o.Squid, "squid", false, "with squid as the proxy")
	f.BoolVar(&o.force, "force", false, "replace files that are there")
	return c
}

func egressCompose(stdio *IO, o composeOptions, args []string) error {
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	snap, err := (&settings{stdio: stdio}).load()
	if err != nil {
		return err
	}
	listed := append(append([]string{}, snap.Settings.Terminal.NetworkAllow...), o.Allow...)
	if o.allowFile != "" {
		more, err := readEntries(o.allowFile)
		if err != nil {
			return err
		}
		listed = append(listed, more...)
	}
	o.Allow = listed
	files, err := compose.Files(o.Options)
	if err != nil {
		return usage("See `hermes egress compose --help`.", "%s", err)
	}
	var exists *compose.ExistsError
	if err := compose.Write(dir, files, o.force); errors.As(err, &exists) {
		return usage("Take another directory, or replace it with --force.", "%s", err)
	} else if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(stdio.Stdout, filepath.Join(dir, f.Name))
	}
	return nil
}
