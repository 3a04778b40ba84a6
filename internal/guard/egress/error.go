package egress

import (
	"errors"

	"hermes/internal/guard"
)

// Error says why a text is no URL or host that may be reached. Its text names the text and the cause.
type Error struct {
	Rule    string // stable key: "url/scheme", "host/numeric", …
	Subject string // what was parsed, shortened
	Cause   string
	Remedy  string // what to do instead; may be empty
}

func (e *Error) Error() string { return quote(e.Subject) + ": " + e.Cause }

// Verdict returns the refusal as a verdict.
func (e *Error) Verdict() guard.Verdict { return refused(e.Rule, e.Error(), e.Remedy) }

func refuse(rule, subject, cause string) *Error {
	return &Error{Rule: rule, Subject: subject, Cause: cause}
}

// verdict turns an error of this package into a verdict; any other error refuses too.
func verdict(err error) guard.Verdict {
	var e *Error
	if errors.As(err, &e) {
		return e.Verdict()
	}
	return refused("unknown", err.Error(), "")
}

func refused(rule, reason, remedy string) guard.Verdict {
	return guard.Verdict{Tier: guard.Egress, Rule: rule, Reason: reason, Remedy: remedy, Harms: guard.Remote | guard.Leak}
}

// floor is a refusal that no setting lifts.
func floor(rule, reason string) guard.Verdict {
	v := refused(rule, reason, "")
	v.Tier, v.Sticky = guard.Hardline, true
	return v
}

// Refusal is what an error of ParseURL or ParseHost says, as a verdict.
func Refusal(err error) guard.Verdict { return verdict(err) }
