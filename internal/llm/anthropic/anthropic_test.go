package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/llm"
	"hermes/internal/llm/llmtest"
	"hermes/internal/llm/wire"
)

func suite() llmtest.Suite {
	return llmtest.Suite{Open: func(c wire.Config) (llm.Provider, error) { return New(c) }}
}

func TestSuite(t *testing.T) { suite().Run(t) }

// A whole answer as the API writes it: thinking that is signed, thinking that is sealed, text, a call, caching.
func TestStream(t *testing.T) {
	const stream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"first"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"sealed=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Okay"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"terminal","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"ls\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: something_new
data: {"type":"something_new","x":[1]}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != llmtest.Key || r.Header.Get("Anthropic-Version") != version {
			t.Errorf("%s %v", r.URL.Path, r.Header)
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, stream)
	}))
	t.Cleanup(server.Close)
	got, err := llm.Collect(suite().Provider(t, server.URL, nil).Stream(t.Context(), llm.Request{Model: "m"}))
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Message{Role: llm.Assistant, Text: "Okay", Calls: []llm.Call{{ID: "toolu_1", Name: "terminal", Arguments: `{"command": "ls"}`}},
		Thoughts: []llm.Thought{{Text: "first", Signature: "EqQB", From: "test/m"}, {Sealed: "sealed==", From: "test/m"}}}
	if diff := cmp.Diff(want, got.Message); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := (llm.Usage{Input: 325, Output: 89, CacheRead: 300, CacheWrite: 20}); got.Usage != want || got.End != (llm.End{Stop: llm.Calls, Model: "m-1"}) {
		t.Errorf("usage %+v end %+v", got.Usage, got.End)
	}
}

// The request in the format of the API: roles alternate, thoughts go back to who signed them, malformed arguments are an object,
// and at most four places are marked for the cache, which is all the API takes.
func TestBody(t *testing.T) {
	r := llmtest.Conversation()
	r.Effort = llm.High
	text, err := json.Marshal(body(r, "test/test-model"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"max_tokens":4000`, `"thinking":{"type":"enabled","budget_tokens":2000}`,
		`"system":[{"type":"text","text":"You are a test.","cache_control":{"type":"ephemeral"}}]`,
		`{"type":"thinking","thinking":"ls","signature":"c2ln"}`,
		`{"type":"tool_use","id":"c1","name":"terminal","input":{"command":"ls"}}`,
		`{"type":"tool_use","id":"c2","name":"terminal","input":{"malformed":"{\"command\":"}}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.txt"},{"type":"tool_result","tool_use_id":"c2","content":"malformed arguments","is_error":true},{"type":"text","text":"and now?","cache_control":{"type":"ephemeral"}}]}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
	if n := strings.Count(string(text), "cache_control"); n != 4 {
		t.Errorf("%d places are marked for the cache", n)
	}
	if strings.Contains(string(text), "foreign") {
		t.Errorf("a thought of another model's in\n%s", text)
	}
	r.Messages = r.Messages[:4]
	if got := body(r, "test/test-model"); got.Thinking == nil {
		t.Error("no thinking in the middle of calls that began with a thought")
	}
	if got := body(r, "another/model"); got.Thinking != nil {
		t.Error("thinking in the middle of calls that another model began")
	}
	r.NoCalls = true
	r.Messages[1].Calls[0].ID, r.Messages[2].CallID = "functions.terminal:0", "functions.terminal:0"
	if text, _ = json.Marshal(body(r, "")); !strings.Contains(string(text), `"tool_choice":{"type":"none"}`) || strings.Count(string(text), `"functions_terminal_0"`) != 2 {
		t.Errorf("no calls, and an id of another provider's:\n%s", text)
	}
	empty := body(llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User}, {Role: llm.Assistant}, {Role: llm.User, Text: "x"}}}, "")
	if len(empty.Messages) != 1 || empty.Output != defaultOutput {
		t.Errorf("empty messages: %+v", empty)
	}
}

// What the API would refuse is not sent: blocks of blanks, which models write before calls, and more room for the answer than the context has.
func TestRefused(t *testing.T) {
	r := llm.Request{Model: "claude-haiku-4-5-20251001", Messages: []llm.Message{
		{Role: llm.User, Text: "go"}, {Role: llm.Assistant, Text: "\n\n", Calls: []llm.Call{{ID: "1", Name: "x", Arguments: "{}"}}},
		{Role: llm.Result, CallID: "1", Text: "done"}, {Role: llm.User, Text: " "},
	}}
	got := body(r, "")
	if n := len(got.Messages); n != 3 || len(got.Messages[1].Content) != 1 || len(got.Messages[2].Content) != 1 {
		t.Errorf("%+v", got.Messages)
	}
	if known, _ := llm.Known(r.Model); got.Output > known.Context/4 || got.Output < 1 {
		t.Errorf("%d tokens for the answer, of %d", got.Output, known.Context)
	}
}

// What was read is paid for also when the answer breaks off.
func TestBrokenUsage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":5,"cache_read_input_tokens":300,"output_tokens":1}}}`+"\n\n")
	}))
	t.Cleanup(server.Close)
	got, err := llm.Collect(suite().Provider(t, server.URL, nil).Stream(t.Context(), llm.Request{Model: "m"}))
	if want := (llm.Usage{Input: 305, Output: 1, CacheRead: 300}); err == nil || got.Usage != want {
		t.Errorf("%+v, %v", got.Usage, err)
	}
}

// Efforts are budgets, and none of them is what nobody asked for.
func TestEfforts(t *testing.T) {
	last := 0
	for _, e := range []llm.Effort{llm.Minimal, llm.Low, llm.Medium, llm.High, llm.Highest} {
		if n := budgetOf(e); n < leastBudget || n <= last {
			t.Errorf("%s: %d after %d", e, n, last)
		} else {
			last = n
		}
	}
	if budgetOf("") != 0 || budgetOf(llm.NoEffort) != 0 {
		t.Error("thinking that was not asked for")
	}
}

// Chance is left to the provider, unless as little as possible is wanted; beside thoughts the API takes none but its own.
func TestSteady(t *testing.T) {
	r := llmtest.Conversation()
	for _, row := range []struct {
		steady bool
		effort llm.Effort
		want   bool
	}{{false, "", false}, {true, "", true}, {true, llm.High, false}} {
		r.Steady, r.Effort = row.steady, row.effort
		if got := body(r, "test/test-model"); (got.Heat != nil) != row.want || got.Heat != nil && *got.Heat != 0 {
			t.Errorf("%+v: %v", row, got.Heat)
		}
	}
}

func TestModels(t *testing.T) {
	p := suite().Provider(t, llmtest.New(t, "").URL, nil).(*Client)
	got, err := p.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]llm.Model{{ID: "test-model", Limits: llm.Limits{Context: 32768}}}, got); diff != "" {
		t.Error(diff)
	}
}
