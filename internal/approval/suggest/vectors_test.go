package suggest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"hermes/internal/guard/scope"
	"hermes/internal/session"
	"hermes/internal/sqlite"
	"hermes/internal/vectortest"
)

// vector is one row of the shared vectors. The rows on flags and JSON are those of the command line (TestSuggestVectors in package
// cli).
type vector struct {
	Kind      string          `json:"kind"`
	Command   string          `json:"command"`
	Expect    json.RawMessage `json:"expect"`
	History   [][]any         `json:"history"`
	MinCount  int             `json:"min_count"`
	Length    *int            `json:"expect_len"`
	Records   int             `json:"expect_records"`
	Arguments json.RawMessage `json:"arguments"`
	Mined     []string        `json:"expect_mined"`
}

// theirs makes a database as the original keeps it, with calls whose arguments are raw JSON.
func theirs(t *testing.T, arguments ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Schema{`
		create table sessions (id text primary key, source text, parent_session_id text);
		create table messages (id integer primary key, session_id text, role text, content text, tool_calls text, tool_call_id text, tool_name text, timestamp real);
		insert into sessions values ('s', 'cli', null);`})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Write(t.Context(), func(tx *sqlite.Tx) error {
		for i, a := range arguments {
			calls := fmt.Sprintf(`[{"id":"c%d","function":{"name":"terminal","arguments":%s}}]`, i, a)
			if _, err := tx.ExecContext(t.Context(), "insert into messages (session_id, role, content, tool_calls, timestamp) values ('s', 'assistant', '', ?, ?)",
				calls, float64(time.Now().Unix())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// argumentsOf is the calls of a row's history, each a JSON text within JSON.
func (v vector) argumentsOf() (out []string) {
	for _, h := range v.History {
		for range int(h[1].(float64)) {
			out = append(out, asJSON(asJSON(map[string]any{"command": h[0]})))
		}
	}
	return out
}

func TestVectors(t *testing.T) {
	profile, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range vectortest.Rows[vector](t, "testdata/vectors/suggest.jsonl") {
		o := options()
		o.MinCount = max(1, v.MinCount)
		mined := func(arguments ...string) []Proposal {
			found, err := Find(session.Calls(t.Context(), theirs(t, arguments...), profile, "terminal", time.Time{}), o)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		n++
		switch v.Kind {
		case "derive_glob":
			if got := pattern(v.Command); got != "" {
				t.Errorf("%s: %q", v.Command, got)
			}
		case "scan":
			if got := mined(v.argumentsOf()...); len(got) != 1 || got[0].Pattern != "git push *" || got[0].Count != v.Records || got[0].Inferred != v.Records {
				t.Errorf("scan: %+v", got)
			}
		case "proposals":
			got := [][]any{}
			for _, p := range mined(v.argumentsOf()...) {
				got = append(got, []any{p.Pattern, p.Count})
			}
			if v.Length != nil && len(got) != *v.Length || v.Length == nil && asJSON(got) != asJSON(v.Expect) {
				t.Errorf("%v: %v", v.History, got)
			}
		case "arg_shape":
			arguments := v.Arguments
			if string(arguments) == `"{\"command\":\"git push --force origin main\"} as JSON string"` { // the row says it in words
				arguments = json.RawMessage(asJSON(`{"command":"git push --force origin main"}`))
			}
			got := mined(string(arguments), asJSON(`{"command":"docker compose restart web"}`)) // the reading goes on behind it
			later := 0
			for _, p := range got {
				if p.Pattern == "docker compose *" {
					later++
				}
			}
			if len(got)-later != len(v.Mined) || later != 1 || len(v.Mined) == 1 && got[0].Examples[0] != v.Mined[0] && got[1].Examples[0] != v.Mined[0] {
				t.Errorf("%s: %+v", v.Arguments, got)
			}
		case "json", "parse_flags", "fact":
		default:
			t.Errorf("nobody knows the kind %s", v.Kind)
		}
	}
	if n != 13 {
		t.Errorf("%d rows", n)
	}
}
