package app

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/config"
	"hermes/internal/llm"
	"hermes/internal/llm/anthropic"
	"hermes/internal/llm/detect"
	"hermes/internal/llm/openai"
	"hermes/internal/llm/wire"
	"hermes/internal/safehttp"
	"hermes/internal/secret"
)

// client is what the clients of both formats can do.
type client interface {
	llm.Provider
	Models(ctx context.Context) ([]llm.Model, error)
	Close() error
}

// provider is a client for one provider.
type provider struct {
	client
	maker bool     // of the models that it serves
	named []string // models that the settings name

	mu     sync.Mutex // guards what follows
	listed []llm.Model
}

// models are the providers that were asked for. The zero value is ready.
type models struct {
	mu      sync.Mutex // guards what follows
	snap    *config.Snapshot
	made    map[string]*provider
	started string // the model that a conversation began with where the settings name none
}

// provider returns a client for a provider. There is one of each as long as the settings stay the same.
func (a *App) provider(snap *config.Snapshot, name string) (*provider, error) {
	a.models.mu.Lock()
	defer a.models.mu.Unlock()
	if a.models.snap != snap {
		a.models.snap, a.models.made = snap, map[string]*provider{}
	}
	if p := a.models.made[name]; p != nil {
		return p, nil
	}
	p, err := a.connectTo(snap, name)
	if err != nil {
		return nil, err
	}
	a.models.made[name] = p
	a.mu.Lock()
	a.closes = append(a.closes, p)
	a.mu.Unlock()
	return p, nil
}

// connectTo makes a client from what is known of a provider and what the settings say beside it.
func (a *App) connectTo(snap *config.Snapshot, name string) (*provider, error) {
	known, _ := detect.Find(name)
	set, own := snap.Settings.Providers[name]
	if !own {
		set.Verify = true
	}
	base, keyName := cmp.Or(strings.TrimSpace(set.BaseURL), known.BaseURL), cmp.Or(set.KeyEnv, known.KeyName)
	var key secret.String
	if keyName != "" {
		key, _, _ = snap.Variable(keyName)
		if wanted := set.KeyEnv != "" || base == known.BaseURL; key.Empty() && wanted && len(set.Headers) == 0 {
			return nil, &ModelError{Text: "use provider " + name + ": " + keyName + ", which holds its key, is not set",
				Hint: "hermes setup asks for it, or: hermes config set " + keyName + " - < FILE"}
		}
		if base != known.BaseURL && set.KeyEnv == "" {
			key = secret.String{} // the key of a well-known provider goes nowhere else, unless the owner says so
		}
	}
	c, err := a.newClient(snap, name, set, key)
	if err != nil {
		return nil, err
	}
	return &provider{client: c, maker: known.Maker && base == known.BaseURL, named: set.Models}, nil
}

// newClient makes a client for a provider as set says, with this key.
func (a *App) newClient(snap *config.Snapshot, name string, set config.Provider, key secret.String) (client, error) {
	known, _ := detect.Find(name)
	base := cmp.Or(strings.TrimSpace(set.BaseURL), known.BaseURL)
	if base == "" {
		return nil, &ModelError{Text: "use provider " + name + ": nobody knows where it is", Hint: "Set its address: hermes config set providers." + name + ".base_url https://HOST/v1"}
	}
	trust := safehttp.Trust{Insecure: !set.Verify}
	if set.CACert != "" {
		trust.CAFile = a.expand(set.CACert)
	}
	c := wire.Config{Name: name, BaseURL: base, Key: key, KeyName: cmp.Or(set.KeyEnv, known.KeyName), Header: set.Headers, Trust: trust, Policy: a.Egress,
		Proxy: strings.TrimSpace(snap.Settings.Security.Proxy), Tell: func(text string) { a.p.Tell("provider " + name + ": " + text) }}
	if !key.Empty() && strings.HasPrefix(base, "http://") && !isLocal(base) {
		c.Tell("its key goes over the network unencrypted: use https where it can be had")
	}
	var made client
	var err error
	if format := cmp.Or(detect.Format(set.API), known.Format); format == detect.Anthropic {
		made, err = anthropic.New(c)
	} else {
		made, err = openai.New(c)
	}
	if err != nil {
		return nil, &ModelError{Text: err.Error(), Hint: "Correct it: hermes config set providers." + name + ".base_url https://HOST/v1", Err: err}
	}
	return made, nil
}

// Probe asks a provider what models it has, with an address and a key that are in no settings yet.
func (a *App) Probe(ctx context.Context, name string, set config.Provider, key secret.String) ([]llm.Model, error) {
	snap, err := a.settings()
	if err != nil {
		return nil, err
	}
	c, err := a.newClient(snap, name, set, key)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return c.Models(ctx)
}

// offered returns the models of a provider: those it lists, then those that only the settings name. A list is kept.
func (a *App) offered(ctx context.Context, snap *config.Snapshot, name string) ([]llm.Model, error) {
	p, err := a.provider(snap, name)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	list := p.listed
	p.mu.Unlock()
	if list != nil {
		return list, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err = p.Models(ctx)
	if err != nil && len(p.named) == 0 {
		return nil, err
	}
	list = slices.Clip(list)
	have := map[string]bool{}
	for _, m := range list {
		have[m.ID] = true
	}
	for _, id := range p.named {
		if !have[id] {
			list = append(list, llm.Model{ID: id})
		}
	}
	if err == nil {
		p.mu.Lock()
		p.listed = list
		p.mu.Unlock()
	}
	return list, nil
}

// isLocal tells whether an address is on this machine.
func isLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
