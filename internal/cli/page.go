package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/screen"
)

// visible returns s fit for a terminal: one line, nothing hidden in it.
func visible(s string) string { return screen.Visible(s) }

// page writes an answer for a person.
type page struct {
	w    io.Writer
	cols int
	bar  string // underlines one column
	dots string // stands for what was cut off
}

// newPage chooses what the reader can see: lines and dots on a UTF-8 terminal, ASCII elsewhere.
func newPage(stdio *IO) *page {
	p := &page{w: stdio.Stdout, cols: 100, bar: "^", dots: "..."}
	if !stdio.Terminal {
		return p
	}
	if stdio.Width > 0 {
		p.cols = max(40, stdio.Width)
	}
	if stdio.Env("TERM") != "dumb" && unicodeLocale(stdio.Env) {
		p.bar, p.dots = "━", "…"
	}
	return p
}

// unicodeLocale tells whether the locale in force says UTF-8. Windows has no such variables and shows UTF-8.
func unicodeLocale(env func(string) string) bool {
	for _, key := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(key); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return env("WINDIR") != ""
}

func (p *page) line(s string) { fmt.Fprintln(p.w, s) }

// verdict writes the verdict, the guilty part of the text, and what to do next.
func (p *page) verdict(text string, v guard.Verdict) {
	if v.Action == guard.Allow {
		p.line("allow")
		return
	}
	p.line(headline(v))
	var first guard.Finding
	if len(v.Findings) > 0 {
		first = v.Findings[0]
	}
	note := visible(v.Reason)
	if first.Runs != "" {
		note = "runs: " + visible(first.Runs)
	}
	p.marked(text, first.Start, first.End, note)
	if next := advice(v); next != "" {
		p.line("\n" + next)
	}
	p.others(v)
}

// headline returns `deny · hardline · rule`.
func headline(v guard.Verdict) string {
	parts := []string{v.Action.String()}
	if name := tierName(v.Tier); name != "" {
		parts = append(parts, name)
	}
	if v.Rule != "" {
		parts = append(parts, visible(v.Rule))
	}
	return strings.Join(parts, " · ")
}

// tierName returns the tier in words for a person.
func tierName(t guard.Tier) string {
	switch t {
	case guard.Unknown:
		return "cannot know"
	case guard.UserDeny:
		return "your deny rule"
	}
	return t.String()
}

// advice says what lifts the verdict, if anything does, and what to do instead.
func advice(v guard.Verdict) string {
	parts := []string{}
	switch {
	case v.Tier == guard.UserDeny:
		parts = append(parts, "Your own deny rule refuses this in every mode.")
	case v.Tier.Refuses():
		parts = append(parts, "No mode, approval or YOLO lifts this.")
	case v.Sticky:
		parts = append(parts, "This asks every time; no mode or allow-list lifts it.")
	}
	if v.Remedy != "" {
		parts = append(parts, sentence(visible(v.Remedy)))
	}
	return strings.Join(parts, " ")
}

// sentence begins a phrase with a capital letter and ends it with a period, unless a command stands at its end.
func sentence(s string) string {
	if s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	if last := s[len(s)-1]; last != '.' && last != '?' && (last == '`' || !strings.Contains(s, ": ")) {
		s += "."
	}
	return s
}

// others names the findings that did not decide, each rule once.
func (p *page) others(v guard.Verdict) {
	const most = 6
	seen := map[string]bool{v.Rule: true}
	names := []string{}
	for _, f := range v.Findings {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			names = append(names, visible(f.Rule)+" ("+tierName(f.Tier)+")")
		}
	}
	if len(names) > most {
		names = append(names[:most], strconv.Itoa(len(names)-most)+" more")
	}
	if len(names) > 0 {
		p.line("\nAlso: " + strings.Join(names, ", "))
	}
}

// indent stands in front of each line of the judged text.
const indent = "    "

// marked writes the lines of the text that the span [start, end) touches, the span underlined, and a note beside the last
// line. A span of no length shows the beginning of the text without a line under it.
func (p *page) marked(text string, start, end int, note string) {
	p.line("")
	start, end = max(0, min(start, len(text))), min(end, len(text))
	lines := screen.Split(text)
	first, last := screen.LineOf(lines, start), screen.LineOf(lines, max(start, end-1))
	const most = 4
	rest := 0
	if last-first >= most {
		rest = last - first - most + 1
		last = first + most - 1
	}
	gutter := 0
	if len(lines) > 1 {
		gutter = len(strconv.Itoa(last+1)) + 2
	}
	for n := first; n <= last; n++ {
		number := ""
		if gutter > 0 {
			number = fmt.Sprintf("%*d  ", gutter-2, n+1)
		}
		shown, bar := p.underline(lines[n], start, end)
		p.line(strings.TrimRight(indent+number+shown, " "))
		beside := ""
		if n == last && rest == 0 {
			beside = note
		}
		p.under(indent+strings.Repeat(" ", gutter), bar, beside)
	}
	if rest > 0 {
		p.line(indent + p.dots + " " + count(rest, "more line"))
		p.under(indent+strings.Repeat(" ", gutter), "", note)
	}
}

// under writes the line below a line of text: the bar, and the note beside it if there is room, else below it.
func (p *page) under(margin, bar, note string) {
	cols := len([]rune(margin + bar))
	switch {
	case bar == "" && note == "":
	case bar == "":
		p.line(margin + screen.Clip(note, max(40, p.cols-len(margin)), p.dots))
	case note == "":
		p.line(margin + bar)
	case cols+3+len([]rune(note)) <= p.cols:
		p.line(margin + bar + "   " + note)
	default:
		p.line(margin + bar)
		p.line(margin + screen.Clip(note, max(40, p.cols-len(margin)), p.dots))
	}
}

// underline returns a line as it is shown, cut to the page around the span, and the bar that stands below the span.
func (p *page) underline(l screen.Line, start, end int) (shown, bar string) {
	all := screen.Cells(strings.TrimSuffix(l.Text, "\r"), l.Start)
	from, to := p.window(all, start)
	var text, under strings.Builder
	if from > 0 {
		text.WriteString(p.dots)
		under.WriteString(strings.Repeat(" ", len([]rune(p.dots))))
	}
	for _, c := range all[from:to] {
		text.WriteString(c.Show)
		fill := " "
		if c.Start < end && c.End > start {
			fill = p.bar
		}
		under.WriteString(strings.Repeat(fill, c.Cols))
	}
	if to < len(all) {
		text.WriteString(p.dots)
	}
	return text.String(), strings.TrimRight(under.String(), " ")
}

// window chooses which cells of a line fit on the page: from its beginning if the span's start is seen that way, else from
// a little before the span.
func (p *page) window(all []screen.Cell, start int) (from, to int) {
	room := max(20, p.cols-len(indent)-8-2*len([]rune(p.dots)))
	col, spanCol := 0, 0
	for _, c := range all {
		if c.Start < start {
			spanCol += c.Cols
		}
		col += c.Cols
	}
	if col > room && spanCol > room*2/3 {
		skip := spanCol - room/3
		for used := 0; from < len(all) && used < skip; from++ {
			used += all[from].Cols
		}
	}
	used := 0
	for to = from; to < len(all) && used+all[to].Cols <= room; to++ {
		used += all[to].Cols
	}
	return from, to
}
