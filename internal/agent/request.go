package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/internal/llm"
	"hermes/internal/session"
)

// lost is the result of a call in a request that none is stored for: a format with calls that nobody answered is refused as a whole.
const lost = "No result of this call is stored."

// messages writes the conversation as a request takes it in either format: each call is answered right behind its answer, once and
// in order; nobody speaks twice in a row, nothing is empty, and a result that is too long is shortened. What is stored stays.
func (h *history) messages(most int) []llm.Message {
	out := make([]llm.Message, 0, len(h.entries))
	for i, e := range h.entries {
		switch {
		case e.Role == llm.Result: // behind its answer
		case e.Text == "" && len(e.Calls) == 0:
		case e.Role == llm.User:
			out = said(out, e.Message.Message)
		default:
			out = said(out, e.Message.Message)
			found, _ := results(e.Message, h.entries[i+1:])
			for k, r := range found {
				m := llm.Message{Role: llm.Result, CallID: e.Calls[k].ID, Text: lost, Failed: true}
				if r != nil {
					m.Text, m.Failed = shorten(r.Text, r.clip(most)), r.Failed
				}
				out = append(out, m)
			}
		}
	}
	return out
}

// said adds what somebody says, to what they have just said if there is such. Thoughts of an answer that goes on are left out: they
// would stand in another place than the model wrote them.
func said(to []llm.Message, m llm.Message) []llm.Message {
	n := len(to)
	if n == 0 || to[n-1].Role != m.Role || len(to[n-1].Calls) > 0 {
		return append(to, m)
	}
	before := to[n-1]
	sep := "\n\n"
	if m.Role == llm.Assistant {
		sep, before.Thoughts = "", nil
	}
	if before.Text == "" || m.Text == "" {
		sep = ""
	}
	m.Text = before.Text + sep + m.Text
	to[n-1] = m
	return to
}

// The longest result in a request, in bytes.
const (
	longest  = 100_000
	shortest = 4_000
)

// longestResult is how much of one result a request holds: at most a quarter of what the model takes.
func longestResult(l llm.Limits) int {
	if l.Context <= 0 {
		return longest
	}
	return max(shortest, min(longest, l.Context/4*3))
}

// lengths are those of the results of one answer, in bytes.
type lengths struct{ all []int }

const leastShare = 500 // bytes of each result, however many there are

// clip is how much of a result a request holds: all results of one answer together take at most twice what one may.
func (e *entry) clip(most int) int {
	if e.results == nil || len(e.results.all) < 3 {
		return most
	}
	return e.results.share(most)
}

// share is how much of each result is kept where all of them would be too much: those that are short stay whole.
func (l *lengths) share(most int) int {
	sorted := slices.Clone(l.all)
	slices.Sort(sorted)
	left := 2 * most
	for i, n := range sorted {
		fair := left / (len(sorted) - i)
		if n = min(n, most); n > fair {
			return min(most, max(leastShare, fair))
		}
		left -= n
	}
	return most
}

// blockTag matches the tags of blocks from outside (see guard/taint).
var blockTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(/?)untrusted_tool_result\b[^<>]*\bid="([^"<>]*)">`)
})

// shorten leaves the middle of a text out, which the model can ask for.
func shorten(text string, most int) string {
	return gap(text, most, "[… %d of %d bytes are left out here: ask for this part alone if it matters …]")
}

// gap leaves the middle of a text out and says so. Tags of blocks from outside that begin or end there stay, so that what was inside
// a block still is.
func gap(text string, most int, note string) string {
	if len(text) <= most {
		return text
	}
	from, to := whole(text, most*2/3, -1), whole(text, len(text)-most/3, 1)
	tags := blockTag().FindAllStringSubmatchIndex(text, -1)
	for _, t := range tags { // no cut goes through a tag
		if t[0] < from && from < t[1] {
			from = t[0]
		}
		if t[0] < to && to < t[1] {
			to = t[1]
		}
	}
	type tag struct{ text, id string }
	var kept []tag
	for _, t := range tags {
		if t[0] < from || t[1] > to {
			continue
		}
		id, closes := text[t[4]:t[5]], t[2] != t[3]
		if n := len(kept); closes && n > 0 && kept[n-1].id == id && !strings.HasPrefix(kept[n-1].text, "</") {
			kept = kept[:n-1] // all of the block is left out
			continue
		}
		kept = append(kept, tag{text[t[0]:t[1]], id})
	}
	var b strings.Builder
	b.WriteString(text[:from])
	b.WriteByte('\n')
	fmt.Fprintf(&b, note, to-from, len(text))
	b.WriteByte('\n')
	for _, t := range kept {
		b.WriteString(t.text + "\n")
	}
	b.WriteString(text[to:])
	return b.String()
}

// whole moves a place in a text off the middle of a character.
func whole(text string, at, by int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at += by
	}
	return max(0, min(at, len(text)))
}

// tokens is about how much an entry takes in a request.
func (e *entry) tokens(most int) int {
	if most = e.clip(most); e.size == 0 || e.most != most {
		n := 6 + llm.Estimate(shorten(e.Text, most))
		for _, c := range e.Calls {
			n += 10 + llm.Estimate(c.Name) + llm.Estimate(c.Arguments)
		}
		for _, t := range e.Thoughts {
			if t.Signature != "" || t.Sealed != "" {
				n += llm.Estimate(t.Text)
			}
		}
		e.size, e.most = n, most
	}
	return e.size
}

// tokens is how much the conversation takes: as the provider counted it at the last answer, and about what came since. What was
// counted before a summary counts no more.
func (h *history) tokens(besides, most int) int {
	var summary int64
	if len(h.entries) > 0 && h.entries[0].Covers > 0 {
		summary = h.entries[0].ID
	}
	n := 0
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		if e.Role == llm.Assistant && e.Usage.Input > 0 && e.ID > summary {
			out := e.Usage.Output
			if about := e.tokens(most); about > 4*out { // it broke off before it was counted
				out = about
			}
			return n + e.Usage.Input + out
		}
		n += e.tokens(most)
	}
	return n + besides
}

// Taken is about how many tokens a conversation takes, as session.View.Live gives it: as a provider counted at its last answer, and
// about what came since. Where none has counted, the system prompt and the tools are not in it.
func Taken(live []session.Message) int {
	h := history{ids: map[string]bool{}}
	for _, m := range live {
		h.add(m)
	}
	return h.tokens(0, longest)
}

// Priced tells whether it is known what all answers of such a conversation cost.
func Priced(live []session.Message) bool {
	paid := false
	for _, m := range live {
		switch {
		case m.Covers > 0: // what the messages took that it stands for is not looked at
			return false
		case m.Usage.Output > 0 && m.Dollars == 0, m.Role == llm.Assistant && m.Model != "" && m.Usage == llm.Usage{}: // no price; not counted
			return false
		}
		paid = paid || m.Dollars > 0
	}
	return paid
}
