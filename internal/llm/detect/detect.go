// Package detect finds the models that somebody could use who has configured none: keys that are set under well-known names, and
// servers that answer on this machine.
//
// It chooses nothing and stores nothing, and reads no environment itself. It connects to loopback only, to the ports where such
// servers listen, and sends them no key.
//
// Failure direction: nothing found. A server that answers anything else than a list of models is passed over.
package detect

import (
	"context"
	"strconv"
	"sync"
	"time"

	"hermes/internal/guard/egress"
	"hermes/internal/llm"
	"hermes/internal/llm/wire"
	"hermes/internal/secret"
)

// Format is how a provider is spoken to.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
)

// Candidate is one provider that could be used.
type Candidate struct {
	Name    string // of the provider, as it would be called in the settings
	Format  Format
	BaseURL string
	KeyName string // the variable its key is in; "" for a server on this machine
	Model   string // to begin with; "" where none is known: the provider lists its own
	Models  []llm.Model
	Reason  string // why it is listed, for people
}

// Service is a provider that is known by name: where it is, what it speaks, and which variable holds its key.
type Service struct {
	Name    string
	Format  Format
	BaseURL string
	KeyName string // "" for a server on this machine, which wants none
	Model   string // to begin with; "" where none is known
	Maker   bool   // it makes the models that it serves: the known prices are its own
}

// Services returns those that are known, in the order in which they are proposed. The models are those that
// charm.land/catwalk v0.52.81 begins with.
func Services() []Service {
	out := []Service{
		{"anthropic", Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-4-6", true},
		{"openai", OpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-6.1-sol", true},
		{"openrouter", OpenAI, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "anthropic/claude-sonnet-4.6", false},
		{"gemini", OpenAI, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "gemini-4-argon", true},
		{"deepseek", OpenAI, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-v4-pro", true},
		{"xai", OpenAI, "https://api.x.ai/v1", "XAI_API_KEY", "grok-4.5", true},
		{"groq", OpenAI, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "moonshotai/kimi-k2-instruct-0905", false},
		{"mistral", OpenAI, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "", true},
		{"together", OpenAI, "https://api.together.xyz/v1", "TOGETHER_API_KEY", "", false},
		{"fireworks", OpenAI, "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "", false},
	}
	for _, l := range Locals() {
		out = append(out, Service{Name: l.Name, Format: OpenAI, BaseURL: l.base()})
	}
	return out
}

// Find returns what is known by a name.
func Find(name string) (Service, bool) {
	for _, s := range Services() {
		if s.Name == name {
			return s, true
		}
	}
	return Service{}, false
}

// Local is a server that people run on their own machine.
type Local struct {
	Name string
	Port int
}

// Locals returns the servers that are looked for.
func Locals() []Local {
	return []Local{{"ollama", 11434}, {"lmstudio", 1234}, {"llamacpp", 8080}, {"vllm", 8000}}
}

func (l Local) base() string { return "http://127.0.0.1:" + strconv.Itoa(l.Port) + "/v1" }

// Keys returns the services whose key is set. Get finds the value of a variable, in .env or the environment.
func Keys(get func(name string) secret.String) (out []Candidate) {
	for _, s := range Services() {
		if s.KeyName != "" && !get(s.KeyName).Empty() {
			out = append(out, Candidate{Name: s.Name, Format: s.Format, BaseURL: s.BaseURL, KeyName: s.KeyName, Model: s.Model,
				Reason: s.KeyName + " is set"})
		}
	}
	return out
}

// Running returns the servers of a list that answer on this machine, in its order. It asks all of them at once and waits no
// longer than within for any.
func Running(ctx context.Context, policy func() *egress.Policy, locals []Local, within time.Duration) []Candidate {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	found := make([]*Candidate, len(locals))
	var wg sync.WaitGroup
	for i, l := range locals {
		wg.Go(func() { found[i] = ask(ctx, policy, l) })
	}
	wg.Wait()
	var out []Candidate
	for _, c := range found {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// ask returns nil where no list of models comes.
func ask(ctx context.Context, policy func() *egress.Policy, l Local) *Candidate {
	base := l.base()
	w, err := wire.New(wire.Config{Name: l.Name, BaseURL: base, Policy: policy})
	if err != nil {
		return nil
	}
	defer w.Close()
	models, err := w.Models(ctx, "/models", nil)
	if err != nil || models == nil {
		return nil
	}
	c := &Candidate{Name: l.Name, Format: OpenAI, BaseURL: base, Models: models, Reason: l.Name + "'s port answers on this machine"}
	if len(models) > 0 {
		c.Model = models[0].ID
		c.Reason += " with " + strconv.Itoa(len(models)) + " models"
		if len(models) == 1 {
			c.Reason = l.Name + "'s port answers on this machine with the model " + c.Model
		}
	} else {
		c.Reason += ", but has no model yet"
	}
	return c
}
