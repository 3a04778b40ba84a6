package llmtest

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes/internal/guard/egress"
	"hermes/internal/llm"
	"hermes/internal/llm/wire"
	"hermes/internal/safehttp"
	"hermes/internal/secret"
)

// Key is the key that the suite's providers use. It must never be seen in an error.
const Key = "sk-test-4f9d2c7a1e8b6053d1c2"

// Suite is what every provider must do. Open makes one for a server; base is what it needs behind the server's URL.
type Suite struct {
	Base string
	Open func(wire.Config) (llm.Provider, error)
}

// Provider opens the provider for a server.
func (s Suite) Provider(t testing.TB, server string, change func(*wire.Config)) llm.Provider {
	t.Helper()
	policy, _ := egress.New(egress.Config{Sites: egress.NoSites()})
	c := wire.Config{Name: "test", BaseURL: server + s.Base, Key: secret.New(Key), KeyName: "TEST_API_KEY",
		Policy: func() *egress.Policy { return policy }}
	if change != nil {
		change(&c)
	}
	p, err := s.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	if closer, ok := p.(interface{ Close() error }); ok {
		t.Cleanup(func() { _ = closer.Close() })
	}
	return p
}

// Conversation is a request with everything in it.
func Conversation() llm.Request {
	return llm.Request{
		Model: "test-model", System: "You are a test.", Output: 4000,
		Messages: []llm.Message{
			{Role: llm.User, Text: "list the files"},
			{Role: llm.Assistant, Text: "I look.", Thoughts: []llm.Thought{{Text: "ls", Signature: "c2ln", From: "test/test-model"}, {Text: "foreign thought", Signature: "x", From: "other/model"}},
				Calls: []llm.Call{{ID: "c1", Name: "terminal", Arguments: `{"command":"ls"}`}, {ID: "c2", Name: "terminal", Arguments: `{"command":`}}},
			{Role: llm.Result, CallID: "c1", Text: "a.txt"},
			{Role: llm.Result, CallID: "c2", Text: "malformed arguments", Failed: true},
			{Role: llm.User, Text: "and now?"},
		},
		Tools: []llm.Tool{{Name: "terminal", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}},
	}
}

const whole = `
usage 120 40 100
think Let me see: "ls".
say "Two files: "
say ä.txt, 文件.txt
call terminal {"command":"cat ä.txt"}
call todo {}
`

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	t.Run("whole", s.whole)
	t.Run("errors", s.errors)
	t.Run("broken", s.broken)
	t.Run("idle", s.idle)
	t.Run("cancel", s.cancel)
	t.Run("trust", s.trust)
	t.Run("header", s.header)
	t.Run("redirect", s.redirect)
	t.Run("nobody", s.nobody)
}

func (s Suite) whole(t *testing.T) {
	for _, way := range []struct {
		name  string
		split int
		crlf  bool
	}{{"events", 0, false}, {"bytes", 1, false}, {"odd pieces", 7, true}} {
		server := New(t, whole)
		server.Split, server.CRLF = way.split, way.crlf
		p := s.Provider(t, server.URL, nil)
		got, err := llm.Collect(p.Stream(t.Context(), Conversation()))
		if err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		want := llm.Message{Role: llm.Assistant, Text: "Two files: ä.txt, 文件.txt", Thoughts: []llm.Thought{{Text: `Let me see: "ls".`, From: "test/test-model"}},
			Calls: []llm.Call{{Name: "terminal", Arguments: `{"command":"cat ä.txt"}`}, {Name: "todo", Arguments: "{}"}}}
		if diff := cmp.Diff(want, got.Message, cmpopts.IgnoreFields(llm.Call{}, "ID"), cmpopts.IgnoreFields(llm.Thought{}, "Signature")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", way.name, diff)
		}
		if diff := cmp.Diff(llm.Usage{Input: 120, Output: 40, CacheRead: 100}, got.Usage); diff != "" {
			t.Errorf("%s: usage (-want +got)\n%s", way.name, diff)
		}
		if got.End != (llm.End{Stop: llm.Calls, Model: "test-model"}) {
			t.Errorf("%s: end %+v", way.name, got.End)
		}
		if got.Calls[0].ID == "" || got.Calls[0].ID == got.Calls[1].ID {
			t.Errorf("%s: the calls have the ids %q and %q", way.name, got.Calls[0].ID, got.Calls[1].ID)
		}
		r := server.Seen()[0]
		for _, text := range []string{"You are a test.", "list the files", "a.txt", "and now?", "Runs a command.", `"c1"`} {
			if !r.Has(text) {
				t.Errorf("%s: the request does not hold %s:\n%s", way.name, text, r.Body)
			}
		}
		if r.Has("foreign thought") || r.Has(Key) {
			t.Errorf("%s: the request holds what it must not:\n%s", way.name, r.Body)
		}
	}
	for stop, want := range map[string]llm.Stop{"done": llm.Done, "length": llm.Length, "filtered": llm.Filtered} {
		p := s.Provider(t, New(t, "say x\nstop "+stop).URL, nil)
		if got, err := llm.Collect(p.Stream(t.Context(), Conversation())); err != nil || got.End.Stop != want {
			t.Errorf("stop %s is %q, %v", stop, got.End.Stop, err)
		}
	}
}

