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

// service is a provider with a well-known variable.
type service struct {
	name, variable, base, model string
	format                      Format
}

// services are in the order in which they are proposed. The models are those that charm.land/catwalk v0.52.81 begins with.
var services = [...]service{
	{"anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com", "claude-sonnet-4-6", Anthropic},
	{"openai", "OPENAI_API_KEY", "https://api.openai.com/v1", "gpt-6.1-sol", OpenAI},
	{"openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.6", OpenAI},
	{"gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-4-argon", OpenAI},
	{"deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-v4-pro", OpenAI},
	{"xai", "XAI_API_KEY", "https://api.x.ai/v1", "grok-4.5", OpenAI},
	{"groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", "moonshotai/kimi-k2-instruct-0905", OpenAI},
	{"mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", "", OpenAI},
}

// Local is a server that people run on their own machine.
type Local struct {
	Name string
	Port int
}

// Locals returns the servers that are looked for.
func Locals() []Local {
	return []Local{{"ollama", 11434}, {"lm-studio", 1234}, {"llama.cpp", 8080}, {"vllm", 8000}}
}

// Keys returns the services whose key is set. Get finds the value of a variable, in .env or the environment.
func Keys(get func(name string) secret.String) (out []Candidate) {
	for _, s := range services {
		if !get(s.variable).Empty() {
			out = append(out, Candidate{Name: s.name, Format: s.format, BaseURL: s.base, KeyName: s.variable, Model: s.model,
				Reason: s.variable + " is set"})
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
	base := "http://127.0.0.1:" + strconv.Itoa(l.Port) + "/v1"
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
