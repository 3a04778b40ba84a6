package openai

import (
	"errors"
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
	return llmtest.Suite{Base: "/v1", Open: func(c wire.Config) (llm.Provider, error) { return New(c) }}
}

func TestSuite(t *testing.T) { suite().Run(t) }

// streams are answers as servers of this format write them, each with what it is.
var streams = []struct {
	name, kind, stream string
	want               llm.Answer
}{
	{"OpenRouter: comments, reasoning under two names, usage with cost", "text/event-stream",
		": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" +
			`data: {"id":"g","model":"a/b","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]},"finish_reason":null,"native_finish_reason":null}]}` + "\n\n" +
			`data: {"id":"g","model":"a/b","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"id":"g","model":"a/b","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":4,"cost":0.0125,"completion_tokens_details":{"reasoning_tokens":2}}}` + "\n\ndata: [DONE]\n\n",
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Text: "hi", Thoughts: []llm.Thought{{Text: "hm", From: "test/m"}}},
			Usage: llm.Usage{Input: 9, Output: 4, Thought: 2, Dollars: 0.0125}, End: llm.End{Stop: llm.Done, Model: "a/b"}}},
	{"Ollama: calls whole, all with index 0, finish stop", "text/event-stream",
		`data: {"model":"q","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"x","arguments":"{\"a\":1}"}}]},"finish_reason":null}]}` + "\n\n" +
			`data: {"model":"q","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_b","index":0,"type":"function","function":{"name":"y","arguments":"{}"}}]},"finish_reason":null}]}` + "\n\n" +
			`data: {"model":"q","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_a", Name: "x", Arguments: `{"a":1}`}, {ID: "call_b", Name: "y", Arguments: "{}"}}},
			End: llm.End{Stop: llm.Calls, Model: "q"}}},
	{"calls in turns, no blank behind data, no empty line at the end, no DONE", "text/event-stream; charset=utf-8",
		`data:{"model":"q","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"x","arguments":"{\"a\""}},{"index":1,"id":"2","function":{"name":"y","arguments":""}}]}}]}` + "\r\n\r\n" +
			`data:{"model":"q","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,"id":"","function":{"arguments":":1}"}}]}}]}` + "\r\n\r\n" +
			`data:{"model":"q","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "x", Arguments: `{"a":1}`}, {ID: "2", Name: "y", Arguments: "{}"}}},
			End: llm.End{Stop: llm.Calls, Model: "q"}}},
	{"calls whole, without ids and indexes, the same tool twice, arguments as an object", "text/event-stream",
		`data: {"model":"q","choices":[{"delta":{"tool_calls":[{"function":{"name":"x","arguments":"{\"a\":1}"}},{"function":{"name":"x","arguments":{"a":2}}},{"function":{"name":"y","arguments":null}},{"function":{"name":"z","arguments":""}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{Name: "x", Arguments: `{"a":1}`}, {Name: "x", Arguments: `{"a":2}`}, {Name: "y"}, {Name: "z"}}},
			End: llm.End{Stop: llm.Calls, Model: "q"}}},
	{"a call in pieces, each with its id and name, and no index", "text/event-stream",
		`data: {"model":"q","choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"x","arguments":"{\"a\""}}]}}]}` + "\n\n" +
			`data: {"model":"q","choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"x","arguments":":1}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "x", Arguments: `{"a":1}`}}}, End: llm.End{Stop: llm.Calls, Model: "q"}}},
	{"a call in pieces, each with its name, and no id", "text/event-stream",
		`data: {"model":"q","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{\"a\""}}]}}]}` + "\n\n" +
			`data: {"model":"q","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"x","arguments":":1}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{Name: "x", Arguments: `{"a":1}`}}}, End: llm.End{Stop: llm.Calls, Model: "q"}}},
	{"one document, though a stream was asked for", "application/json",
		`{"model":"q","choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
		llm.Answer{Message: llm.Message{Role: llm.Assistant, Text: "hi"}, Usage: llm.Usage{Input: 3, Output: 1}, End: llm.End{Stop: llm.Length, Model: "q"}}},
}

func TestStreams(t *testing.T) {
	for _, row := range streams {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Authorization"); got != "Bearer "+llmtest.Key || r.URL.Path != "/v1/chat/completions" {
				t.Errorf("%s: %s with %q", row.name, r.URL.Path, got)
			}
			w.Header().Set("Content-Type", row.kind)
			fmt.Fprint(w, row.stream)
		}))
		t.Cleanup(server.Close)
		got, err := llm.Collect(suite().Provider(t, server.URL, nil).Stream(t.Context(), llm.Request{Model: "m"}))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		for i, c := range row.want.Calls {
			if c.ID == "" && i < len(got.Calls) && strings.HasPrefix(got.Calls[i].ID, "call_") { // one was made up
				got.Calls[i].ID = ""
			}
		}
		if diff := cmp.Diff(row.want.Message, got.Message); diff != "" || got.Usage != row.want.Usage || got.End != row.want.End {
			t.Errorf("%s (-want +got)\n%s%+v %+v", row.name, diff, got.Usage, got.End)
		}
	}
}

// What a server says it could not finish is no whole answer.
func TestUnfinished(t *testing.T) {
	for _, reason := range []string{"error", "abort", "network_error", "insufficient_system_resource"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"model":"q","choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":%q}]}`+"\n\ndata: [DONE]\n\n", reason)
		}))
		t.Cleanup(server.Close)
		got, err := llm.Collect(suite().Provider(t, server.URL, nil).Stream(t.Context(), llm.Request{Model: "m"}))
		var e *llm.Error
		if !errors.As(err, &e) || !e.Passing() || got.End.Stop != "" {
			t.Errorf("%s: %v, %+v", reason, err, got.End)
		}
	}
}

// Tools stay in a request that may not call them: the calls in its messages name them.
func TestNoCalls(t *testing.T) {
	r := llmtest.Conversation()
	if got := body(r, false); got.Choice != "" {
		t.Errorf("tool_choice %q", got.Choice)
	}
	r.NoCalls = true
	if got := body(r, false); got.Choice != "none" || len(got.Tools) != 1 {
		t.Errorf("tool_choice %q with %d tools", got.Choice, len(got.Tools))
	}
	r.Tools = nil
	if got := body(r, false); got.Choice != "" { // refused where there are none
		t.Errorf("tool_choice %q without tools", got.Choice)
	}
}

// Chance is left to the provider, unless as little as possible is wanted.
func TestSteady(t *testing.T) {
	r := llmtest.Conversation()
	if got := body(r, true); got.Heat != nil {
		t.Errorf("temperature %d", *got.Heat)
	}
	r.Steady = true
	if got := body(r, true); got.Heat == nil || *got.Heat != 0 {
		t.Error("no temperature")
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
