package agent

import (
	"context"
	"strings"
	"testing"

	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// A tool is told whether anything in the conversation came from outside: by another tool, with a message of the person's, before the
// conversation was resumed, or before it was summed up.
func TestUntainted(t *testing.T) {
	block := taint.Wrap(taint.Label{Tool: "input", ID: "X1"}, "a page")
	web := []llm.Call{call("1", "web", "{}")}
	for _, row := range []struct {
		what    string
		message string
		before  []llm.Call // in the answer before
		same    []llm.Call // in the same answer, before it
		sum     bool
		stored  string
		want    bool
	}{
		{what: "only the person spoke", message: "note it", want: true},
		{what: "a page was read", message: "note it", before: web},
		{what: "a page is read just before", message: "note it", same: web},
		{what: "a file went with the message", message: "note it\n" + block},
		{what: "files of the work were read", message: "note it", before: []llm.Call{call("1", "read", "{}")}, want: true},
		{what: "a process printed something", message: Unasked + "proc_1 has ended\n" + block},
		{what: "it was read long ago", message: "note it", stored: block},
		{what: "it was summed up", message: "note it", stored: block, sum: true},
		{what: "what was summed up is the person's", message: "note it", stored: "a page", sum: true, want: true},
	} {
		var got *bool
		tools := []tool.Tool{
			fake{name: "web", beside: true, call: func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Parts: []tool.Part{{Text: "a page"}}}, nil
			}},
			fake{name: "read", beside: true, call: func(context.Context, tool.Call) (tool.Result, error) { return works("a file"), nil }},
			fake{name: "note", call: func(_ context.Context, c tool.Call) (tool.Result, error) {
				got = &c.Untainted
				return works("noted"), nil
			}},
		}
		script := &inTurn{}
		if row.before != nil {
			script.answers = append(script.answers, says("", row.before...))
		}
		script.answers = append(script.answers, says("", append(row.same, call("2", "note", "{}"))...), says("Done."))
		k := &memory{}
		if row.stored != "" {
			for _, m := range []llm.Message{{Role: llm.User, Text: row.stored + strings.Repeat(" more", 300)}, {Role: llm.Assistant, Text: "I see."}, {Role: llm.User, Text: "So?"}, {Role: llm.Assistant, Text: "Well."}} {
				_, _ = k.Append(t.Context(), "", session.Message{Message: m})
			}
		}
		a := newAgent(t, options(place{&session.View{}, "x"}, script, tools...))
		a.store = k
		if row.sum {
			a.o.Provider = scripted(func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
				give(yield, says("Wanted: nothing."))
			})
			if err := a.Compact(t.Context(), nil); err != nil || k.all[len(k.all)-1].Covers == 0 {
				t.Fatalf("%s: %v", row.what, err)
			}
			a.o.Provider = script
		}
		if err := a.Turn(t.Context(), row.message, nil); err != nil || got == nil || *got != row.want {
			t.Errorf("%s: untainted %v, want %v, %v", row.what, got, row.want, err)
		}
	}
}
