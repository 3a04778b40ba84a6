package environ

import "strings"

// Stores tells whether a kept shell may write an exported variable into its snapshot, which later commands of the session
// read. What is set anew for each command, declared for passthrough, blocked, or holds a secret is not stored: unset it in the
// shell that writes the snapshot. grants are the session's.
func (p *Policy) Stores(name, value string, grants []string) bool {
	if p == nil || !p.made || !validName(name) || p.classOf(name) != free || marks(strings.ToUpper(name)) {
		return false
	}
	for _, list := range [][]string{p.declared, p.forwarded, names(grants)} {
		for _, declared := range list {
			if strings.EqualFold(declared, name) {
				return false
			}
		}
	}
	return kept()[strings.ToUpper(name)] || len(p.holders(value)) == 0
}
