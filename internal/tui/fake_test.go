package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

var _ Talker = (*chat.Chat)(nil)

// fake is a chat that notes what it is told.
type fake struct {
	submitted, replies []string
	answers            []string
	interrupts         int
	settled            bool // no question waits any more
	idle               bool // nothing can be interrupted
	waited, detached   int  // commands that could go on in the background, and that were let
	found              []chat.Candidate
	from               int
}

func (f *fake) Submit(line string) { f.submitted = append(f.submitted, line) }
func (f *fake) Interrupt() bool    { f.interrupts++; return !f.idle }
func (f *fake) Detachable() bool   { return f.waited > 0 }
func (f *fake) Detach() bool {
	n := f.waited
	f.waited, f.detached = 0, f.detached+n
	return n > 0
}
func (f *fake) Answer(q approval.Question, c approval.Choice, reason string) bool {
	f.answers = append(f.answers, strings.TrimSpace(fmt.Sprint(q.ID, " ", c, " ", reason)))
	return !f.settled
}
func (f *fake) Reply(id, choice string)                      { f.replies = append(f.replies, id+" "+choice) }
func (f *fake) Complete(string, int) (int, []chat.Candidate) { return f.from, f.found }
func (f *fake) Rest(context.Context) error                   { return nil }

// stage is a screen on which a test plays.
type stage struct {
	*model
	chat *fake
	at   time.Time
	tap  func(chat.Event) // hears the same
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func newStage(cols, rows int, look Look) *stage {
	s := &stage{chat: &fake{}, at: noon}
	look.Home = "/home/ada"
	s.model = newModel(s.chat, look, func() time.Time { return s.at })
	s.Update(tea.WindowSizeMsg{Width: cols, Height: rows})
	return s
}

// hear plays events.
func (s *stage) hear(events ...chat.Event) {
	s.Update(heard(events))
	for _, e := range events {
		if s.tap != nil {
			s.tap(e)
		}
	}
}

// turn plays events of a turn.
func (s *stage) turn(events ...agent.Event) {
	for _, e := range events {
		s.hear(chat.Turn{Event: e})
	}
}

// wait lets time go by.
func (s *stage) wait(d time.Duration) {
	s.at = s.at.Add(d)
	s.Update(tick{})
}

// arm lets the time go by in which keys do not answer.
func (s *stage) arm() {
	s.wait(guardTime)
	p := s.panels[0]
	s.Update(armed{p, p.touched})
}

// press presses keys by name; what is no name is typed.
func (s *stage) press(keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{}
		if at := strings.LastIndexByte(k, '+'); at > 0 {
			for _, mod := range strings.Split(k[:at], "+") {
				msg.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
			}
			k = k[at+1:]
		}
		code, special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
			"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
			"home": tea.KeyHome, "end": tea.KeyEnd, "delete": tea.KeyDelete}[k]
		switch {
		case special:
			msg.Code = code
			s.do(msg)
		case msg.Mod != 0:
			msg.Code = []rune(k)[0]
			s.do(msg)
		default:
			for _, r := range k {
				s.do(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
	}
}

// do hands a key over, and does at once what completion was to find.
func (s *stage) do(msg tea.Msg) {
	_, cmd := s.Update(msg)
	if cmd == nil || !strings.ContainsAny(string(s.input.text), "/@") {
		return
	}
	if o, ok := cmd().(offered); ok { // a clock takes its time, and is none
		s.Update(o)
	}
}

// frame is what stands on the screen.
func (s *stage) frame() string {
	lines, x, y := s.draw()
	var b strings.Builder
	for i, l := range lines {
		var row strings.Builder
		s.look.paint(&row, l)
		text := row.String()
		b.WriteString(text + "\n")
		_ = i
	}
	fmt.Fprintf(&b, "[cursor %d,%d]\n", x, y)
	return b.String()
}

func status() chat.Status {
	return chat.Status{ID: "s1", Model: "gpt-5-mini", Backend: "local", Dir: "/home/ada/src/site", Profile: "default",
		Context: 12_345, Limit: 200_000, Input: 30_000, Output: 2_000, Dollars: 0.0421, Priced: true}
}

func boundary() chat.Status {
	s := status()
	s.Backend, s.Boundary, s.Title = "native", true, "broken build"
	return s
}

func busy(s chat.Status) chat.Status { s.Busy = true; return s }
func yolo(s chat.Status) chat.Status { s.Yolo = true; return s }

func began(id, name, title, args string) agent.Event {
	return agent.Began{Call: llm.Call{ID: id, Name: name, Arguments: args}, Title: title}
}

func told(id, output string) agent.Event {
	return agent.Told{ID: id, Update: tool.Update{Output: output}}
}

func ended(id, name, args, text, summary string, took time.Duration) agent.Ended {
	return agent.Ended{Call: llm.Call{ID: id, Name: name, Arguments: args}, Took: took,
		Result: tool.Result{Parts: []tool.Part{{Text: text, Origin: taint.Outside}}, Summary: summary}}
}

func refused(id, name, args, why string) agent.Event {
	return agent.Ended{Call: llm.Call{ID: id, Name: name, Arguments: args}, Err: errors.New(why)}
}

// push is a question about a command that may be allowed in all ways.
func push() approval.Question {
	const text = "git push --force origin main"
	cover := approval.Cover{Entry: text, Text: text}
	return approval.Question{ID: "q1", Sum: "sum", Command: text, Dir: "/home/ada/src/site", Backend: "local",
		Exposure: "backend local (no boundary: this is your machine)",
		Findings: []approval.Finding{{Rule: "git force push (rewrites remote history)", Reason: "replaces history that others may have", Start: 9, End: 16}},
		Covers:   approval.Covers{Session: cover, Always: cover}, Asked: noon, Deadline: noon.Add(5 * time.Minute)}
}

func stored() []session.Message {
	args, _ := json.Marshal(map[string]string{"command": "go test ./..."})
	return []session.Message{
		{Message: llm.Message{Role: llm.User, Text: "run the tests"}},
		{Message: llm.Message{Role: llm.Assistant, Text: "I run them.", Calls: []llm.Call{{ID: "c1", Name: "terminal", Arguments: string(args)}}}},
		{Message: llm.Message{Role: llm.Result, CallID: "c1", Text: "ok hermes 0.2s"}, Tool: "terminal", Approved: session.Approval{By: "person", How: "once"}},
		{Message: llm.Message{Role: llm.Assistant, Text: "All **pass**."}},
	}
}
