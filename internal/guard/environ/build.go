package environ

import (
	"maps"
	"slices"
	"strings"
)

// Request asks for the environment of one child.
type Request struct {
	Surface Surface
	Base    map[string]string // what this process has
	Extra   map[string]string // what the caller adds; a name that is blocked needs _HERMES_FORCE_ in front, where that counts
	Server  map[string]string // the env block of an MCP server, the literal docker_env: written by the owner, taken as they are
	Grants  []string          // names the session's skills were granted by Register

	// Profile holds the values of the profile the child works for: its .env and secret sources. With Profiles, one process
	// serves several: then only Profile counts, a name missing there is absent, and Launch lists the names that the profile
	// this process was started with brought along.
	Profile  map[string]string
	Profiles bool
	Launch   []string

	Session  map[string]string // HERMES_SESSION_* and the like, of the current session
	Platform string            // the current session's platform
	Home     Home
	Hermes   string // HERMES_HOME of the profile; "" leaves it as it is

	// Exit is the URL of the proxy that is the only way out of where the child runs; "" for none. It goes before whatever else
	// says where connections go.
	Exit string

	Credentials bool // a Child that is declared to need provider credentials
	Carry       List // for an Engine: variables that travel to the inside through it
}

// Parse reads NAME=value pairs as the system hands them out; the last of a name wins, as it does for execve's callers.
func Parse(pairs []string) map[string]string {
	out := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if ok && name != "" && !strings.Contains(pair, "\x00") {
			out[name] = value
		}
	}
	return out
}

// Build returns the environment of one child and what became of the variables that were withheld, declared, set or changed.
// Variables that simply stay have no note.
func (p *Policy) Build(r Request) (List, []Note) {
	if p == nil || !p.made || r.Surface == NoSurface || r.Surface >= surfaces {
		return List{}, []Note{{"*", Withheld, "no policy for this child"}}
	}
	b := &builder{p: p, r: r, out: map[string]string{}, forced: map[string]string{}, granted: map[string]bool{}}
	b.declare()
	switch s := r.Surface; {
	case s.terminal():
		b.blocklist(b.blockedTerminal)
	case s == Child || s == Hook:
		b.blocklist(b.blockedChild)
	case s.walled():
	default:
		b.allowlist(allowed(s, p.config.Windows))
	}
	b.pass()
	b.extras()
	b.sessions()
	b.homes()
	b.exit()
	for name, value := range r.Carry.content().vars {
		if r.Surface == Engine {
			b.out[name] = value
		}
	}
	slices.SortStableFunc(b.notes, func(x, y Note) int { return strings.Compare(x.Name, y.Name) })
	slices.Sort(b.absent)
	return newList(b.out, slices.Compact(b.absent)), b.notes
}

// builder is one Build under way.
type builder struct {
	p       *Policy
	r       Request
	out     map[string]string
	notes   []Note
	absent  []string
	forced  map[string]string // upper-case name → value, from the prefix
	granted map[string]bool   // names that may pass, as declared
}

func (b *builder) note(name string, o Outcome, reason string) {
	b.notes = append(b.notes, Note{name, o, reason})
}