// What providers say becomes an error that names provider, status, message and what to do, without the key.
func (s Suite) errors(t *testing.T) {
	for _, row := range []struct {
		script string
		kind   llm.Kind
		status int
		says   string
		after  time.Duration
		again  bool
	}{
		{`status 401 authentication_error invalid x-api-key ` + Key, llm.Auth, 401, "invalid x-api-key", 0, false},
		{`status 403 permission_error not for you`, llm.Auth, 403, "not for you", 0, false},
		{`status 402 billing no credit`, llm.Payment, 402, "no credit", 0, false},
		{`status 404 not_found_error model: gone`, llm.Missing, 404, "model: gone", 0, false},
		{"header Retry-After: 7\nstatus 429 rate_limit_error slow down", llm.Limited, 429, "slow down", 7 * time.Second, true},
		{"header retry-after-ms: 1500\nstatus 429 rate_limit_error slow down", llm.Limited, 429, "slow down", 1500 * time.Millisecond, true},
		{"header Retry-After: Tue, 01 Dec 2026 10:00:30 GMT\nstatus 503 x later", llm.Overloaded, 503, "later", 30 * time.Second, true},
		{"header Retry-After: -5\nstatus 503 x later", llm.Overloaded, 503, "later", 0, true},
		{"header Retry-After: 1e300\nstatus 503 x later", llm.Overloaded, 503, "later", 24 * time.Hour, true},
		{"header Retry-After: NaN\nstatus 503 x later", llm.Overloaded, 503, "later", 0, true},
		{`status 429 insufficient_quota You exceeded your current quota`, llm.Payment, 429, "quota", 0, false},
		{`status 529 overloaded_error Overloaded`, llm.Overloaded, 529, "Overloaded", 0, true},
		{`status 400 invalid_request_error prompt is too long: 210000 tokens > 200000 maximum`, llm.TooLong, 400, "prompt is too long", 0, false},
		{`status 400 context_length_exceeded This model's maximum context length is 4096 tokens`, llm.TooLong, 400, "4096", 0, false},
		{`status 400 invalid_request_error tools.0: bad schema`, llm.Invalid, 400, "bad schema", 0, false},
		{`reply 502 <html><h1>Bad gateway</h1></html>`, llm.Overloaded, 502, "a page", 0, true},
		{`reply 500 {"error":"loading model"}`, llm.Overloaded, 500, "loading model", 0, true},
		{`reply 422 {"detail":"field required"}`, llm.Invalid, 422, "field required", 0, false},
		{`reply 400 [{"error":{"code":400,"message":"in a list"}}]`, llm.Invalid, 400, "in a list", 0, false},
		{`reply 418 "\x1b[31mtea\x1b[0m\n` + strings.Repeat("x", 5000) + `"`, llm.Unknown, 418, "[31mtea", 0, false},
		{"say hel\nfail overloaded_error Overloaded " + Key, llm.Overloaded, 0, "Overloaded", 0, true},
		{"say hel\nfail rate_limit_error later", llm.Limited, 0, "later", 0, true},
		{"say hel\nfail weird unheard of", llm.Overloaded, 0, "unheard of", 0, true},
	} {
		server := New(t, row.script)
		p := s.Provider(t, server.URL, func(c *wire.Config) {
			c.Now = func() time.Time { return time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC) }
		})
		_, err := llm.Collect(p.Stream(t.Context(), Conversation()))
		var e *llm.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", row.script, err)
			continue
		}
		text := e.Error()
		if e.Kind != row.kind || e.Status != row.status || e.After != row.after || e.Passing() != row.again || e.Provider != "test" || !strings.Contains(text, row.says) {
			t.Errorf("%s:\n%+v\n%v", row.script, *e, e)
		}
		if strings.Contains(text, Key) || strings.ContainsAny(text, "\x1b\n") || len(text) > 1000 || e.Next() == "" {
			t.Errorf("%s: shown as %q, next %q", row.script, text, e.Next())
		}
	}
}

