package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
)

// Talker is what a front needs of a chat. The implementation is chat.Chat.
type Talker interface {
	Submit(line string)
	Interrupt() bool
	Detachable() bool // a command runs that could go on in the background
	Detach() bool     // lets it
	Answer(q approval.Question, choice approval.Choice, reason string) bool
	Reply(id, choice string)
	Complete(line string, at int) (from int, found []chat.Candidate)
	Rest(ctx context.Context) error // returns when all that was submitted is done
}

// model is the screen. Bubble Tea calls it from one goroutine.
type model struct {
	chat Talker
	look Look
	now  func() time.Time

	width, height int
	room          int // lines of the transcript on the screen
	log           transcript
	top           *place // nil: it follows
	open          bool   // calls and thoughts are unfolded
	frame         int
	ticking       bool

	status  chat.Status
	began   time.Time // of what runs
	waits   time.Time // since when a command runs that could go on in the background; zero: none does
	queued  []string
	panels  []*panel // the first one is asked
	input   editor
	sent    history
	popup   popup
	remark  string    // beside the input, until the next key
	leaving time.Time // when the person last wished to leave
	left    *chat.Quit
}

func newModel(c Talker, look Look, now func() time.Time) *model {
	return &model{chat: c, look: look, now: now, log: transcript{look: look}, width: 80, height: 24}
}

// What Bubble Tea hands to Update beside keys.
type (
	heard []chat.Event // from the chat
	tick  struct{}     // time goes by
	armed struct {
		panel   *panel
		touched int
	}
	offered struct { // what a word could become
		line string
		at   int
		from int
		list []chat.Candidate
		ask  bool // the person asked for it
	}
)

func (m *model) Init() tea.Cmd {
	// Without mouse reports a terminal turns the wheel into arrow keys on such a screen, which would page through what was
	// sent. Selecting text stays the terminal's own.
	return tea.Raw("\x1b[?1007l")
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(1, msg.Width), max(1, msg.Height)
	case heard:
		var cmds []tea.Cmd
		for _, e := range msg {
			cmds = append(cmds, m.hear(e))
		}
		return m, tea.Batch(append(cmds, m.tick())...)
	case tick:
		m.ticking = false
		m.frame++
		if !m.status.Busy || !m.chat.Detachable() {
			m.waits = time.Time{}
		} else if m.waits.IsZero() {
			m.waits = m.now()
		}
		return m, m.tick()
	case armed:
		if msg.panel.touched == msg.touched {
			msg.panel.armed = true
		}
	case offered:
		m.offer(msg)
	case tea.PasteMsg:
		m.remark = ""
		m.input.paste(msg.Content) // never into a question
	case tea.KeyPressMsg:
		return m, tea.Batch(m.press(msg), m.tick())
	}
	return m, nil
}

// tick lets time go by while something on the screen shows it.
func (m *model) tick() tea.Cmd {
	if m.ticking || !m.status.Busy && len(m.panels) == 0 && m.status.Background == 0 {
		return nil
	}
	m.ticking = true
	every := 200 * time.Millisecond
	if len(m.panels) > 0 {
		every = time.Second / 2
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tick{} })
}

// hear takes an event of the chat.
func (m *model) hear(e chat.Event) tea.Cmd {
	now := m.now()
	switch e := e.(type) {
	case chat.Opened:
		m.opened(e)
	case chat.Turn:
		m.heardTurn(e, now)
	case chat.Said:
		m.dequeue(e.Text)
		m.log.add(&said{text: e.Text, files: e.Files, process: e.Process})
		m.top = nil
	case chat.Queued:
		m.queued = append(m.queued, e.Text)
	case chat.Asked:
		return m.ask(&panel{question: e.Question})
	case chat.Confirm:
		return m.ask(&panel{confirm: &e})
	case chat.Answered:
		m.answered(e, now)
	case chat.Output:
		m.log.add(&notice{e.Text, e.Form})
		m.top = nil
	case chat.Shell:
		m.log.heardShell(e)
	case chat.Edit:
		if m.input.empty() {
			m.input.set(e.Text)
		} else {
			m.input.set(e.Text + "\n" + string(m.input.text))
		}
		m.queued = nil
	case chat.Changed:
		m.changed(e.Status, now)
	case chat.Quit:
		m.left = &e
		return tea.Quit
	}
	return nil
}

func (m *model) opened(e chat.Opened) {
	if !e.Same || e.Clear {
		m.log = transcript{look: m.look}
		m.panels, m.queued, m.top = nil, nil, nil
	} else {
		m.log = transcript{look: m.look, turn: m.log.turn}
	}
	if len(e.History) == 0 {
		m.log.add(welcome{&m.status}).moves = true
	}
	m.log.opened(e.History)
	m.sent = history{}
	for _, i := range m.log.entries {
		if s, ok := i.item.(*said); ok && !s.process {
			m.sent.remember(s.text)
		}
	}
}

func (m *model) changed(s chat.Status, now time.Time) {
	if s.Busy && !m.status.Busy {
		m.began = now
	}
	if s.Queued == 0 {
		m.queued = nil
	}
	m.status = s
}

func (m *model) heardTurn(e chat.Turn, now time.Time) {
	if s, ok := e.Event.(agent.Steered); ok {
		m.dequeue(s.Text)
	}
	m.log.hear(e.Event, now)
}

func (m *model) dequeue(text string) {
	for i, q := range m.queued {
		if strings.Contains(text, q) {
			m.queued = append(m.queued[:i:i], m.queued[i+1:]...)
			return
		}
	}
}

// ask puts a question on the screen. It takes answers after a while.
func (m *model) ask(p *panel) tea.Cmd {
	m.panels = append(m.panels, p)
	m.popup = popup{}
	if len(m.panels) > 1 {
		return nil
	}
	return m.arm(p)
}

func (m *model) arm(p *panel) tea.Cmd {
	n := p.touched
	return tea.Tick(guardTime, func(time.Time) tea.Msg { return armed{p, n} })
}

// drop takes a question off the screen; the next one begins to stand from now on.
func (m *model) drop(p *panel) tea.Cmd {
	for i, q := range m.panels {
		if q == p {
			m.panels = append(m.panels[:i:i], m.panels[i+1:]...)
			if i == 0 && len(m.panels) > 0 {
				return m.arm(m.panels[0])
			}
			return nil
		}
	}
	return nil
}

func (m *model) answered(e chat.Answered, now time.Time) {
	for _, p := range m.panels {
		if p.confirm == nil && p.question.ID == e.ID {
			m.log.answered(p.question, e, now)
			m.drop(p)
			return
		}
	}
	m.log.answered(approval.Question{}, e, now)
}
