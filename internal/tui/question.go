package tui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hermes/internal/approval"
	"hermes/internal/screen"
)

// WriteQuestion writes a question as lines: why, the whole command with the guilty parts underlined, where, and what each answer
// covers. Ask is the line after it.
func WriteQuestion(w io.Writer, q approval.Question, cols int, look Look) {
	var b strings.Builder
	b.WriteByte('\n')
	for _, l := range question(q, cols, look) {
		look.paint(&b, l)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	_, _ = io.WriteString(w, b.String()) // who reads no answer to it takes that for no
}

// Ask returns the line in front of the answer. Its length does not change while the clock runs.
func Ask(q approval.Question, now time.Time) string {
	letters := []string{"o"}
	if q.Offers(approval.Session) {
		letters = append(letters, "s")
	}
	if q.Offers(approval.Always) {
		letters = append(letters, "a")
	}
	whole, left := clockText(q.Deadline.Sub(q.Asked)), clockText(q.Deadline.Sub(now))
	return fmt.Sprintf("  Choice [%s/D], %*s left: ", strings.Join(letters, "/"), len(whole), left)
}

// Word reads what was typed as an answer. Whatever is not the word of a choice denies.
func Word(typed string) approval.Choice {
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "o", "once":
		return approval.Once
	case "s", "session":
		return approval.Session
	case "a", "always":
		return approval.Always
	}
	return approval.Deny
}

// reasonIn returns what was typed as the reason for a refusal: anything but the words for no.
func reasonIn(typed string) string {
	typed = strings.TrimSpace(typed)
	switch strings.ToLower(typed) {
	case "d", "deny", "n", "no":
		return ""
	}
	return typed
}

func clockText(d time.Duration) string {
	s := max(0, int((d+time.Second-1)/time.Second))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

const margin = "     "

// question lays a question out.
func question(q approval.Question, cols int, look Look) []line {
	head := approval.Finding{Rule: "this command"}
	if len(q.Findings) > 0 {
		head = q.Findings[0]
	}
	subject, once := head.Rule, "this command, now"
	if q.For != "" {
		subject, once = "a command that runs wants to reach what is not on the sandbox's list", "this connection, now"
	}
	p := asker{cols: max(24, cols), look: look}
	p.text("  "+look.pick("⚠", "!")+"  ", subject, bold|caution)
	p.out = append(p.out, line{})
	p.command(q.Command, q.Findings)
	if q.For != "" {
		p.text(margin+"for: ", q.For, normal)
	}
	if head.Runs != "" {
		p.text(margin+"runs: ", head.Runs, normal)
	}
	if head.Reason != "" && head.Reason != head.Rule {
		p.text(margin+"why: ", head.Reason, normal)
	}
	var also []string
	for _, f := range q.Findings {
		if f.Rule != head.Rule && !slices.Contains(also, f.Rule) {
			also = append(also, f.Rule)
		}
	}
	if len(also) > 0 {
		p.text(margin+"also: ", strings.Join(also, ", "), normal)
	}
	if q.Guardian != "" {
		p.text(margin, q.Guardian+"; you may overrule it once", normal)
	}
	dir := look.fold(q.Dir)
	if dir == "" {
		dir = "a directory that is not known"
	}
	p.text(margin, "in "+dir+look.pick(" · ", " - ")+q.Exposure, normal)
	p.out = append(p.out, line{})
	p.choice("[o]nce        ", once, "", "")
	if q.Offers(approval.Session) {
		p.choice("[s]ession     ", q.Covers.Session.Text, q.Command, ", until this session ends")
	}
	if q.Offers(approval.Always) {
		p.choice("[a]lways      ", q.Covers.Always.Text, q.Command, "     (added to "+cmp.Or(q.Covers.Always.Where, "command_allowlist")+")")
	}
	p.choice("[d]eny        ", "(Enter)", "", "")
	return p.out
}

// asker writes the parts of a question. Its texts show everything that is in them.
type asker struct {
	cols int
	look Look
	out  []line
}

func (p *asker) text(head, text string, st style) {
	p.out = append(p.out, wrap(line{{head + screen.Visible(text), st}}, p.cols, nil, plainLine(margin+"  "))...)
}

// choice writes what an answer would cover. The command itself, which stands above in full, is not repeated where that takes more
// than a line; a pattern is shown whole.
func (p *asker) choice(label, text, command, tail string) {
	if text == strings.TrimSpace(command) && command != "" &&
		(strings.ContainsAny(text, "\n\r") || width(margin+label+screen.Visible(text)+tail) > p.cols) {
		text = "this very text"
	}
	tail = screen.Visible(tail)
	p.out = append(p.out, wrap(plainLine(margin+label+screen.Visible(text)+tail), p.cols, nil, plainLine(strings.Repeat(" ", len(margin+label))))...)
}

// command writes all of a command, line by line, long lines over several, with what the findings are about underlined.
func (p *asker) command(text string, findings []approval.Finding) {
	room := max(15, p.cols-len(margin))
	bar := p.look.pick("━", "^")
	guilty := func(c screen.Cell) bool {
		return slices.ContainsFunc(findings, func(f approval.Finding) bool { return c.Start < f.End && c.End > f.Start })
	}
	for _, l := range screen.Split(text) {
		all := screen.Cells(l.Text, l.Start)
		for first := true; first || len(all) > 0; first = false {
			var shown, under strings.Builder
			used := 0
			for len(all) > 0 && used+all[0].Cols <= room {
				c := all[0]
				shown.WriteString(c.Show)
				fill := " "
				if guilty(c) {
					fill = bar
				}
				under.WriteString(strings.Repeat(fill, c.Cols))
				used, all = used+c.Cols, all[1:]
			}
			p.out = append(p.out, plainLine(strings.TrimRight(margin+shown.String(), " ")))
			if bar := strings.TrimRight(under.String(), " "); bar != "" {
				p.out = append(p.out, line{{margin, normal}, {bar, bad | bold}})
			}
		}
	}
}
