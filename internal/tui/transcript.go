package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/llm"
	"hermes/internal/session"
)

// view is what an item is laid out for.
type view struct {
	cols  int
	look  Look
	now   time.Time
	frame int  // of what moves
	open  bool // calls and thoughts are unfolded
}

func (v view) spinner() string {
	if !v.look.Wide {
		return string(`-\|/`[v.frame%4])
	}
	return string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[v.frame%10])
}

// item is one thing in the transcript.
type item interface{ lines(v view) []line }

// entry is an item, and its lines as they were laid out last.
type entry struct {
	item
	moves  bool // it changes as time goes by
	laid   []line
	laidAt view
}

// lay returns the lines of an entry.
func (e *entry) lay(v view) []line {
	at := e.laidAt
	if e.laid == nil || at.cols != v.cols || at.look != v.look || at.open != v.open || e.moves {
		e.laid, e.laidAt = e.item.lines(v), v
	}
	return e.laid
}

// said is a message of the person.
type said struct {
	text    string
	files   []string
	process bool // it comes from a process in the background
}

// What of a long message is shown while it is folded, in lines.
const (
	saidHead = 12
	saidTail = 4
)

func (s *said) lines(v view) []line {
	head, rest, st := line{{"> ", accent | bold}}, plainLine("  "), bold
	if s.process {
		head, st = line{{v.look.pick("◦ ", "* "), caution}}, faint
	}
	var out []line
	for _, r := range rows(s.text) {
		out = append(out, wrap(styled(r, st), v.cols, head, rest)...)
		head = rest
	}
	if over := len(out) - saidHead - saidTail; over > saidTail && !v.open {
		more := styled(fmt.Sprintf("  %s %d more lines: Ctrl-O shows them", v.look.dots(), over), faint)
		out = slices.Concat(out[:saidHead], []line{v.look.clip(more, v.cols)}, out[len(out)-saidTail:])
	}
	for _, f := range s.files {
		out = append(out, wrap(styled("with "+clean(f), faint), v.cols, rest, rest)...)
	}
	return out
}

// answer is what the model says.
type answer struct{ stream }

func (a *answer) lines(v view) []line { return a.stream.lines(v.cols, v.look) }

// thought is what the model thinks.
type thought struct {
	text  string
	began time.Time
	ended time.Time // zero while it goes on
}

func (t *thought) lines(v view) []line {
	var head line
	if t.ended.IsZero() {
		head = styled(v.spinner()+" thinking", faint)
	} else {
		head = styled("thought for "+duration(t.ended.Sub(t.began).Round(100*time.Millisecond)), faint)
	}
	lines := paragraph(t.text, faint|italic, v.cols, "  ", "  ")
	if !v.open {
		if t.ended.IsZero() && len(lines) > 0 { // the line that is being thought
			return []line{head, lines[len(lines)-1]}
		}
		return []line{head}
	}
	return append([]line{head}, lines...)
}

// notice is something that Hermes says.
type notice struct {
	text string
	form chat.Form
}

func (n *notice) lines(v view) []line {
	switch n.form {
	case chat.Markdown:
		return markdown(n.text, v.cols, v.look)
	case chat.Error:
		return paragraph(n.text, bad, v.cols, v.look.pick("✗", "x")+" ", "  ")
	case chat.Warning:
		if strings.HasPrefix(n.text, "⚠") || strings.HasPrefix(n.text, "⚡") {
			return paragraph(v.look.yolo(n.text), caution, v.cols, "", "  ")
		}
		return paragraph(n.text, caution, v.cols, v.look.pick("⚠", "!")+" ", "  ")
	}
	return paragraph(v.look.yolo(n.text), normal, v.cols, "", "")
}

// aside is a remark in the margin: what became of a question, that a turn was interrupted.
type aside struct {
	text string
	st   style
}

func (a *aside) lines(v view) []line { return paragraph(a.text, a.st, v.cols, "", "  ") }

// shell is a command of the person's own.
type shell struct {
	call
	command string
}

func (s *shell) lines(v view) []line {
	out := wrap(styled(clean(strings.Join(rows(s.command), " ; ")), bold), v.cols, line{{"! ", caution | bold}}, plainLine("  "))
	for _, l := range printed(s.output) {
		out = append(out, chop(plainLine(l), v.cols, plainLine("  "), plainLine("  "))...)
	}
	if s.why != "" {
		out = append(out, paragraph(s.why, bad, v.cols, "  ", "  ")...)
	} else if s.ended && s.summary != "" {
		out = append(out, paragraph(s.summary, bad, v.cols, "  ", "  ")...)
	}
	return out
}

