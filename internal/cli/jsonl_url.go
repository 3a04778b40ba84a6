package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/redact"
)

// urlRequest is what a line of kind url says.
type urlRequest struct {
	URL          *string                    `json:"url"`
	DNS          map[string]json.RawMessage `json:"dns"`
	AllowPrivate bool                       `json:"allow_private_urls"`
	AllowHosts   []string                   `json:"allow_private_hosts"`
	FakeIP       []string                   `json:"fake_ip_ranges"`
	NAT64        bool                       `json:"nat64"`
	Resolves     bool                       `json:"proxy_resolves"`
	Blocklist    []string                   `json:"blocklist"`
}

// urlAnswer answers kind url.
type urlAnswer struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Verdict  string          `json:"verdict"`
	Rule     string          `json:"rule"`
	Reason   string          `json:"reason"`
	Remedy   string          `json:"remedy,omitempty"`
	Host     string          `json:"host"`
	Warnings []string        `json:"warnings,omitempty"`
}

// unseen is what is said of a name that was not looked up.
const unseen = "its addresses are judged when it is connected to"

// url answers whether a URL may be fetched. Names are looked up in the line's dns only; without it they are not looked up.
func (a *asker) url(r *request) (any, error) {
	if r.URL == nil {
		return nil, errors.New("url: missing")
	}
	table, err := r.addresses()
	if err != nil {
		return nil, err
	}
	c := egress.Config{
		AllowPrivate: egress.AllowPrivate(r.Env["HERMES_ALLOW_PRIVATE_URLS"], r.AllowPrivate, false),
		AllowHosts:   r.AllowHosts, FakeIP: r.FakeIP, NAT64: r.NAT64, Resolves: r.Resolves, Sites: egress.NoSites(),
	}
	answer := urlAnswer{ID: r.ID}
	if len(r.Blocklist) > 0 {
		b := egress.NewBuilder()
		for _, rule := range r.Blocklist {
			b.Rule(rule, "config")
		}
		for _, w := range b.Notes {
			answer.Warnings = append(answer.Warnings, w.String())
		}
		c.Sites = b.Sites()
	}
	policy, warnings := egress.New(c)
	for _, w := range warnings {
		answer.Warnings = append(answer.Warnings, w.String())
	}
	if w := egress.AmbientProxy(func(name string) string { return r.Env[name] }, r.Resolves); w != "" {
		answer.Warnings = append(answer.Warnings, w)
	}
	answer.judge(policy, *r.URL, table, a.leaks)
	return answer, nil
}

// judge fills in the verdict on a URL.
func (answer *urlAnswer) judge(policy *egress.Policy, raw string, lookup egress.Lookup, secret func(string) bool) guard.Verdict {
	u, v := policy.Check(raw, lookup)
	if v.Action == guard.Allow {
		v = u.Leaks(secret)
	}
	answer.Verdict, answer.Rule, answer.Reason, answer.Remedy, answer.Host = v.Action.String(), v.Rule, v.Reason, v.Remedy, u.Host().String()
	if _, literal := u.Host().Addr(); v.Action == guard.Allow && !literal && (lookup == nil || policy.Resolves()) {
		answer.Reason = unseen
	}
	return v
}

// addresses returns the line's dns as a lookup: a list of addresses or "NXDOMAIN" for a name, and for "*" all others.
func (r *request) addresses() (egress.Lookup, error) {
	if r.DNS == nil {
		return nil, nil
	}
	table := map[string][]netip.Addr{}
	for name, raw := range r.DNS {
		var texts []string
		if err := json.Unmarshal(raw, &texts); err != nil {
			var word string
			if json.Unmarshal(raw, &word) != nil || word != "NXDOMAIN" && word != "" {
				return nil, fmt.Errorf("dns: %q is neither a list of addresses nor NXDOMAIN", name)
			}
		}
		list := make([]netip.Addr, len(texts))
		for i, text := range texts {
			list[i], _ = netip.ParseAddr(text) // what is no address is refused as such
		}
		if h, err := egress.ParseHost(name); err == nil {
			name = h.String()
		}
		table[name] = list
	}
	return func(name string) ([]netip.Addr, error) {
		list, ok := table[name]
		if !ok {
			list = table["*"]
		}
		if len(list) == 0 {
			return nil, errors.New("no such host")
		}
		return list, nil
	}, nil
}

// leaks tells whether a text holds something that looks like a secret.
func (a *asker) leaks(text string) bool {
	if a.redactor == nil {
		a.redactor = redact.New(redact.Options{})
	}
	return len(a.redactor.With(redact.Text).Spans(text)) > 0
}

// checkURL judges one URL from the command line, without looking its name up.
func checkURL(stdio *IO, o checkOptions, text string) error {
	a := asker{checkOptions: o}
	policy, _ := egress.New(egress.Config{Sites: egress.NoSites()})
	var answer urlAnswer
	v := answer.judge(policy, strings.TrimSuffix(text, "\n"), nil, a.leaks)
	if o.json {
		return finish(stdio, v, answer)
	}
	p := newPage(stdio)
	if v.Action == guard.Allow {
		p.line("allow")
		if answer.Reason != "" {
			p.line("\nIt was not looked up: " + answer.Reason + ".")
		}
		return nil
	}
	p.line(headline(v))
	p.line("\n    " + visible(v.Reason))
	if v.Remedy != "" {
		p.line("\n" + sentence(visible(v.Remedy)))
	}
	return exit(v.Action)
}
