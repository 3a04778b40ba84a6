package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"hermes/internal/chat"
	"hermes/internal/screen"
)

// popup lists what the word at the cursor could become.
type popup struct {
	line string // the text it belongs to
	from int    // where the word begins, in bytes
	at   int    // where it ends
	list []chat.Candidate
	pick int
	take bool // Enter takes what is picked: the person has moved in the list
}

func (p *popup) move(n int) {
	p.pick = (p.pick + n + len(p.list)) % len(p.list)
	p.take = true
}

// offerFor asks for candidates while a command or the name of a file is written.
func (m *model) offerFor(typed string) tea.Cmd {
	before := string(m.input.text[:m.input.at])
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	if !strings.HasPrefix(before, "/") && !strings.HasPrefix(word, "@") || strings.TrimSpace(typed) == "" {
		m.popup = popup{}
		return nil
	}
	return m.find(false)
}

// find asks the chat beside the screen: it may look at files.
func (m *model) find(asked bool) tea.Cmd {
	text, at := string(m.input.text), len(string(m.input.text[:m.input.at]))
	talk := m.chat
	return func() tea.Msg {
		from, list := talk.Complete(text, at)
		return offered{text, at, from, list, asked}
	}
}

// offer shows what was found, if the text is still the same.
func (m *model) offer(o offered) {
	if o.line != string(m.input.text) || o.at != len(string(m.input.text[:m.input.at])) || len(m.panels) > 0 {
		return
	}
	m.popup = popup{line: o.line, from: o.from, at: o.at, list: o.list}
	switch {
	case o.ask && len(o.list) == 1:
		m.accept()
	case o.ask && len(o.list) > 1:
		if common := shared(o.list); len(common) > o.at-o.from {
			m.replace(common)
			m.popup.line, m.popup.at = string(m.input.text), o.from+len(common)
		}
	case len(o.list) == 1 && o.list[0].Text == o.line[o.from:o.at]:
		m.popup = popup{} // it is written already
	}
}

// shared returns what all candidates begin with.
func shared(list []chat.Candidate) string {
	out := list[0].Text
	for _, c := range list[1:] {
		for !strings.HasPrefix(c.Text, out) {
			out = out[:len(out)-1]
		}
	}
	return strings.ToValidUTF8(out, "")
}

// complete is Tab: it asks, or goes on in the list.
func (m *model) complete() tea.Cmd {
	if len(m.popup.list) > 0 && m.popup.line == string(m.input.text) {
		return m.accept()
	}
	if m.input.empty() {
		return nil
	}
	return m.find(true)
}

// accept writes the candidate that is picked.
func (m *model) accept() tea.Cmd {
	c := m.popup.list[m.popup.pick]
	text := c.Text
	if c.Whole {
		text += " "
	}
	m.replace(text)
	m.popup = popup{}
	if c.Whole {
		return nil
	}
	return m.find(false)
}

// replace writes a text in place of the word.
func (m *model) replace(text string) {
	line := string(m.input.text)
	m.input.text = []rune(line[:m.popup.from] + text + line[m.popup.at:])
	m.input.at = len([]rune(line[:m.popup.from] + text))
}

// lines returns the list, at most h of it around what is picked.
func (p *popup) lines(cols, h int, look Look) []line {
	first := max(0, min(p.pick-h/2, len(p.list)-h))
	widest := 0
	for _, c := range p.list {
		widest = max(widest, width(screen.Visible(c.Text)))
	}
	widest = min(widest, cols/2)
	var out []line
	for i := first; i < len(p.list) && i < first+h; i++ {
		c := p.list[i]
		sign, st := "  ", normal
		if i == p.pick {
			sign, st = look.pick("› ", "> "), bold|accent
		}
		name := look.clip(styled(screen.Visible(c.Text), st), max(8, cols-4))
		l := append(line{{sign, accent}}, name...)
		if c.About != "" {
			l = append(l, span{strings.Repeat(" ", max(0, widest-name.cols())) + "  " + clean(c.About), faint})
		}
		out = append(out, look.clip(l, cols))
	}
	return out
}
