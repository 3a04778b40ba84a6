package command

import (
	"testing"

	"hermes/internal/guard"
)

// Where the text starts below a directory for temporary files, a word that nothing is known of may still name any path.
func TestUnknownWordIsNotTemporary(t *testing.T) {
	facts := Facts{Home: "/home/me", Dir: "/tmp/work"}
	for text, want := range map[string]guard.Action{
		"rm -rf $UNKNOWN":             guard.Ask,
		`rm -rf "$UNKNOWN"`:           guard.Ask,
		"rm -rf ./$UNKNOWN":           guard.Ask,
		"rm -rf $UNKNOWN/x":           guard.Ask,
		"rm -rf $(cat list)":          guard.Ask,
		"rm -rf /tmp/build-$UNKNOWN":  guard.Allow,
		`rm -rf "sub-$UNKNOWN"`:       guard.Allow,
		"rm -rf out":                  guard.Allow,
		`D=$(mktemp -d); rm -rf "$D"`: guard.Allow,
		`rm -rf "$(mktemp -d)/x"`:     guard.Allow,
	} {
		if got := (Policy{}).Check(text, facts); got.Action != want {
			t.Errorf("%s: %v %s, want %v", text, got.Action, got.Rule, want)
		}
	}
}
