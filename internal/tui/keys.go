package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"hermes/internal/chat"
)

// twice is how soon the second Ctrl-C must follow to leave.
const twice = 2 * time.Second

// press takes a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.Keystroke()
	m.remark = ""
	switch name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+o":
		m.open = !m.open
		return nil
	}
	if len(m.panels) > 0 {
		return m.pressPanel(m.panels[0], name, k.Text)
	}
	switch name {
	case "pgup":
		m.scroll(-max(1, m.room-2))
	case "pgdown":
		m.scroll(max(1, m.room-2))
	case "shift+up", "ctrl+up", "alt+up":
		m.scroll(-1)
	case "shift+down", "ctrl+down", "alt+down":
		m.scroll(1)
	case "esc":
		m.escape()
	case "up", "ctrl+p":
		m.upward()
	case "down", "ctrl+n":
		m.downward()
	case "tab":
		return m.complete()
	case "enter":
		return m.enter()
	case "ctrl+b":
		if !m.status.Busy || !m.chat.Detach() {
			m.input.key(name)
		}
	case "ctrl+d":
		if m.input.empty() {
			return m.leave()
		}
		m.input.key(name)
	default:
		return m.write(name, k.Text)
	}
	return nil
}

// write takes a key that writes or moves in the text.
func (m *model) write(name, text string) tea.Cmd {
	if m.input.empty() && (name == "home" || name == "end") {
		if m.top = nil; name == "home" {
			m.scroll(-1 << 30)
		}
		return nil
	}
	if m.input.key(name) {
		m.popup = popup{}
		return nil
	}
	if text == "" {
		return nil
	}
	m.input.insert(text)
	return m.offerFor(text)
}

func (m *model) enter() tea.Cmd {
	if m.popup.take && len(m.popup.list) > 0 {
		return m.accept()
	}
	text := m.input.value()
	if strings.HasSuffix(text, "\\") && m.input.at == len(m.input.text) { // as a shell goes on
		m.input.key("backspace")
		m.input.insert("\n")
		return nil
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	m.sent.remember(text)
	m.input.clear()
	m.popup = popup{}
	m.top = nil
	m.chat.Submit(text)
	return nil
}

func (m *model) upward() {
	switch {
	case len(m.popup.list) > 0:
		m.popup.move(-1)
	case m.input.up():
	default:
		if text, ok := m.sent.step(-1, string(m.input.text)); ok {
			m.input.set(text)
		}
	}
}

func (m *model) downward() {
	switch {
	case len(m.popup.list) > 0:
		m.popup.move(1)
	case m.input.down():
	default:
		if text, ok := m.sent.step(1, string(m.input.text)); ok {
			m.input.set(text)
		}
	}
}

func (m *model) escape() {
	switch {
	case len(m.popup.list) > 0:
		m.popup = popup{}
	case m.status.Busy:
		m.chat.Interrupt()
	case m.top != nil:
		m.top = nil
	}
}

// interrupt is Ctrl-C: it ends what runs, then empties the line, then, pressed twice, leaves.
func (m *model) interrupt() tea.Cmd {
	now := m.now()
	again := now.Sub(m.leaving) < twice
	m.leaving = now
	if again {
		return m.leave()
	}
	for _, p := range m.panels {
		if p.confirm != nil {
			m.chat.Reply(p.confirm.ID, chat.Cancel)
			m.drop(p)
			break
		}
	}
	switch {
	case m.chat.Interrupt():
		m.remark = "Interrupted. Ctrl-C once more leaves."
	case !m.input.empty():
		m.input.clear()
		m.popup = popup{}
		m.leaving = time.Time{}
	default:
		m.remark = "Ctrl-C once more leaves."
	}
	return nil
}

// leave ends the chat, whether or not it answers.
func (m *model) leave() tea.Cmd {
	if m.left != nil {
		return tea.Quit
	}
	m.left = &chat.Quit{}
	m.chat.Submit("/quit")
	return nil
}

// pressPanel takes a key while a question is on the screen.
func (m *model) pressPanel(p *panel, name, text string) tea.Cmd {
	if !p.armed {
		// Somebody was writing when it appeared: that goes on in the text, and the question waits for a pause.
		if name != "enter" && !m.input.key(name) && text != "" {
			m.input.insert(text)
		}
		p.touched++
		return m.arm(p)
	}
	switch name {
	case "up", "ctrl+p":
		p.scroll--
	case "down", "ctrl+n":
		p.scroll++
	case "pgup":
		p.scroll -= max(1, m.height/2)
	case "pgdown", "space":
		if name == "space" && !p.word.empty() {
			p.word.insert(" ")
			return nil
		}
		p.scroll += max(1, m.height/2)
	case "shift+up", "ctrl+up", "alt+up":
		m.scroll(-1)
	case "shift+down", "ctrl+down", "alt+down":
		m.scroll(1)
	case "esc":
		p.word.clear()
		return m.answer(p)
	case "enter":
		return m.answer(p)
	case "alt+enter", "ctrl+j", "shift+enter", "ctrl+enter":
	default:
		if !p.word.key(name) && text != "" {
			p.word.insert(text)
		}
	}
	return nil
}

func (m *model) answer(p *panel) tea.Cmd {
	v, ok := p.enter()
	if !ok {
		return nil
	}
	if p.confirm != nil {
		m.chat.Reply(p.confirm.ID, v.reply)
		return m.drop(p)
	}
	if !m.chat.Answer(p.question, v.choice, v.reason) {
		m.remark = "It had ended before that answer: nothing was allowed by it."
		return m.drop(p)
	}
	return nil // Answered takes it off the screen
}
