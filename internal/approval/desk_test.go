package approval

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
)

// says answers every question with the same choice, and keeps the questions.
type says struct {
	choice Choice
	reason string
	asked  []Question
}

func (s *says) Prompt(_ context.Context, q Question) (Answer, error) {
	s.asked = append(s.asked, q)
	a := q.Reply(s.choice)
	a.By, a.Reason = "ada", s.reason
	return a, nil
}

// prompt is a Prompter that is a function.
type prompt func(context.Context, Question) (Answer, error)

func (f prompt) Prompt(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

func sessionOf(t *testing.T, key string) scope.Session {
	t.Helper()
	p, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scope.ParseSession(p, "cli", key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request judges a text as launch does.
func request(t *testing.T, text string, p Prompter, policy command.Policy) Request {
	t.Helper()
	facts := command.Facts{Home: "/home/ada", Dir: "/home/ada/src"}
	strict := command.Compile(command.Policy{Deny: policy.Deny})
	verdict, prog := strict.Explain(text, facts)
	return Request{
		Session: sessionOf(t, "one"), Command: text, Dir: facts.Dir, Backend: "local", Program: &prog, Verdict: verdict,
		Judge: func(entries []string) guard.Verdict {
			all := append(append([]string{}, policy.Allow...), entries...)
			return command.Compile(command.Policy{Deny: policy.Deny, Allow: all}).Judge(&prog, facts)
		},
		Exposure: exposure.Exposure{Backend: "local"}, Presence: Person, Prompter: p,
	}
}

// memory is a Store.
type memory struct {
	entries []string
	err     error
}

func (m *memory) Add(e string) error {
	if m.err == nil {
		m.entries = append(m.entries, e)
	}
	return m.err
}
func (m *memory) Remove(string) error     { return m.err }
func (m *memory) List() ([]string, error) { return m.entries, m.err }

const force = "git push --force origin main"

func TestDecisionOrder(t *testing.T) {
	walls := exposure.Exposure{Backend: "native", Tree: exposure.OwnTree}
	walls.Network.Force = exposure.NoNet
	for d := range len(walls.Doors) {
		walls.Doors[d].Force = exposure.Shut
	}
	walls.Caps.Known, walls.Seccomp = true, exposure.Filter
	const (
		wipe   = "rm -rf /"
		config = "hermes config set approvals.mode off"
		repo   = "rm -rf .git"
	)
	for _, row := range []struct {
		what   string
		text   string
		o      Options
		policy command.Policy
		alter  func(*Request)
		want   Outcome
		asked  int
	}{
		// What the guard refuses stays refused, and nobody is asked.
		{"hardline beats yolo, off and approve", wipe, Options{YOLO: true, Mode: Off, Cron: true}, command.Policy{Allow: []string{wipe}}, nil, Refused, 0},
		{"deny beats everything", force, Options{YOLO: true}, command.Policy{Deny: []string{"git push --force*"}, Allow: []string{force}}, nil, Refused, 0},
		{"deny holds in a sandbox that contains all", force, Options{Sandboxed: SkipAlways}, command.Policy{Deny: []string{"git push --force*"}},
			func(r *Request) { r.Exposure = walls }, Refused, 0},
		{"hardline holds in a sandbox that contains all", wipe, Options{Sandboxed: Skip}, command.Policy{},
			func(r *Request) { r.Exposure = walls }, Refused, 0},
		{"a verdict nobody filled in refuses", "ls", Options{YOLO: true}, command.Policy{}, func(r *Request) { r.Verdict = guard.Verdict{} }, Refused, 0},
		// Nothing to ask about.
		{"harmless", "ls", Options{}, command.Policy{}, nil, Clean, 0},
		// Contained harm.
		{"contained", repo, Options{Sandboxed: Skip}, command.Policy{}, func(r *Request) { r.Exposure = walls }, Contained, 0},
		{"contained, ask anyway", repo, Options{}, command.Policy{}, func(r *Request) { r.Exposure = walls }, Answered, 1},
		{"not contained", repo, Options{Sandboxed: Skip}, command.Policy{}, nil, Answered, 1},
		{"a container by name only", repo, Options{Sandboxed: Skip}, command.Policy{}, func(r *Request) { r.Backend = "modal" }, Answered, 1},
		{"skip_always goes by the name", repo, Options{Sandboxed: SkipAlways}, command.Policy{}, func(r *Request) { r.Backend = "modal" }, Contained, 0},
		{"skip_always, docker with a folder of the owner's", repo, Options{Sandboxed: SkipAlways}, command.Policy{}, func(r *Request) { r.Backend = "docker" }, Answered, 1},
		// Modes.
		{"yolo", repo, Options{YOLO: true}, command.Policy{}, nil, YOLO, 0},
		{"mode off", repo, Options{Mode: Off}, command.Policy{}, nil, ModeOff, 0},
		{"manual", repo, Options{}, command.Policy{}, nil, Answered, 1},
		{"smart without a model", repo, Options{Mode: Smart}, command.Policy{}, nil, Answered, 1},
		// The allow-list: exact text, glob, key of a rule.
		{"listed text", repo, Options{}, command.Policy{Allow: []string{repo}}, nil, Listed, 0},
		{"listed glob", force, Options{}, command.Policy{Allow: []string{"git push *"}}, nil, Listed, 0},
		{"listed key covers only its own finding", repo, Options{}, command.Policy{Allow: []string{"recursive delete"}}, nil, Answered, 1},
		{"listed keys", repo, Options{}, command.Policy{Allow: []string{"recursive delete", "removal of the repository itself"}}, nil, Listed, 0},
		{"listed key, unattended", force, Options{}, command.Policy{Allow: []string{"git force push (rewrites remote history)"}},
			func(r *Request) { r.Presence = Cron }, Listed, 0},
		// The agent does not configure its own guard: asks every time, lifted by nothing.
		{"sticky under yolo", config, Options{YOLO: true}, command.Policy{}, nil, Answered, 1},
		{"sticky under mode off", config, Options{Mode: Off}, command.Policy{}, nil, Answered, 1},
		{"sticky when listed", config, Options{}, command.Policy{Allow: []string{config}}, nil, Answered, 1},
		{"sticky in a sandbox", config, Options{Sandboxed: Skip}, command.Policy{}, func(r *Request) { r.Exposure = walls }, Answered, 1},
		{"sticky in approve mode", config, Options{Cron: true}, command.Policy{}, func(r *Request) { r.Presence = Cron }, Blocked, 0},
		// Nobody is there.
		{"unknown context", repo, Options{}, command.Policy{}, func(r *Request) { r.Presence = Nobody }, NoOne, 0},
		{"unknown context in approve modes", repo, Options{Cron: true, SingleQuery: true, Unattended: true}, command.Policy{}, func(r *Request) { r.Presence = Nobody }, NoOne, 0},
		{"cron", repo, Options{}, command.Policy{}, func(r *Request) { r.Presence = Cron }, Blocked, 0},
		{"cron, approve", repo, Options{Cron: true}, command.Policy{}, func(r *Request) { r.Presence = Cron }, Headless, 0},
		{"single query", repo, Options{Cron: true}, command.Policy{}, func(r *Request) { r.Presence = SingleQuery }, Blocked, 0},
		{"single query, approve", repo, Options{SingleQuery: true}, command.Policy{}, func(r *Request) { r.Presence = SingleQuery }, Headless, 0},
		{"unattended", repo, Options{}, command.Policy{}, func(r *Request) { r.Presence = Unattended }, Blocked, 0},
		{"unattended, approve", repo, Options{Unattended: true}, command.Policy{}, func(r *Request) { r.Presence = Unattended }, Headless, 0},
		{"hardline in approve mode", wipe, Options{Cron: true}, command.Policy{}, func(r *Request) { r.Presence = Cron }, Refused, 0},
		// A chat without anybody to send to.
		{"no way to ask", repo, Options{}, command.Policy{}, func(r *Request) { r.Presence, r.Prompter = Asked, nil }, NotifyFailed, 0},
	} {
		t.Run(row.what, func(t *testing.T) {
			p := &says{choice: Once}
			r := request(t, row.text, p, row.policy)
			if row.alter != nil {
				row.alter(&r)
			}
			got := New(row.o).Decide(t.Context(), r)
			if got.Outcome != row.want || len(p.asked) != row.asked {
				t.Errorf("%s: %s, asked %d times; want %s, %d", row.text, got.Outcome, len(p.asked), row.want, row.asked)
			}
			wantAction := guard.Allow
			switch row.want {
			case Refused, Blocked, NoOne, NotifyFailed:
				wantAction = guard.Block
				if got.Message == "" {
					t.Error("a refusal without a text")
				}
			}
			if got.Action != wantAction {
				t.Errorf("%s: %s", row.text, got.Action)
			}
		})
	}
}

func TestSessionYOLO(t *testing.T) {
	d, p := New(Options{}), &says{}
	r := request(t, "rm -rf .git", p, command.Policy{})
	d.SetYOLO(r.Session, true)
	if got := d.Decide(t.Context(), r); got.Outcome != YOLO {
		t.Errorf("with the session's YOLO: %s", got.Outcome)
	}
	other := r
	other.Session = sessionOf(t, "two")
	if got := d.Decide(t.Context(), other); got.Outcome != Denied {
		t.Errorf("another session: %s", got.Outcome)
	}
	d.SetYOLO(r.Session, false)
	if got := d.Decide(t.Context(), r); got.Outcome != Denied {
		t.Errorf("switched off again: %s", got.Outcome)
	}
	d.SetYOLO(scope.Session{}, true)
	nobody := r
	nobody.Session = scope.Session{}
	if got := d.Decide(t.Context(), nobody); got.Outcome != Denied {
		t.Errorf("YOLO for the zero session: %s", got.Outcome)
	}
	d.Set(Options{YOLO: true})
	if got := d.Decide(t.Context(), r); got.Outcome != Denied {
		t.Errorf("YOLO switched on after the start: %s", got.Outcome)
	}
}

func TestSilenceRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]prompt{
			"waits": func(ctx context.Context, _ Question) (Answer, error) { <-ctx.Done(); return Answer{}, ctx.Err() },
			"approves too late": func(ctx context.Context, q Question) (Answer, error) {
				<-ctx.Done()
				return q.Reply(Once), nil
			},
			"never returns": func(_ context.Context, q Question) (Answer, error) {
				time.Sleep(time.Hour)
				return q.Reply(Always), nil
			},
		} {
			start := time.Now()
			got := New(Options{Timeout: 90 * time.Second}).Decide(t.Context(), request(t, "rm -rf .git", p, command.Policy{}))
			if waited := time.Since(start); waited != 90*time.Second {
				t.Errorf("%s: decided after %s", name, waited)
			}
			if got.Outcome != TimedOut || got.Action != guard.Block {
				t.Errorf("%s: %s %s", name, got.Action, got.Outcome)
			}
			wants(t, got.Message, "timed out without user response", "Silence is not consent.", "NOT consented", "rephrase")
			if strings.Contains(got.Message, "denied") {
				t.Errorf("silence is told as a denial: %s", got.Message)
			}
		}
		time.Sleep(2 * time.Hour) // the one that never returns
	})
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in %q", part, text)
		}
	}
}

