package taint

import (
	"testing"

	"hermes/internal/guard"
)

// What is not known to be the person's own conversation is asked about, and no mode lifts that.
func TestRemember(t *testing.T) {
	for _, row := range []struct {
		untainted, always bool
		want              string
	}{{true, false, ""}, {false, false, "memory/outside"}, {false, true, "memory/outside"}, {true, true, "memory/approval"}} {
		v := Remember(row.untainted, row.always)
		if v.Rule != row.want || (v.Action == guard.Allow) != (row.want == "") || row.want != "" && (!v.Sticky || v.Tier != guard.Self || v.Reason == "") {
			t.Errorf("untainted %v, always %v: %+v", row.untainted, row.always, v)
		}
	}
}
