package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes/internal/guard/scope"
	"hermes/internal/guard/taint"
	"hermes/internal/home"
	"hermes/internal/llm"
	"hermes/internal/sqlite"
)

func opened(t testing.TB, path string) *Store {
	t.Helper()
	dir, err := home.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func profile(t testing.TB, name string) scope.Profile {
	t.Helper()
	p, err := scope.ParseProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func owner(t testing.TB, profileName, origin, key string) scope.Session {
	t.Helper()
	s, err := scope.ParseSession(profile(t, profileName), origin, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func view(t testing.TB, s *Store, caller scope.Identity) *View {
	t.Helper()
	v, err := s.View(caller)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func begin(t testing.TB, v *View, o scope.Session, title string) string {
	t.Helper()
	id, err := v.Begin(t.Context(), o, title, "")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func appended(t testing.TB, v *View, id string, m Message) int64 {
	t.Helper()
	n, err := v.Append(context.Background(), id, m)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func user(text string) Message {
	return Message{Message: llm.Message{Role: llm.User, Text: text}}
}

// What goes in comes out, whole and in order.
func TestKeepsWhatHappened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	s := opened(t, path)
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id := begin(t, v, o, "  the\tbuild ")
	at := time.UnixMicro(1_790_000_000_123_456)
	want := []Message{
		{Message: llm.Message{Role: llm.User, Text: "build it\x00 \u00fc"}, At: at},
		{Message: llm.Message{Role: llm.Assistant, Text: "ok", Thoughts: []llm.Thought{{Text: "hm", Signature: "sig", From: "a/m"}},
			Calls: []llm.Call{{ID: "c1", Name: "terminal", Arguments: `{"command":"go build"}`}, {ID: "c2", Name: "x", Arguments: "{not json"}}},
			At: at.Add(time.Second), Model: "m", Usage: llm.Usage{Input: 10, Output: 5, CacheRead: 3}, Dollars: 0.25},
		{Message: llm.Message{Role: llm.Result, Text: "done", CallID: "c1"}, At: at.Add(2 * time.Second), Tool: "terminal",
			Approved: Approval{"person", "once"}, Risk: taint.Risk{Level: "high", Findings: []string{"prompt_injection"}}},
		{Message: llm.Message{Role: llm.Result, Text: "no such tool", CallID: "c2", Failed: true}, At: at.Add(3 * time.Second), Tool: "x"},
	}
	for i := range want {
		want[i].ID = appended(t, v, id, want[i])
	}
	s.Close()
	s = opened(t, path)
	v = view(t, s, o)
	got, err := v.Messages(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Message{}, "Key")); diff != "" {
		t.Errorf("(-stored +read)\n%s", diff)
	}
	info, err := v.Info(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if info.Title != "the build" || info.Messages != 4 || info.Input != 10 || info.Output != 5 || info.Dollars != 0.25 || info.Model != "m" ||
		info.Owner != o || !strings.HasPrefix(info.First, "build it") {
		t.Errorf("info %+v", info)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFilesAreTheOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix")
	}
	path := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, File), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := opened(t, path)
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	appended(t, v, begin(t, v, o, ""), user("x"))
	for _, name := range []string{File, File + "-wal", File + "-shm"} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
	}
}

// Nobody sees, finds or changes what is another's.
func TestScopes(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "home"))
	mine, theirs, other := owner(t, "default", "telegram", "dm:1"), owner(t, "default", "telegram", "dm:2"), owner(t, "work", "telegram", "dm:1")
	ids := map[scope.Session]string{}
	for _, o := range []scope.Session{mine, theirs, other} {
		v := view(t, s, o)
		ids[o] = begin(t, v, o, "plans")
		appended(t, v, ids[o], user("the secret plan of "+o.String()))
	}
	job, err := scope.ParseJob(profile(t, "default"), "j1")
	if err != nil {
		t.Fatal(err)
	}
	for _, nobody := range []scope.Identity{nil, scope.Profile{}, scope.Session{}, scope.Job{}, job} {
		if _, err := s.View(nobody); err == nil {
			t.Errorf("%v got a view", nobody)
		}
	}
	run, err := job.Session("1")
	if err != nil {
		t.Fatal(err)
	}
	ids[run] = begin(t, view(t, s, run), run, "")

	sees := func(caller scope.Identity, want ...scope.Session) {
		t.Helper()
		v := view(t, s, caller)
		list, err := v.List(t.Context(), Filter{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range list {
			got = append(got, i.ID)
		}
		var all []string
		for _, o := range want {
			all = append(all, ids[o])
		}
		if diff := cmp.Diff(all, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
			t.Errorf("%v lists (-want +got)\n%s", caller, diff)
		}
		for o, id := range ids {
			allowed := false
			for _, w := range want {
				allowed = allowed || w == o
			}
			fails := map[string]error{}
			_, fails["info"] = v.Info(t.Context(), id)
			_, fails["messages"] = v.Messages(t.Context(), id)
			_, fails["live"] = v.Live(t.Context(), id)
			_, _, fails["last"] = v.Last(t.Context(), id)
			_, fails["calls"] = v.Calls(t.Context(), id, "todo")
			_, fails["find"] = v.Find(t.Context(), id)
			fails["export"] = v.Export(t.Context(), id, &bytes.Buffer{})
			if !allowed {
				_, fails["append"] = v.Append(t.Context(), id, user("x"))
				_, fails["undo"] = v.Undo(t.Context(), id, 0)
				_, fails["child"] = v.Begin(t.Context(), mine, "", id)
				fails["rename"] = v.Rename(t.Context(), id, "x")
				fails["yolo"] = v.SetYolo(t.Context(), id, true)
				fails["delete"] = v.Delete(t.Context(), id)
			}
			for what, err := range fails {
				if (err == nil) != allowed {
					t.Errorf("%v: %s of %v's: %v", caller, what, o, err)
				}
				if !allowed && err != nil && !errors.Is(err, ErrNone) && what != "child" {
					t.Errorf("%v: %s of %v's tells it apart from what does not exist: %v", caller, what, o, err)
				}
			}
		}
		hits, err := v.Search(t.Context(), "secret plan", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			found := false
			for _, w := range want {
				found = found || h.Info.Owner == w
			}
			if !found {
				t.Errorf("%v finds %v's", caller, h.Info.Owner)
			}
		}
	}
	sees(mine, mine)
	sees(theirs, theirs)
	sees(other, other)
	sees(run, run)
	sees(profile(t, "default"), mine, theirs, run)
	sees(profile(t, "work"), other)
	if _, err := view(t, s, mine).Begin(t.Context(), theirs, "", ""); err == nil {
		t.Error("a session began another's conversation")
	}
}

func TestSearch(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "home"))
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id := begin(t, v, o, "")
	for _, text := range []string{
		"deploy the Zürich cluster on Friday", "请检查防火墙的出口规则", "rollback of the deployment failed: exit 1", `say "hello" OR NOT near(x)`,
	} {
		appended(t, v, id, user(text))
	}
	appended(t, v, id, Message{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "terminal", Arguments: `{"command":"kubectl get pods"}`}}}})
	for _, row := range []struct {
		query string
		want  int
	}{
		{"zurich", 1},           // without its accents
		{"deploy", 2},           // also as a beginning
		{"deploy friday", 1},    // all words
		{`"the deployment"`, 1}, // side by side
		{`"deployment the"`, 0},
		{"防火墙", 1}, // no blanks between words
		{"火墙", 1},
		{"墙火", 0},
		{"kubectl", 1},        // commands too
		{`OR NOT near(x)`, 1}, // no syntax
		{`text:deploy*)`, 0},
		{`"unclosed`, 0},
		{"nothing-like-it", 0},
	} {
		hits, err := v.Search(t.Context(), row.query, 0)
		if err != nil || len(hits) != row.want {
			t.Errorf("search %q: %d hits, want %d (%v)", row.query, len(hits), row.want, err)
		}
	}
	for _, empty := range []string{"", "  ", "***", `""`} {
		if _, err := v.Search(t.Context(), empty, 0); err == nil {
			t.Errorf("search %q: no error", empty)
		}
	}
	if err := v.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if hits, err := v.Search(t.Context(), "deploy", 0); err != nil || len(hits) != 0 {
		t.Errorf("after delete: %v %v", hits, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFindRenameAndExport(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "home"))
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	s.now = func() time.Time { now = now.Add(time.Second); return now }
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	a, b := begin(t, v, o, "Fix login"), begin(t, v, o, "")
	appended(t, v, a, user("hello"))
	for _, row := range []struct{ text, want string }{{a, a}, {"fix LOGIN", a}, {b[:len(b)-2], b}, {"", a}} {
		if got, err := v.Find(t.Context(), row.text); err != nil || got.ID != row.want {
			t.Errorf("find %q: %s, want %s (%v)", row.text, got.ID, row.want, err)
		}
	}
	var ambiguous *AmbiguousError
	if _, err := v.Find(t.Context(), "20261201-"); !errors.As(err, &ambiguous) || len(ambiguous.IDs) != 2 {
		t.Errorf("find a beginning of both: %v", err)
	}
	if _, err := v.Find(t.Context(), "%"); !errors.Is(err, ErrNone) {
		t.Errorf("find %%: %v", err)
	}
	if err := v.Rename(t.Context(), b, "two\x1b[31m\nlines"); err != nil {
		t.Fatal(err)
	}
	if i, err := v.Info(t.Context(), b); err != nil || i.Title != "two[31m lines" {
		t.Errorf("title %q %v", i.Title, err)
	}
	if err := v.Rename(t.Context(), b, strings.Repeat("x", 201)); err == nil {
		t.Error("a title of 201 characters")
	}
	var out bytes.Buffer
	if err := v.Export(t.Context(), a, &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[0], `"title":"Fix login"`) ||
		!strings.Contains(lines[1], `"content":"hello"`) {
		t.Errorf("export:\n%s", out.String())
	}
	if err := v.SetYolo(t.Context(), a, true); err != nil {
		t.Fatal(err)
	}
	if i, _ := v.Info(t.Context(), a); !i.Yolo {
		t.Error("yolo was not kept")
	}
	child, err := v.Begin(t.Context(), o, "", a)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if i, err := v.Info(t.Context(), child); err != nil || i.Parent != "" {
		t.Errorf("a child of a deleted session: %+v %v", i, err)
	}
}

