package approval

import (
	"context"
	"testing"
	"testing/synctest"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
)

// Public reports on products of this kind, each under its own number.

// A deny rule holds behind cd, assignments and in subshells.
func TestReport_hermes_76037(t *testing.T) {
	for _, text := range []string{"cd repo && git push --force origin main", "X=1 git push --force", "(git push --force)"} {
		p := &says{choice: Always}
		r := request(t, text, p, command.Policy{Deny: []string{"git push --force*"}, Allow: []string{text}})
		if got := New(Options{YOLO: true}).Decide(t.Context(), r); got.Outcome != Refused || len(p.asked) > 0 {
			t.Errorf("%s: %s", text, got.Outcome)
		}
	}
}

// Mentions are no commands.
func TestReport_hermes_94747(t *testing.T) {
	for _, text := range []string{"grep -n docker f.sh", "rg systemctl f.sh"} {
		r := request(t, text, nil, command.Policy{Deny: []string{"docker *", "systemctl *"}})
		if got := New(Options{}).Decide(t.Context(), r); got.Outcome != Clean {
			t.Errorf("%s: %s", text, got.Outcome)
		}
	}
}

// A deny rule holds in a container, with YOLO.
func TestReport_hermes_91002(t *testing.T) {
	r := request(t, force, &says{choice: Once}, command.Policy{Deny: []string{"git push --force*"}})
	r.Backend = "docker"
	if got := New(Options{YOLO: true, Sandboxed: SkipAlways}).Decide(t.Context(), r); got.Outcome != Refused {
		t.Error(got.Outcome)
	}
}

// An allowed command says nothing about the one behind it.
func TestReport_claude_94314(t *testing.T) {
	for text, allow := range map[string]string{
		"git log; rm -rf .git":        "git log*",
		"cd /x && git reset --hard":   "cd *",
		"git log $(git reset --hard)": "git log *",
	} {
		p := &says{}
		if got := New(Options{}).Decide(t.Context(), request(t, text, p, command.Policy{Allow: []string{allow}})); got.Outcome != Denied {
			t.Errorf("%s: %s", text, got.Outcome)
		}
	}
}

// Deny wins over ask and allow, whatever the order.
func TestReport_opencode_28682(t *testing.T) {
	for _, text := range []string{"git checkout .", "git checkout -f main"} {
		r := request(t, text, &says{choice: Once}, command.Policy{Deny: []string{"git checkout *"}, Allow: []string{"*", "git *", text}})
		if got := New(Options{}).Decide(t.Context(), r); got.Outcome != Refused || r.Verdict.Tier != guard.UserDeny {
			t.Errorf("%s: %s", text, got.Outcome)
		}
	}
}

// "always" on one script says nothing about another.
func TestReport_hermes_102443(t *testing.T) {
	again(t, "python3 - <<E\nimport shutil\nshutil.rmtree('a')\nE", "python3 - <<E\nimport shutil\nshutil.rmtree('../other')\nE")
}

// "always" on a shell carrier says nothing about another payload.
func TestReport_goclaw_1212(t *testing.T) {
	again(t, "busybox sh -c 'git reset --hard'", "busybox sh -c 'rm -rf .git'")
	again(t, "zsh -lc 'git reset --hard'", "zsh -lc 'git clean -fd'")
	again(t, `zsh -lc "$X"`, `zsh -lc "$Y"`)
}

// again approves the first command always, and wants the second to be asked about.
func again(t *testing.T, first, second string) {
	t.Helper()
	store := &memory{}
	d, p := New(Options{Store: store}), &says{choice: Always}
	d.Decide(t.Context(), request(t, first, p, command.Policy{}))
	if len(p.asked) != 1 {
		t.Fatalf("%s: asked %d times", first, len(p.asked))
	}
	d.Decide(t.Context(), request(t, second, p, command.Policy{Allow: store.entries}))
	if len(p.asked) != 2 {
		t.Errorf("%s after always on %s: not asked; the list is %q", second, first, store.entries)
	}
}

// Approve A, then B appears in the same turn; the next approval reaches B and nothing else.
func TestReport_hermes_81026(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan Question, 2)
		q := &Queue{Send: func(_ context.Context, q Question) error { sent <- q; return nil }}
		d := New(Options{})
		for _, text := range []string{"rm -rf .git", force} {
			r := request(t, text, q, command.Policy{})
			got := make(chan Decision)
			go func() { got <- d.Decide(t.Context(), r) }()
			asked := <-sent
			if open := q.Pending(r.Session); len(open) != 1 || open[0].ID != asked.ID || open[0].Command != text {
				t.Errorf("%s: pending %+v", text, open)
			}
			if !q.Answer(r.Session, q.Pending(r.Session)[0].Reply(Once)) {
				t.Errorf("%s: not reached", text)
			}
			if one := <-got; one.Outcome != Answered || one.Question != asked.ID {
				t.Errorf("%s: %s", text, one.Outcome)
			}
		}
	})
}

// The same dangerous command gets the same verdict in every context; an unknown one refuses.
func TestReport_hermes_90789(t *testing.T) {
	for p := Nobody; p <= Unattended; p++ {
		r := request(t, "rm -rf .git", &says{}, command.Policy{})
		r.Presence = p
		got := New(Options{}).Decide(t.Context(), r)
		if got.Allowed() || got.Verdict.Rule != "recursive delete" {
			t.Errorf("%s: %s, %s", p, got.Outcome, got.Verdict.Rule)
		}
	}
	r := request(t, "rm -rf .git", &says{choice: Once}, command.Policy{})
	r.Presence = Presence(99)
	if got := New(Options{}).Decide(t.Context(), r); got.Outcome != NoOne {
		t.Errorf("a context that does not exist: %s", got.Outcome)
	}
}
