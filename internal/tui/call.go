package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/session"
)

// What of a call is shown while it is folded, in lines.
const (
	tailLines  = 4   // of what it prints, while it runs or if it failed
	whyLines   = 8   // of why it was refused
	diffLines  = 16  // of what it changed
	openLines  = 400 // of each part, once it is unfolded
	mostOutput = 1 << 17
)

// call is one call of a tool.
type call struct {
	id, name, title string
	args            string
	began           time.Time
	took            time.Duration
	ended           bool
	failed          bool
	refused         bool
	summary         string
	note            string // what it does now
	output          string // what it has printed, the end of it
	cut             bool   // output is only the end
	result          string // what the model was given
	diff            string
	why             string // why it could not be made
	approved        session.Approval
}

// tell takes what a call says while it runs.
func (c *call) tell(output, note string) {
	if note != "" {
		c.note = note
	}
	c.output += output
	if over := len(c.output) - mostOutput; over > mostOutput/2 {
		c.output, c.cut = strings.ToValidUTF8(c.output[over:], ""), true
	}
}

// end takes what came of it.
func (c *call) end(e agent.Ended) {
	c.ended, c.took, c.note = true, e.Took, ""
	c.summary, c.diff, c.failed, c.approved = e.Result.Summary, e.Result.Diff, e.Result.Failed, e.Result.Approved
	var parts []string
	for _, p := range e.Result.Parts {
		parts = append(parts, p.Text)
	}
	c.result = strings.Join(parts, "\n")
	if over := len(c.result) - mostOutput; over > 0 {
		c.result = strings.ToValidUTF8(c.result[:mostOutput], "") + fmt.Sprintf("\n(%d more bytes)", over)
	}
	if e.Err != nil {
		var denied *guard.DeniedError
		c.failed, c.refused, c.why = true, errors.As(e.Err, &denied), e.Err.Error()
	}
	if strings.HasPrefix(strings.TrimSpace(c.result), "BLOCKED") || strings.HasPrefix(c.why, "BLOCKED") {
		c.refused = true
	}
}

func (c *call) lines(v view) []line {
	sign, st := v.spinner(), caution
	switch {
	case c.refused:
		sign, st = v.look.pick("⊘", "!"), bad
	case c.ended && (c.failed || c.nonzero()):
		sign, st = v.look.pick("✗", "x"), bad
	case c.ended:
		sign, st = v.look.pick("✓", "+"), good
	}
	head := line{{sign + " ", st}, {clean(c.name), accent}}
	room := v.cols - head.cols() - 2
	title := clean(strings.Join(strings.Fields(c.title), " "))
	meta := c.meta(v, room-3-min(width(title), leastTitle))
	if free := room - width(meta) - 3; title != "" && free > 3 {
		head = append(head, span{"  ", normal})
		head = append(head, v.look.clip(styled(title, normal), free)...)
	}
	if meta != "" {
		mst := faint
		if c.failed || c.nonzero() {
			mst = bad
		}
		head = append(head, span{"   ", normal}, span{meta, mst})
	}
	return append([]line{v.look.clip(head, v.cols)}, c.body(v)...)
}

// nonzero tells whether it was a command or a program that failed, or was ended. To its tool that is a result like any other.
func (c *call) nonzero() bool {
	code, ok := strings.CutPrefix(c.summary, "exit code ")
	return ok && code != "0" || c.name == "execute_code" && strings.HasPrefix(c.summary, "it was ")
}

// leastTitle is how much of what a call was about is shown before how it went.
const leastTitle = 16

// meta says how it went, and who let it, in so many columns: what matters least is left out.
func (c *call) meta(v view, cols int) string {
	var parts []string
	switch {
	case c.refused:
		parts = append(parts, "refused")
	case c.summary != "":
		parts = append(parts, clean(strings.Join(strings.Fields(c.summary), " ")))
	case c.failed:
		parts = append(parts, "failed")
	}
	if how := clean(c.approved.How); how != "" && !c.refused {
		switch how { // by somebody
		case "once", "session", "always":
			how = "allowed " + how
		}
		parts = append(parts, how)
	}
	if took := c.took; c.ended && took >= 100*time.Millisecond {
		parts = append(parts, duration(took))
	} else if !c.ended && v.now.Sub(c.began) >= time.Second {
		parts = append(parts, duration(v.now.Sub(c.began).Truncate(time.Second)))
	}
	for {
		text := strings.Join(parts, v.look.pick(" · ", " - "))
		if width(text) <= cols || len(parts) == 0 {
			return text
		}
		if len(parts) == 1 && (c.failed || c.nonzero()) {
			return v.look.clip(styled(text, normal), max(cols, 8)).String()
		}
		parts = parts[:len(parts)-1]
	}
}

