package approval

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/shell"
)

// maxEntry bounds what goes into the allow-list: nobody reads a longer line there.
const maxEntry = 1024

// covers says what the lasting choices would cover. Each is offered only if it would really lift the question: a grant that
// is shown and then does not hold, or holds for more, is a defect.
func (d *Desk) covers(r Request, findings []guard.Finding) Covers {
	if r.Covers != nil {
		return *r.Covers
	}
	if r.borrows() {
		return Covers{}
	}
	text := strings.TrimSpace(r.Command)
	content := false
	for _, f := range findings {
		if f.Sticky || f.Tier == guard.Self {
			return Covers{}
		}
		content = content || f.Tier == guard.Content
	}
	shown := d.redact(text)
	out := Covers{Session: Cover{Entry: text, Text: shown}}
	if r.Own { // the allow-list is for the agent's, and a pattern more than what was typed
		return out
	}
	if glob := pattern(r.Program, findings); glob != "" && lifts(r, glob) && shown == text {
		c := Cover{Entry: glob, Text: glob, Glob: true}
		return Covers{Session: c, Always: c}
	}
	entry := literal(text)
	if content || shown != text || len(entry) > maxEntry || isRule(entry) || isRule(text) || !lifts(r, entry) {
		return out
	}
	out.Always = Cover{Entry: entry, Text: text}
	return out
}

// borrows tells whether a command means what earlier ones made of it: an alias, a function, a variable. What is granted for its text
// would be granted for whatever they make of it next.
func (r *Request) borrows() bool { return r.Program != nil && len(r.Program.Defined) > 0 }

func lifts(r Request, entry string) bool {
	return r.Judge != nil && r.Judge([]string{entry}).Action == guard.Allow
}

// literal writes a text so that it means itself on the allow-list, where *, ? and [ are wild.
func literal(text string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(text)
}

// isRule tells whether an entry would be read as the key of a rule, and so cover a whole class. A command that is spelled
// like one ("find -delete") can be granted for a session only.
func isRule(entry string) bool {
	return slices.ContainsFunc(command.Rules(), func(r command.Rule) bool { return r.Key == entry })
}

// pattern returns the glob "program word *" for a command that is nothing but plain words, "" for any other. A command with
// options has none: what an option does, others would do as well.
func pattern(p *shell.Program, findings []guard.Finding) string {
	if p == nil || len(p.Commands) != 1 || len(p.Payloads) > 0 || len(p.Notes) > 0 {
		return ""
	}
	c := &p.Commands[0]
	if len(c.Args) < 3 || len(c.Assigns) > 0 || len(c.Redirs) > 0 || c.Detached || c.Deferred {
		return ""
	}
	for _, w := range c.Args {
		if !w.Known() || w.Quoted || w.Text == "" || w.Text[0] == '-' || strings.ContainsAny(w.Text, "*?[") || w.Raw != w.Text {
			return ""
		}
	}
	if Anchored(path.Base(c.Args[0].Text)) {
		return ""
	}
	for _, f := range findings {
		if unsafeClass(f.Rule) || f.Tier != guard.Danger {
			return ""
		}
	}
	return c.Args[0].Text + " " + c.Args[1].Text + " *"
}

// Anchored tells whether a program is never covered by a pattern: what it does depends on its arguments alone, or it runs
// what they say.
func Anchored(name string) bool {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "dd", "fdisk", "parted", "wipefs", "sudo", "doas", "su", "chmod", "chown", "chgrp",
		"kill", "killall", "pkill", "halt", "shutdown", "reboot", "poweroff", "init", "del", "format", "truncate", "mkswap",
		"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "busybox", "toybox", "env", "xargs", "find", "eval",
		"exec", "source", ".", "command", "node", "perl", "ruby", "php", "lua", "ssh", "awk", "sed", "make", "npx":
		return true
	}
	return strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "python")
}

// unsafeClass tells whether a rule's key names something that no pattern may cover.
func unsafeClass(key string) bool {
	key = strings.ToLower(key)
	for _, part := range []string{"delet", "destroy", "wipe", "block device", "fork bomb", "self-termination", "shutdown", "reboot",
		"privilege", "credential", "writable", "overwrit", "in-place edit", "remote content", "remote script", "heredoc", "encoded",
		"substitution", "hardline", "obfuscat", "system config", "system file", "secret", "execut"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(key, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		switch word {
		case "rm", "format", "disk", "dd", "sudo", "ssh", "shell", "sql", "chown", "chmod", "pipe", "rc":
			return true
		case "kill":
			if !strings.Contains(key, "container lifecycle") {
				return true
			}
		}
	}
	return false
}
