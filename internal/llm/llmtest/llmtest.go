// Package llmtest is a model provider that answers from a script, in the formats of chat completions and of the messages API:
// streams, errors, limits, and all that goes wrong on the way.
//
// It judges nothing and knows no model. Failure direction: none, it is used by tests only; a request that no turn is left for is
// answered with an error that says so.
package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a provider on loopback. It is safe for concurrent use; the test closes it.
type Server struct {
	URL   string // without a path: the base URL of the messages API; chat completions are at URL/v1
	Split int    // bytes that are sent at once: 0 is an event
	CRLF  bool   // lines end in CR LF

	http  *httptest.Server
	done  chan struct{}
	mu    sync.Mutex // guards what is below
	turns []Turn
	seen  []Request
	went  int // requests whose client went away before the end
}

// Request is one that was received.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Has tells whether the body holds a text, or a JSON value that is written so.
func (r Request) Has(text string) bool { return bytes.Contains(r.Body, []byte(text)) }

// New starts a server that plays the turns of a script, one a request (see Parse).
func New(t testing.TB, script string) *Server {
	t.Helper()
	return start(t, script, httptest.NewServer)
}

// NewTLS is New with a certificate that nobody knows; its PEM is CA.
func NewTLS(t testing.TB, script string) *Server {
	t.Helper()
	return start(t, script, httptest.NewTLSServer)
}

func start(t testing.TB, script string, with func(http.Handler) *httptest.Server) *Server {
	t.Helper()
	turns, err := Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{turns: turns, done: make(chan struct{})}
	s.http = with(s)
	s.URL = s.http.URL
	t.Cleanup(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Certificate returns the server's certificate, in DER.
func (s *Server) Certificate() []byte { return s.http.Certificate().Raw }

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// Went returns how many clients went away before the end of their answer.
func (s *Server) Went() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.went
}

// Left returns how many turns were not played.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// ServeHTTP plays the next turn.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"test-model","object":"model","type":"model","display_name":"Test","context_length":32768,"max_input_tokens":32768}],"has_more":false}`)
		return
	}
	var f format
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		f = &chat{}
	case strings.HasSuffix(r.URL.Path, "/messages"):
		f = &messages{}
	default:
		http.Error(w, `{"error":{"type":"not_found_error","message":"no such path"}}`, http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, Request{r.URL.Path, r.Header.Clone(), body})
	turn := Turn{{Do: "status", Text: `500 script "no turn is left"`}}
	if len(s.turns) > 0 {
		turn, s.turns = s.turns[0], s.turns[1:]
	}
	s.mu.Unlock()
	var asked struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || asked.Model == "" {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"no JSON with a model"}}`, http.StatusBadRequest)
		return
	}
	p := &player{s: s, w: w, r: r, f: f, model: asked.Model, stop: "done"}
	if !p.play(turn, body) {
		s.mu.Lock()
		s.went++
		s.mu.Unlock()
	}
}

// format writes what happens in one of the two formats.
type format interface {
	begin(p *player)
	text(p *player, text string)
	think(p *player, text string)
	call(p *player, id, name, arguments string)
	fail(p *player, kind, message string)
	finish(p *player)
}

// player plays one turn.
type player struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	f     format
	model string

	began         bool
	stop          string
	input, output int
	cached        int
	calls         int
	gone          bool
}

// play tells whether the client stayed to the end.
func (p *player) play(t Turn, body []byte) bool {
	for _, step := range t {
		if !p.step(step, body) {
			return !p.gone
		}
	}
	p.start()
	p.f.finish(p)
	return !p.gone
}

// step does one step, and tells whether the turn goes on.
func (p *player) step(step Step, body []byte) bool {
	word, rest, _ := strings.Cut(step.Text, " ")
	switch step.Do {
	case "header":
		name, value, _ := strings.Cut(step.Text, ":")
		p.w.Header().Set(strings.TrimSpace(name), strings.TrimSpace(value))
	case "expect":
		if !bytes.Contains(body, []byte(step.Text)) {
			p.status("400", "script", "the request does not hold "+step.Text)
			return false
		}
	case "status":
		kind, message, _ := strings.Cut(rest, " ")
		p.status(word, kind, message)
		return false
	case "reply": // a status and a body as it is
		p.reply(word, rest)
		return false
	case "say":
		p.start()
		p.f.text(p, unquote(step.Text))
	case "think":
		p.start()
		p.f.think(p, unquote(step.Text))
	case "call":
		p.start()
		p.calls++
		p.stop = "calls"
		p.f.call(p, fmt.Sprintf("call_%s_%d", word, p.calls), word, rest)
	case "usage":
		fmt.Sscan(step.Text, &p.input, &p.output, &p.cached)
	case "stop":
		p.stop = step.Text
	case "fail": // an error inside the stream
		p.start()
		p.f.fail(p, word, rest)
		return false
	case "raw": // a line as it is
		p.start()
		p.send(unquote(step.Text))
	case "wait":
		d, _ := time.ParseDuration(step.Text)
		return p.wait(d)
	case "hang": // until the client goes
		p.start()
		return p.wait(time.Hour)
	case "close": // in order, before the answer is whole
		p.start()
		return false
	case "cut": // the connection breaks
		p.start()
		panic(http.ErrAbortHandler)
	}
	return !p.gone
}

func (p *player) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.r.Context().Done():
		p.gone = true
	case <-p.s.done:
	}
	return false
}

func (p *player) status(status, kind, message string) {
	text, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "code": kind, "message": unquote(message)}})
	p.w.Header().Set("Content-Type", "application/json")
	p.reply(status, string(text))
}

func (p *player) reply(status, body string) {
	code := 500
	fmt.Sscan(status, &code)
	p.w.WriteHeader(code)
	fmt.Fprint(p.w, unquote(body))
}

func (p *player) start() {
	if p.began {
		return
	}
	p.began = true
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	p.f.begin(p)
}

// event sends one event with its data as JSON.
func (p *player) event(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	out := "data: " + string(text) + "\n\n"
	if name != "" {
		out = "event: " + name + "\n" + out
	}
	p.send(out)
}

func (p *player) send(text string) {
	if p.s.CRLF {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	size := p.s.Split
	if size <= 0 {
		size = len(text)
	}
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := io.WriteString(p.w, text[:n]); err != nil || p.r.Context().Err() != nil {
			p.gone = true
			return
		}
		p.w.(http.Flusher).Flush()
		text = text[n:]
	}
}
