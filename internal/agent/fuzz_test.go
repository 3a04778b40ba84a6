package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Whatever a model writes as calls: each that is stored has exactly one result, the conversation is valid in both formats, with
// results in order, nothing secret is stored or heard, and a tool only ever gets one JSON object.
func FuzzCalls(f *testing.F) {
	for _, seed := range []struct{ id, name, arguments, id2, name2, arguments2 string }{
		{"a", "read", `{"path":"x"}`, "b", "shell", `{"command":"ls"}`},
		{"", "", "", "", "", ""},
		{"a", "shell", "{", "a", "shell", "}"},
		{"a_2", "sh ell", `{"a":1,"A":2}`, "a", "read", `[]`},
		{"a", "shell", `{"command":"s\u0033cret s3cret"}`, "a_2", "shell", `{"command":"fail"}`},
		{"a", "panic", `{}`, "\x00", "\xff", "\xff{}"},
		{"a", "shell", `{"a":{"b":[1,2,{"c":null}]}} `, "b", "s3cret", `"{}"`},
	} {
		f.Add(seed.id, seed.name, seed.arguments, seed.id2, seed.name2, seed.arguments2)
	}
	f.Fuzz(func(t *testing.T, id, name, arguments, id2, name2, arguments2 string) {
		run := func(_ context.Context, c tool.Call) (tool.Result, error) {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(c.Args, &object); err != nil || object == nil {
				t.Errorf("a tool got %q", c.Args)
			}
			r := works(string(c.Args))
			r.Failed = strings.Contains(string(c.Args), "fail")
			return r, nil
		}
		calls := []llm.Call{call(id, name, arguments), call(id2, name2, arguments2), call(id, name2, arguments)}
		model := &inTurn{answers: [][]llm.Event{says("", calls...), says("again", calls...), says("and again", calls...), says("done")}}
		a := newAgent(t, options(place{&session.View{}, "x"}, model, fake{"read", true, run}, fake{"shell", false, run},
			fake{"panic", false, func(context.Context, tool.Call) (tool.Result, error) { panic(arguments) }}))
		kept := &memory{}
		a.store = kept
		began, ended := map[string]int{}, map[string]int{}
		err := a.Turn(context.Background(), "go", func(e Event) {
			text, _ := json.Marshal(e)
			if strings.Contains(string(text), "s3cret") && !strings.Contains(id+id2+name+name2, "s3cret") {
				t.Errorf("heard %s", text)
			}
			switch e := e.(type) {
			case Began:
				began[e.Call.ID]++
			case Ended:
				ended[e.Call.ID]++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range model.asked {
			if err := valid(r.Messages); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
		var open []string
		for _, m := range kept.all {
			if m.Role == llm.Result {
				i := slices.Index(open, m.CallID) // those that ran beside each other are stored as they come
				if i < 0 || began[m.CallID] != 1 || ended[m.CallID] != 1 {
					t.Fatalf("%q is answered, open are %q", m.CallID, open)
				}
				open = slices.Delete(open, i, i+1)
			} else if len(open) > 0 {
				t.Fatalf("without a result: %q", open)
			}
			for _, c := range m.Calls {
				open = append(open, c.ID)
				if strings.Contains(c.Arguments, "s3cret") {
					t.Errorf("stored %q", c.Arguments)
				}
			}
		}
		if len(open) > 0 {
			t.Fatalf("without a result: %q", open)
		}
	})
}
