package command

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/vectortest"
)

// vector is one row of the shared vectors.
type vector struct {
	Command  *string `json:"command"`
	Generate *struct {
		Kind     string   `json:"kind"`
		Parts    [][2]any `json:"parts"`
		Sep      string   `json:"sep"`
		Template string   `json:"template"`
		Count    int      `json:"count"`
	} `json:"command_gen"`
	Expect          string            `json:"expect"`
	Rule            string            `json:"rule"`
	NotRule         string            `json:"not_rule"`
	RuleContains    []string          `json:"rule_contains"`
	RuleContainsAny []string          `json:"rule_contains_any"`
	TargetRule      string            `json:"target_rule"`
	ReportedRule    string            `json:"reported_rule"`
	MatchedPattern  string            `json:"matched_pattern"`
	Deny            []string          `json:"deny"`
	Env             map[string]string `json:"env"`
	TempDir         string            `json:"tempdir"`
	Supervised      *bool             `json:"supervised"`
	ScriptBody      string            `json:"script_body"`
	Scope           string            `json:"scope"`
	EnvType         []string          `json:"env_type"`
	Note            string            `json:"note"`
}

// divergence is a row we answer otherwise on purpose.
type divergence struct {
	Vector  string `json:"vector"`
	Command string `json:"command"`
	Expect  string `json:"expect"`
	Ours    string `json:"ours"`
	Reason  string `json:"reason"`
}

func (v vector) text() string {
	if v.Command != nil {
		return strings.ReplaceAll(*v.Command, "{script}", "/tmp/script.sh")
	}
	var b strings.Builder
	switch v.Generate.Kind {
	case "concat":
		for _, p := range v.Generate.Parts {
			b.WriteString(strings.Repeat(p[0].(string), int(p[1].(float64))))
		}
	case "join":
		for i := range v.Generate.Count {
			if i > 0 {
				b.WriteString(v.Generate.Sep)
			}
			b.WriteString(strings.ReplaceAll(v.Generate.Template, "{i}", strconv.Itoa(i)))
		}
	}
	return b.String()
}

func (v vector) facts() Facts {
	f := Facts{Home: v.Env["HOME"], HermesHome: v.Env["HERMES_HOME"], TempDir: v.TempDir, Profile: v.Env["HERMES_PROFILE"]}
	if v.ScriptBody != "" {
		f.File = func(path string) (string, bool) { return v.ScriptBody, path == "/tmp/script.sh" }
	}
	return f
}

// answer judges a row and says what is wrong, or "".
func (v vector) answer(file string) (got guard.Verdict, wrong string) {
	f := v.facts()
	switch file {
	case "lifecycle":
		f.Supervised = v.Supervised == nil || *v.Supervised
	}
	got = Policy{Deny: v.Deny}.Check(v.text(), f)
	tiers := func(ts ...guard.Tier) bool {
		return slices.ContainsFunc(got.Findings, func(f guard.Finding) bool { return slices.Contains(ts, f.Tier) })
	}
	switch v.Expect {
	case "hardline":
		if got.Tier != guard.Hardline || v.Rule != "" && got.Rule != v.Rule {
			return got, "not hardline " + v.Rule
		}
	case "not-hardline":
		if tiers(guard.Hardline, guard.Sudo) {
			return got, "hardline"
		}
	case "safe":
		if got.Action != guard.Allow {
			return got, "not allowed"
		}
	case "dangerous":
		if got.Action == guard.Allow {
			return got, "allowed"
		}
	case "deny":
		if got.Tier != guard.UserDeny || v.MatchedPattern != "" && got.Rule != v.MatchedPattern {
			return got, "not denied"
		}
	case "not-deny":
		if tiers(guard.UserDeny) {
			return got, "denied"
		}
	case "not-rule":
		if has(keys(got), v.Rule) {
			return got, "has the rule"
		}
		return got, ""
	case "blocked":
		if got.Action != guard.Block {
			return got, "not blocked"
		}
	case "allowed":
		if tiers(guard.Lifecycle, guard.Sudo) {
			return got, "blocked"
		}
	}
	return got, v.wrongRule(got)
}

// wrongRule says what is wrong with the rules a row wants to see.
func (v vector) wrongRule(got guard.Verdict) string {
	list := keys(got)
	joined := strings.ToLower(strings.Join(list, "\n"))
	switch {
	case v.Rule != "" && !has(list, v.Rule):
		return "lacks the rule " + v.Rule
	case v.TargetRule != "" && !has(list, v.TargetRule):
		return "lacks the rule " + v.TargetRule
	case v.NotRule != "" && has(list, v.NotRule):
		return "has the rule " + v.NotRule
	}
	for _, s := range v.RuleContains {
		if !strings.Contains(joined, strings.ToLower(s)) {
			return "no rule contains " + s
		}
	}
	if len(v.RuleContainsAny) > 0 && !slices.ContainsFunc(v.RuleContainsAny, func(s string) bool { return strings.Contains(joined, strings.ToLower(s)) }) {
		return "no rule contains any of " + strings.Join(v.RuleContainsAny, ", ")
	}
	if want := v.ReportedRule; want != "" || v.TargetRule != "" {
		if want == "" {
			want = v.TargetRule
		}
		for _, f := range got.Findings {
			if f.Tier == guard.Danger {
				if f.Rule != want {
					return "reports " + f.Rule + " before " + want
				}
				break
			}
		}
	}
	return ""
}

func keys(v guard.Verdict) []string {
	var out []string
	for _, f := range v.Findings {
		out = append(out, f.Rule)
	}
	return out
}

// TestVectors runs the shared vectors. A row that is answered otherwise must be listed with the reason, and a listed row
// must indeed be answered otherwise.
func TestVectors(t *testing.T) {
	listed := map[[3]string]*divergence{}
	rows := vectortest.Rows[divergence](t, filepath.Join("testdata", "divergences.jsonl"))
	for k := range rows {
		d := &rows[k]
		if d.Reason == "" || d.Ours == "" {
			t.Errorf("divergence without an answer or a reason: %s", d.Command)
		}
		listed[[3]string{d.Vector, d.Command, d.Expect}] = d
	}
	for _, file := range []string{"approvals", "approvals_rule_coverage", "lifecycle", "sudo_stdin"} {
		t.Run(file, func(t *testing.T) {
			passed, all := 0, 0
			for _, v := range vectortest.Rows[vector](t, filepath.Join("testdata", "vectors", file+".jsonl")) {
				text := v.text()
				id := [3]string{file, shorten(text), v.Expect}
				if v.Scope != "" || v.EnvType != nil {
					id[1] += " (" + v.Scope + strings.Join(v.EnvType, " ") + ")"
				}
				got, wrong := v.answer(file)
				d := listed[id]
				switch {
				case d == nil && wrong != "":
					t.Errorf("%s: want %s %s: %s\n\tfound %s: %s", id[1], v.Expect, v.Rule, wrong, got.Action, listing(got))
				case d != nil && wrong == "":
					t.Errorf("%s: listed as a divergence, but is %s as expected", id[1], v.Expect)
				case d != nil && d.Ours != ours(got):
					t.Errorf("%s: listed as %s, is %s", id[1], d.Ours, ours(got))
				}
				all++
				if wrong == "" {
					passed++
				}
			}
			t.Logf("%d of %d rows as the original", passed, all)
		})
	}
}

// ours is our answer in a word, with the deciding rule.
func ours(v guard.Verdict) string {
	if v.Rule == "" {
		return v.Action.String()
	}
	return v.Action.String() + ": " + v.Rule
}

func shorten(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