// A summary stands for what it covers, what was taken back is no longer seen, and all of it stays stored.
func TestLive(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "home"))
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id := begin(t, v, o, "")
	var n []int64
	for i := range 6 {
		n = append(n, appended(t, v, id, user(fmt.Sprint(i))))
	}
	live := func(want string) {
		t.Helper()
		all, err := v.Live(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all {
			got = append(got, m.Text)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("live %q, want %q", text, want)
		}
		if m, ok, err := v.Last(t.Context(), id); err != nil || !ok || m.Text != got[len(got)-1] {
			t.Errorf("the last of %q is %q (%v, %v)", want, m.Text, ok, err)
		}
	}
	if _, ok, err := v.Last(t.Context(), begin(t, v, o, "")); ok || err != nil {
		t.Errorf("the last of none: %v, %v", ok, err)
	}
	live("0 1 2 3 4 5")
	sum := user("sum")
	sum.Covers = n[3]
	appended(t, v, id, sum)
	live("sum 4 5")
	last := appended(t, v, id, user("6"))
	if k, err := v.Undo(t.Context(), id, last); err != nil || k != 1 {
		t.Errorf("undo: %d %v", k, err)
	}
	live("sum 4 5")
	again := user("sum2")
	again.Covers = n[5]
	appended(t, v, id, again)
	live("sum2")
	if all, err := v.Messages(t.Context(), id); err != nil || len(all) != 9 {
		t.Errorf("%d messages are stored (%v)", len(all), err)
	}
}

