package environ

import (
	"slices"
	"strings"

	"hermes/internal/secret"
)

// Secret is a value Hermes holds, and the variable it is held under; a name may be missing.
type Secret struct {
	Name  string
	Value secret.String
}

// Config is what a Policy is made of.
type Config struct {
	Secrets     []Secret // all of them: the .env of each profile, stored logins, tokens of this process
	Passthrough []string // terminal.env_passthrough
	Forward     []string // terminal.docker_forward_env
	Claimed     []string // names that configured providers, platforms and plugins claim beside those known here
	Owned       []string // directories of the installation, which leave PYTHONPATH
	Windows     bool     // names without regard to capitals; ";" between paths; names programs need there
}

// Policy decides what children get. It is safe for concurrent use; make a new one when the settings or the secrets change.
type Policy struct {
	made      bool
	config    Config
	claimed   map[string]bool
	declared  []string // Passthrough without blank names and doubles
	forwarded []string
	owned     map[string]bool
	holders   func(value string) []string // what the secrets in a value are held under
	listSep   string
}

// New makes a policy.
func New(c Config) *Policy {
	p := &Policy{made: true, config: c, claimed: map[string]bool{}, owned: map[string]bool{}, listSep: ":"}
	if c.Windows {
		p.listSep = ";"
	}
	for _, name := range c.Claimed {
		p.claimed[strings.ToUpper(strings.TrimSpace(name))] = true
	}
	for _, dir := range c.Owned {
		if dir != "" {
			p.owned[strings.TrimRight(dir, `/\`)] = true
		}
	}
	p.declared, p.forwarded = names(c.Passthrough), names(c.Forward)
	p.holders = newFinder(c.Secrets)
	return p
}

// names trims and sorts, and leaves out blank names and doubles.
func names(list []string) []string {
	var out []string
	for _, name := range list {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// classOf is classOf with the names that plugins and configured providers claim.
func (p *Policy) classOf(name string) class {
	c := classOf(name)
	if c == free && p.claimed[strings.ToUpper(name)] {
		return reserved
	}
	return c
}

// Refuses returns why a name can never be declared for passthrough, or "". Build asks again at each use, so that a name which
// a plugin claims later stops passing.
func (p *Policy) Refuses(name string) string {
	if p == nil || !p.made {
		return "there is no policy"
	}
	if !validName(name) {
		return "is no variable name"
	}
	if c := p.classOf(name); c != free {
		return c.why()
	}
	if isEgress(name) {
		return "steers where connections go or whom they trust; set it with egress.proxy or ssl_ca_cert"
	}
	return ""
}

// Register decides which of the names a skill requires may pass for its session: those that are set and not refused. The
// caller keeps them with the session and hands them to Build.
func (p *Policy) Register(required []string, isSet func(name string) bool) (granted []string, notes []Note) {
	for _, name := range names(required) {
		why := p.Refuses(name)
		switch {
		case why != "":
			notes = append(notes, Note{name, Withheld, why})
		case isSet == nil || !isSet(name):
			notes = append(notes, Note{name, Missing, "has no value yet"})
		default:
			granted = append(granted, name)
			notes = append(notes, Note{name, Granted, "required by the skill"})
		}
	}
	return granted, notes
}

// Outcome is what became of a variable.
type Outcome uint8

// The outcomes.
const (
	Withheld Outcome = iota // it is not there, and the note says why
	Missing                 // declared, but it has no value for this child
	Granted                 // it is there because somebody declared it
	Set                     // Hermes set it
	Trimmed                 // a part of its value was taken out
)

var outcomeNames = [...]string{Withheld: "withheld", Missing: "missing", Granted: "passed", Set: "set", Trimmed: "trimmed"}

// String returns the outcome's word.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return outcomeNames[Withheld]
}

// Note says what became of one variable. It never holds a value.
type Note struct {
	Name    string
	Outcome Outcome
	Reason  string
}

// String returns "NAME withheld: reason".
func (n Note) String() string { return n.Name + " " + n.Outcome.String() + ": " + n.Reason }
