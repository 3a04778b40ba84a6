package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/internal/config"
	"hermes/internal/llm"
	"hermes/internal/llm/detect"
	"hermes/internal/secret"
)

// ErrNoModel says that no model is set and none was found.
var ErrNoModel = errors.New("no model is set")

// ModelError says why a model cannot be asked, and what to do about it.
type ModelError struct {
	Text, Hint string
	Err        error // ErrNoModel, or the cause
}

func (e *ModelError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// Next says what to do, as a hint beside the error. See llm.Next.
func (e *ModelError) Next() string { return e.Hint }

// Model is one model that can be asked.
type Model struct {
	Provider llm.Provider // the model's, with repetitions, and behind it the fallbacks that the settings name
	Service  string       // the provider's name
	Name     string       // of the model, as the provider calls it
	Limits   llm.Limits   // as far as known without asking the provider; see App.Limits
}

// String returns the model as the settings name it.
func (m Model) String() string { return m.Service + ":" + m.Name }

// Model returns a model by its name, PROVIDER:NAME or NAME; "" is the one that the settings name, and without one there, that
// of Start. It asks nobody.
func (a *App) Model(name string) (Model, error) {
	snap, err := a.settings()
	if err != nil {
		return Model{}, err
	}
	set := &snap.Settings.Models
	a.models.mu.Lock()
	started := a.models.started
	a.models.mu.Unlock()
	for _, other := range []string{set.Model, started} {
		if strings.TrimSpace(name) == "" {
			name = other
		}
	}
	first, choice, err := a.choose(snap, name)
	if err != nil {
		return Model{}, err
	}
	chain := llm.Chain{choice}
	for _, name := range set.Fallbacks {
		other, choice, err := a.choose(snap, name)
		if err != nil {
			return Model{}, &ModelError{Text: "fallback_models: " + err.Error(), Hint: llm.Next(err), Err: err}
		}
		if other.String() != first.String() {
			chain = append(chain, choice)
		}
	}
	chain[0].Model = ""
	first.Provider = chain
	return first, nil
}

// Auxiliary returns the model for a task beside the conversation: "approval" or "compression".
func (a *App) Auxiliary(task string) (Model, error) {
	snap, err := a.settings()
	if err != nil {
		return Model{}, err
	}
	set := &snap.Settings.Models
	switch task {
	case "approval":
		return a.Model(set.Approval)
	case "compression":
		return a.Model(set.Compression)
	}
	return Model{}, fmt.Errorf("choose a model: there is no task %q", task)
}

// Start returns the model that a conversation begins with: the one named, or that of the settings. Where there is neither it
// looks for keys under well-known names, then for servers on this machine, and says in note what it took and why. From then on
// that model counts as set, in this process.
func (a *App) Start(ctx context.Context, name string) (m Model, note string, err error) {
	if m, err = a.Model(name); err == nil || !errors.Is(err, ErrNoModel) {
		if err == nil && name != "" {
			a.begin(m)
		}
		return m, "", err
	}
	for _, look := range []func(context.Context) []detect.Candidate{a.keys, a.running} {
		for _, c := range look(ctx) {
			if c.Model == "" {
				continue
			}
			if m, err = a.Model(c.Name + ":" + c.Model); err == nil {
				a.begin(m)
				return m, "Using " + m.String() + ": " + c.Reason + ". hermes setup chooses another.", nil
			}
		}
	}
	return Model{}, "", noModel("no model is set, no key of a provider was found, and no server answers on this machine")
}

func (a *App) begin(m Model) {
	a.models.mu.Lock()
	defer a.models.mu.Unlock()
	a.models.started = m.String()
}

func noModel(text string) error {
	return &ModelError{Text: text, Hint: "Choose one with hermes setup.", Err: ErrNoModel}
}

// Detect returns what could be used without any settings: providers whose key is set first, then servers on this machine.
func (a *App) Detect(ctx context.Context) []detect.Candidate {
	return append(a.keys(ctx), a.running(ctx)...)
}

func (a *App) keys(context.Context) []detect.Candidate {
	snap, err := a.settings()
	if err != nil {
		return nil
	}
	return keysOf(snap)
}

func (a *App) running(ctx context.Context) []detect.Candidate {
	return detect.Running(ctx, a.Egress, detect.Locals(), time.Second)
}

func keysOf(snap *config.Snapshot) []detect.Candidate {
	return detect.Keys(func(name string) secret.String { value, _, _ := snap.Variable(name); return value })
}

// Variable returns the value of a variable, in the environment or in .env.
func (a *App) Variable(name string) secret.String {
	snap, err := a.settings()
	if err != nil {
		return secret.String{}
	}
	value, _, _ := snap.Variable(name)
	return value
}

// Offer is what one provider has.
type Offer struct {
	Service string
	Models  []llm.Model
	Err     error // why it could not be asked
}

// Models asks every provider that is set up what it has: those of the settings, and those whose key is set. It waits for
// none longer than ten seconds.
func (a *App) Models(ctx context.Context) ([]Offer, error) {
	snap, err := a.settings()
	if err != nil {
		return nil, err
	}
	names := usable(snap)
	out := make([]Offer, len(names))
	done := make(chan int)
	for i, name := range names {
		go func() {
			defer func() { done <- i }()
			out[i] = Offer{Service: name}
			out[i].Models, out[i].Err = a.offered(ctx, snap, name)
		}()
	}
	for range names {
		<-done
	}
	return out, nil
}

// Limits returns what is known of a model once its provider was asked, which is done once and not waited for long.
func (a *App) Limits(ctx context.Context, m Model) llm.Limits {
	snap, err := a.settings()
	if err != nil || m.Limits.Context > 0 && snap.Settings.Providers[m.Service].Context > 0 {
		return m.Limits
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	list, err := a.offered(ctx, snap, m.Service)
	if err != nil {
		return m.Limits
	}
	for _, one := range list {
		if one.ID == m.Name {
			one.Limits.Price = llm.Price{} // what a list says of prices is not read
			return one.Limits.Or(m.Limits)
		}
	}
	return m.Limits
}

// choose finds the provider of a model and how to ask it.
func (a *App) choose(snap *config.Snapshot, name string) (Model, llm.Choice, error) {
	service, model, err := split(snap, name)
	if err != nil {
		return Model{}, llm.Choice{}, err
	}
	p, err := a.provider(snap, service)
	if err != nil {
		return Model{}, llm.Choice{}, err
	}
	known, _ := llm.Known(model)
	if !p.maker {
		known.Price = llm.Price{}
	}
	if own := snap.Settings.Providers[service].Context; own > 0 {
		known.Context = int(own)
		known.Output = min(known.Output, known.Context)
	}
	m := Model{Service: service, Name: model, Limits: known}
	return m, llm.Choice{Provider: llm.Retry{Provider: p.client}, Name: service, Model: model, Price: known.Price}, nil
}

// split reads PROVIDER:NAME. What stands before a colon and is no provider belongs to the name, as in llama3.1:8b.
func split(snap *config.Snapshot, name string) (service, model string, err error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", "", noModel("no model is set")
	}
	before, after, cut := strings.Cut(name, ":")
	if cut && isService(snap, before) {
		if after == "" {
			return "", "", &ModelError{Text: "choose model " + name + ": the name of the model is missing", Hint: "Write it as " + before + ":NAME; hermes model lists what there is."}
		}
		return before, after, nil
	}
	if usual, _, cut := strings.Cut(snap.Settings.Models.Model, ":"); cut && isService(snap, usual) {
		return usual, name, nil
	}
	switch names := own(snap); {
	case len(names) == 1:
		return names[0], name, nil
	case len(names) == 0:
		if names = usable(snap); len(names) == 1 {
			return names[0], name, nil
		}
	}
	hint := "Write it as PROVIDER:" + name + ", such as openrouter:" + name + "; hermes setup asks for what is needed."
	if names := usable(snap); len(names) > 0 {
		hint = "Write it as " + names[0] + ":" + name + ". The providers that are set up are " + strings.Join(names, ", ") + "."
	}
	return "", "", &ModelError{Text: "choose model " + name + ": it does not say whose it is", Hint: hint}
}

func isService(snap *config.Snapshot, name string) bool {
	_, known := detect.Find(name)
	_, own := snap.Settings.Providers[name]
	return known || own
}

// own returns the providers that the settings name.
func own(snap *config.Snapshot) []string {
	var out []string
	for name := range snap.Settings.Providers {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// usable returns the providers that are set up: those of the settings, and those whose key is set.
func usable(snap *config.Snapshot) []string {
	out := own(snap)
	for _, c := range keysOf(snap) {
		if !slices.Contains(out, c.Name) {
			out = append(out, c.Name)
		}
	}
	if before, _, cut := strings.Cut(snap.Settings.Models.Model, ":"); cut && isService(snap, before) && !slices.Contains(out, before) {
		out = append(out, before)
	}
	return out
}
