package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/guard/scope"
	"hermes/internal/home"
	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// stage is a chat whose events are written down, one a line.
type stage struct {
	t     *testing.T
	chat  *Chat
	view  *session.View
	desk  *approval.Desk
	store *session.Store
	dir   *home.Dir

	mu     sync.Mutex
	lines  []string
	asked  []approval.Question
	status []Status
	ids    []string // of conversations, in the order of their opening
	agents map[string]*actor
	opens  error // of the next conversation
	left   int   // processes left running
	waited int   // commands that the agent waits for
	shut   bool  // no command has run yet
	notes  chan Notice
	asks   bool         // destructive_slash_confirm
	opened atomic.Int32 // conversations that are open
}

// actor is an agent that does what it is told: "wait" waits, "ask COMMAND" asks, "fail" fails, "stop half-way" leaves the turn
// unfinished; anything else is repeated as the answer.
type actor struct {
	s       *stage
	id      string
	owner   scope.Session
	ask     approval.Prompter
	mu      sync.Mutex
	steered []string
	step    chan struct{} // lets a turn that waits go on
}

func (a *actor) store(role llm.Role, text string) {
	if _, err := a.s.view.Append(context.Background(), a.id, session.Message{Message: llm.Message{Role: role, Text: text}}); err != nil {
		a.s.t.Error(err)
	}
}

func (a *actor) Turn(ctx context.Context, text string, hear func(agent.Event)) error {
	a.store(llm.User, text)
	return a.run(ctx, text, hear)
}

func (a *actor) run(ctx context.Context, text string, hear func(agent.Event)) error {
	done := agent.Done{Why: agent.Answered}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "wait":
		select {
		case <-ctx.Done():
			done.Why = agent.Interrupted
		case <-a.step:
			a.mu.Lock()
			for _, s := range a.steered {
				a.store(llm.User, s)
				hear(agent.Steered{Text: s})
			}
			a.steered = nil
			a.mu.Unlock()
		}
	case "finish":
		<-a.step // and takes no step that could take a message
	case "ask":
		d := a.s.desk.Decide(ctx, a.s.request(a, rest))
		hear(agent.Text{Text: string(d.Outcome) + " " + d.Reason})
	case "fail":
		done = agent.Done{Why: agent.Failed, Err: errors.New("no answer")}
	case "stop":
		done.Why = agent.Interrupted
		hear(done)
		return nil
	}
	if done.Why == agent.Answered {
		hear(agent.Text{Text: "» " + text})
		a.store(llm.Assistant, "» "+text)
		hear(agent.Used{Usage: llm.Usage{Input: 100, Output: 10}, Dollars: 0.5, Priced: true, Context: 110, Limit: 1000})
	}
	hear(done)
	return done.Err
}

func (a *actor) Resume(ctx context.Context, hear func(agent.Event)) error {
	live, err := a.s.view.Live(ctx, a.id)
	if err != nil {
		return err
	}
	return a.run(ctx, "again "+live[len(live)-1].Text, hear)
}

func (a *actor) Compact(_ context.Context, hear func(agent.Event)) error {
	hear(agent.Compacted{Messages: 2, Before: 110, After: 40})
	return nil
}

func (a *actor) Pending(ctx context.Context) (bool, error) {
	live, err := a.s.view.Live(ctx, a.id)
	return len(live) > 0 && live[len(live)-1].Role == llm.User, err
}

func (a *actor) Steer(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steered = append(a.steered, text)
}

func (a *actor) Unsteer() (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out, a.steered = a.steered, nil
	return out
}

func (s *stage) request(a *actor, command string) approval.Request {
	return approval.Request{Session: a.owner, Command: command, Dir: "/w", Backend: "local", Verdict: asks(command), Presence: approval.Person, Prompter: a.ask}
}

// open is Options.Open.
func (s *stage) open(ctx context.Context, start Start) (*Talk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.opens; err != nil {
		s.opens = nil
		return nil, err
	}
	id := start.ID
	if id == "" {
		key, err := scope.ParseSession(profileOf(s.t), "cli", fmt.Sprintf("%d", len(s.ids)+1))
		if err != nil {
			return nil, err
		}
		if id, err = s.view.Begin(ctx, key, "", start.Parent); err != nil {
			return nil, err
		}
	}
	info, err := s.view.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(s.ids, id) {
		s.ids = append(s.ids, id)
	}
	s.opened.Add(1)
	a := &actor{s: s, id: id, owner: info.Owner, ask: start.Prompter, step: make(chan struct{})}
	s.agents[id] = a
	return &Talk{
		Info: info, Agent: a, Model: "model-a", Limit: 1000, Tools: []tool.Spec{{Name: "terminal", Description: "Run a command. It is judged."}},
		Place:   func() Place { return Place{Backend: "native", Boundary: !s.shut, Unopened: s.shut, Dir: "/w"} },
		Context: func(context.Context) (string, error) { return "AGENTS.md is used", nil },
		Attach:  attach,
		Files: func(_ context.Context, prefix string) []string {
			return slices.DeleteFunc([]string{"a file", "cmd/", "cmd/main.go"}, func(f string) bool { return !strings.HasPrefix(f, prefix) })
		},
		Shell:   s.run,
		Models:  func(context.Context) ([]string, error) { return []string{"model-a", "model-b"}, nil },
		Switch:  switchModel,
		Stop:    func(context.Context) (int, error) { n := s.left; s.left = 0; return n, nil },
		Running: func() int { return s.left },
		Waited:  func() int { return s.waited },
		Detach: func() int {
			n := s.waited
			s.left, s.waited = s.left+n, 0
			return n
		},
		Notices: func(ctx context.Context) (Notice, error) {
			select {
			case n := <-s.notes:
				return n, nil
			case <-ctx.Done():
				return Notice{}, ctx.Err()
			}
		},
		Close: func(context.Context) error { s.opened.Add(-1); return nil },
	}, nil
}

