package chat

import (
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard"
)

// asks is a verdict about a command that is asked about.
func asks(command string) guard.Verdict {
	return guard.Verdict{Action: guard.Ask, Tier: guard.Danger, Rule: "recursive delete", Reason: "deletes", Findings: []guard.Finding{{Rule: "recursive delete", Tier: guard.Danger, Reason: "deletes", End: len(command)}}}
}

// What a line becomes. Events of a row are those that its last line makes.
func TestLines(t *testing.T) {
	for _, row := range []struct {
		lines string // by " | "
		want  string
	}{
		// A message is a turn.
		{"hello", "said hello\ntext » hello\ndone answered"},
		{"  hello  ", "said hello\ntext » hello\ndone answered"},
		{"   ", ""},
		{"fail", "said fail\ndone failed"},
		// With two slashes, or where it begins with a path, it is a message.
		{"//etc is full", "said /etc is full\ntext » /etc is full\ndone answered"},
		{"/etc/passwd has what?", "said /etc/passwd has what?\ntext » /etc/passwd has what?\ndone answered"},
		// Files go with it.
		{"what does @a.go do?", "said what does @a.go do? with a.go\ntext » what does @a.go do?\n\n[Attached by the person: a.go]\n<a.go>\ndone answered"},
		{`see (@"a file").`, "said see (@\"a file\"). with a file\ntext » see (@\"a file\").\n\n[Attached by the person: a file]\n<a file>\ndone answered"},
		{"mail ada@example.org", "said mail ada@example.org\ntext » mail ada@example.org\ndone answered"},
		{"ask @alice", "warning: @alice: there is no such file, so none goes with the message\nsaid ask @alice\nasked @alice"},
		{"read @.env", "error: @.env: read .env: it holds secrets. The message was not sent.\nedit read @.env"},
		// A word that is no command is none, and the nearest is named.
		{"/hlep", "error: /hlep is not a command. Did you mean /help? A message that begins with a slash is written with two."},
		{"/frobnicate", "error: /frobnicate is not a command. /help lists them. A message that begins with a slash is written with two."},
		{"/STATUS", "plain: conversation  #1\nprofile       default\nmodel         model-a\ncontext       up to 1000 tokens\ntokens        0 in, 0 out\ncommands      native, which contains harm to this machine, in /w\napprovals     smart"},
		{"hello | /status", "plain: conversation  #1\nprofile       default\nmodel         model-a\ncontext       110 of 1000 tokens, 11 %\ntokens        100 in, 10 out, $0.5000\ncommands      native, which contains harm to this machine, in /w\napprovals     smart"},
		// Commands of the person's own.
		{"!make", "shell \"make\" \"\" ended=false \"\" \"\"\nshell \"\" \"out of make\" ended=false \"\" \"\"\nshell \"\" \"\" ended=true \"exit code 1\" \"\""},
		{"! rm -rf /", "shell \"rm -rf /\" \"\" ended=false \"\" \"\"\nshell \"\" \"\" ended=true \"\" \"denied: it wipes the disk\""},
		{"!", ""},
		{"!long | !make", "error: !make: the command before it still runs. Esc ends it."},
		// What belongs to the conversation.
		{"/title", "plain: It has no title. /title TEXT gives it one."},
		{"/title Firewall | /title", "plain: Firewall"},
		{"/tools", "plain: terminal         Run a command"},
		{"/context", "plain: The conversation takes up to 1000 tokens.\nmarkdown: AGENTS.md is used"},
		{"/model", "plain: model-a\nplain: There are:\n  model-a\n  model-b\n/model NAME changes it, for this conversation."},
		{"/model model-b", "plain: model-b answers from now on, in this conversation."},
		{"/model model-c", "error: no model is called model-c."},
		{"/compact", "compacted\ndone answered"},
		{"/config", "plain: settings "},
		{"/config no.such", "error: no.such is not a setting."},
		{"/approvals", "plain: mode       smart\nYOLO       off\nallow-list 1 entry, see hermes approvals list\nNothing was granted in this conversation."},
		{"/approvals revoke x", "error: This conversation was not granted that. /approvals lists what it was granted; hermes approvals revoke takes entries off the allow-list."},
		{"/approve", "plain: Nothing is asked."},
		{"/approve everything", "error: Write /approve, /approve session or /approve always, and all for every question that waits."},
		{"/stop", "plain: Nothing runs."},
		{"/queue", "error: Write /queue TEXT."},
		{"/queue hello", "said hello\ntext » hello\ndone answered"},
		{"/steer hello", "said hello\ntext » hello\ndone answered"},
		{"/undo", "error: /undo: nothing was said yet."},
		{"/undo all", "error: /undo takes a number of messages, as in /undo 2."},
		{"one | /undo 2", "error: /undo: there is one message to take back."},
		{"/retry", "error: /retry: nothing was said yet."},
		{"/new title", "error: /new takes nothing but now or --yes; /title names a conversation."},
		{"/quit --all", "error: /quit takes --delete, which deletes the conversation, and nothing else."},
		{"/resume nothing-like-it", "error: find session: no such session: \"nothing-like-it\". /sessions lists them."},
		// Leaving.
		{"/quit", "quit deleted=false #0"},
		{"hello | /exit", "quit deleted=false #1"},
		// While something runs, what changes the conversation waits for it.
		{"wait | /new", "error: /new: not while something runs. Esc ends it."},
		{"wait | /undo", "error: /undo: not while something runs. Esc ends it."},
		{"!long | /reset", "error: /reset: not while something runs. Esc ends it."},
		{"wait | /title x", "plain: It is called “x” now."},
		{"wait | /stop", unordered + "plain: Ended: the turn.\ndone interrupted"},
	} {
		t.Run(row.lines, func(t *testing.T) {
			play(t, nil, func(s *stage) {
				got := ""
				for line := range strings.SplitSeq(row.lines, " | ") {
					got = s.does(line)
				}
				want, mixed := strings.CutPrefix(row.want, unordered)
				if mixed {
					got, want = sorted(got), sorted(want)
				}
				s.want(row.lines, strings.ReplaceAll(got, s.ids[0], "#1"), want)
			})
		})
	}
}

