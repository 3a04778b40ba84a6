package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/shell"
)

// judge returns the verdict without the allow-list.
func (d *Door) judge(r Rules, p *shell.Program, f command.Facts) guard.Verdict {
	strict, _ := d.checkers(r)
	return guard.Strictest(strict.Judge(p, f), d.required(r, p, f))
}

// checkers compiles the rules when they have changed.
func (d *Door) checkers(r Rules) (strict, asks *command.Checker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.strict == nil || !slices.Equal(r.Deny, d.rules.Deny) || !slices.Equal(r.Required, d.rules.Required) {
		globs := make([]string, len(r.Required))
		for i, q := range r.Required {
			globs[i] = q.Glob
		}
		d.rules = Rules{Deny: slices.Clone(r.Deny), Required: slices.Clone(r.Required)}
		d.strict, d.asks = command.Compile(command.Policy{Deny: r.Deny}), command.Compile(command.Policy{Deny: globs})
	}
	return d.strict, d.asks
}

// required returns what approvals.command_approval_required says. Its globs match what approvals.deny would match, and ask.
func (d *Door) required(r Rules, p *shell.Program, f command.Facts) guard.Verdict {
	if len(r.Required) == 0 {
		return guard.Allowed()
	}
	_, asks := d.checkers(r)
	var out []guard.Finding
	for _, hit := range asks.Judge(p, f).Findings {
		if hit.Tier != guard.UserDeny {
			continue
		}
		hit.Tier, hit.Sticky, hit.Remedy = guard.Danger, true, ""
		hit.Reason, hit.Rule = "the owner wants to be asked", "approvals.command_approval_required"
		for _, q := range r.Required {
			if one := command.Compile(command.Policy{Deny: []string{q.Glob}}).Judge(p, f); one.Tier == guard.UserDeny || one.Tier == guard.Hardline {
				hit.Sticky, hit.Rule = !q.Review, hit.Rule+": "+q.Glob
				if q.Why != "" {
					hit.Reason = q.Why
				}
				break
			}
		}
		out = append(out, hit)
	}
	return guard.Judge(out)
}

// facts returns what this command is judged against. Of the variables it will have, those count that whoever wants it adds,
// and, where nothing can have changed them, those its text names: more would make the verdict depend on what is irrelevant.
func (j *journey) facts() command.Facts {
	f := j.p.Facts
	f.Dir, f.Env, f.Tracked, f.Ignored = j.r.Dir, map[string]string{}, nil, nil
	if j.p.Tree != nil && f.Dir != "" && j.c.Place.hostFiles() {
		f.Tracked, f.Ignored = j.p.Tree(f.Dir)
	}
	for name, value := range j.c.Extra {
		f.Env[name] = value
	}
	if j.c.Place.fresh() {
		for _, name := range named(j.text) {
			if value, ok := j.env.Lookup(name); ok {
				f.Env[name] = value
			}
		}
	}
	switch read, dir := f.File, f.Dir; {
	case read == nil:
	case !j.c.Place.hostFiles():
		f.File = nil // the script is another one inside
	default:
		f.File = func(name string) (string, bool) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			return read(name)
		}
	}
	return f
}

// named lists the variables that a text mentions as $NAME or ${NAME….
func named(text string) []string {
	var out []string
	for {
		n := strings.IndexByte(text, '$')
		if n < 0 {
			return out
		}
		text = strings.TrimPrefix(text[n+1:], "{")
		text = strings.TrimLeft(text, "#!")
		end := 0
		for end < len(text) && (text[end] == '_' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' || end > 0 && text[end] >= '0' && text[end] <= '9') {
			end++
		}
		if end > 0 {
			out = append(out, text[:end])
		}
	}
}
