package scope

import "hermes/internal/guard"

// The rules a refusal names.
const (
	RuleNobody       = "no identity"
	RuleOtherProfile = "another profile's"
	RuleOtherSession = "another session's"
	RuleOtherJob     = "another job's"
	RuleWhole        = "the whole profile's"
)

// Same tells whether two identities are one. The zero identity is nobody, so it is not the same as itself.
func Same(a, b Identity) bool { return !nobody(a) && !nobody(b) && a == b }

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

// Administer decides whether caller may change what is its whole profile's: a session or a job may use it, only the profile
// itself (the operator's own commands) may change it.
func Administer(caller, owner Identity) guard.Verdict {
	if v := Check(caller, owner); v.Action != guard.Allow {
		return v
	}
	if caller != owner {
		return refused(RuleWhole, "only the profile's operator may change it")
	}
	return guard.Allowed()
}

func nobody(i Identity) bool { return i == nil || i.IsZero() }

func refused(rule, reason string) guard.Verdict {
	return guard.Verdict{Action: guard.Block, Rule: rule, Reason: reason}
}
