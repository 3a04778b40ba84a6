// Package wire sends one request to a model provider and reads its answer as server-sent events.
//
// It knows no provider's format (see openai, anthropic), retries nothing (see llm), and reaches only what safehttp lets it:
// the owner's own base URL counts as trusted for exactly its origin.
//
// Failure direction: an error. What a provider says in one is shown without secrets, and its key is in none.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/llm"
	"hermes/internal/redact"
	"hermes/internal/safehttp"
	"hermes/internal/secret"
)

const (
	maxBody  = 256 << 20 // bytes of one answer
	maxEvent = 16 << 20  // bytes of one event
	maxError = 64 << 10  // bytes that are read of an answer that is an error
	maxSaid  = 600       // characters that are shown of it
)

// Config says where a provider is and how it is reached.
type Config struct {
	Name    string // as the owner calls it; shown in errors
	BaseURL string // http or https; what comes behind it is the format's
	Key     secret.String
	KeyName string            // the variable it came from; shown in hints
	Header  map[string]string // more headers of the owner's; they may hold secrets
	Trust   safehttp.Trust    // ssl_ca_cert, ssl_verify
	Policy  func() *egress.Policy
	Proxy   string
	Idle    time.Duration // silence that ends a request. 0: 2 minutes; 10 where the provider is on this machine, which loads models
	Tell    func(text string)
	Now     func() time.Time // for a Retry-After that is a date; nil: time.Now
}

// Client reaches one provider. It is safe for concurrent use. Whoever made it closes it.
type Client struct {
	c     Config
	http  *safehttp.Client
	clean *redact.Redactor
}

// New returns a client for a provider.
func New(c Config) (*Client, error) {
	u, err := egress.ParseURL(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("use provider %s: base_url: %w", c.Name, err)
	}
	c.BaseURL = strings.TrimRight(u.String(), "/")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Idle == 0 {
		c.Idle = 2 * time.Minute
		if onThisMachine(c.BaseURL) {
			c.Idle = 10 * time.Minute
		}
	}
	h, err := safehttp.New(safehttp.Options{
		Policy: c.Policy, Origins: []string{c.BaseURL}, Proxy: c.Proxy, Agent: "hermes", Trust: c.Trust, Tell: c.Tell,
		Limits: safehttp.Limits{Body: maxBody, Timeout: -1, Idle: c.Idle, Redirects: 3},
	})
	if err != nil {
		return nil, fmt.Errorf("use provider %s: %w", c.Name, err)
	}
	known := []secret.String{c.Key}
	for _, value := range c.Header {
		known = append(known, secret.New(value))
	}
	return &Client{c: c, http: h, clean: redact.New(redact.Options{Mode: redact.Strict, Known: known})}, nil
}

