// Package browse holds the tools that read the web: web_extract, web_search and download.
//
// It connects to nothing by itself (see safehttp), decides on no address or site (see guard/egress) and runs no script. What it
// returns is text from outside: it says so, tells what was found in it, and keeps what a page does not show apart; wrapping is the
// business of whoever gives it to a model.
//
// Failure direction: refuse, or leave out. What was refused, is too large or cannot be read has no content, and an error instead.
package browse

import (
	"context"
	"errors"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/guard/taint"
	"hermes/internal/safehttp"
)

// Options is what the tools work with. Client and Policy are needed, and the same policy is behind both.
type Options struct {
	Client *safehttp.Client
	Policy func() *egress.Policy
	// Secret tells whether a text carries a secret, which then goes into no URL and no query; nil: names of parameters only.
	Secret func(text string) bool
	// PDF reads the text of a PDF, in a process of its own; nil: PDFs are not read.
	PDF     func(ctx context.Context, file []byte) (string, error)
	Chars   int           // of one page that are returned at once: 50,000
	Timeout time.Duration // of one call: a minute
}

// Limits of what is read of one answer, in bytes, unpacked. The client has a limit of its own.
const (
	maxPage = 8 << 20
	maxPDF  = 32 << 20
	maxURLs = 5
)

func (o Options) chars() int {
	if o.Chars > 0 {
		return o.Chars
	}
	return 50_000
}

func (o Options) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout > 0 {
		return context.WithTimeout(ctx, o.Timeout)
	}
	return context.WithTimeout(ctx, time.Minute)
}

// leaks refuses a URL that a model wrote if it would carry a secret away, whether or not it is a URL.
func (o Options) leaks(raw string) error {
	u, err := egress.ParseURL(raw)
	v := guard.Allowed()
	switch {
	case err == nil:
		v = u.Leaks(o.Secret)
	case o.Secret != nil && o.Secret(raw):
		v = guard.Verdict{Tier: guard.Egress, Rule: "url/credential", Reason: "the URL carries a secret: secrets do not go into URLs", Harms: guard.Leak}
	}
	if v.Action == guard.Allow {
		return nil
	}
	host := "a URL"
	if err == nil {
		host = u.Host().String()
	}
	return &guard.DeniedError{Op: "fetch", Subject: host, Verdict: v}
}

// Blocked says which rule of the owner's list of sites refused a page.
type Blocked struct {
	Host    string `json:"host"`
	Rule    string `json:"rule"`
	Source  string `json:"source"`
	Message string `json:"message"`
}

// judge judges a URL as it is now, before anything is looked up. The second result is set where the list of sites refused it.
func (o Options) judge(raw string) (egress.URL, *Blocked, error) {
	u, err := egress.ParseURL(raw)
	if err != nil {
		return u, nil, &guard.DeniedError{Op: "fetch", Subject: clip(raw, 200), Verdict: egress.Refusal(err)}
	}
	policy := o.Policy()
	v := policy.Before(u.Target())
	if v.Action == guard.Allow {
		return u, nil, nil
	}
	var blocked *Blocked
	if b, listed := policy.Blocked(u.Host()); listed {
		blocked = &Blocked{Host: u.Host().String(), Rule: b.Rule, Source: b.Source, Message: v.Reason}
	}
	return u, blocked, &guard.DeniedError{Op: "fetch", Subject: u.Host().String(), Verdict: v}
}

// told is an error with what can be done about it, where somebody knows.
func told(err error) string {
	var d *guard.DeniedError
	if errors.As(err, &d) && d.Verdict.Remedy != "" {
		return err.Error() + ". What can be done: " + d.Verdict.Remedy
	}
	return err.Error()
}

// refusedAt returns the URL at which the client refused to go on, "" where it was something else.
func refusedAt(err error) string {
	var d *guard.DeniedError
	if errors.As(err, &d) && d.Op == "fetch" && strings.Contains(d.Subject, "://") {
		return d.Subject
	}
	return ""
}

// Concealed is a text of a page that is not shown, and what was found in it.
type Concealed struct {
	Kind     string   `json:"kind"`
	Text     string   `json:"text"`
	Findings []string `json:"findings,omitempty"`
}

// Finding is a place in a text that looks like an attack, in bytes.
type Finding struct {
	ID     string `json:"id"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Quoted bool   `json:"quoted,omitempty"`
}

// scan looks for attacks in what is shown, as in any result of a tool.
func scan(text string) []Finding {
	out := []Finding{}
	for _, f := range taint.Scan(text, taint.Context) {
		out = append(out, Finding{f.ID, f.Start, f.End, f.Quoted})
	}
	return out
}

// risk sums up what was found.
func risk(shown []Finding, hidden []Concealed) taint.Risk {
	r := taint.Risk{Level: "low", Findings: []string{}}
	seen := map[string]bool{}
	add := func(id string) {
		if !seen[id] {
			seen[id], r.Level = true, "high"
			r.Findings = append(r.Findings, id)
		}
	}
	for _, f := range shown {
		add(f.ID)
	}
	for _, h := range hidden {
		for _, id := range h.Findings {
			add(id)
		}
	}
	return r
}

// clip shortens a text that is only named.
func clip(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