func TestAnswersThatGrantNothing(t *testing.T) {
	for _, row := range []struct {
		what string
		p    prompt
		want Outcome
	}{
		{"zero answer", func(context.Context, Question) (Answer, error) { return Answer{}, nil }, Denied},
		{"error beside a yes", func(_ context.Context, q Question) (Answer, error) { return q.Reply(Always), errors.New("x") }, NotifyFailed},
		{"panic", func(context.Context, Question) (Answer, error) { panic("x") }, NotifyFailed},
		{"no id", func(_ context.Context, q Question) (Answer, error) { return Answer{Sum: q.Sum, Choice: Once}, nil }, NotifyFailed},
		{"another question's id", func(_ context.Context, q Question) (Answer, error) {
			return Answer{ID: "0123456789abcdef", Sum: q.Sum, Choice: Once}, nil
		}, NotifyFailed},
		{"another command's sum", func(_ context.Context, q Question) (Answer, error) {
			return Answer{ID: q.ID, Sum: Sum("ls", q.Dir, q.Backend), Choice: Always}, nil
		}, NotifyFailed},
		{"a choice that does not exist", func(_ context.Context, q Question) (Answer, error) { return q.Reply(Choice(9)), nil }, Denied},
	} {
		d := New(Options{})
		r := request(t, "rm -rf .git", row.p, command.Policy{})
		if got := d.Decide(t.Context(), r); got.Outcome != row.want || got.Allowed() {
			t.Errorf("%s: %s %s, want %s", row.what, got.Action, got.Outcome, row.want)
		}
		if g := d.Grants(r.Session); g != nil {
			t.Errorf("%s granted %v", row.what, g)
		}
	}
}

func TestRunThatEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	p := prompt(func(ctx context.Context, q Question) (Answer, error) { stop(); <-ctx.Done(); return q.Reply(Once), nil })
	if got := New(Options{}).Decide(ctx, request(t, "rm -rf .git", p, command.Policy{})); got.Outcome != Cancelled || got.Allowed() {
		t.Errorf("%s %s", got.Action, got.Outcome)
	}
}

func TestMessages(t *testing.T) {
	p := &says{reason: "not on a Friday"}
	got := New(Options{}).Decide(t.Context(), request(t, "rm -rf .git", p, command.Policy{}))
	wants(t, got.Message, "BLOCKED", "denied", "NOT consented", "rephrase", "different command", "not on a Friday")
	if strings.Contains(got.Message, "Silence") {
		t.Errorf("a denial is told as silence: %s", got.Message)
	}
	for presence, parts := range map[Presence][]string{
		SingleQuery: {"single-query mode (-q) runs without a user present", "approvals.single_query_mode: approve"},
		Cron:        {"cron jobs run without a user present", "approvals.cron_mode: approve"},
		Unattended:  {"unattended platform (webhook)", "approvals.unattended_mode: approve"},
	} {
		r := request(t, "rm -rf .git", p, command.Policy{})
		r.Presence, r.Platform = presence, "webhook"
		got := New(Options{}).Decide(t.Context(), r)
		wants(t, got.Message, append(parts, "BLOCKED: Command flagged as dangerous (recursive delete", "another approach")...)
	}
}

