package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard/scope"
	"hermes/internal/home"
	"hermes/internal/llm"
	"hermes/internal/session"
)

// approvedHome makes a home with a conversation in which commands were approved, and returns it with how to run a command on it.
func approvedHome(t *testing.T) (path string, run func(args ...string) (code int, stdout, stderr string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "home")
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
	p, err := scope.ParseProfile("default")
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
	add := func(text string, n int, a session.Approval) {
		for range n {
			arguments, _ := json.Marshal(map[string]string{"command": text})
			for _, m := range []session.Message{
				{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "c" + text, Name: "terminal", Arguments: string(arguments)}}}},
				{Message: llm.Message{Role: llm.Result, CallID: "c" + text, Text: "ok"}, Tool: "terminal", Approved: a},
			} {
				if _, err := v.Append(t.Context(), id, m); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	once := session.Approval{By: "person", How: "once"}
	add("git push --force origin main\x1b[2J", 4, once)
	add("git push --force origin main", 4, once)
	add("docker restart web && docker stop db", 3, once)
	add("rm -rf ./src", 100, once)
	add("systemctl restart nginx", 100, session.Approval{By: "mode", How: "yolo"})
	return path, func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), append([]string{"approvals"}, args...), IO{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			Env: func(name string) string { return map[string]string{"HERMES_HOME": path}[name] }, Environ: func() []string { return nil },
			Dir: func() (string, error) { return path, nil }})
		if strings.Contains(stdout.String()+stderr.String(), "\x1b") {
			t.Errorf("%q prints control characters: %q", args, stdout.String())
		}
		return code, stdout.String(), stderr.String()
	}
}

func TestSuggest(t *testing.T) {
	path, run := approvedHome(t)
	code, out, stderr := run("suggest")
	for _, want := range []string{"Proposed command_allowlist additions (from approval history, last 90 days):", "1. git push *    — approved 4x\n",
		"2. docker restart/stop/kill (container lifecycle)    — approved 3x (class key)", "begins with git push, with whatever options", "Nothing was changed."} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%d %s%s misses %q", code, out, stderr, want)
		}
	}
	if strings.Contains(out, "rm ") || strings.Contains(out, "systemctl") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(path, "config.yaml")); err == nil {
		t.Error("a dry run wrote settings")
	}
	for _, row := range []struct{ args, wants string }{
		{"suggest --days 0 --min-count 1", "(from approval history, all history)"},
		{"suggest --min-count 5", "Nothing to propose"},
		{"suggest --limit 1", "1. git push *"},
	} {
		if code, out, _ := run(strings.Fields(row.args)...); code != 0 || !strings.Contains(out, row.wants) || strings.Contains(row.args, "limit") && strings.Contains(out, "docker") {
			t.Errorf("%s: %d %s", row.args, code, out)
		}
	}
	if code, _, stderr := run("suggest", "--db", filepath.Join(path, "none.db")); code != 1 || !strings.Contains(stderr, "Session database not found: "+filepath.Join(path, "none.db")) {
		t.Errorf("%d %s", code, stderr)
	}
}

// The rows of the shared vectors that are about JSON, flags and what is written.
func TestSuggestVectors(t *testing.T) {
	_, run := approvedHome(t)
	code, out, _ := run("suggest", "--json", "--days", "0", "--min-count", "1")
	var got suggestAnswer
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got.Proposals) != 2 || got.Days != 0 {
		t.Fatalf("%d %v %s", code, err, out)
	}
	if p := got.Proposals[0]; p.N != 1 || p.Pattern != "git push *" || p.Count != 4 || p.Kind != "glob" || !slices.Equal(p.Examples, []string{"git push --force origin main"}) {
		t.Errorf("%+v", p)
	}
	if p := got.Proposals[1]; p.Kind != "class" || p.Count != 3 || p.Inferred != 0 {
		t.Errorf("%+v", p)
	}
	f := (&approvals{}).suggest().Flags()
	for name, want := range map[string]string{"apply": "", "json": "false", "days": "90", "min-count": "2", "limit": "20", "db": ""} {
		if flag := f.Lookup(name); flag == nil || flag.DefValue != want {
			t.Errorf("%s: %+v", name, flag)
		}
	}
}

func TestSuggestApply(t *testing.T) {
	path, run := approvedHome(t)
	for _, wrong := range []string{"", "x", "0", "3", "1,3", "1,,2", "-1"} {
		if code, _, stderr := run("suggest", "--apply="+wrong); code != 1 || !strings.Contains(stderr, "--apply error: ") {
			t.Errorf("%q: %d %s", wrong, code, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(path, "config.yaml")); err == nil {
		t.Error("a wrong number wrote settings")
	}
	if code, out, stderr := run("suggest", "--apply", "1, 1"); code != 0 || out != "+ git push *\ncommand_allowlist has one entry now.\n" {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	// What is listed is not proposed again.
	code, out, _ := run("suggest", "--json", "--apply", "1")
	if want := `{"applied":["docker restart/stop/kill (container lifecycle)"],"allowlist_size":2}` + "\n"; code != 0 || out != want {
		t.Errorf("%d %s", code, out)
	}
	if _, out, _ := run("suggest"); !strings.Contains(out, "Nothing to propose") {
		t.Error(out)
	}
	if _, out, _ := run("list"); !strings.Contains(out, "git push *") || !strings.Contains(out, "every command that this rule would ask about") {
		t.Error(out)
	}
}
