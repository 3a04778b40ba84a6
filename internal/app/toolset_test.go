package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard/paths"
	"hermes/internal/tool"
	"hermes/internal/tool/program"
)

// answers gives every question the same choice.
type answers struct {
	choice approval.Choice
	asked  []string
}

func (p *answers) Prompt(_ context.Context, q approval.Question) (approval.Answer, error) {
	p.asked = append(p.asked, q.Command)
	return q.Reply(p.choice), nil
}

// kit is the tools of a conversation that works in the folder work of a home.
type kit struct {
	*testing.T
	*Toolset
	work   string
	person *answers
}

func newKit(t *testing.T, w *world, backend string) *kit {
	t.Helper()
	a := w.open(t)
	work := filepath.Join(w.home, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	owner, err := a.Session("cli")
	if err != nil {
		t.Fatal(err)
	}
	place, err := a.Place(Where{Session: owner, Backend: backend, Start: work, Lasts: true})
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{T: t, work: work, person: &answers{}}
	k.Toolset, err = a.Toolset(ToolsetOptions{Session: owner, Place: place, Start: work, Presence: approval.Person, Prompter: k.person})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := place.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}

// call calls a tool with arguments given as name, value, …; it returns all that the result says.
func (k *kit) call(name string, args ...any) (string, error) {
	k.Helper()
	m := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		k.Fatal(err)
	}
	t, ok := tool.Find(k.Tools, name)
	if !ok {
		k.Fatalf("no tool %s", name)
	}
	r, err := t.Call(k.Context(), tool.Call{Args: raw})
	var out []string
	for _, p := range r.Parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n"), err
}

func TestToolset(t *testing.T) {
	w := newWorld(t, "")
	k := newKit(t, w, "local")
	var names []string
	for _, one := range k.Tools {
		s := one.Spec()
		names = append(names, s.Name)
		if !json.Valid(s.Schema) || s.Description == "" {
			t.Errorf("%+v", s)
		}
	}
	want := []string{"terminal", "process", "read_terminal", "close_terminal", "read_file", "write_file", "patch", "search_files", "web_extract", "web_search",
		"download", "execute_code", "memory", "todo"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	code, _ := tool.Find(k.Tools, "execute_code")
	for _, name := range program.Offered() {
		if !strings.Contains(code.Spec().Description, name+"(") {
			t.Errorf("programs are not offered %s", name)
		}
	}
}

// What is protected is so wherever a tool acts, and relative names start where commands do.
func TestFilesOfAConversation(t *testing.T) {
	w := newWorld(t, "")
	k := newKit(t, w, "local")
	w.write(t, ".env", "TOKEN=1\n")
	others := "!" // the file of another account: it cannot be seen, or is protected. A patch that fits nothing would change nothing.
	if os.Geteuid() == 0 {
		others = "!protected"
	}
	for _, row := range []struct {
		tool string
		args []any
		want string // a part of what it says; with "!" of the error
	}{
		{"write_file", []any{"path", "a.txt", "content", "one\n"}, "created " + k.work + "/a.txt"},
		{"read_file", []any{"path", "a.txt"}, "1|one"},
		{"search_files", []any{"pattern", "o.e"}, "a.txt:1:one"},
		{"patch", []any{"mode", "replace", "path", "~/work/a.txt", "old_string", "one", "new_string", "two"}, "changed"},
		{"terminal", []any{"command", "cat a.txt"}, "two"},
		{"terminal", []any{"command", "mkdir sub && cd sub && export A=1"}, ""},
		{"terminal", []any{"command", "pwd; echo $A"}, k.work + "/sub\n1"},
		{"write_file", []any{"path", "b.txt", "content", "x"}, "created " + k.work + "/sub/b.txt"},
		{"execute_code", []any{"code", "import os\nprint(os.getcwd(), os.environ.get('A'))"}, k.work + "/sub None"},
		{"terminal", []any{"command", "cd ..; pwd"}, k.work},
		{"read_file", []any{"path", "~/.hermes/.env"}, "!credential store"},
		{"write_file", []any{"path", "~/.ssh/authorized_keys", "content", "x"}, "!protected"},
		{"write_file", []any{"path", "~/.hermes/state.db", "content", "x"}, "!protected"},
		{"write_file", []any{"path", "AGENTS.md", "content", "x"}, "!instructs agents"},
		{"write_file", []any{"path", "~/.bashrc", "content", "x"}, "!runs what it says"},
		{"write_file", []any{"path", "~/.hermes/memories/MEMORY.md", "content", "x"}, "!decides what Hermes may do"},
		{"patch", []any{"mode", "replace", "path", "~root/.ssh/authorized_keys", "old_string", "hermes-none", "new_string", "x"}, others},
		{"memory", []any{"action", "add", "content", "Tests run with go test."}, "!came from outside"}, // who calls does not say that nothing did
		{"todo", []any{"todos", []map[string]string{{"id": "1", "content": "read"}}}, "[ ] 1: read"},
	} {
		got, err := k.call(row.tool, row.args...)
		part, refused := strings.CutPrefix(row.want, "!")
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), part)):
			t.Errorf("%s %v: %q, %v; want %q", row.tool, row.args, got, err, part)
		case !refused && (err != nil || !strings.Contains(got, part)):
			t.Errorf("%s %v: %q, %v; want %q", row.tool, row.args, got, err, part)
		}
	}
	if len(k.person.asked) != 4 {
		t.Errorf("asked %q", k.person.asked)
	}
	if kept, left := k.Memory.Notes(); len(kept) > 0 || len(left) > 0 {
		t.Errorf("%v %v", kept, left)
	}
	k.person.choice = approval.Once
	if _, err := k.call("write_file", "path", "AGENTS.md", "content", "x"); err != nil {
		t.Errorf("allowed by a person: %v", err)
	}
}

