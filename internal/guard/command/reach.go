package command

import (
	"regexp"
	"strings"
)

// ownImages returns the names under which the gateway's process may be listed.
func ownImages() []string { return []string{"hermes", "python", "python3", "pythonw"} }

// ownLines returns command lines under which the gateway's process may be listed.
func ownLines() []string {
	return []string{
		"hermes gateway run", "/usr/local/bin/hermes gateway run --replace", "python -m hermes_cli.main gateway run", "python3 -m hermes_cli.main gateway run --replace",
		"/usr/bin/python3 -m hermes_cli.main gateway run",
	}
}

// reaches tells whether the processes that command i selects by name (pkill, pgrep, killall, pidof) can be the gateway's.
func (c *ctx) reaches(i int) bool {
	name := c.name(i)
	words := c.operands(i)
	if _, ok := c.opt(i, "-l", "--list", "-V"); ok && name == "killall" {
		return false
	}
	var names []string
	for _, w := range words {
		if len(w.Holes) > 0 {
			return true
		}
		// Signals such as -9 are read as options; what is left are names.
		names = append(names, w.Text)
	}
	if len(names) == 0 {
		_, listed := c.opt(i, "-l", "-V", "--version", "-h")
		return !listed && name != "pidof"
	}
	_, fold := c.opt(i, "-i", "-I", "--ignore-case")
	pattern := name == "pkill" || name == "pgrep"
	if _, ok := c.opt(i, "-r", "--regexp"); ok && name == "killall" {
		pattern = true
	}
	if _, ok := c.opt(i, "-v", "--inverse"); ok && pattern && name != "killall" {
		return true
	}
	if !pattern {
		for _, n := range names {
			for _, own := range ownImages() {
				if base(n) == own || fold && strings.EqualFold(n, own) || strings.HasPrefix(n, "python3.") {
					return true
				}
			}
		}
		return false
	}
	_, full := c.opt(i, "-f", "--full")
	_, exact := c.opt(i, "-x", "--exact")
	for _, n := range names {
		if matchesOwn(n, full, exact, fold) {
			return true
		}
	}
	return false
}

// matchesOwn tells whether a pattern of pkill matches the gateway's name, or with full its command line.
func matchesOwn(pattern string, full, exact, fold bool) bool {
	if exact {
		pattern = "^(?:" + pattern + ")$"
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return true
	}
	list := ownImages()
	if full {
		list = ownLines()
	}
	for _, own := range list {
		if re.MatchString(own) {
			return true
		}
	}
	return false
}
