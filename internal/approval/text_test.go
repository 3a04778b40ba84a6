package approval

import (
	"strings"
	"testing"

	"hermes/internal/guard"
)

// A person is not told what a model must not try, but all that happened and why.
func TestForPerson(t *testing.T) {
	for _, tier := range []guard.Tier{guard.Hardline, guard.Sudo, guard.UserDeny, guard.Lifecycle, guard.Danger} {
		message, _ := refusal(guard.Verdict{Tier: tier, Rule: "test rule", Reason: "it harms"})
		got := ForPerson(message)
		if strings.Contains(got, "Do not") || !strings.HasPrefix(message, got) || len(got) < 40 {
			t.Errorf("%v: %q of %q", tier, got, message)
		}
	}
	const denied = "BLOCKED: the user denied this command (test rule). Reason given: later. "
	if got := ForPerson(denied + noConsent); got != strings.TrimSpace(denied) {
		t.Errorf("%q", got)
	}
}
