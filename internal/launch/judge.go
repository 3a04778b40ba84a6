package launch

import (
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/shell"
)

// Parse returns what a text would run, as these rules need it. given is as of shell.Options.
func (r Rules) Parse(text string, f command.Facts, given ...string) shell.Program {
	return shell.Parse(text, shell.Options{
		Home: f.Home, Dir: f.Dir, Env: f.Env, File: f.File, Defined: f.Defined, Tails: len(r.Deny)+len(r.Required) > 0,
		Given: given,
	})
}

// Judge returns the verdict on a text with all of the owner's rules, the allow-list among them: what is left for a person.
func (r Rules) Judge(p *shell.Program, f command.Facts) guard.Verdict {
	v := command.Compile(command.Policy{Deny: r.Deny, Allow: r.Allow}).Judge(p, f)
	return guard.Strictest(v, New(Options{}).required(r, p, f))
}

// Match is one of the owner's rules that has a say about a text.
type Match struct {
	List   string // approvals.deny, approvals.command_approval_required or command_allowlist
	Number int    // its place there, from 1
	Entry  string
	Whole  bool // of the allow-list: with it nothing is left to be asked about
}

// Matches lists the owner's rules that have a say about a text: those that refuse it, that ask about it, and that lift a
// question.
func (r Rules) Matches(p *shell.Program, f command.Facts) []Match {
	var out []Match
	denied := func(glob string) bool {
		return slices.ContainsFunc(command.Compile(command.Policy{Deny: []string{glob}}).Judge(p, f).Findings,
			func(hit guard.Finding) bool { return hit.Tier == guard.UserDeny })
	}
	for i, glob := range r.Deny {
		if denied(glob) {
			out = append(out, Match{List: "approvals.deny", Number: i + 1, Entry: glob})
		}
	}
	for i, q := range r.Required {
		if denied(q.Glob) {
			out = append(out, Match{List: "approvals.command_approval_required", Number: i + 1, Entry: q.Glob})
		}
	}
	all := command.Compile(command.Policy{}).Judge(p, f)
	for i, entry := range r.Allow {
		if left := command.Compile(command.Policy{Allow: []string{entry}}).Judge(p, f); len(left.Findings) < len(all.Findings) {
			out = append(out, Match{List: "command_allowlist", Number: i + 1, Entry: entry, Whole: left.Action == guard.Allow})
		}
	}
	return out
}

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

// facts returns what this command is judged against.
func (j *journey) facts() command.Facts {
	f := j.p.Facts
	f.Dir, f.Env, f.Tracked, f.Ignored = j.r.Dir, map[string]string{}, nil, nil
	switch there := j.c.Place.hostFiles(); {
	case !there: // whose home and temporary folder these would be is not known
		f.Home, f.HermesHome, f.TempDir = "", "", ""
	case j.p.Tree != nil && f.Dir != "":
		f.Tracked, f.Ignored = j.p.Tree(f.Dir)
	}
	for name, value := range j.c.Extra {
		f.Env[name] = value
	}
	j.lasting(&f)
	if j.c.Place.hostFiles() {
		f.Resolve = Resolve
		f.Settle()
	}
	if f.File != nil {
		f.File, f.Unread = nil, true // the script is another one inside
		if j.c.Place.hostFiles() {
			f.File, f.Unread = j.looked, false
		}
	}
	return f
}

// lasting adds what the session's shell has by now: its functions and aliases, the variables that it has changed, and of the others
// those that the text names, or that those can name: more would make the verdict depend on what is irrelevant. Of variables that may
// have changed unseen none counts.
func (j *journey) lasting(f *command.Facts) {
	k, known := j.c.Place.kept()
	j.judged, j.lent, j.changed = k.Version, nil, nil
	if !known && !j.c.Place.fresh() {
		return
	}
	names := named(j.text)
	for _, texts := range []map[string]string{k.Functions, k.Aliases} {
		for name, text := range texts {
			if strings.Contains(j.text, name) { // it may go by another name as well: then its variables are unknown
				names = append(names, named(text)...)
			}
		}
	}
	set := func(name, value string, ok bool) {
		if _, given := f.Env[name]; ok && !given {
			f.Env[name] = value
		}
	}
	given := j.c.Place.since(j.env)
	for name, value := range k.Vars {
		if _, again := given.Lookup(name); again || slices.Contains(given.Absent(), name) {
			continue // the command gets the policy's, or none
		}
		if set(name, value, true); k.Changed[name] && slices.Contains(names, name) {
			j.lent = append(j.lent, "$"+name)
		}
	}
	slices.Sort(j.lent)
	for _, name := range names {
		value, ok := j.env.Lookup(name)
		set(name, value, ok && !slices.Contains(k.Unset, name))
	}
	j.changed = k.Changed
	if len(k.Functions)+len(k.Aliases) > 0 && j.c.Inner == nil && j.c.Argv == nil {
		f.Defined = func(name string, alias bool) (text string, ok bool) {
			if text, ok = k.Functions[name]; alias {
				text, ok = k.Aliases[name]
			}
			return text, ok
		}
	}
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