// The calls of one tool, in order, also those that a summary stands for, and none that was taken back.
func TestCallsOfOneTool(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "home"))
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id := begin(t, v, o, "")
	call := func(names ...string) int64 {
		m := user("")
		m.Role = llm.Assistant
		for i, name := range names {
			m.Calls = append(m.Calls, llm.Call{ID: fmt.Sprint(i), Name: name, Arguments: `{"by":"` + strings.Join(names, " ") + `"}`})
		}
		return appended(t, v, id, m)
	}
	call("todo", "terminal", "todo")
	sum := user("sum")
	sum.Covers = call("terminal")
	appended(t, v, id, sum)
	call("todos")
	call("todo")
	if _, err := v.Undo(t.Context(), id, call("todo", "x")); err != nil {
		t.Fatal(err)
	}
	got, err := v.Calls(t.Context(), id, "todo")
	var ids []string
	for _, c := range got {
		ids = append(ids, c.ID+c.Arguments)
	}
	want := `0{"by":"todo terminal todo"} 2{"by":"todo terminal todo"} 0{"by":"todo"}`
	if text := strings.Join(ids, " "); err != nil || text != want {
		t.Errorf("%s, want %s (%v)", text, want, err)
	}
}

// What was deleted is gone from the files, its words from the index too.
func TestDeletedIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	s := opened(t, path)
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	kept, id := begin(t, v, o, ""), begin(t, v, o, "")
	for range 40 {
		appended(t, v, kept, user("an ordinary keepsake"))
		appended(t, v, id, user("the quetzalcoatl affair"))
	}
	holds := func(word string) (found bool) {
		for _, name := range []string{File, File + "-wal"} {
			text, err := os.ReadFile(filepath.Join(path, name))
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(text, []byte(word))
		}
		return found
	}
	if !holds("quetzalcoatl") {
		t.Fatal("this test looks for the wrong thing")
	}
	if err := v.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if holds("quetzalcoatl") || !holds("keepsake") {
		t.Error("a deleted word is still in the files, or a kept one is not")
	}
	if hits, err := v.Search(t.Context(), "keepsake", 100); err != nil || len(hits) != 40 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSameKeyIsOneMessage(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "home"))
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id, other := begin(t, v, o, ""), begin(t, v, o, "")
	m := user("once")
	m.Key = "k"
	first := appended(t, v, id, m)
	if again := appended(t, v, id, m); again != first {
		t.Errorf("ids %d and %d", first, again)
	}
	appended(t, v, other, m)
	if all, _ := v.Messages(t.Context(), id); len(all) != 1 {
		t.Errorf("%d messages", len(all))
	}
}

