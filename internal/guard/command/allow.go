package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// allowList is the owner's command_allowlist.
type allowList struct {
	exact map[string]bool // whole texts and keys of rules
	globs []string
}

func compileAllow(entries []string) allowList {
	var a allowList
	for _, e := range entries {
		if strings.TrimSpace(e) == "" {
			continue
		}
		if a.exact == nil {
			a.exact = make(map[string]bool, len(entries))
		}
		a.exact[e] = true
		if strings.ContainsAny(e, "*?[") {
			a.globs = append(a.globs, e)
		}
	}
	return a
}

// cover is what the allow-list says about one text.
type cover struct {
	list *allowList
	text bool // the text as a whole is listed
	glob bool // a glob matches it
}

func (a *allowList) match(p *shell.Program, f *Facts) cover {
	c := cover{list: a}
	if a.exact == nil {
		return c
	}
	text := strings.TrimSpace(p.Text)
	c.text = a.exact[text]
	if c.text || len(a.globs) == 0 || compound(text) || altered(p) || injecting(f) {
		return c
	}
	for _, g := range a.globs {
		if fnmatch(g, text) {
			c.glob = true
			break
		}
	}
	return c
}

// has tells whether the list lifts a finding. A glob covers what a command does, not what its text carries or hides.
func (c cover) has(f guard.Finding) bool {
	if f.Tier == guard.Self {
		return false
	}
	if c.text || c.list.exact != nil && c.list.exact[f.Rule] {
		return true
	}
	return c.glob && (f.Tier == guard.Danger || f.Tier == guard.Unknown)
}

// altered tells whether an assignment in front of a command changes which program runs or what it does.
func altered(p *shell.Program) bool {
	for i := range p.Commands {
		for _, a := range p.Commands[i].Assigns {
			if changesMeaning(a.Name) {
				return true
			}
		}
	}
	return false
}

// compound tells whether a text may be more than one simple command, so that no glob speaks for it.
func compound(s string) bool {
	var quote byte
	control, coded := false, false
	for k := 0; k < len(s); k++ {
		b := s[k]
		switch {
		case quote == '\'':
			if b == '\'' {
				quote = 0
			}
			control = control || b < ' ' || b == 0x7f
		case quote == '"':
			switch {
			case b == '"':
				quote = 0
			case b == '$' || b == '`':
				return true
			case b == '\\' && k+1 < len(s):
				k++
				control = control || s[k] < ' '
			}
			control = control || b < ' ' || b == 0x7f
		case b == '\'' || b == '"':
			quote = b
		case b == '\\' && k+1 < len(s):
			k++
			control = control || s[k] < ' '
		case strings.IndexByte("\n\r;&|<>`", b) >= 0, b == '$' && k+1 < len(s) && (s[k+1] == '(' || s[k+1] == '\''):
			return true
		case b == '-' && (k == 0 || s[k-1] == ' ' || s[k-1] == '\t'):
			coded = coded || codeOption(s[k:])
		}
	}
	return quote != 0 || control && coded
}

// codeOption tells whether s starts with an option that takes program text.
func codeOption(s string) bool {
	if n := strings.IndexAny(s, " \t=\n"); n >= 0 {
		s = s[:n]
	}
	if strings.HasPrefix(s, "--") {
		return s == "--command" || s == "--eval"
	}
	return strings.ContainsAny(s, "ce")
}