// An answer that does not reach its end is never taken for a whole one.
func (s Suite) broken(t *testing.T) {
	for _, row := range []struct {
		script string
		kind   llm.Kind
	}{
		{"say hello\nclose", llm.Cut},
		{"say hello\ncut", llm.Cut},
		{"close", llm.Cut},
		{`call terminal {"command":"rm` + "\nclose", llm.Cut},
		{`call terminal {"command":"rm` + "\ncut", llm.Cut},
		{"say hello\n" + `raw "data: {\"choices\": [oops\n\n"`, llm.Malformed},
		{"say hello\n" + `raw "data: \"text\"\n\n"`, llm.Malformed},
		{"reply 200 <html>hello</html>", llm.Missing},
	} {
		p := s.Provider(t, New(t, row.script).URL, nil)
		got, err := llm.Collect(p.Stream(t.Context(), Conversation()))
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != row.kind {
			t.Errorf("%s: %v, want %s", row.script, err, row.kind)
		}
		if got.End != (llm.End{}) || len(got.Calls) != 0 {
			t.Errorf("%s: taken for whole: %+v", row.script, got)
		}
	}
	// Signs of life and events that nobody knows are passed over, however many.
	script := strings.Repeat(`raw ": still here\n\n"`+"\n", 2000) + "say hello\n" + `raw "event: ping\ndata: {\"type\":\"ping\"}\n\n"`
	p := s.Provider(t, New(t, script).URL, nil)
	if got, err := llm.Collect(p.Stream(t.Context(), Conversation())); err != nil || got.Text != "hello" {
		t.Errorf("signs of life: %q %v", got.Text, err)
	}
}

func (s Suite) idle(t *testing.T) {
	for _, script := range []string{"hang", "say hel\nhang", "wait 1h"} {
		server := New(t, script)
		p := s.Provider(t, server.URL, func(c *wire.Config) { c.Idle = 100 * time.Millisecond })
		_, err := llm.Collect(p.Stream(t.Context(), Conversation()))
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Idle || !strings.Contains(e.Error(), "100ms") {
			t.Errorf("%q: %v", script, err)
		}
	}
	// A slow answer is none that hangs, but signs of life alone do not keep a request for ever.
	p := s.Provider(t, New(t, "say a\n"+strings.Repeat("wait 20ms\nsay b\n", 20)).URL, func(c *wire.Config) { c.Idle = 300 * time.Millisecond })
	if got, err := llm.Collect(p.Stream(t.Context(), Conversation())); err != nil || len(got.Text) != 21 {
		t.Errorf("slow drip: %v %v", got.Text, err)
	}
	p = s.Provider(t, New(t, "say a\n"+strings.Repeat("wait 20ms\n"+`raw ": here\n\n"`+"\n", 10_000)).URL, func(c *wire.Config) { c.Idle = 200 * time.Millisecond })
	var e *llm.Error
	if _, err := llm.Collect(p.Stream(t.Context(), Conversation())); !errors.As(err, &e) || e.Kind != llm.Idle {
		t.Errorf("only signs of life: %v", err)
	}
}