// Files that a message names.
func TestMentions(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		"@":                      nil,
		"@ x":                    nil,
		"@a @b, and @a":          {"a", "b"},
		"see @cmd/main.go.":      {"cmd/main.go"},
		`@"my file.txt" is`:      {"my file.txt"},
		`@"open`:                 nil,
		"x@y.z":                  nil,
		"(@a)\n@b":               {"a", "b"},
		"@../.env @~/x @/etc/fo": {"../.env", "~/x", "/etc/fo"},
		"@ünï.txt é@x":           {"ünï.txt"},
	} {
		if got := mentions(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What a word could become.
func TestComplete(t *testing.T) {
	play(t, nil, func(s *stage) {
		for _, row := range []struct {
			line string // | is the cursor
			from int
			want string
		}{
			{"/st|", 0, "/status /steer /stop"},
			{"/re|", 0, "/reset /retry /resume"},
			{"/new|", 0, "/new"},
			{"/undo |", 6, ""},
			{"say /st|", 7, ""},
			{"see @cm|", 4, "@cmd/ @cmd/main.go"},
			{"see @cmd/m| now", 4, "@cmd/main.go"},
			{"@a|", 0, `@"a file"`},
			{`@"a f|`, 0, `@"a file"`},
			{"x@cm|", 4, ""},
			{"@a b|", 4, ""},
			{"|", 0, ""},
		} {
			before, after, _ := strings.Cut(row.line, "|")
			from, found := s.chat.Complete(before+after, len(before))
			var got []string
			for _, c := range found {
				got = append(got, c.Text)
			}
			if from != row.from || strings.Join(got, " ") != row.want {
				t.Errorf("%s: %d %q, want %d %q", row.line, from, got, row.from, row.want)
			}
		}
	})
}
