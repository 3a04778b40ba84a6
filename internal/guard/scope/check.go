package scope

import "hermes/internal/guard"

// The rules a refusal names.
const (
	RuleNobody       = "no identity"
	RuleOtherProfile = "another profile's"
	RuleOtherSession = "another session's"
	RuleOtherJob     = "another job's"
)

// Check decides whether caller may use what belongs to owner: its own things, and what belongs to its profile as a whole
// when the owner is a Profile. A run of a job may use the job's things. A profile on its own (no session, no job) owns its things but not those of its sessions.
func Check(caller, owner Identity) guard.Verdict {
	if nobody(caller) || nobody(owner) {
		return refused(RuleNobody, "who asks, or whose it is, is not known")
	}
	if caller.Profile() != owner.Profile() {
		return refused(RuleOtherProfile, "it belongs to another profile")
	}
	if caller == owner {
		return guard.Allowed()
	}
	switch owner := owner.(type) {
	case Profile:
		return guard.Allowed()
	case Session:
		return refused(RuleOtherSession, "it belongs to another session")
	case Job:
		if s, ok := caller.(Session); ok && s.Job() == owner {
			return guard.Allowed()
		}
	}
	return refused(RuleOtherJob, "it belongs to another job")
}

func nobody(i Identity) bool { return i == nil || i.IsZero() }

func refused(rule, reason string) guard.Verdict {
	return guard.Verdict{Action: guard.Block, Rule: rule, Reason: reason}
}
