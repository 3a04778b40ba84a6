package suggest

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/shell"
)

// repeated are the keys of rules whose commands people run again and again, and which nothing is lost by for good. Nothing else
// is ever proposed: not what deletes, overwrites, gives rights, reads keys, ends processes, or runs what others wrote.
func repeated(key string) bool {
	switch key {
	case "git force push (rewrites remote history)",
		"git force push short flag (rewrites remote history)",
		"docker restart/stop/kill (container lifecycle)",
		"docker compose restart/stop/kill/down (container lifecycle)",
		"docker with daemon redirect (--context: alternate daemon)",
		"podman remote mode (-r/--remote: remote daemon)",
		"stop/restart system service",
		"stop/restart system service (service, launchd, runit)",
		"server stopped by its own tool":
		return true
	}
	return false
}

// entries returns what could be added to the allow-list so that a command is not asked about again: a pattern, or where none is
// safe, the keys of the rules that asked. Nothing else may be left to ask about.
func (o Options) entries(text string) []found {
	v := o.Judge(text, nil)
	if v.Action != guard.Ask || len(v.Findings) == 0 || o.lifts(text, o.Listed...) {
		return nil
	}
	if elevates(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		return nil
	}
	var classes []string
	for _, f := range v.Findings {
		if f.Tier != guard.Danger || f.Sticky || !repeated(f.Rule) {
			return nil
		}
		if !slices.Contains(classes, f.Rule) {
			classes = append(classes, f.Rule)
		}
	}
	glob := pattern(text)
	if glob != "" && o.Redact != nil && o.Redact(glob) == glob && o.lifts(strings.Join(strings.Fields(text), " "), glob) {
		return []found{{pattern: glob, classes: classes}}
	}
	if !o.lifts(text, classes...) {
		return nil
	}
	var out []found
	for _, c := range classes {
		if !slices.Contains(o.Listed, c) {
			out = append(out, found{pattern: c, classes: []string{c}, isClass: true})
		}
	}
	return out
}

// elevates tells whether a part of a command runs with other rights, or elsewhere: a key would then cover that, too.
func elevates(text string) bool {
	p := shell.Parse(text, shell.Options{})
	return slices.ContainsFunc(p.Commands, func(c shell.Command) bool {
		switch c.Name {
		case "sudo", "doas", "su", "pkexec", "run0", "runuser", "gosu", "ssh", "mosh", "nsenter", "chroot", "gsudo", "runas":
			return true
		}
		return false
	})
}

func (o Options) lifts(text string, entries ...string) bool {
	return len(entries) > 0 && o.Judge(text, entries).Action == guard.Allow
}

// pattern returns the pattern for a command: the word, or its first two words and a star. It is "" for commands that are more
// than one, or that hide one in another; for programs that do whatever their arguments say; and where an option stands in the
// second place, since the first word alone would cover all that the program can do.
func pattern(text string) string {
	p := shell.Parse(text, shell.Options{})
	if len(p.Commands) != 1 || len(p.Payloads) > 0 || len(p.Notes) > 0 {
		return ""
	}
	c := &p.Commands[0]
	if len(c.Args) == 0 || len(c.Assigns) > 0 || len(c.Redirs) > 0 || c.Detached || c.Deferred || c.Args[0].Start != 0 {
		return ""
	}
	words := c.Args[:min(2, len(c.Args))]
	if !slices.ContainsFunc(c.Args, func(w shell.Word) bool { return !w.Known() || strings.ContainsAny(w.Text, "\n\r") }) &&
		!slices.ContainsFunc(words, unplain) && !approval.Anchored(path.Base(words[0].Text)) {
		if len(words) == 1 {
			return words[0].Text
		}
		return words[0].Text + " " + words[1].Text + " *"
	}
	return ""
}

// unplain tells whether a word cannot stand in a pattern as it is.
func unplain(w shell.Word) bool {
	return w.Quoted || w.Raw != w.Text || w.Text == "" || w.Text[0] == '-' || strings.ContainsAny(w.Text, "*?[$ \t")
}
