package agent

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/redact"
	"hermes/internal/tool"
)

// What is left out of a long result never opens a block that was closed, nor closes one that was open.
func TestShorten(t *testing.T) {
	block := func(id, text string) string { return taint.Wrap(taint.Label{Tool: "web", ID: id}, text) }
	long := func(n int) string { return strings.Repeat("ä long text ", n) }
	for what, text := range map[string]string{
		"one block":           "before " + block("A", long(2000)) + " after",
		"begins in the gap":   long(800) + block("A", long(1200)),
		"ends in the gap":     block("A", long(800)) + long(1200),
		"all in the gap":      long(800) + block("A", "short") + long(1200),
		"one after the other": block("A", long(700)) + block("B", long(700)) + block("C", long(700)),
		"nothing but blocks":  strings.Repeat(block("A", "x"), 60),
	} {
		got := shorten(text, 6000)
		if len(got) > 8000 || !utf8.ValidString(got) || !strings.Contains(got, "are left out here") {
			t.Errorf("%s: %d bytes of %d", what, len(got), len(text))
		}
		open := ""
		for _, m := range blockTag().FindAllStringSubmatch(got, -1) {
			switch {
			case m[1] == "" && open == "":
				open = m[2]
			case m[1] == "/" && open == m[2]:
				open = ""
			default:
				t.Errorf("%s: %s while %q is open", what, m[0], open)
			}
		}
		if open != "" {
			t.Errorf("%s: %s stays open", what, open)
		}
		if shorten(got, len(got)) != got {
			t.Errorf("%s: shortened without need", what)
		}
	}
	// Cut at any place, no tag is torn.
	text := long(20) + block("A", "inside") + long(20)
	for most := 30; most < len(text); most++ {
		got := shorten(text, most)
		if strings.Count(got, "<untrusted_tool_result ") != strings.Count(got, "</untrusted_tool_result ") || torn.MatchString(got) {
			t.Fatalf("at %d:\n%s", most, got)
		}
	}
}

var torn = regexp.MustCompile(`</?untrusted_tool_resul[^t]|untrusted_tool_result[^>]*…`)

// Secrets leave arguments in whatever form they are written; what has none stays as it is, and what was JSON is JSON.
func TestArguments(t *testing.T) {
	plain := func(s string) string { return strings.ReplaceAll(s, "s3cret", "[x]") }
	greedy := func(s string) string { // takes a quote with it, as one that looks at assignments might
		return strings.ReplaceAll(plain(s), `pass":"word"`, `pass":[x]`)
	}
	for _, row := range []struct {
		redact     func(string) string
		text, want string
	}{
		{plain, `{"a": "x",  "b": [1, 2.50, null, true]}`, `{"a": "x",  "b": [1, 2.50, null, true]}`},
		{plain, `{"a": "s3cret"}`, `{"a": "[x]"}`},
		{plain, `{"a":"s3\u0063ret <b>","n":12345678901234567890}`, `{"a":"[x] <b>","n":12345678901234567890}`},
		{plain, `{"s\u0033cret":{"b":["s\u0033cret",{}]}}`, `{"[x]":{"b":["[x]",{}]}}`},
		{plain, `{"a": "s3cret`, `{"a": "[x]`},
		{plain, ``, ``},
		{greedy, `{"pass":"word","a":"s\u0033cret"}`, `{"pass":[x],"a":"s\u0033cret"}`},
	} {
		if got := arguments(row.text, row.redact); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.text, got, row.want)
		}
	}
	real := redact.New(redact.Options{})
	key := "sk-ant-api03-" + strings.Repeat("Zx9", 30)
	for _, command := range []string{"curl -H 'Authorization: Bearer " + key + "' https://example.com", "export ANTHROPIC_API_KEY=" + key, `TOKEN="` + key + `"`, "echo hi\n" + key} {
		text, _ := json.Marshal(map[string]string{"command": command})
		got := arguments(string(text), real.String)
		if strings.Contains(got, key) || !json.Valid([]byte(got)) {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestClean(t *testing.T) {
	plain := func(s string) string { return strings.ReplaceAll(s, "s3cret", "[x]") }
	cause := errors.New("s3cret")
	r := clean(tool.Result{Parts: []tool.Part{{Text: "s3cret", Source: "https://x/?s3cret"}}, Diff: "+s3cret", Summary: "s3cret",
		Data: map[string]any{"a": []string{"s3cret"}}}, plain)
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), "s3cret") || strings.Count(string(text), "[x]") != 5 {
		t.Errorf("%s %v", text, err)
	}
	if err := cleanErr(cause, plain); err.Error() != "[x]" || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if r := clean(tool.Result{Data: func() {}}, plain); r.Data != nil {
		t.Errorf("%v", r.Data)
	}
}