func onThisMachine(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// Close closes connections that wait for more requests.
func (c *Client) Close() error { return c.http.Close() }

// Name returns what the owner calls the provider.
func (c *Client) Name() string { return c.c.Name }

// BaseURL returns the address without a slash at its end.
func (c *Client) BaseURL() string { return c.c.BaseURL }

// Key returns the provider's key.
func (c *Client) Key() secret.String { return c.c.Key }

// Message is one server-sent event.
type Message struct {
	Event string // its name; "" where none was given
	Data  []byte // valid until the next one
}

// Post sends a JSON body to a path below the base URL and gives the events of the answer. Leaving the loop ends the request.
// An answer that is no stream (one JSON document, as some servers give) is a single event. Errors are *llm.Error or the cause
// of ctx. The end of the sequence says only that the connection was closed in order: whether that was the end of the answer,
// the format knows.
func (c *Client) Post(ctx context.Context, path string, header map[string]string, body any) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		text, err := json.Marshal(body)
		if err != nil {
			yield(Message{}, c.Malformed(fmt.Errorf("write the request: %w", err)))
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		resp, err := c.http.Send(ctx, safehttp.Request{URL: c.c.BaseURL + path, Header: c.header(header, true), Body: text})
		if err != nil {
			yield(Message{}, c.failed(ctx, err))
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			yield(Message{}, c.answered(ctx, resp.StatusCode, resp.Header.Get, resp.Body))
			return
		}
		kind := resp.Header.Get("Content-Type")
		if strings.HasPrefix(kind, "text/html") {
			e := c.fault(llm.Missing, page, nil)
			e.Status = resp.StatusCode
			yield(Message{}, e)
			return
		}
		silent := time.AfterFunc(3*c.c.Idle, func() { cancel(safehttp.ErrIdle) }) // signs of life alone do not count for ever
		defer silent.Stop()
		for m, err := range Read(resp.Body, strings.Contains(kind, "json")) {
			if err != nil {
				yield(Message{}, c.broken(ctx, err))
				return
			}
			silent.Reset(3 * c.c.Idle)
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Get fetches a JSON document from a path below the base URL into a value.
func (c *Client) Get(ctx context.Context, path string, header map[string]string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := c.http.Send(ctx, safehttp.Request{URL: c.c.BaseURL + path, Header: c.header(header, false)})
	if err != nil {
		return c.failed(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return c.answered(ctx, resp.StatusCode, resp.Header.Get, resp.Body)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
	if err != nil {
		return c.broken(ctx, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return c.Malformed(err)
	}
	return nil
}

// header puts the format's headers and the owner's together; the owner's count.
func (c *Client) header(of map[string]string, stream bool) map[string]string {
	out := map[string]string{"Accept": "application/json"}
	if stream {
		out["Accept"], out["Content-Type"] = "text/event-stream", "application/json"
	}
	for name, value := range of {
		out[name] = value
	}
	for name, value := range c.c.Header {
		for have := range out {
			if strings.EqualFold(have, name) {
				delete(out, have)
			}
		}
		out[name] = value
	}
	return out
}

func (c *Client) fault(kind llm.Kind, message string, err error) *llm.Error {
	return &llm.Error{Provider: c.c.Name, Kind: kind, Message: c.shown(message), KeyName: c.c.KeyName, BaseURL: c.c.BaseURL, Err: err}
}

// shown is what a provider said as a person may read it.
func (c *Client) shown(text string) string {
	text = c.clean.String(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "))
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxSaid {
		return string(runes[:maxSaid]) + "…"
	}
	return text
}

// failed is the error for a request that got no answer.
func (c *Client) failed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, safehttp.ErrIdle) {
		return cause
	}
	var denied *guard.DeniedError
	var by *url.Error
	if errors.As(err, &by) {
		err = by.Err // the address is named beside it
	}
	kind, text := llm.Unreachable, err.Error()
	switch {
	case errors.As(err, &denied):
		kind = llm.Refused
	case strings.Contains(text, "x509: "):
		kind = llm.Untrusted
	case errors.Is(err, safehttp.ErrIdle), strings.Contains(text, "timeout awaiting response headers"):
		kind, text = llm.Idle, c.silence()
	}
	return c.fault(kind, text, err)
}

func (c *Client) silence() string { return "nothing was received for " + c.c.Idle.String() }

// broken is the error for an answer that broke off.
func (c *Client) broken(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, safehttp.ErrIdle), errors.Is(cause, safehttp.ErrIdle):
		return c.fault(llm.Idle, c.silence(), safehttp.ErrIdle)
	case cause != nil:
		return cause
	case errors.Is(err, errTooLarge), errors.Is(err, safehttp.ErrTooLarge):
		return c.fault(llm.Malformed, err.Error(), err)
	}
	return c.fault(llm.Cut, err.Error(), err)
}

// Malformed is the error for an answer that is not in the provider's format.
func (c *Client) Malformed(err error) error { return c.fault(llm.Malformed, err.Error(), err) }

// Cut is the error for a stream that ended before its answer did.
func (c *Client) Cut() error {
	return c.fault(llm.Cut, "the stream ended before the answer did", io.ErrUnexpectedEOF)
}

// Said is the error for one that came inside the stream. The status may be 0.
func (c *Client) Said(status int, code, message string) error {
	if message == "" {
		message = code
	}
	e := c.fault(llm.KindOf(status, code, message), message, nil)
	if e.Status = status; e.Kind == llm.Unknown {
		e.Kind = llm.Overloaded // it had begun to answer
	}
	return e
}

// answered is the error for a status that is none of success.
func (c *Client) answered(ctx context.Context, status int, header func(string) string, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, maxError))
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, safehttp.ErrIdle) {
		return cause
	}
	code, message := complaint(text)
	e := c.fault(llm.KindOf(status, code, message), message, nil)
	e.Status, e.After = status, c.after(header)
	for _, name := range []string{"request-id", "x-request-id"} {
		if id := header(name); id != "" && e.Request == "" {
			e.Request = c.shown(id)
		}
	}
	return e
}

// after reads when to come back: Retry-After in seconds or as a date, or the milliseconds some give besides.
func (c *Client) after(header func(string) string) time.Duration {
	const most = 24 * time.Hour
	if ms, err := strconv.ParseFloat(header("retry-after-ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, most.Seconds()*1e3) * 1e6)
	}
	text := strings.TrimSpace(header("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if s > 0 { // NaN is not
			return time.Duration(min(s, most.Seconds()) * 1e9)
		}
		return 0
	}
	if at, err := time.Parse(time.RFC1123, text); err == nil {
		return min(max(0, at.Sub(c.c.Now())), most)
	}
	return 0
}

const page = "a page, not an answer: is this the address of an API?"

// complaint finds the code and the message in the body of an error, in the forms providers use:
// {"error":{"type","code","message"}}, {"error":"…"}, {"message":"…"}, {"detail":…}, or text.
func complaint(body []byte) (code, message string) {
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	trimmed := bytes.TrimSpace(body)
	if bytes.HasPrefix(trimmed, []byte("[")) { // some put it in a list
		var list []json.RawMessage
		if json.Unmarshal(trimmed, &list) == nil && len(list) > 0 {
			trimmed = list[0]
		}
	}
	if json.Unmarshal(trimmed, &doc) != nil {
		if bytes.HasPrefix(trimmed, []byte("<")) {
			return "", page
		}
		return "", string(trimmed)
	}
	if code, message, ok := Complaint(doc.Error); ok {
		return code, message
	}
	if doc.Message != "" {
		return "", doc.Message
	}
	return "", strings.Trim(string(doc.Detail), `"`)
}

// Complaint reads the error object of an answer, which may be a text, and tells whether there is one.
func Complaint(raw json.RawMessage) (code, message string, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", "", false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return "", text, true
	}
	var e struct {
		Type     string          `json:"type"`
		Code     json.RawMessage `json:"code"`
		Message  string          `json:"message"`
		Metadata struct {
			Raw string `json:"raw"` // what the provider behind OpenRouter said
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return "", string(raw), true
	}
	code = strings.TrimSpace(e.Type + " " + strings.Trim(string(e.Code), `"`))
	if e.Metadata.Raw != "" {
		e.Message += " " + e.Metadata.Raw
	}
	return strings.TrimSuffix(code, " null"), e.Message, true
}
