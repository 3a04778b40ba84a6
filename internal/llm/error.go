package llm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind says what went wrong, as far as it matters for what to do next.
type Kind string

// What can go wrong.
const (
	Unreachable Kind = "unreachable"       // no connection, no answer
	Refused     Kind = "refused"           // our own guard does not let the request out
	Auth        Kind = "not authorised"    // no key, a wrong one, or one without the right
	Payment     Kind = "no credit"         // the account has none left
	Missing     Kind = "not found"         // no such model or address
	TooLong     Kind = "too long"          // more than the model takes
	Invalid     Kind = "request refused"   // the provider does not accept the request
	Limited     Kind = "rate limited"      // too many requests
	Overloaded  Kind = "overloaded"        // the provider cannot now
	Cut         Kind = "cut off"           // the stream ended before the answer did
	Idle        Kind = "silent"            // nothing came for too long
	Malformed   Kind = "not understood"    // what came is not in the provider's format
	Untrusted   Kind = "not trusted"       // its certificate
	Unknown     Kind = "unexpected answer" // a status that has no meaning here
)

// Error is what a provider answered instead of an answer, or what kept it from answering.
type Error struct {
	Provider string
	Kind     Kind
	Status   int           // of HTTP; 0: there was none
	Message  string        // what the provider said, without secrets, or what happened
	Request  string        // the provider's id for it
	After    time.Duration // when to come back, if the provider says so; 0: it does not
	KeyName  string        // the variable that holds the key
	BaseURL  string
	Err      error // the cause, if there is one on this side
}

// Error names the provider, what happened, the status, and what the provider said.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ask %s: %s", e.Provider, e.Kind)
	if e.Status != 0 {
		b.WriteString(" (" + strconv.Itoa(e.Status) + ")")
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Request != "" {
		b.WriteString(" [request " + e.Request + "]")
	}
	return b.String()
}

// Unwrap returns the cause on this side.
func (e *Error) Unwrap() error { return e.Err }

// Passing tells whether the same request may succeed a little later.
func (e *Error) Passing() bool {
	switch e.Kind {
	case Unreachable, Limited, Overloaded, Cut, Idle, Malformed:
		return true
	}
	return false
}

// Next says what the owner can do, as a hint beside the error.
func (e *Error) Next() string {
	switch e.Kind {
	case Unreachable:
		return "Is " + e.BaseURL + " right, and does something answer there?"
	case Refused:
		return "Set the address as base_url of the provider: only that origin is then allowed."
	case Auth:
		if e.KeyName == "" {
			return "It wants a key: name the variable that holds it as key_env of the provider, and give it with hermes config set NAME - < FILE"
		}
		return "Check " + e.KeyName + " in .env: hermes config set " + e.KeyName + " - < FILE"
	case Payment:
		return "Add credit at " + e.Provider + ", or name another model in fallback_models."
	case Missing:
		return "Check the model's name, and that base_url ends where the provider says (often in /v1)."
	case TooLong:
		return "/compact shortens the conversation; a model with a larger context takes it whole."
	case Limited:
		if e.After > 0 {
			return "Wait " + e.After.Round(time.Second).String() + ", or name another model in fallback_models."
		}
		return "Wait a little, or name another model in fallback_models."
	case Overloaded, Cut:
		return "Try again, or name another model in fallback_models."
	case Idle:
		return "The model may still be loading: try again, or choose a smaller one."
	case Malformed:
		return "Does " + e.BaseURL + " speak this provider's format? Another provider's type may fit it."
	case Untrusted:
		return "Name the certificates that sign it as ssl_ca_cert of the provider."
	}
	return "The provider's own message says more; hermes model shows what else there is."
}

// Next returns what the owner can do about an error of a model, as a hint beside it: what its Next says, "" if nothing is known.
func Next(err error) string {
	var e interface{ Next() string }
	if errors.As(err, &e) {
		return e.Next()
	}
	return ""
}

// KindOf says what a status of HTTP means, with what the provider calls the error.
func KindOf(status int, code, message string) Kind {
	text := strings.ToLower(code + " " + message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("context_length", "context length", "maximum context", "prompt is too long", "context window", "exceed_context", "exceeds the available context",
		"exceed context limit", "input is too long", "maximum prompt length", "input token count", "string_above_max_length",
		"reduce the length of the messages"),
		status != 429 && has("too many tokens"),       // with 429 it is a rate
		status == 429 && has("request too large for"): // more than the account may send in a minute, so that waiting does not help
		return TooLong
	case status == 402, has("insufficient_quota", "credit balance", "billing"):
		return Payment
	case status == 401, status == 403, has("authentication_error", "invalid_api_key", "permission_error"):
		return Auth
	case status == 404, has("not_found_error", "model_not_found"):
		return Missing
	case status == 413, has("request_too_large"):
		return TooLong
	case status == 429, has("rate_limit"):
		return Limited
	case status == 408, status == 409, status == 425, status >= 500, has("overloaded", "server_error", "api_error"):
		return Overloaded
	case status == 400, status == 422, has("invalid_request"):
		return Invalid
	}
	return Unknown
}