// transcript is what has happened, in order.
type transcript struct {
	look    Look
	entries []*entry
	turn    turn
	shell   *entry
}

// turn is where the events of a turn that runs go.
type turn struct {
	answer, thought *entry
	calls           map[string]*entry
}

func (t *transcript) add(i item) *entry {
	e := &entry{item: i}
	t.entries = append(t.entries, e)
	return e
}

// changed lays an entry out anew.
func (e *entry) changed() { e.laid = nil }

func (t *transcript) settleThought(n *turn, now time.Time) {
	if n.thought != nil {
		n.thought.item.(*thought).ended = now
		n.thought.moves = false
		n.thought.changed()
		n.thought = nil
	}
}

func (t *transcript) settleAnswer(n *turn) {
	if n.answer != nil {
		n.answer.item.(*answer).done = true
		n.answer.changed()
		n.answer = nil
	}
}

// hear takes an event of a turn.
func (t *transcript) hear(e agent.Event, now time.Time) {
	n := &t.turn
	if _, more := e.(agent.Thinking); !more {
		if _, told := e.(agent.Told); !told {
			t.settleThought(n, now)
		}
	}
	switch e := e.(type) {
	case agent.Text:
		if n.answer == nil {
			if strings.TrimSpace(e.Text) == "" {
				return
			}
			n.answer = t.add(&answer{})
		}
		n.answer.item.(*answer).text += e.Text
		n.answer.changed()
	case agent.Thinking:
		if n.thought == nil {
			n.thought = t.add(&thought{began: now})
			n.thought.moves = true
		}
		n.thought.item.(*thought).text += e.Text
	case agent.Began:
		t.settleAnswer(n)
		c := &call{id: e.Call.ID, name: e.Call.Name, title: e.Title, args: e.Call.Arguments, began: now}
		if n.calls == nil {
			n.calls = map[string]*entry{}
		}
		n.calls[c.id] = t.add(c)
		n.calls[c.id].moves = true
	case agent.Told:
		if c := n.calls[e.ID]; c != nil {
			c.item.(*call).tell(e.Output, e.Note)
		}
	case agent.Ended:
		t.ended(n, e)
	case agent.Retry:
		t.retry(n, e)
	case agent.Compacted:
		verb, kept := "stand", "They stay"
		if e.Messages == 1 {
			verb, kept = "stands", "It stays"
		}
		t.add(&aside{fmt.Sprintf("%s %s as a summary from now on: %s tokens instead of %s. %s stored.",
			number(e.Messages, "older message"), verb, count(e.After), count(e.Before), kept), faint})
	case agent.Steered:
		t.settleAnswer(n)
		t.add(&said{text: e.Text})
	case agent.Notice:
		t.add(&notice{e.Text, chat.Warning})
	case agent.Done:
		t.done(n, e)
	}
}

func (t *transcript) ended(n *turn, e agent.Ended) {
	c := n.calls[e.Call.ID]
	if c == nil { // refused before it began
		c = t.add(&call{id: e.Call.ID, name: e.Call.Name, title: agent.Title(e.Call.Arguments), args: e.Call.Arguments})
	}
	c.item.(*call).end(e)
	c.moves = false
	c.changed()
	delete(n.calls, e.Call.ID)
}