func TestSafeRoot(t *testing.T) {
	w := newWorld(t, "")
	w.env["HERMES_WRITE_SAFE_ROOT"] = "~/work/in:/nowhere"
	k := newKit(t, w, "local")
	if _, err := k.call("write_file", "path", "in/a", "content", "x"); err != nil {
		t.Error(err)
	}
	if _, err := k.call("write_file", "path", "a", "content", "x"); err == nil || !strings.Contains(err.Error(), "outside HERMES_WRITE_SAFE_ROOT") {
		t.Error(err)
	}
}

// The person hears which files were not changed, unless the setting says no, or a command did it.
func TestVerifier(t *testing.T) {
	w := newWorld(t, "")
	k := newKit(t, w, "local")
	if _, err := k.call("write_file", "path", "a", "content", "one\n"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		repair, want string
	}{{"", "1 file(s) were NOT modified"}, {"echo two > a", ""}} {
		footer := k.Begin()
		if _, err := k.call("patch", "mode", "replace", "path", "a", "old_string", "absent", "new_string", "x"); err == nil {
			t.Fatal("it fits")
		}
		if row.repair != "" {
			if _, err := k.call("terminal", "command", row.repair); err != nil {
				t.Fatal(err)
			}
		}
		if got := footer(t.Context()); row.want == "" && got != "" || !strings.Contains(got, row.want) {
			t.Errorf("%q: %q", row.repair, got)
		}
	}
	w.write(t, "config.yaml", "display:\n  file_mutation_verifier: false\n")
	if k.Begin() != nil {
		t.Error("the verifier is on")
	}
}

// With files_on host the tools stay on this machine.
func TestFilesOnHost(t *testing.T) {
	w := newWorld(t, "tool:\n  files_on: host\n")
	if err := os.WriteFile(filepath.Join(w.home, "private"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, w, "docker") // nothing is started: no command runs
	if got, err := k.call("read_file", "path", "../private"); err != nil || !strings.Contains(got, "1|mine") {
		t.Errorf("%q, %v", got, err)
	}
}

// A policy knows the homes of other accounts.
func TestAccounts(t *testing.T) {
	w := newWorld(t, "")
	a := w.open(t)
	snap, err := a.settings()
	if err != nil {
		t.Fatal(err)
	}
	c := a.guarded(snap, a.home(), false)
	if len(c.Runtime) == 0 || c.Own == "" || !slices.Contains(c.Homes, w.home) {
		t.Errorf("%+v", c)
	}
	for _, e := range accounts() {
		v := paths.New(c).Check(paths.Subject{Access: paths.Write, Path: e.home + "/.ssh/authorized_keys"})
		if v.Rule != "path/credentials" {
			t.Errorf("%s: %+v", e.name, v)
		}
	}
}

// What a command runs that runs already, and has not read it yet, is judged when a tool writes it.
func TestWritingWhatRuns(t *testing.T) {
	w := newWorld(t, "terminal:\n  auto_source_bashrc: false\n")
	k := newKit(t, w, "local")
	if _, err := k.call("terminal", "command", "mkfifo pipe; cat pipe; bash later.sh", "background", true); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ path, text, want string }{
		{"later.sh", "rm -rf ~\n", "denied"},
		{"other.sh", "rm -rf ~\n", ""},
		{"later.sh", "touch ran\n", ""},
	} {
		got, err := k.call("write_file", "path", row.path, "content", row.text)
		if err != nil {
			got += err.Error()
		}
		if (row.want == "") != (err == nil) || !strings.Contains(got, row.want) {
			t.Errorf("writing %q to %s: %s", row.text, row.path, got)
		}
	}
	if got, err := k.call("terminal", "command", "echo 'rm -rf ~' > later.sh"); err != nil || !strings.Contains(got, "BLOCKED") {
		t.Errorf("a command that writes it: %s %v", got, err)
	}
	if text, err := os.ReadFile(filepath.Join(k.work, "later.sh")); err != nil || string(text) != "touch ran\n" {
		t.Errorf("%q %v", text, err)
	}
}
