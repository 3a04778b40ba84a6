package command

import (
	"strings"

	"hermes/internal/guard"
)

// Guessing a password through standard input.
func sudoFloor() table {
	return table{{
		Key:    "sudo password via stdin (sudo -S)",
		Tier:   guard.Sudo,
		Harms:  guard.Host,
		Match:  all(runs("sudo"), flag("-S", "--stdin")),
		Why:    "gives sudo a password that nobody typed",
		Remedy: "set SUDO_PASSWORD in Hermes' settings and use plain sudo: `sudo whoami`",
		Hits:   []string{"sudo -S whoami", "echo pw | sudo -Sk id", "sudo -nS id", "sudo -k -S id", "sudo -u root -S id", "sudo --stdin id", "sudo whoami; sudo -S id"},
		Passes: []string{"sudo whoami", "sudo -k -n whoami", "echo 'sudo -S'", "some_tool -S x", "sudo tar -S x", "rg 'sudo -S' ."},
	}}
}

// sudo: rows 102 and 103.
func sudo() table {
	return table{
		{
			Key:    "sudo with privilege flag (stdin/askpass/shell/list)",
			Harms:  guard.Host,
			Match:  all(runs("sudo"), when(sudoFlag(false))),
			Why:    "opens a root shell, or feeds sudo a password",
			Remedy: "run the one command you need: `sudo whoami`",
			Hits:   []string{"sudo -s", "sudo -S id", "sudo --askpass id", "sudo -A id", "sudo -i", "sudo --stdi id"},
			Passes: []string{"sudo whoami", "sudo --shell id", "sudo ls -la", "sudo -u root id", "sudo --set-home id", "sudo -l"},
		},
		{
			Key:    "sudo with combined-flag privilege escalation",
			Harms:  guard.Host,
			Match:  all(runs("sudo"), when(sudoFlag(true))),
			Why:    "opens a root shell, or feeds sudo a password",
			Remedy: "run the one command you need: `sudo whoami`",
			Hits:   []string{"sudo -nS whoami", "sudo -ns", "sudo -kA id"},
			Passes: []string{"sudo whoami", "sudo -nk id", "sudo -n ls -sa"},
		},
	}
}

func sudoFlag(bundled bool) test {
	return func(c *ctx, i int) (span, bool) {
		for _, o := range c.line(i).opts {
			w := c.args(i)[o.arg]
			if (len(w.Text) > 2 && w.Text[1] != '-') != bundled {
				continue
			}
			switch {
			case o.name == "-s" || o.name == "-S" || o.name == "-a" || o.name == "-A",
				o.name == "-i" && len(c.line(i).operands) == 0,
				strings.HasPrefix(o.name, "--st") || strings.HasPrefix(o.name, "--a"):
				return at(w), true
			}
		}
		return span{}, false
	}
}