// body is what stands below the head.
func (c *call) body(v view) []line {
	const margin = "  "
	var out []line
	limit := func(most int) int {
		if v.open {
			return openLines
		}
		return most
	}
	if v.open {
		out = append(out, c.arguments(v)...)
	}
	if c.note != "" && !c.ended {
		out = append(out, paragraph(c.note, faint, v.cols, margin, margin)...)
	}
	why := c.why
	if why == "" && c.refused {
		why = c.result
	}
	shown := c.output
	if shown == "" && why == "" {
		shown = c.result
	}
	switch {
	case v.open:
		out = append(out, tail(printed(shown), c.cut, openLines, v)...)
	case !c.ended:
		out = append(out, tail(printed(c.output), false, tailLines, v)...)
	case c.failed || c.nonzero():
		out = append(out, tail(printed(shown), false, tailLines, v)...)
	}
	if why != "" {
		if c.refused && !v.open {
			why = approval.ForPerson(why)
		}
		lines := paragraph(why, bad, v.cols, margin, margin)
		if n := limit(whyLines); len(lines) > n {
			lines = append(lines[:n:n], styled(margin+v.look.dots(), faint))
		}
		out = append(out, lines...)
	}
	if c.diff != "" {
		out = append(out, diff(c.diff, v.cols, limit(diffLines), v.look)...)
	}
	return out
}

// tail returns the last lines of an output.
func tail(lines []string, cut bool, most int, v view) []line {
	var out []line
	more := len(lines) - most
	if more > 0 || cut && v.open {
		what := number(max(0, more), "more line") + " above"
		if cut {
			what += ", and what was printed before"
		}
		if v.open {
			out = append(out, styled("  "+v.look.dots()+" "+what, faint))
		}
		lines = lines[max(0, more):]
	}
	for _, s := range lines {
		if v.open {
			out = append(out, chop(styled(s, faint), v.cols, plainLine("  "), plainLine("  "))...)
		} else {
			out = append(out, v.look.clip(line{{"  ", normal}, {s, faint}}, v.cols))
		}
	}
	return out
}

// arguments writes what the tool was called with, whole.
func (c *call) arguments(v view) []line {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(c.args), &fields) != nil {
		return paragraph(c.args, faint, v.cols, "  ", "  ")
	}
	var out []line
	for _, key := range slices.Sorted(mapKeys(fields)) {
		var text string
		if json.Unmarshal(fields[key], &text) != nil {
			text = string(fields[key])
		}
		lines := paragraph(text, normal, v.cols, "  "+clean(key)+": ", "    ")
		if len(lines) > openLines {
			more := len(lines) - openLines
			lines = append(lines[:openLines], styled("    "+v.look.dots()+" "+number(more, "more line"), faint))
		}
		out = append(out, lines...)
	}
	return out
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// duration writes a time for a person: 0.4s, 12s, 3m05s.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// diff writes a difference in the unified format.
func diff(text string, cols, most int, look Look) []line {
	all := rows(text)
	var out []line
	for i, s := range all {
		if len(out) >= most {
			return append(out, styled("  "+look.dots()+" "+number(len(all)-i, "more line")+" of the difference", faint))
		}
		st := normal
		switch {
		case strings.HasPrefix(s, "+++ "), strings.HasPrefix(s, "--- "), strings.HasPrefix(s, "\\"):
			st = faint
		case strings.HasPrefix(s, "@@"):
			st = accent
		case strings.HasPrefix(s, "+"):
			st = good
		case strings.HasPrefix(s, "-"):
			st = bad
		}
		out = append(out, chop(styled(s, st), cols, plainLine("  "), plainLine("    "))...)
	}
	return out
}
