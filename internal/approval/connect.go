package approval

import (
	"context"

	"hermes/internal/guard"
)

// Connect answers a request to let a running command reach a host that is not on its sandbox's list. The request's Command names
// the connection, its Covers what lasting answers cover. A wall is not a question of taste: neither YOLO nor a mode nor the
// reviewing model opens it, only the list, what this session was granted, and a person.
func (d *Desk) Connect(ctx context.Context, r Request) Decision {
	o := d.options()
	o.Review = nil
	out := Decision{Verdict: r.Verdict, By: "policy"}
	if r.Verdict.Action != guard.Ask || r.Covers == nil {
		out.Outcome = Refused
		out.Message, out.Remedy = refusal(r.Verdict)
		return out
	}
	open := []guard.Finding{{Tier: r.Verdict.Tier, Rule: r.Verdict.Rule, Reason: r.Verdict.Reason, Remedy: r.Verdict.Remedy, End: len(r.Command)}}
	switch {
	case d.granted(r):
		out.Action, out.Outcome = guard.Allow, Granted
	case !r.Presence.there():
		out.Outcome, out.Message, out.Remedy = NoOne, nobodyText(r.what(), described(open)), r.Verdict.Remedy
	default:
		d.consult(ctx, &out, r, o, open)
	}
	return out
}