// Calls reads what others stored as well as what we did.
func TestCalls(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, filepath.Join(dir, "home"))
	o, foreign := owner(t, "default", "cli", "1"), owner(t, "work", "cli", "1")
	for _, o := range []scope.Session{o, foreign} {
		v := view(t, s, o)
		id := begin(t, v, o, "")
		appended(t, v, id, Message{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: "terminal", Arguments: `{"command":"git push --force"}`},
			{ID: "c2", Name: "todo", Arguments: `{"text":"terminal"}`}}}})
		appended(t, v, id, Message{Message: llm.Message{Role: llm.Result, CallID: "c1", Text: "ok"}, Tool: "terminal", Approved: Approval{"person", "once"}})
	}
	read := func(path string) []Past {
		t.Helper()
		var out []Past
		for p, err := range Calls(t.Context(), path, profile(t, "default"), "terminal", time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			p.At = time.Time{}
			out = append(out, p)
		}
		return out
	}
	want := []Past{{ID: "c1", Tool: "terminal", Arguments: `{"command":"git push --force"}`, Result: "ok", Answered: true, Approved: Approval{"person", "once"}}}
	if diff := cmp.Diff(want, read(filepath.Join(dir, "home", File))); diff != "" {
		t.Errorf("ours (-want +got)\n%s", diff)
	}

	path := filepath.Join(dir, "theirs.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Schema{`
		create table sessions (id text primary key, source text, parent_session_id text);
		create table messages (id integer primary key, session_id text, role text, content text, tool_calls text, tool_call_id text, tool_name text, timestamp real);
		insert into sessions values ('s', 'cli', null);
		insert into messages (session_id, role, content, tool_calls, tool_call_id, timestamp) values
			('s', 'assistant', null, '[{"id":"a","function":{"name":"terminal","arguments":{"command":"x"}}}, 7, null, {"function":{"name":"terminal"}}]', null, 5),
			('s', 'assistant', null, 'terminal: junk', null, 6),
			('s', 'tool', 'BLOCKED: User denied', null, 'a', 7);`})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	want = []Past{{ID: "a", Tool: "terminal", Arguments: `{"command":"x"}`, Result: "BLOCKED: User denied", Answered: true, Inferred: true},
		{Tool: "terminal", Inferred: true}}
	if diff := cmp.Diff(want, read(path)); diff != "" {
		t.Errorf("theirs (-want +got)\n%s", diff)
	}
	for _, err := range Calls(t.Context(), filepath.Join(dir, "none.db"), profile(t, "default"), "terminal", time.Time{}) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	}
}

// A store of the version before gets what is new, and keeps what it has.
func TestOldStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	dir, err := home.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	db, err := sqlite.Open(t.Context(), dir.Join(File), sqlite.Schema{first})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := opened(t, path)
	o := owner(t, "default", "cli", "1")
	v := view(t, s, o)
	id := begin(t, v, o, "")
	m := user("x")
	m.Risk = taint.Risk{Level: "low", Findings: []string{}}
	appended(t, v, id, m)
	if all, err := v.Live(t.Context(), id); err != nil || len(all) != 1 || all[0].Risk.Level != "low" {
		t.Errorf("%+v %v", all, err)
	}
}
