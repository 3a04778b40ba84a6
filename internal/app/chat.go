package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/config"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/llm"
	"hermes/internal/process"
	"hermes/internal/prompt"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Talks says for whom conversations are opened.
type Talks struct {
	Backend  string // empty: as the settings say
	Model    string // empty: as the settings say, or what is found
	Fixed    *Model // asked whatever the settings say; nil: as they say
	Dir      string // that Hermes was started in
	Platform string // where the person reads: cli
	Presence approval.Presence
	Note     func(string) // hears what was chosen, and what the owner should know; nil: nobody
}

// Chats opens conversations. It is safe for concurrent use. Whoever made it closes it, after the conversations.
type Chats struct {
	a     *App
	o     Talks
	store *session.Store
	view  *session.View // of the profile
}

// Chats opens the stored conversations of the profile.
func (a *App) Chats(ctx context.Context, o Talks) (*Chats, error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	store, err := session.Open(ctx, a.dir)
	if err != nil {
		return nil, err
	}
	view, err := store.View(a.profile)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Chats{a: a, o: o, store: store, view: view}, nil
}

// Close closes the stored conversations.
func (c *Chats) Close() error { return c.store.Close() }

// Sessions is what is stored of the profile.
func (c *Chats) Sessions() *session.View { return c.view }

// Profile is whose conversations they are.
func (c *Chats) Profile() scope.Profile { return c.a.profile }

// Last returns the conversation at the keyboard that was used last.
func (c *Chats) Last(ctx context.Context) (session.Info, error) {
	all, err := c.view.List(ctx, session.Filter{Origin: c.o.Platform})
	if err != nil {
		return session.Info{}, err
	}
	for _, i := range all {
		if i.Messages > 0 {
			return i, nil
		}
	}
	return session.Info{}, fmt.Errorf("resume: %w", session.ErrNone)
}

// talk is one conversation, with what it is made of.
type talk struct {
	*Chats
	info   session.Info
	model  Model
	place  *launch.Place
	set    *Toolset
	prompt *prompt.Prompt
	agent  *agent.Agent
	ask    approval.Prompter
	told   chan process.Notice
	effort llm.Effort // of whichever model answers

	mu     sync.Mutex    // guards what follows, and model once the conversation is open
	own    *launch.Place // where the person's own commands run; nil before the first
	closes []func(context.Context) error
}

// mostNotices is how many notices of processes wait for the agent; what comes beyond them it finds where it looks.
const mostNotices = 64

// Open opens a conversation, as chat.Options.Open.
func (c *Chats) Open(ctx context.Context, s chat.Start) (*chat.Talk, error) {
	t := &talk{Chats: c, ask: s.Prompter, told: make(chan process.Notice, mostNotices)}
	if err := t.open(ctx, s); err != nil {
		if t.info.ID != "" && s.ID == "" { // nothing was said in it
			err = errors.Join(err, t.view.Delete(context.WithoutCancel(ctx), t.info.ID))
		}
		return nil, errors.Join(err, t.close(context.WithoutCancel(ctx)))
	}
	var specs []tool.Spec
	for _, one := range t.set.Tools {
		specs = append(specs, one.Spec())
	}
	out := &chat.Talk{
		Info: t.info, Agent: t.agent, Model: t.model.String(), Limit: t.model.Limits.Context, Tools: specs,
		Place: t.where, Context: t.context, Attach: t.attach, Files: t.files, Shell: t.shell, Models: t.models, Switch: t.change,
		Stop: t.stop, Running: t.running, Waited: t.waited, Detach: t.detach, Close: t.close,
	}
	if !s.Background {
		out.Notices = t.notices
	}
	return out, nil
}

func (t *talk) open(ctx context.Context, s chat.Start) (err error) {
	note := ""
	if t.o.Fixed != nil {
		t.model = *t.o.Fixed
	} else if t.model, note, err = t.a.Start(ctx, cmp.Or(s.Model, t.o.Model)); err != nil {
		return err
	}
	if note != "" {
		t.o.Note(note)
	}
	if err := t.begin(ctx, s); err != nil {
		return err
	}
	if t.place, err = t.a.Place(Where{Session: t.info.Owner, Backend: t.o.Backend, Start: t.o.Dir, Lasts: true}); err != nil {
		return err
	}
	t.closes = append(t.closes, t.place.Close)
	if err := t.equip(); err != nil {
		return err
	}
	if err := t.remind(ctx); err != nil {
		return err
	}
	snap, err := t.a.settings()
	if err != nil {
		return err
	}
	steps, most, effort := turns(snap)
	t.effort = effort
	chars, wait := contextFiles(snap)
	t.prompt = prompt.New(prompt.Options{
		Files: t.set.Files, Dir: t.a.dirOf(t.place, t.o.Dir)(), Soul: t.a.soul, Memory: t.memory(), About: t.about(), Window: t.model.Limits.Context,
		Chars: chars, Wait: wait,
	})
	t.agent, err = agent.New(agent.Options{
		View: t.view, Conversation: t.info.ID, Provider: t.model.Provider, Model: t.model.Name, Limits: t.model.Limits,
		Tools: t.set.Tools, Prompt: prompts{t.prompt, t.o.Note, &told{}}, Begin: t.set.Begin, Redact: t.a.redacted,
		Summaries: t.summaries(snap), Steps: steps, Time: most, Effort: effort,
	})
	if err == nil && t.o.Fixed == nil && t.model.Limits.Context == 0 {
		t.measure(ctx)
	}
	return err
}

