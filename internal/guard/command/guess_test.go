package command

import (
	"testing"

	"hermes/internal/guard"
)

// What is only a guess is asked about, never refused: the words may be data of a program that nobody here knows.
func TestGuessesAreAskedAbout(t *testing.T) {
	for _, text := range []string{"frobnicate rm -rf /", "frobnicate -- dd if=x of=/dev/sda", "frobnicate -- sudo rm -rf /etc"} {
		v := Policy{}.Check(text, Facts{})
		if v.Action != guard.Ask || v.Tier == guard.Hardline {
			t.Errorf("%s: is %s (%s), want a question", text, v.Action, listing(v))
		}
	}
	if v := (Policy{}).Check("frobnicate rm -rf /", Facts{}); v.Rule != "recursive delete of root filesystem" || v.Tier != guard.Unknown {
		t.Errorf("the question keeps the rule's key: %s", listing(v))
	}
	if v := (Policy{}).Check("nice rm -rf /", Facts{}); v.Action != guard.Block {
		t.Errorf("a known launcher is no guess: %s", listing(v))
	}
}
