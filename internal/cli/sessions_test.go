package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard/scope"
	"hermes/internal/home"
	"hermes/internal/llm"
	"hermes/internal/session"
)

// conversations makes a home with two conversations, and returns how to run a command on it.
func conversations(t *testing.T) func(args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "home")
	dir, err := home.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	store, err := session.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for profile, text := range map[string]string{"default": "fix the firewall rule", "work": "of another profile"} {
		p, err := scope.ParseProfile(profile)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := scope.ParseSession(p, "cli", "1")
		if err != nil {
			t.Fatal(err)
		}
		v, err := store.View(owner)
		if err != nil {
			t.Fatal(err)
		}
		id, err := v.Begin(t.Context(), owner, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []session.Message{
			{Message: llm.Message{Role: llm.User, Text: text + "\x1b[2J"}},
			{Message: llm.Message{Role: llm.Assistant, Text: "I look.", Calls: []llm.Call{{ID: "c", Name: "terminal", Arguments: `{"command":"nft list ruleset"}`}}}},
			{Message: llm.Message{Role: llm.Result, CallID: "c", Text: "table inet"}, Tool: "terminal", Approved: session.Approval{By: "person", How: "once"}},
		} {
			if _, err := v.Append(t.Context(), id, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), append([]string{"sessions"}, args...), IO{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			Env: func(name string) string { return map[string]string{"HERMES_HOME": path}[name] }, Environ: func() []string { return nil },
			Dir: func() (string, error) { return path, nil }})
		if strings.Contains(stdout.String()+stderr.String(), "\x1b") && args[0] != "export" {
			t.Errorf("%q prints control characters: %q", args, stdout.String())
		}
		if strings.Contains(stdout.String(), "of another profile") {
			t.Errorf("%q shows another profile's: %s", args, stdout.String())
		}
		return code, stdout.String(), stderr.String()
	}
}

func TestSessions(t *testing.T) {
	run := conversations(t)
	_, list, _ := run("list")
	id, _, _ := strings.Cut(list, " ")
	for _, row := range []struct {
		args   []string
		code   int
		stdout string // a part
		stderr string
	}{
		{[]string{"list"}, 0, "3 messages  “fix the firewall rule", ""},
		{[]string{"list", "--json"}, 0, `"kind":"session"`, ""},
		{[]string{"list", "--source", "telegram"}, 0, "", ""},
		{[]string{"search", "fire", "rule"}, 0, "fix the firewall rule", ""},
		{[]string{"search", "nft", "--json"}, 0, `"role":"assistant"`, ""},
		{[]string{"search", "unheard-of"}, 0, "Nothing found.", ""},
		{[]string{"search"}, 1, "", "no word to look for"},
		{[]string{"show", id[:12]}, 0, "terminal (approved by person, once)\n  table inet", ""},
		{[]string{"show"}, 1, "", "say which session"},
		{[]string{"show", "nothing"}, 1, "", "See hermes sessions list."},
		{[]string{"rename", id, "Firewall"}, 0, "", ""},
		{[]string{"export", "firewall"}, 0, `"title":"Firewall"`, ""},
		{[]string{"delete", "Firewall"}, 1, "Firewall", "nothing was deleted"},
		{[]string{"delete", "Firewall", "--yes"}, 0, "Deleted.", ""},
		{[]string{"show", id}, 1, "", "no such session"},
	} {
		code, stdout, stderr := run(row.args...)
		if code != row.code || !strings.Contains(stdout, row.stdout) || !strings.Contains(stderr, row.stderr) || row.code == 0 && stderr != "" {
			t.Errorf("sessions %q: exit %d\n%s%s", row.args, code, stdout, stderr)
		}
	}
}

func TestNoSessions(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), []string{"sessions", "list"}, IO{Stdout: &stdout, Stderr: &stderr, Env: func(name string) string {
			return map[string]string{"HERMES_HOME": path}[name]
		}})
		if code != 1 || !strings.Contains(stderr.String(), "They begin with the first conversation.") {
			t.Errorf("exit %d: %s", code, stderr.String())
		}
	}
}
