package command

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/guard"
)

// TestRules proves every row by its own examples.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for n, r := range Rules() {
		if r.Key == "" || r.Why == "" || r.Harms == 0 || len(r.Hits) == 0 || len(r.Passes) == 0 {
			t.Errorf("rule %d %q: a row needs a key, a reason, harms, and examples of both kinds", n, r.Key)
		}
		if r.Match.test == nil {
			t.Errorf("rule %d %q: nothing to match", n, r.Key)
			continue
		}
		if id := fmt.Sprint(r.Key, "/", r.Tier, r.Sticky, r.Match.on); seen[id] {
			t.Errorf("rule %d %q: listed twice in one tier", n, r.Key)
		} else {
			seen[id] = true
		}
		t.Run(strings.ReplaceAll(r.Key, " ", "_"), func(t *testing.T) {
			for _, text := range r.Hits {
				if v := judged(r, text); !found(v, r) {
					t.Errorf("must match: %s\n\tfound %s", text, listing(v))
				}
			}
			for _, text := range r.Passes {
				if v := judged(r, text); found(v, r) {
					t.Errorf("must not match: %s\n\tfound %s", text, listing(v))
				}
			}
		})
	}
}

// TestRemedies proves that the guard lets pass what it advises.
func TestRemedies(t *testing.T) {
	for _, r := range Rules() {
		for n, advice := range strings.Split(r.Remedy, "`") {
			if n%2 == 0 {
				continue
			}
			if v := judged(r, advice); v.Action != guard.Allow {
				t.Errorf("%s advises %q, which is %s: %s", r.Key, advice, v.Action, listing(v))
			}
		}
	}
}

func judged(r Rule, text string) guard.Verdict {
	f := Facts{}
	if r.Facts != nil {
		f = *r.Facts
	}
	return Policy{}.Check(text, f)
}

func found(v guard.Verdict, r Rule) bool {
	for _, f := range v.Findings {
		if f.Rule == r.Key && f.Tier == r.Tier && f.Sticky == r.Sticky {
			return true
		}
	}
	return false
}

func listing(v guard.Verdict) string {
	var b strings.Builder
	for _, f := range v.Findings {
		b.WriteString("[" + f.Tier.String() + "] " + f.Rule + "; ")
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return b.String()
}
