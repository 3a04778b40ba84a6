package workspace

import (
	"cmp"
	"context"

	"hermes/internal/approval"
	"hermes/internal/guard"
)

// Desk returns an Ask that goes through an approval desk. base says for whom: session, presence, prompter, backend, exposure.
// Each change is asked about by itself, with its difference, and no answer lasts. What decides about Hermes itself or
// instructs agents no mode lifts.
func Desk(d *approval.Desk, base approval.Request) Ask {
	return func(ctx context.Context, q Question) (bool, string, error) {
		r := base
		r.Dir, r.Program, r.Judge, r.Covers = q.Dir, nil, nil, &approval.Covers{}
		r.What = "file access"
		title := word(q.Access) + " " + q.Path
		r.Command = title
		if q.Diff != "" {
			r.Command += "\n" + q.Diff
		}
		v := q.Verdict
		v.Findings = []guard.Finding{{
			Tier: v.Tier, Rule: v.Rule, Reason: v.Reason, Remedy: v.Remedy, Harms: v.Harms, End: len(title),
			Sticky: v.Sticky || v.Rule == "path/settings",
		}}
		r.Verdict = v
		got := d.Decide(ctx, r)
		return got.Allowed(), cmp.Or(got.Reason, got.Message), nil
	}
}
