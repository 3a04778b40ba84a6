// Package tui shows a chat: on a full screen, and as plain lines for pipes and dumb terminals.
//
// It decides nothing: what is typed goes to package chat, whose events it draws. Nothing of what it shows can command the
// terminal.
//
// Failure direction: a question that cannot be shown is answered by nobody, which refuses.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"hermes/internal/chat"
	"hermes/internal/screen"
)

// Options are what a chat is shown with.
type Options struct {
	// Open opens the chat, whose events go to hear. Whoever gave it closes the chat.
	Open func(hear func(chat.Event)) (Talker, error)
	In   io.Reader
	Out  io.Writer
	Env  func(string) string
	Look Look

	Person bool // Plain: somebody sits at In, and can be asked
	Width  int  // Plain: columns of Out; 0: 80
}

// LookOf says what a terminal shows, from the variables that tell.
func LookOf(env func(string) string) Look {
	l := Look{Home: env("HOME"), Tmux: env("TMUX") != "", Color: env("NO_COLOR") == "" && env("TERM") != "dumb" && env("TERM") != "", Wide: env("WINDIR") != ""}
	for _, key := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(key)); v != "" {
			l.Wide = strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
			break
		}
	}
	l.Wide = l.Wide && env("TERM") != "dumb"
	return l
}

// Run shows a chat on a full screen, until the person leaves or ctx ends.
func Run(ctx context.Context, o Options) error {
	f := &feed{wake: make(chan struct{}, 1)}
	talk, err := o.Open(f.hear)
	if err != nil {
		return err
	}
	m := newModel(talk, o.Look, time.Now)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(terminalEnv(o)),
		tea.WithFPS(30), tea.WithoutSignalHandler()) // signals are for whoever gave ctx
	done := make(chan struct{})
	var pumped sync.WaitGroup
	pumped.Go(func() { f.pump(p.Send, done) })
	_, err = p.Run()
	close(done)
	pumped.Wait()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("show the chat: %w", err)
	}
	m.farewell(o.Out)
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Cause(ctx)
	}
	return nil
}

// terminalEnv is what the screen library may know: what the terminal is, and nothing else.
func terminalEnv(o Options) []string {
	out := []string{}
	for _, key := range [...]string{"TERM", "COLORTERM", "TERM_PROGRAM", "SSH_TTY", "WT_SESSION"} {
		if v := o.Env(key); v != "" {
			out = append(out, key+"="+v)
		}
	}
	if !o.Look.Color {
		out = append(out, "NO_COLOR=1")
	}
	return out
}

// feed hands the events of a chat to the screen, many at once when they come fast.
type feed struct {
	mu     sync.Mutex // guards events
	events []chat.Event
	wake   chan struct{}
}

func (f *feed) hear(e chat.Event) {
	f.mu.Lock()
	f.events = append(f.events, e)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// breath is how long events gather before the screen is drawn anew.
const breath = 30 * time.Millisecond

func (f *feed) pump(send func(tea.Msg), done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-f.wake:
		}
		f.mu.Lock()
		events := f.events
		f.events = nil
		f.mu.Unlock()
		send(heard(events))
		select {
		case <-done:
			return
		case <-time.After(breath):
		}
	}
}

// farewell leaves the last turn on the ordinary screen, and says how to go on.
func (m *model) farewell(w io.Writer) {
	const most = 200
	first := len(m.log.entries)
	for first > 0 {
		first--
		if _, ok := m.log.entries[first].item.(*said); ok {
			break
		}
	}
	var lines []line
	if _, fresh := m.item(first).(welcome); !fresh && (m.left == nil || !m.left.Deleted) {
		for i := first; i < len(m.log.entries); i++ {
			l := m.full(i)
			if i == first && len(l) > 0 && len(l[0]) == 0 {
				l = l[1:]
			}
			lines = append(lines, l...)
		}
	}
	if over := len(lines) - most; over > 0 {
		lines = append([]line{styled(m.look.dots()+" "+number(over, "line"), faint)}, lines[over:]...)
	}
	if m.left != nil && m.left.ID != "" && !m.left.Deleted {
		lines = append(lines, line{}, styled("To go on: hermes chat --resume "+screen.Visible(m.left.ID), faint))
	}
	var b strings.Builder
	for _, l := range lines {
		m.look.paint(&b, l)
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(w, b.String())
}

func (m *model) item(i int) item {
	if i < 0 || i >= len(m.log.entries) {
		return nil
	}
	return m.log.entries[i].item
}
