package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/guard/exposure"
	"hermes/internal/vectortest"
)

// vector is one row of the shared vectors on flow.
type vector struct {
	Given map[string]any `json:"given"`
	When  string         `json:"when"`
	Then  map[string]any `json:"then"`
}

type divergence struct {
	When   string         `json:"when"`
	Given  map[string]any `json:"given"`
	Ours   map[string]any `json:"ours"`
	Reason string         `json:"reason"`
}

func key(when string, given map[string]any) string {
	b, _ := json.Marshal(given)
	return when + string(b)
}

func TestVectors(t *testing.T) {
	ours := map[string]divergence{}
	for _, d := range vectortest.Rows[divergence](t, "testdata/divergences.jsonl") {
		if d.Reason == "" {
			t.Errorf("%s: a divergence without a reason", d.When)
		}
		ours[key(d.When, d.Given)] = d
	}
	rows, used := vectortest.Rows[vector](t, "testdata/vectors/flow.jsonl"), 0
	for _, v := range rows {
		if d, ok := ours[key(v.When, v.Given)]; ok {
			used++
			v.Then = d.Ours
		}
		for _, text := range strings.Split(v.When, " / ") {
			bad := ""
			synctest.Test(t, func(t *testing.T) { bad = v.check(t, text) })
			if bad != "" {
				t.Errorf("%s %v: %s", text, v.Given, bad)
			}
		}
	}
	t.Logf("%d rows, %d of them answered otherwise on purpose", len(rows), used)
	if used != len(ours) {
		t.Errorf("%d of %d divergences are about rows that exist", used, len(ours))
	}
}

func (v vector) str(name string) string { s, _ := v.Given[name].(string); return s }
func (v vector) on(name string) bool {
	b, _ := v.Given[name].(bool)
	return b || Truthy(v.str(name))
}

func list(v any) []string {
	var out []string
	all, _ := v.([]any)
	for _, s := range all {
		out = append(out, fmt.Sprint(s))
	}
	return out
}

// check runs one row and says what is wrong.
func (v vector) check(t *testing.T, text string) string {
	env := func(name string) string { return v.str(name) }
	switch text {
	case "<mode parsing>":
		if m, _ := ParseMode(fmt.Sprint(v.Given["approvals.mode"])); m.String() != v.Then["mode"] {
			return m.String()
		}
		return ""
	case "<context>":
		if p := ReadSignals(env).Presence(); p.there() != v.Then["gateway_context"] {
			return p.String()
		}
		return ""
	case "<resolve with stale request id>":
		return v.stale(t)
	case "<prompt>", "<prompt render>":
		return "" // the terminal's: TestVectorsOfThePrompt in package cli
	}
	var prompts atomic.Int32
	var last atomic.Pointer[Question]
	r := request(t, text, prompt(func(ctx context.Context, q Question) (Answer, error) {
		prompts.Add(1)
		last.Store(&q)
		if v.str("callback") == "timeout" {
			<-ctx.Done()
			return Answer{}, ctx.Err()
		}
		time.Sleep(time.Second)
		a := q.Reply(Deny)
		a.Reason = v.str("reason")
		return a, nil
	}), command.Policy{Deny: list(v.Given["deny"]), Allow: v.allow(text)})
	if signals := ReadSignals(env); signals.Presence() != Nobody {
		r.Presence, r.Platform = signals.Presence(), signals.Platform
	}
	if backend := v.str("backend"); backend != "" {
		r.Backend, r.Exposure = backend, exposure.Exposure{Backend: backend}
	}
	if v.str("secret_in_command") != "" { // it is about the question, so there must be one
		r.Verdict = guard.Judge([]guard.Finding{{Tier: guard.Danger, Rule: "x", Harms: guard.Leak}})
		r.Judge = nil
	}
	m, _ := ParseMode(v.str("approvals.mode"))
	d := New(Options{Mode: m, YOLO: v.on("yolo") || v.on("HERMES_YOLO_MODE"), Sandboxed: SkipAlways,
		Unattended: ParseApprove(v.str("approvals.unattended_mode"))})
	if v.on("gateway") {
		r.Presence = Chat
	}
	got := make([]Decision, max(1, int(number(v.Given["concurrent_identical"]))))
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = d.Decide(t.Context(), r) })
	}
	all.Wait()
	for _, one := range got {
		if bad := v.differs(one, last.Load(), int(prompts.Load())); bad != "" {
			return bad
		}
	}
	return ""
}

func (v vector) allow(text string) []string {
	if v.on("command_allowlist_matches") {
		return []string{text}
	}
	return list(v.Given["allowlist_loaded"])
}

func number(v any) float64 { f, _ := v.(float64); return f }

// differs compares a decision with what the row wants of it.
func (v vector) differs(got Decision, q *Question, prompts int) string {
	for name, want := range v.Then {
		ok := true
		switch name {
		case "approved":
			ok = got.Allowed() == want
		case "hardline":
			ok = (got.Verdict.Tier == guard.Hardline) == want
		case "user_deny":
			ok = (got.Verdict.Tier == guard.UserDeny) == (want == true)
		case "outcome":
			ok = string(got.Outcome) == want
		case "user_consent":
			ok = got.Allowed() == want
		case "message_contains", "message_not_contains":
			for _, part := range list(want) {
				ok = ok && strings.Contains(got.Message, part) == (name == "message_contains")
			}
		case "prompts_sent":
			ok = float64(prompts) == want
		case "all_choice":
			ok = got.Choice.String() == want
		case "follower_reason":
			ok = got.Reason == want
		case "prompt_contains", "prompt_not_contains":
			for _, part := range list(want) {
				ok = ok && strings.Contains(q.Command, part) == (name == "prompt_contains")
			}
		default:
			ok = false
		}
		if !ok {
			return fmt.Sprintf("%s: want %v, got %+v", name, want, got)
		}
	}
	return ""
}

func (v vector) stale(t *testing.T) string {
	sent := make(chan Question, 1)
	q := &Queue{Send: func(_ context.Context, q Question) error { sent <- q; return nil }}
	r := request(t, "rm -rf .git", q, command.Policy{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go New(Options{}).Decide(ctx, r)
	open := <-sent
	if q.Answer(r.Session, Answer{ID: "stale", Sum: open.Sum, Choice: Once}) || len(q.Pending(r.Session)) != 1 {
		return "a stale id resolved something"
	}
	return ""
}
