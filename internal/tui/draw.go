package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

func (m *model) view() view {
	// The last column stays empty: terminals disagree about how wide some letters are.
	return view{cols: max(1, m.width-1), look: m.look, now: m.now(), frame: m.frame, open: m.open}
}

// View draws the screen.
func (m *model) View() tea.View {
	lines, x, y := m.draw()
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		m.look.paint(&b, l)
	}
	v := tea.NewView(b.String())
	v.AltScreen = true
	if y >= 0 {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

// draw returns the lines of the screen, top to bottom, and where the cursor stands.
func (m *model) draw() (lines []line, x, y int) {
	cols := max(1, m.width-1)
	foot := m.look.clip(statusLine(m.status, cols, m.look), cols)
	left := m.height - 1 // for the foot
	var top []line
	if m.status.Yolo && left >= 4 {
		text := m.look.banner()
		text += strings.Repeat(" ", max(0, cols-width(text)))
		top = []line{m.look.clip(styled(text, alarm|bold), cols)}
		left--
	}
	low, x, y := m.low(cols, left)
	if len(low) > left {
		cut := len(low) - left
		low, y = low[cut:], y-cut
	}
	left -= len(low)
	m.room = left
	body := m.window(left)
	lines = append(top, body...)
	for len(lines) < len(top)+left {
		lines = append(lines, line{})
	}
	y += len(lines)
	lines = append(append(lines, low...), foot)
	for i, l := range lines { // what is still wider: a letter of two columns where there is one
		lines[i] = m.look.clip(l, m.width)
	}
	return lines, min(x, m.width-1), y
}

// low returns what stands below the transcript: what goes on, and where the person writes or answers.
func (m *model) low(cols, room int) (lines []line, x, y int) {
	if len(m.panels) > 0 {
		return m.lowPanel(m.panels[0], cols, room)
	}
	if m.status.Busy {
		if room > 14 {
			lines = append(lines, line{})
		}
		lines = append(lines, m.working(cols))
	}
	for i, q := range m.queued {
		if i == 3 && len(m.queued) > 4 {
			lines = append(lines, styled(fmt.Sprintf("  %s %d more wait", m.look.dots(), len(m.queued)-i), faint))
			break
		}
		lines = append(lines, m.look.clip(line{{"  waits: ", faint}, {clean(strings.Join(rows(q), " ")), faint}}, cols))
	}
	lines = append(lines, m.rule(cols))
	if len(m.popup.list) > 0 {
		lines = append(lines, m.popup.lines(cols, max(1, min(6, room/3)), m.look)...)
	}
	const prompt = "> "
	text, cx, cy := m.input.layout(cols - len(prompt))
	most := max(1, min(10, room/2))
	from := max(0, min(cy-most+1, len(text)-most))
	if from > cy {
		from = cy
	}
	x, y = cx+len(prompt), len(lines)+cy-from
	for i := from; i < len(text) && i < from+most; i++ {
		head := span{prompt, accent | bold}
		if i > 0 {
			head = span{"  ", normal}
		}
		lines = append(lines, line{head, {text[i], normal}})
	}
	return lines, x, y
}

// long is how long a command runs before it is said that it could go on in the background.
const long = time.Second

// working says that something runs, how long, and which keys there are for that.
func (m *model) working(cols int) line {
	text := m.view().spinner() + " working"
	if d := m.now().Sub(m.began); d >= 1e9 {
		text += " " + duration(d.Truncate(1e9))
	}
	text += "  Esc interrupts"
	if !m.waits.IsZero() && m.now().Sub(m.waits) >= long {
		key := "Ctrl-B"
		if m.look.Tmux { // the first one is for tmux
			key = "Ctrl-B twice"
		}
		for _, more := range []string{key + " lets the command go on in the background", key + ": to the background", key} {
			if more = m.look.pick(" · ", " - ") + more; width(text+more) <= cols {
				text += more
				break
			}
		}
	}
	return m.look.clip(styled(text, faint), cols)
}

// rule parts the transcript from the input, and says what there is to say beside it.
func (m *model) rule(cols int) line {
	text := m.remark
	switch {
	case text != "":
	case m.top != nil:
		text = "reading back: PgDn, or End on an empty line, goes on"
	case strings.ContainsRune(string(m.input.text), '\n'):
		text = "Enter sends, Alt-Enter begins a line"
	}
	dash := m.look.pick("─", "-")
	if text == "" {
		return styled(strings.Repeat(dash, cols), faint)
	}
	out := line{{dash + dash + " ", faint}, {text, caution}, {" ", faint}}
	return m.look.clip(append(out, span{strings.Repeat(dash, max(0, cols-out.cols())), faint}), cols)
}

// lowPanel returns a question.
func (m *model) lowPanel(p *panel, cols, room int) (lines []line, x, y int) {
	title := " question "
	if n := len(m.panels); n > 1 {
		title = fmt.Sprintf(" question, and %d more after it ", n-1)
	}
	dash := m.look.pick("━", "=")
	rule := line{{dash + dash, caution}, {title, bold | caution}}
	rule = append(rule, span{strings.Repeat(dash, max(0, cols-rule.cols())), caution})
	lines = append(lines, m.look.clip(rule, cols))
	ask := p.ask(m.now())
	word, cx, _ := p.word.layout(1 << 20)
	prompt := line{{ask, normal}, {word[0], bold}}
	if over := prompt.cols() - cols; over > 0 { // the end of what is typed shows
		shown := []rune(word[0])
		if width(ask) > cols-8 {
			ask = "  Choice: "
		}
		keep := max(1, cols-width(ask)-1)
		cut := max(0, len(shown)-keep)
		prompt, cx = line{{ask, normal}, {string(shown[cut:]), bold}}, max(0, cx-cut)
		prompt = m.look.clip(prompt, cols)
	}
	var extra []line
	if p.confirm == nil && room >= 16 {
		extra = wrap(styled("or write what should be done instead: that denies, and is told", faint), cols, plainLine(margin), plainLine(margin))
	}
	if p.remark != "" {
		extra = append(extra, wrap(styled(p.remark, caution), cols, plainLine(margin), plainLine(margin))...)
	}
	body := p.window(p.body(m.width, m.look), cols, room-len(lines)-len(extra)-2, m.look)
	lines = append(lines, body...)
	lines = append(lines, extra...)
	lines = append(lines, line{})
	x, y = width(ask)+cx, len(lines)
	return append(lines, prompt), x, y
}