// Whoever stops listening ends the request, at the server too.
func (s Suite) cancel(t *testing.T) {
	cause := errors.New("the person pressed Esc")
	server := New(t, "-- 1 --\nsay hello\nhang\n-- 2 --\nsay hello\nhang\n")
	p := s.Provider(t, server.URL, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var text string
	var last error
	for e, err := range p.Stream(ctx, Conversation()) {
		if piece, ok := e.(llm.Text); ok {
			text += piece.Text
			cancel(cause)
		}
		last = err
	}
	if !errors.Is(last, cause) || text == "" {
		t.Errorf("cancelled after %q: %v", text, last)
	}
	for e := range p.Stream(t.Context(), Conversation()) {
		if _, ok := e.(llm.Text); ok {
			break
		}
	}
	for range 500 {
		if server.Went() == 2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d of 2 requests ended at the server", server.Went())
}

func (s Suite) trust(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	server := NewTLS(t, "-- 1 --\nsay hello\n-- 2 --\nsay hello\n")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate()}), 0o600); err != nil {
		t.Fatal(err)
	}
	var e *llm.Error
	if _, err := llm.Collect(s.Provider(t, server.URL, nil).Stream(t.Context(), Conversation())); !errors.As(err, &e) || e.Kind != llm.Untrusted {
		t.Errorf("an unknown certificate: %v", err)
	}
	for name, trust := range map[string]safehttp.Trust{"ssl_ca_cert": {CAFile: ca}, "ssl_verify: false": {Insecure: true}} {
		p := s.Provider(t, server.URL, func(c *wire.Config) { c.Trust = trust })
		if got, err := llm.Collect(p.Stream(t.Context(), Conversation())); err != nil || got.Text != "hello" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Headers of the owner's go along and count before ours; their values are in no error.
func (s Suite) header(t *testing.T) {
	server := New(t, "status 400 bad_header X-Team was blue-4711-team-token")
	p := s.Provider(t, server.URL, func(c *wire.Config) {
		c.Header = map[string]string{"X-Team": "blue-4711-team-token", "accept": "text/x"}
	})
	_, err := llm.Collect(p.Stream(t.Context(), Conversation()))
	h := server.Seen()[0].Header
	if h.Get("X-Team") != "blue-4711-team-token" || h.Get("Accept") != "text/x" || len(h.Values("Accept")) != 1 {
		t.Errorf("headers %v", h)
	}
	if err == nil || strings.Contains(err.Error(), "blue-4711-team-token") {
		t.Errorf("error %v", err)
	}
}

// A provider cannot send what was meant for it, or the key, to somebody else.
func (s Suite) redirect(t *testing.T) {
	other := New(t, "say stolen")
	for _, code := range []string{"307", "302"} {
		server := New(t, "header Location: "+other.URL+"/v1/messages\nreply "+code+" moved")
		if _, err := llm.Collect(s.Provider(t, server.URL, nil).Stream(t.Context(), Conversation())); err == nil {
			t.Errorf("%s: the redirect was followed", code)
		}
	}
	if n := len(other.Seen()); n != 0 {
		t.Errorf("%d requests reached another origin", n)
	}
}

func (s Suite) nobody(t *testing.T) {
	server := New(t, "")
	url := server.URL
	server.http.Close()
	var e *llm.Error
	if _, err := llm.Collect(s.Provider(t, url, nil).Stream(t.Context(), Conversation())); !errors.As(err, &e) || e.Kind != llm.Unreachable || !strings.Contains(e.Next(), url) {
		t.Errorf("nobody listens: %v", err)
	}
	p := s.Provider(t, url, func(c *wire.Config) { c.Policy = func() *egress.Policy { return nil } })
	if _, err := llm.Collect(p.Stream(t.Context(), Conversation())); !errors.As(err, &e) || e.Kind != llm.Refused {
		t.Errorf("no policy: %v", err)
	}
}
