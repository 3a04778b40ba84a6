package taint

import "hermes/internal/guard"

// Remember decides whether a note may be kept that every later conversation begins with. What was read from outside may have asked for it
// in words that no scan finds, and would then be read as the agent's own: that the person decides, each time, whatever the mode.
// untainted tells that nothing in the conversation came from outside; always, that the owner wants to be asked about every note.
func Remember(untainted, always bool) guard.Verdict {
	v := guard.Verdict{
		Action: guard.Ask, Tier: guard.Self, Rule: "memory/outside", Sticky: true,
		Reason: "something in this conversation came from outside, and every later one begins with what is remembered",
		Remedy: "say it yourself in a new conversation, in which nothing from outside was read",
	}
	switch {
	case untainted && !always:
		return guard.Verdict{Action: guard.Allow}
	case untainted:
		v.Rule, v.Reason, v.Remedy = "memory/approval", "memory.write_approval is set: every note is asked about", ""
	}
	return v
}
