package cli

import (
	"github.com/spf13/cobra"
)

// newEgress builds the commands about the one way out.
func newEgress(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "egress",
		Short: "The one way out: a proxy with an allow-list, and the proof that there is no other",
		Long: "A sandbox whose terminal.network is allowlist has no route: its one way out is a proxy that lets through what\n" +
			"terminal.network_allow names. These commands prove that from inside, run the same proxy by itself, and write files for\n" +
			"Docker Compose in which an agent of any kind has no other way.",
		Example: "  hermes egress verify --backend native\n" +
			"  hermes egress proxy --allow api.example.org\n" +
			"  hermes egress compose deploy",
	}
	group(c)
	c.AddCommand(newEgressVerify(stdio), newEgressProxy(stdio), newEgressCompose(stdio))
	return c
}
