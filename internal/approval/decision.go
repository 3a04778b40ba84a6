package approval

import "hermes/internal/guard"

// Outcome is a stable word for how a decision came about.
type Outcome string

// The outcomes that let a command run.
const (
	Clean     Outcome = "allow"     // nothing spoke against it
	Contained Outcome = "contained" // the sandbox contains the harm
	YOLO      Outcome = "yolo"
	ModeOff   Outcome = "mode off"
	Listed    Outcome = "allowlist"     // command_allowlist
	Granted   Outcome = "granted"       // a session grant
	Headless  Outcome = "approve mode"  // cron_mode and the like
	Reviewed  Outcome = "smart"         // the reviewing model
	Answered  Outcome = "user_approved" // a person, now
)

// The outcomes that refuse.
const (
	Refused      Outcome = "refused" // by the guard; the tier says more
	Denied       Outcome = "denied"  // by a person
	TimedOut     Outcome = "timeout"
	NotifyFailed Outcome = "notify_failed" // the question did not reach anybody
	Blocked      Outcome = "blocked"       // a context without a person
	NoOne        Outcome = "nobody"        // nobody to ask
	SmartDenied  Outcome = "smart_denied"  // by the reviewing model, and nobody to overrule it
	Cancelled    Outcome = "cancelled"     // the run ended while it waited
)

// Decision is the answer to a Request. The zero Decision refuses.
type Decision struct {
	Action   guard.Action // Allow or Block
	Outcome  Outcome
	Verdict  guard.Verdict // the guard's, as it was asked
	Question string        // id of the question that was answered, if one was
	Choice   Choice        // what was chosen there
	By       string        // who decided: a person, "guardian", "policy", "owner"
	Reason   string        // a person's reason for a refusal
	Lifted   []Lift        // findings that were not asked about, and why
	Grant    Cover         // what the answer will cover from now on
	Message  string        // a refusal for whoever wanted the command
	Remedy   string        // what a person can do about it
	Warning  string        // something else a person should know
}

// Allowed tells whether the command may run.
func (d Decision) Allowed() bool { return d.Action == guard.Allow }

// Lift says why a finding did not lead to a question.
type Lift struct {
	Finding guard.Finding
	By      Outcome
}