// turns is what the settings say of one turn: requests, time, and how long its model thinks.
func turns(snap *config.Snapshot) (steps int, most time.Duration, effort llm.Effort) {
	const year = 365 * 24 * 60 * 60 // seconds; more would not be a time any more
	set := &snap.Settings.Turns
	return int(min(set.Steps, math.MaxInt32)), time.Duration(min(set.Time, year)) * time.Second, llm.Effort(set.Effort)
}

// summaries is the model for summaries, if the settings name one. Where it cannot be asked, the person is told, and the one of the
// conversation writes them.
func (t *talk) summaries(snap *config.Snapshot) agent.Model {
	if t.o.Fixed != nil || strings.TrimSpace(snap.Settings.Models.Compression) == "" {
		return agent.Model{}
	}
	m, err := t.a.Auxiliary("compression")
	if err != nil {
		t.o.Note("auxiliary.compression.model: " + err.Error())
		return agent.Model{}
	}
	return agent.Model{Provider: m.Provider, Name: m.Name, Limits: m.Limits}
}

// measure asks the provider how much a model takes that no list knows, beside whatever is said first.
func (t *talk) measure(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	m := t.model
	go func() {
		defer close(done)
		m.Limits = t.a.Limits(ctx, m)
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.model.String() == m.String() && m.Limits.Context > 0 {
			_ = t.agent.Set(m.Provider, m.Name, m.Limits, t.effort) // it is the model that the agent has
		}
	}()
	t.closes = append(t.closes, func(context.Context) error {
		cancel()
		<-done
		return nil
	})
}

// begin finds the stored conversation, or begins a new one.
func (t *talk) begin(ctx context.Context, s chat.Start) error {
	id := s.ID
	if id == "" {
		owner, err := t.a.Session(t.o.Platform)
		if err != nil {
			return err
		}
		if id, err = t.view.Begin(ctx, owner, "", s.Parent); err != nil {
			return err
		}
	}
	var err error
	if t.info, err = t.view.Info(ctx, id); err != nil {
		return err
	}
	return t.hold(ctx)
}

// equip makes the tools.
func (t *talk) equip() (err error) {
	t.set, err = t.a.Toolset(ToolsetOptions{
		Session: t.info.Owner, Place: t.place, Start: t.o.Dir, Presence: t.o.Presence, Platform: t.o.Platform, Prompter: t.ask,
		Notify: func(n process.Notice) {
			select {
			case t.told <- n:
			default:
			}
		},
	})
	if err == nil {
		t.closes = append(t.closes, t.set.Close)
	}
	return err
}

// remind puts the list of what is to do back, as the conversation left it.
func (t *talk) remind(ctx context.Context) error {
	calls, err := t.view.Calls(ctx, t.info.ID, t.set.Todo.Spec().Name)
	if err != nil {
		return err
	}
	var args []json.RawMessage
	for _, c := range calls {
		args = append(args, json.RawMessage(c.Arguments))
	}
	t.set.Todo.Restore(args)
	return nil
}

func (t *talk) close(ctx context.Context) error {
	t.mu.Lock()
	closes := t.closes
	t.closes = nil
	t.mu.Unlock()
	var err error
	for i := len(closes) - 1; i >= 0; i-- {
		err = errors.Join(err, closes[i](ctx))
	}
	return err
}

// soul is who the owner wants the agent to be.
func (a *App) soul(context.Context) (prompt.Soul, error) {
	text, err := a.dir.Read("SOUL.md")
	return prompt.Soul{Text: string(text)}, err
}

// memory is what was remembered before.
func (t *talk) memory() []prompt.Entry {
	found, left := t.set.Memory.Notes()
	for _, l := range left {
		t.o.Note(l.Path + ": " + l.Why)
	}
	var out []prompt.Entry
	for _, n := range found {
		out = append(out, prompt.Entry{Name: n.Target, Text: n.Text})
	}
	return out
}

// about is what the agent is told of where it works.
func (t *talk) about() prompt.Environment {
	e := prompt.Environment{
		Backend: t.place.Backend(), Platform: t.o.Platform, Date: time.Now(), Alone: t.o.Presence != approval.Person && t.o.Presence != approval.Chat,
	}
	if t.place.Backend() == "local" {
		e.Backend, e.System = "local: this machine itself, without a sandbox", systemName()
	}
	return e
}

// systemName is what the agent is told of this machine.
func systemName() string {
	switch runtime.GOOS {
	case "linux":
		return "Linux, bash"
	case "darwin":
		return "macOS, bash"
	}
	return runtime.GOOS
}

func (t *talk) where() chat.Place {
	e, known := t.place.Exposure()
	unopened := !known && t.place.Backend() != "local" // of which it is known without looking
	return chat.Place{Backend: t.place.Backend(), Boundary: e.Boundary(), Unopened: unopened, Dir: t.fold(t.place.Dir())}
}

// fold puts ~ in the place of the owner's home.
func (t *talk) fold(dir string) string {
	home := t.a.home()
	if rel, err := filepath.Rel(home, dir); err == nil && home != "" && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return dir
}