// retry takes back what counts no more.
func (t *transcript) retry(n *turn, e agent.Retry) {
	if n.answer != nil {
		for i, x := range t.entries {
			if x == n.answer {
				t.entries = append(t.entries[:i:i], t.entries[i+1:]...)
				break
			}
		}
		n.answer = nil
	}
	text := fmt.Sprintf("asked again (try %d)", e.Attempt)
	if e.Choice != "" {
		text = "asked again, of " + e.Choice
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	t.add(&aside{text, caution})
}

func (t *transcript) done(n *turn, e agent.Done) {
	t.settleAnswer(n)
	for _, c := range n.calls { // nothing should be left; a call that nobody ended has no time to show
		c.moves = false
		c.item.(*call).ended, c.item.(*call).failed = true, true
		c.changed()
	}
	t.turn = turn{}
	switch e.Why {
	case agent.Answered, agent.Steps, agent.Time, agent.Stuck, "": // of which a notice has told
	case agent.Interrupted:
		t.add(&aside{"Interrupted. What had come is kept.", caution})
	default:
		text := "No answer could be had."
		if e.Err != nil {
			text = strings.TrimSpace("No answer could be had: " + e.Err.Error() + "\n" + llm.Next(e.Err))
		}
		t.add(&notice{text, chat.Error})
	}
	if e.Footer != "" {
		t.add(&notice{e.Footer, chat.Warning})
	}
}

// heardShell takes an event of a command of the person's own.
func (t *transcript) heardShell(e chat.Shell) {
	if e.Command != "" || t.shell == nil {
		t.shell = t.add(&shell{command: e.Command})
	}
	s := t.shell.item.(*shell)
	s.tell(e.Text, "")
	if e.Ended {
		s.ended, s.summary, s.why = true, e.Summary, e.Refused
	}
	t.shell.changed()
	if e.Ended {
		t.shell = nil
	}
}

// answered notes what became of a question.
func (t *transcript) answered(q approval.Question, a chat.Answered, now time.Time) {
	if a.Void {
		text := "No answer in time: refused. Silence is not consent."
		if left := q.Deadline.Sub(now); q.Deadline.IsZero() || left > time.Second {
			text = "The question ended with its turn: refused."
		}
		t.add(&aside{t.look.pick("⊘", "!") + " " + text, bad})
		return
	}
	sign, st := t.look.pick("✓", "+"), good
	if a.Choice == approval.Deny {
		sign, st = t.look.pick("⊘", "!"), bad
	}
	text := map[approval.Choice]string{approval.Deny: "denied", approval.Once: "allowed once",
		approval.Session: "allowed until this session ends", approval.Always: "allowed always"}[a.Choice]
	if a.By != "" {
		text += " by " + clean(a.By)
	}
	t.add(&aside{sign + " " + text, st})
}

// opened fills the transcript with a stored conversation.
func (t *transcript) opened(history []session.Message) {
	calls := map[string]*call{}
	for _, m := range history {
		switch m.Role {
		case llm.User:
			if m.Covers > 0 {
				t.add(&aside{"Older messages stand as a summary here.", faint})
				continue
			}
			t.add(&said{text: m.Text})
		case llm.Assistant:
			if strings.TrimSpace(m.Text) != "" {
				t.add(&answer{stream: stream{text: m.Text, done: true}})
			}
			for _, c := range m.Calls {
				calls[c.ID] = &call{id: c.ID, name: c.Name, title: agent.Title(c.Arguments), args: c.Arguments, ended: true, failed: true,
					summary: "no result"}
				t.add(calls[c.ID])
			}
		case llm.Result:
			if c := calls[m.CallID]; c != nil {
				c.failed, c.result, c.summary, c.approved = m.Failed, m.Text, exitOf(m), m.Approved
				if over := len(c.result) - mostOutput; over > 0 {
					c.result = strings.ToValidUTF8(c.result[:mostOutput], "") + fmt.Sprintf("\n(%d more bytes)", over)
				}
				c.refused = m.Failed && strings.HasPrefix(m.Text, "BLOCKED")
			}
		}
	}
}

// exited is the line in which Hermes tells the model how a command ended, also one that was broken off.
var exited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:It has ended at once: |\[Command (?:timed out after \d+s|interrupted)\] )?(exit code -?\d+\b|it was (?:interrupted|ended)\b.*)`)
})

// exitOf returns how the command of a stored call ended, as its summary said it: its tool calls that a result like any other. What
// Hermes says stands behind what was printed, which may say the same of itself.
func exitOf(m session.Message) string {
	if m.Tool != "terminal" && m.Tool != "execute_code" {
		return ""
	}
	text := m.Text
	at := strings.LastIndex(text, "</untrusted_tool_result")
	if at >= 0 {
		text = text[at:]
	}
	all := exited().FindAllStringSubmatch(text, -1)
	switch {
	case len(all) == 0:
		return ""
	case at >= 0:
		return all[0][1]
	}
	return all[len(all)-1][1]
}

// number counts things: "1 line", "2 lines".
func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// count writes a number of tokens: 950, 12.3k, 1.2M.
func count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}