// declare collects the names that may pass here, and refuses again those that may not.
func (b *builder) declare() {
	if !b.r.Surface.passes() {
		return
	}
	for _, name := range names(slices.Concat(b.p.declared, b.r.Grants)) {
		if why := b.p.Refuses(name); why != "" {
			b.note(name, Withheld, "cannot be passed through: it "+why)
			continue
		}
		b.granted[name] = true
	}
	if b.r.Surface != Docker {
		return
	}
	for _, name := range b.p.forwarded {
		c := b.p.classOf(name)
		if !validName(name) || isEgress(name) || c == dynamic || c == buzz || c == session || c == force || c == guarding {
			b.note(name, Withheld, "cannot be forwarded: it "+cmpOr(c.why(), b.p.Refuses(name)))
			continue
		}
		b.granted[name] = true
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// isGranted tells whether a name was declared for this child.
func (b *builder) isGranted(name string) bool {
	if b.granted[name] {
		return true
	}
	if b.p.config.Windows {
		for g := range b.granted {
			if strings.EqualFold(g, name) {
				return true
			}
		}
	}
	return false
}

// blocklist lets through what is in the base environment and not blocked.
func (b *builder) blocklist(blocked func(name string, c class) string) {
	for _, name := range slices.Sorted(maps.Keys(b.r.Base)) {
		value, c := b.r.Base[name], b.p.classOf(name)
		if strings.Contains(name+value, "\x00") || b.isGranted(name) {
			continue
		}
		if c == force {
			b.force(name, value, b.r.Surface == Foreground, false)
			continue
		}
		if why := blocked(name, c); why != "" {
			b.note(name, Withheld, why)
			continue
		}
		b.keep(name, value)
	}
	b.applyForced()
}

// force remembers a value that puts a blocked name back, if such notes count here. In the base environment, which is not of our
// making, it cannot bring back what Hermes holds as a secret.
func (b *builder) force(name, value string, counts, ours bool) {
	target := name[len(forcePrefix):]
	if !counts || !validName(target) || classOf(target) == dynamic || classOf(target) == force || classOf(target) == buzz {
		b.note(name, Withheld, force.why())
		return
	}
	if why := b.secretIn(target, value); why != "" && !ours {
		b.note(name, Withheld, why)
		return
	}
	b.forced[target] = value
}

func (b *builder) applyForced() {
	for name, value := range b.forced {
		b.out[name] = value
		b.note(name, Granted, "put back on purpose by "+forcePrefix+name)
	}
	clear(b.forced)
}

// blockedTerminal returns why a terminal child does not get a name, or "".
func (b *builder) blockedTerminal(name string, c class) string {
	switch c {
	case free:
	case buzz:
		if b.r.Surface == Snapshot || !b.buzzed() {
			return "belongs to the Buzz platform, and this is no Buzz session"
		}
		return ""
	default:
		return c.why()
	}
	return b.runtime(name)
}

// buzzed tells whether the session works for the Buzz platform.
func (b *builder) buzzed() bool {
	return b.r.Base["BUZZ_MANAGED_AGENT"] != "" || strings.EqualFold(b.r.Platform, "buzz")
}

// blockedChild returns why a child that is no terminal does not get a name, or "".
func (b *builder) blockedChild(name string, c class) string {
	upper := strings.ToUpper(name)
	switch c {
	case free:
		return b.runtime(name)
	case provider, tool, platform:
		if b.r.Surface == Child && b.r.Credentials && !firstTier()[upper] && !strings.HasPrefix(upper, "GITHUB_APP_") {
			return ""
		}
	}
	return c.why()
}

// runtime returns why a variable of the Python that runs somebody is left out, or "". It also leaves out what only the
// profile that this process was started with brought along.
func (b *builder) runtime(name string) string {
	switch name {
	case "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME":
		return "describes the interpreter Hermes was started from"
	}
	if b.r.Profiles && slices.Contains(b.r.Launch, name) {
		return "comes from another profile's settings"
	}
	return ""
}

// keep takes a variable over unless it holds a secret.
func (b *builder) keep(name, value string) {
	if name == "PYTHONPATH" {
		trimmed := b.dropEntries(value, func(dir string) bool { return b.p.owned[strings.TrimRight(dir, `/\`)] })
		if trimmed != value {
			b.note(name, Trimmed, "entries of the installation were taken out")
		}
		if value = trimmed; value == "" {
			return
		}
	}
	if strings.EqualFold(name, "PATH") {
		trimmed := b.dropEntries(value, func(dir string) bool { return len(b.p.holders(dir)) > 0 })
		if trimmed != value {
			b.note(name, Trimmed, "an entry holds a secret")
		}
		value = trimmed
	}
	if why := b.secretIn(name, value); why != "" {
		b.note(name, Withheld, why)
		return
	}
	b.out[name] = value
}

// dropEntries takes entries out of a list of directories.
func (b *builder) dropEntries(value string, drop func(string) bool) string {
	dirs := strings.Split(value, b.p.listSep)
	left := slices.DeleteFunc(slices.Clone(dirs), drop)
	if len(left) == len(dirs) {
		return value
	}
	return strings.Join(left, b.p.listSep)
}

// secretIn returns why a value must not go out under a name, or "". A secret goes out only under a name it is held under, and
// only if that name was declared, is the user's own (kept on purpose), or the child was declared to need it.
func (b *builder) secretIn(name, value string) string {
	for _, holder := range b.p.holders(value) {
		upper := strings.ToUpper(name)
		own := holder == upper && (b.isGranted(name) || kept()[upper] || b.r.Surface == Child && b.r.Credentials || b.buzzOwn(name))
		if own || holder != "" && b.holderGranted(holder) {
			continue
		}
		if holder == "" || holder == upper {
			return "its value is a secret of Hermes"
		}
		return "its value is, or holds, the secret " + holder
	}
	return ""
}

// buzzOwn tells whether a variable of the Buzz platform goes to a Buzz session.
func (b *builder) buzzOwn(name string) bool {
	return classOf(name) == buzz && b.r.Surface.terminal() && b.r.Surface != Snapshot && b.buzzed()
}

// holderGranted tells whether the owner lets a secret pass under the name it is held under.
func (b *builder) holderGranted(holder string) bool {
	for name := range b.granted {
		if strings.EqualFold(name, holder) {
			return true
		}
	}
	return false
}

// allowlist lets through what allow names.
func (b *builder) allowlist(allow func(name string) bool) {
	for _, name := range slices.Sorted(maps.Keys(b.r.Base)) {
		value := b.r.Base[name]
		if strings.Contains(name+value, "\x00") || b.isGranted(name) {
			continue
		}
		if !allow(name) {
			b.note(name, Withheld, "is not on the list for "+b.r.Surface.String())
			continue
		}
		b.keep(name, value)
	}
}

// pass gives the declared names their values.
func (b *builder) pass() {
	for _, name := range slices.Sorted(maps.Keys(b.granted)) {
		value, ok := b.resolve(name)
		if !ok || strings.Contains(value, "\x00") {
			delete(b.out, name)
			b.absent = append(b.absent, name)
			b.note(name, Missing, "is declared, but has no value for this profile")
			continue
		}
		if why := b.secretIn(name, value); why != "" {
			b.note(name, Withheld, "cannot be passed through: "+why)
			continue
		}
		b.out[name] = value
		b.note(name, Granted, "declared for passthrough")
	}
}

// resolve returns the value of a declared name. Where one process serves several profiles only the child's profile counts,
// but for the terminal's settings, which are the caller's.
func (b *builder) resolve(name string) (string, bool) {
	scoped, inProfile := b.r.Profile[name]
	base, inBase := b.r.Base[name]
	switch {
	case b.r.Profiles && strings.HasPrefix(name, "TERMINAL_"):
		return base, inBase
	case b.r.Profiles:
		return scoped, inProfile
	case inBase && (base != "" || !inProfile):
		return base, true
	}
	return scoped, inProfile
}

// extras adds what the caller and the owner give this child.
func (b *builder) extras() {
	for _, name := range slices.Sorted(maps.Keys(b.r.Extra)) {
		value, c := b.r.Extra[name], b.p.classOf(name)
		switch {
		case strings.Contains(name+value, "\x00") || name == "":
		case c == force:
			b.force(name, value, b.r.Surface != Child && b.r.Surface != Hook, true)
		case c != free && c != session:
			b.note(name, Withheld, c.why())
		default:
			b.keep(name, b.expandPath(name, value))
		}
	}
	b.applyForced()
	if s := b.r.Surface; s != MCP && !s.walled() {
		return
	}
	for name, value := range b.r.Server {
		c := classOf(name)
		if !validName(name) || strings.Contains(value, "\x00") || c == dynamic || c == force {
			b.note(name, Withheld, cmpOr(c.why(), "is no variable name"))
			continue
		}
		if _, passed := b.out[name]; passed && b.isGranted(name) {
			continue // what is forwarded wins over what is written down
		}
		b.absent = slices.DeleteFunc(b.absent, func(absent string) bool { return absent == name })
		b.out[name] = b.expandPath(name, value)
		b.note(name, Granted, "written in the settings")
	}
}

// expandPath puts the real PATH in the place of a $PATH that a settings file wrote: no shell will do it.
func (b *builder) expandPath(name, value string) string {
	if name != "PATH" || !strings.Contains(value, "$") {
		return value
	}
	return strings.NewReplacer("${PATH}", b.out["PATH"], "$PATH", b.out["PATH"]).Replace(value)
}

// sessions sets the variables of the current session; those of others were left out before.
func (b *builder) sessions() {
	if s := b.r.Surface; !s.terminal() && s != Child || s == Snapshot {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.r.Session)) {
		if value := b.r.Session[name]; isSession(strings.ToUpper(name)) && validName(name) && !strings.Contains(value, "\x00") {
			b.out[name] = value
			b.note(name, Set, "of this session")
		}
	}
}

// homes sets HOME and HERMES_HOME as the profile wants them.
func (b *builder) homes() {
	if s := b.r.Surface; s.walled() || s == Engine || s == Helper || s == Native {
		return
	}
	if home, realHome := b.r.Home.Choose(); home != "" {
		b.out["HOME"] = home
		if realHome != "" {
			b.out["HERMES_REAL_HOME"] = realHome
			b.note("HOME", Set, "is the profile's own; the user's is in HERMES_REAL_HOME")
		}
	}
	if b.r.Hermes != "" && b.r.Surface != MCP {
		b.out["HERMES_HOME"] = b.r.Hermes
	}
}