func attach(_ context.Context, path string) (string, error) {
	switch path {
	case "a.go", "a file":
		return "<" + path + ">", nil
	case ".env":
		return "", errors.New("read .env: it holds secrets")
	}
	return "", fs.ErrNotExist
}

func switchModel(_ context.Context, name string) (string, int, error) {
	if name != "model-b" {
		return "", 0, errors.New("no model is called " + name)
	}
	return name, 2000, nil
}

func (s *stage) run(ctx context.Context, text string, out io.Writer) (Ran, error) {
	switch text {
	case "long":
		<-ctx.Done()
		return Ran{Summary: "interrupted"}, nil
	case "rm -rf /":
		return Ran{Refused: "denied: it wipes the disk"}, nil
	}
	fmt.Fprint(out, "out of "+text)
	return Ran{Summary: "exit code 1"}, nil
}

// name is what a test calls a conversation: the first opened is #1.
func (s *stage) name(id string) string {
	return fmt.Sprintf("#%d", slices.Index(s.ids, id)+1)
}

func (s *stage) note(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// hear writes an event down.
func (s *stage) hear(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case Opened:
		var said []string
		for _, m := range e.History {
			said = append(said, m.Text)
		}
		flags := ""
		if e.Clear {
			flags += " clear"
		}
		if e.Same {
			flags += " same"
		}
		s.note("opened %s%s %q", s.name(e.Info.ID), flags, said)
	case Turn:
		switch e := e.Event.(type) {
		case agent.Text:
			s.note("text %s", e.Text)
		case agent.Steered:
			s.note("steered %s", e.Text)
		case agent.Compacted:
			s.note("compacted")
		case agent.Done:
			s.note("done %s", e.Why)
		}
	case Said:
		kind := "said"
		if e.Process {
			kind = "process"
		}
		s.note("%s %s%s", kind, e.Text, ifSet(" with ", strings.Join(e.Files, " ")))
	case Queued:
		kind := "queued"
		if e.Later {
			kind = "later"
		}
		s.note("%s %s", kind, e.Text)
	case Asked:
		s.asked = append(s.asked, e.Question)
		s.note("asked %s", e.Command)
	case Answered:
		s.note("answered %s by %q void=%v", e.Choice, e.By, e.Void)
	case Output:
		s.note("%s: %s", [...]string{"plain", "markdown", "error", "warning"}[e.Form], e.Text)
	case Confirm:
		s.note("confirm %s [%s]", e.Text, strings.Join(e.Choices, " "))
	case Shell:
		s.note("shell %q %q ended=%v %q %q", e.Command, e.Text, e.Ended, e.Summary, e.Refused)
	case Edit:
		s.note("edit %s", e.Text)
	case Changed:
		s.status = append(s.status, e.Status)
	case Quit:
		s.note("quit deleted=%v %s", e.Deleted, s.name(e.ID))
	}
}

func profileOf(t *testing.T) scope.Profile {
	p, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// play opens a chat in a bubble, in which nothing is under way when wait returns.
func play(t *testing.T, change func(*Options), act func(s *stage)) {
	t.Helper()
	dir, err := home.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, dir: dir, agents: map[string]*actor{}, notes: make(chan Notice), asks: true, desk: approval.New(approval.Options{})}
		var err error
		if s.store, err = session.Open(context.Background(), dir); err != nil {
			t.Fatal(err)
		}
		defer s.store.Close()
		if s.view, err = s.store.View(profileOf(t)); err != nil {
			t.Fatal(err)
		}
		o := Options{
			Hear: s.hear, Open: s.open, Sessions: s.view, Desk: s.desk, Profile: profileOf(t), Person: "ada",
			Confirms: func() bool { return s.asks }, Trust: func() error { s.asks = false; return nil },
			Approval: func() (string, []string) { return "smart", []string{"ls"} },
			Config: func(key string) (string, error) {
				if key == "no.such" {
					return "", errors.New("no.such is not a setting")
				}
				return "settings " + key, nil
			},
		}
		if change != nil {
			change(&o)
		}
		if s.chat, err = New(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		s.take()
		act(s)
		if err := s.chat.Close(context.Background()); err != nil || s.opened.Load() != 0 {
			t.Errorf("close: %v, %d conversations are left open", err, s.opened.Load())
		}
	})
}

// take returns what has happened since the last time, once all is still.
func (s *stage) take() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.lines
	s.lines = nil
	return out
}

// does submits a line and returns what came of it.
func (s *stage) does(line string) string {
	s.chat.Submit(line)
	return strings.Join(s.take(), "\n")
}

// want fails the test unless what happened is this.
func (s *stage) want(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