// What is no command is not called one, and is not sent to the list of commands.
func TestMessagesOfOthers(t *testing.T) {
	refuses := func(change func(*Request), parts ...string) {
		t.Helper()
		r := request(t, "write ~/.hermes/config.yaml", &says{}, command.Policy{})
		r.Verdict = guard.Verdict{Action: guard.Ask, Tier: guard.Danger, Rule: "path/settings", Reason: "it decides about Hermes"}
		r.Program, r.Judge, r.Covers, r.What = nil, nil, &Covers{}, "file access"
		change(&r)
		got := New(Options{}).Decide(t.Context(), r)
		if r.For != "" {
			got = New(Options{}).Connect(t.Context(), r)
		}
		wants(t, got.Message, append(parts, "BLOCKED", "(path/settings)")...)
		text := strings.ReplaceAll(got.Message+got.Remedy, noConsent, "")
		if got.Allowed() || strings.Contains(text, "this command") || strings.Contains(text, "Command flagged") || strings.Contains(text, "command_allowlist") {
			t.Errorf("it is called a command: %s %s", got.Message, got.Remedy)
		}
	}
	refuses(func(*Request) {}, "the user denied this file access")
	refuses(func(r *Request) { r.Prompter = nil }, "this file access must be asked about")
	refuses(func(r *Request) { r.Presence = Nobody }, "This file access must be asked about", "nobody to ask")
	refuses(func(r *Request) { r.Presence = Cron }, "This file access must be asked about", "cron jobs")
	refuses(func(r *Request) {
		r.Presence, r.Verdict.Findings = Cron, []guard.Finding{{Tier: guard.Danger, Rule: "path/settings"}}
	},
		"This file access must be asked about", "approvals.cron_mode: approve")
	refuses(func(r *Request) { r.For, r.Presence = "curl x", Nobody }, "This connection must be asked about")
}

