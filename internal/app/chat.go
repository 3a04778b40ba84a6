package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/guard/scope"
	"hermes/internal/launch"
	"hermes/internal/prompt"
	"hermes/internal/redact"
	"hermes/internal/session"
	"hermes/internal/tool"
)

// Talks says for whom conversations are opened.
type Talks struct {
	Backend  string // empty: as the settings say
	Model    string // empty: as the settings say, or what is found
	Dir      string // that Hermes was started in
	Platform string // where the person reads: cli
	Presence approval.Presence
	Yolo     bool         // dangerous commands run without a question
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
	fresh  bool
	model  Model
	place  *launch.Place
	prompt *prompt.Prompt
	tools  []tool.Tool
	agent  *agent.Agent
	ask    approval.Prompter

	mu     sync.Mutex    // guards what follows
	own    *launch.Place // where the person's own commands run; nil before the first
	closes []func(context.Context) error
}

// Open opens a conversation, as chat.Options.Open.
func (c *Chats) Open(ctx context.Context, s chat.Start) (*chat.Talk, error) {
	t := &talk{Chats: c, ask: s.Prompter}
	if err := t.open(ctx, s); err != nil {
		return nil, errors.Join(err, t.close(context.WithoutCancel(ctx)))
	}
	var specs []tool.Spec
	for _, one := range t.tools {
		specs = append(specs, one.Spec())
	}
	out := &chat.Talk{
		Info: t.info, Agent: t.agent, Model: t.model.String(), Limit: t.model.Limits.Context, Tools: specs,
		Place: t.where, Context: t.context, Shell: t.shell, Models: t.models, Switch: t.change, Close: t.close,
	}
	return out, nil
}

func (t *talk) open(ctx context.Context, s chat.Start) (err error) {
	if err := t.begin(ctx, s); err != nil {
		return err
	}
	name, note := s.Model, ""
	if name == "" {
		name = t.o.Model
	}
	if t.model, note, err = t.a.Start(ctx, name); err != nil {
		return err
	}
	if note != "" {
		t.o.Note(note)
	}
	if t.place, err = t.a.Place(Where{Session: t.info.Owner, Backend: t.o.Backend, Start: t.o.Dir}); err != nil {
		return err
	}
	t.closes = append(t.closes, t.place.Close)
	if t.tools, err = t.a.Tools(); err != nil {
		return err
	}
	t.prompt = prompt.New(prompt.Options{About: t.about(s), Window: t.model.Limits.Context, Dir: t.o.Dir})
	t.agent, err = agent.New(agent.Options{
		View: t.view, Conversation: t.info.ID, Provider: t.model.Provider, Model: t.model.Name, Limits: t.model.Limits,
		Tools: t.tools, Prompt: prompts{t.prompt, t.o.Note}, Redact: t.a.redacted,
	})
	return err
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
		t.fresh = true
	}
	var err error
	t.info, err = t.view.Info(ctx, id)
	return err
}

func (t *talk) close(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	for i := len(t.closes) - 1; i >= 0; i-- {
		err = errors.Join(err, t.closes[i](ctx))
	}
	t.closes = nil
	return err
}

// about is what the agent is told of where it works.
func (t *talk) about(s chat.Start) prompt.Environment {
	return prompt.Environment{
		Backend: t.place.Backend(), Platform: t.o.Platform, Date: time.Now(), Alone: t.o.Presence == approval.SingleQuery || s.Prompter == nil,
	}
}

func (t *talk) where() chat.Place {
	e, _ := t.place.Exposure()
	return chat.Place{Backend: t.place.Backend(), Boundary: e.Boundary(), Dir: t.fold(t.o.Dir)}
}

// fold puts ~ in the place of the owner's home.
func (t *talk) fold(dir string) string {
	home := t.a.home()
	if rel, err := filepath.Rel(home, dir); err == nil && home != "" && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return dir
}

// redacted takes secrets out of what the agent stores, shows and sends. Assignments stay: what it reads and writes is code, and
// has to come back as it is.
func (a *App) redacted(text string) string {
	rules, err := a.rules()
	mode := redact.Code
	if err == nil && rules.Off {
		mode = redact.Off
	}
	if err != nil || rules.Redact == nil {
		rules.Redact = redact.New(redact.Options{})
	}
	return rules.Redact.With(mode).String(text)
}

// models lists the models there are, as PROVIDER:NAME.
func (t *talk) models(ctx context.Context) ([]string, error) {
	offers, err := t.a.Models(ctx)
	var out []string
	for _, o := range offers {
		for _, m := range o.Models {
			out = append(out, o.Service+":"+m.ID)
		}
		if o.Err != nil {
			err = errors.Join(err, o.Err)
		}
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// change has another model asked from now on.
func (t *talk) change(ctx context.Context, name string) (string, int, error) {
	m, err := t.a.Model(name)
	if err != nil {
		return "", 0, err
	}
	m.Limits = t.a.Limits(ctx, m)
	if err := t.agent.Set(m.Provider, m.Name, m.Limits, ""); err != nil {
		return "", 0, err
	}
	return m.String(), m.Limits.Context, nil
}

// shell runs a command of the person's own on this machine, whatever the backend of the conversation. It is judged like any
// other: what nobody can want is refused, and what is asked about is asked.
func (t *talk) shell(ctx context.Context, text string, out io.Writer) (chat.Ran, error) {
	place, err := t.ownPlace()
	if err != nil {
		return chat.Ran{}, err
	}
	r, err := t.a.Door().Run(ctx, launch.Call{
		Session: t.info.Owner, Place: place, Text: text, Env: t.a.Environment(place),
		Presence: approval.Person, Platform: t.o.Platform, Prompter: t.ask, Stdout: out, Stderr: out,
	})
	var ran chat.Ran
	switch {
	case err != nil:
		return ran, err
	case r.Refused():
		ran.Refused = r.Decision.Message
	case r.Status.Interrupted:
		ran.Summary = "interrupted"
	case r.Status.Code != 0:
		ran.Summary = fmt.Sprintf("exit code %d", r.Status.Code)
	}
	for _, w := range r.Warnings {
		t.o.Note(w)
	}
	return ran, nil
}

// ownPlace is where the person's own commands run, one after the other, so that cd lasts.
func (t *talk) ownPlace() (*launch.Place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == nil {
		place, err := t.a.Place(Where{Session: t.info.Owner, Backend: "local", Start: t.o.Dir})
		if err != nil {
			return nil, err
		}
		t.own = place
		t.closes = append(t.closes, place.Close)
	}
	return t.own, nil
}

// context tells which files instruct the model, as markdown.
func (t *talk) context(ctx context.Context) (string, error) {
	s, err := t.prompt.System(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range s.Files {
		fmt.Fprintf(&b, "- %s\n", f)
	}
	if len(s.Files) == 0 {
		b.WriteString("No file instructs the model here.\n")
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "- ⚠ %s\n", w)
	}
	return b.String(), nil
}
