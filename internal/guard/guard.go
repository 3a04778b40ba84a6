// Package guard holds the words every decision is told in: an action, the tier that decided, what is harmed, and why.
//
// It decides nothing itself: each layer has a package of its own below this one. Nothing here touches the machine.
//
// Failure direction: the zero Action is Block, so a verdict nobody filled in refuses.
package guard

import (
	"cmp"
	"fmt"
	"strings"
)

// Action is what happens next. The zero value refuses.
type Action uint8

// The actions, strictest first.
const (
	Block Action = iota // refused, in every mode
	Ask                 // a person must be asked; refused when nobody can be
	Allow               // goes on without a question
)

// String returns the word used in prompts, logs and JSON answers.
func (a Action) String() string {
	switch a {
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	default:
		return "deny"
	}
}

// Tier names the part of the policy that decided. Tiers differ in what can lift them.
type Tier uint8

// The tiers, in the order in which they are consulted.
const (
	NoTier    Tier = iota
	Lifecycle      // would stop the supervised gateway that runs us; nothing lifts it
	Hardline       // the floor: nothing lifts it
	Sudo           // password guessing through sudo -S; nothing lifts it
	UserDeny       // the owner's approvals.deny; nothing lifts it
	Self           // changes this guard's own configuration; asked every time, no mode lifts it
	Limit          // too large, too deep or malformed to judge
	Unknown        // a word that matters cannot be known
	Content        // what the text carries: a secret in a request body, invisible characters
	Danger         // the table of dangerous commands
	Egress         // where a connection would go
	Files          // which file a tool would touch
)

var tierNames = [...]string{
	NoTier: "", Lifecycle: "lifecycle", Hardline: "hardline", Sudo: "sudo", UserDeny: "user_deny",
	Self: "self", Limit: "limit", Unknown: "unknown", Content: "content", Danger: "danger",
	Egress: "egress", Files: "files",
}

// String returns the stable name used in JSON answers and the audit log.
func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return fmt.Sprintf("tier(%d)", uint8(t))
}

// Refuses tells whether a finding of this tier refuses outright instead of asking.
func (t Tier) Refuses() bool {
	switch t {
	case Lifecycle, Hardline, Sudo, UserDeny, Egress:
		return true
	}
	return false
}

// Harms is the set of things a finding can damage. A sandbox that contains all of them makes the question needless.
type Harms uint8

// The harms.
const (
	Host   Harms = 1 << iota // this machine: files outside the work tree, processes, devices, settings
	Work                     // the owner's work tree, its history included
	Remote                   // another machine or a service
	Leak                     // a secret or private data leaves
)

// List returns the names of the harms in a fixed order.
func (h Harms) List() []string {
	names := []string{}
	for _, p := range [...]struct {
		bit  Harms
		name string
	}{{Host, "host"}, {Work, "work"}, {Remote, "remote"}, {Leak, "leak"}} {
		if h&p.bit != 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// String returns the names joined by commas.
func (h Harms) String() string { return strings.Join(h.List(), ",") }

// Finding is one reason against a text: the rule that matched, and where.
type Finding struct {
	Tier   Tier
	Rule   string // stable key: shown, stored in allow-lists, audited
	Reason string // one phrase
	Remedy string // what to do instead; may be empty
	Runs   string // the command as it would run once evaluated; empty when the text says it already
	Harms  Harms
	Start  int // byte span of the guilty part in the text that was judged
	End    int
	// Sticky means that no mode (YOLO, off, an approve mode) and no allow-list lifts it, and that it is never remembered.
	Sticky bool
}

// Action returns what the finding asks for on its own.
func (f Finding) Action() Action {
	if f.Tier.Refuses() {
		return Block
	}
	return Ask
}

// Verdict is the answer of a guard. The zero Verdict refuses.
type Verdict struct {
	Action   Action
	Tier     Tier
	Rule     string
	Reason   string
	Remedy   string
	Harms    Harms
	Sticky   bool
	Findings []Finding // all of them, the deciding one first
}

// Allowed is the verdict of a text that nothing speaks against.
func Allowed() Verdict { return Verdict{Action: Allow} }

// Judge makes a verdict of findings: the strictest action wins, and among equals the tier consulted first, then the
// earlier position in findings. The deciding finding becomes the first; the others keep their order.
func Judge(findings []Finding) Verdict {
	if len(findings) == 0 {
		return Allowed()
	}
	top := 0
	for i := 1; i < len(findings); i++ {
		a, b := findings[i], findings[top]
		if c := cmp.Or(cmp.Compare(a.Action(), b.Action()), cmp.Compare(a.Tier, b.Tier)); c < 0 {
			top = i
		}
	}
	first := findings[top]
	copy(findings[1:top+1], findings[:top])
	findings[0] = first
	v := Verdict{
		Action: first.Action(), Tier: first.Tier, Rule: first.Rule, Reason: first.Reason,
		Remedy: first.Remedy, Findings: findings,
	}
	for _, f := range findings {
		v.Harms |= f.Harms
		v.Sticky = v.Sticky || f.Sticky
	}
	return v
}

// Strictest combines the verdicts of several guards on one effect.
func Strictest(verdicts ...Verdict) Verdict {
	if len(verdicts) == 0 {
		return Verdict{Reason: "no guard was asked"}
	}
	top := verdicts[0]
	for _, v := range verdicts[1:] {
		if cmp.Or(cmp.Compare(v.Action, top.Action), cmp.Compare(v.Tier, top.Tier)) < 0 && v.Action != Allow {
			top, v = v, top
		}
		top.Harms |= v.Harms
		top.Sticky = top.Sticky || v.Sticky
		top.Findings = append(top.Findings[:len(top.Findings):len(top.Findings)], v.Findings...)
	}
	return top
}

// DeniedError is a refusal as an error. Its text says what was refused and by which rule; the remedy stays apart.
type DeniedError struct {
	Op      string // what was tried: "run", "write", "connect"
	Subject string // on what
	Verdict Verdict
}

func (e *DeniedError) Error() string {
	rule := e.Verdict.Tier.String()
	if e.Verdict.Rule != "" {
		rule += "/" + e.Verdict.Rule
	}
	if e.Verdict.Reason == "" {
		return fmt.Sprintf("%s %q: denied by %s", e.Op, e.Subject, rule)
	}
	return fmt.Sprintf("%s %q: denied by %s: %s", e.Op, e.Subject, rule, e.Verdict.Reason)
}