func TestQuestionHidesSecretsAndKeepsSpans(t *testing.T) {
	const key = "sk-proj-abc123xyz4567890abcdef"
	p := &says{}
	text := "K=" + key + " git push --force https://ada:" + key + "@example.com/x main"
	New(Options{}).Decide(t.Context(), request(t, text, p, command.Policy{}))
	q := p.asked[0]
	if strings.Contains(q.Command, key) || strings.Contains(q.Covers.Session.Text, key) {
		t.Errorf("the question shows the key: %+v", q)
	}
	found := false
	for _, f := range q.Findings {
		found = found || strings.Contains(q.Command[f.Start:f.End], "--force")
	}
	if !found {
		t.Errorf("no span marks --force in %q: %+v", q.Command, q.Findings)
	}
	if q.Covers.Always.Entry != "" {
		t.Errorf("a secret is offered for the allow-list: %q", q.Covers.Always.Entry)
	}
}

func TestReadSignals(t *testing.T) {
	for _, row := range []struct {
		env  string
		want Presence
	}{
		{"", Nobody},
		{"HERMES_INTERACTIVE=1", Person},
		{"HERMES_INTERACTIVE=0", Nobody},
		{"HERMES_GATEWAY_SESSION=true", Chat},
		{"HERMES_SESSION_PLATFORM=telegram", Chat},
		{"HERMES_SESSION_PLATFORM=webhook", Unattended},
		{"HERMES_SESSION_PLATFORM=msgraph_webhook HERMES_GATEWAY_SESSION=1", Unattended},
		{"HERMES_SESSION_PLATFORM=API_SERVER HERMES_EXEC_ASK=1", Unattended},
		{"HERMES_CRON_SESSION=1 HERMES_SESSION_PLATFORM=telegram", Cron},
		{"HERMES_CRON_SESSION=1 HERMES_SESSION_PLATFORM=webhook", Cron},
		{"HERMES_SINGLE_QUERY_SESSION=1 HERMES_INTERACTIVE=1 HERMES_EXEC_ASK=1 HERMES_GATEWAY_SESSION=1", SingleQuery},
		{"HERMES_EXEC_ASK=1", Asked},
		{"HERMES_EXEC_ASK=1 HERMES_INTERACTIVE=1", Person},
	} {
		set := map[string]string{}
		for pair := range strings.FieldsSeq(row.env) {
			name, value, _ := strings.Cut(pair, "=")
			set[name] = value
		}
		if got := ReadSignals(func(name string) string { return set[name] }).Presence(); got != row.want {
			t.Errorf("%s: %s, want %s", row.env, got, row.want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Mode{"smart": Smart, " Off ": Off, "false": Off, "true": Manual, "manual": Manual, "": Manual, "maybe": Manual} {
		if got, _ := ParseMode(text); got != want {
			t.Errorf("mode %q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]bool{"approve": true, "off": true, "Allow": true, "yes": true, "false": false, "true": false, "deny": false, "": false, "no": false} {
		if got := ParseApprove(text); got != want {
			t.Errorf("approve %q: %t", text, got)
		}
	}
	for text, want := range map[string]Sandboxed{"skip": Skip, "ask": AskAnyway, "skip_always": SkipAlways, "": AskAnyway, "?": AskAnyway} {
		if got := ParseSandboxed(text); got != want {
			t.Errorf("sandboxed %q: %d", text, got)
		}
	}
}

func TestSumTellsApart(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range [][3]string{{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"a", "b", "d"}} {
		seen[Sum(s[0], s[1], s[2])] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d sums of 5", len(seen))
	}
}