func TestTitle(t *testing.T) {
	for _, row := range []struct{ arguments, want string }{
		{`{"command":"go test ./...\n","timeout":5}`, "go test ./..."},
		{`{"command":"cat <<E\nx\nE"}`, "cat <<E …"},
		{`{"timeout":5,"path":"a/b.go"}`, "a/b.go"},
		{`{"urls":["https://a","https://b"]}`, "https://a https://b"},
		{`{"action":"kill","session_id":"p1"}`, "kill p1"},
		{`{"session_id":"p1","action":"kill"}`, "kill p1"},
		{`{"todos":[{"text":"a"}]}`, `{"todos":[{"text":"a"}]}`},
		{`{}`, ""},
		{``, ""},
		{`{"command":`, `{"command":`},
		{`{"command":7}`, `{"command":7}`},
		{`{"command":"a\u001b[31mb\u0000"}`, "a [31mb "},
		{`{"command":"` + strings.Repeat("ä", 200) + `"}`, strings.Repeat("ä", widest) + " …"},
	} {
		if got := Title(row.arguments); got != row.want {
			t.Errorf("%s: %q, want %q", row.arguments, got, row.want)
		}
	}
}

// A tool gets one JSON object, in which no field is there twice for whoever reads it.
func TestObject(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{``, ""}, {" \n", ""}, {`{}`, ""}, {` {"a":{"b":1,"c":2}} `, ""}, {`{"a":{"x":1},"b":{"x":1}}`, ""},
		{`{"a":1,"A":2}`, `the field "A" is there twice`},
		{`{"task":1,"ta\u017fk":2}`, "is there twice"},
		{`{"a":1`, "end in the middle"},
		{`{"a":1}}`, "something follows"},
		{`{"a":1}{"b":1}`, "something follows"},
		{`{a:1}`, "at byte 2"},
		{`"{}"`, "they begin with"},
		{`[{}]`, "they begin with"},
		{strings.Repeat("{\"a\":", 20_000), "exceeded max depth"},
		{`{"a":"` + strings.Repeat("x", mostArguments) + `"}`, "at most"},
	} {
		_, err := object(row.text)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.40q: %v, want %q", row.text, err, row.want)
		}
	}
}

func TestNearest(t *testing.T) {
	tu := &turn{a: &Agent{specs: []tool.Spec{{Name: "terminal"}, {Name: "read_file"}, {Name: "write_file"}}}}
	for _, row := range []struct{ name, want string }{
		{"Terminal", "Is terminal meant?"},
		{"terminl", "Is terminal meant?"},
		{"read", "Is read_file meant?"},
		{"readfile", "Is read_file meant?"},
		{"default_api.write_file", "Is write_file meant?"},
		{"quantum_computer", `There is no tool "quantum_computer". There are:`},
		{strings.Repeat("x", 5000), "There are: terminal, read_file, write_file."},
	} {
		if got := tu.unknown(row.name); !strings.Contains(got, row.want) || len(got) > 250 {
			t.Errorf("%.40s: %s", row.name, got)
		}
	}
}

// A part of what the model takes is left for its answer, and a fifth of the rest.
func TestRoom(t *testing.T) {
	for _, row := range []struct{ context, output, want int }{
		{0, 0, 0}, {0, 5000, 0}, {200_000, 50_000, 120_000}, {100_000, 90_000, 60_000}, {10_000, 0, 8000},
	} {
		if got := room(llm.Limits{Context: row.context, Output: row.output}); got != row.want {
			t.Errorf("%+v: %d", row, got)
		}
	}
}
