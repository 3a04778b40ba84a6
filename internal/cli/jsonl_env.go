package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"hermes/internal/guard/environ"
)

// envAnswer answers kind env.
type envAnswer struct {
	ID       json.RawMessage   `json:"id,omitempty"`
	Env      map[string]string `json:"env"`
	Withheld map[string]string `json:"withheld"` // name → why
}

// environment answers what a child of the request's surface gets of the request's env. Nothing of this machine goes in. The
// line's server_env is an MCP server's own env block, a container's docker_env, or what a caller adds for any other child.
func environment(r *request) (any, error) {
	if r.Surface == nil {
		return nil, errors.New("surface: missing")
	}
	surface, err := environ.ParseSurface(*r.Surface)
	if err != nil {
		return nil, fmt.Errorf("surface: %w", err)
	}
	q := environ.Request{
		Surface: surface, Base: r.Env, Platform: r.Env["HERMES_SESSION_PLATFORM"],
	}
	if surface == environ.MCP || surface == environ.Docker {
		q.Server = r.ServerEnv
	} else {
		q.Extra = r.ServerEnv
	}
	policy := environ.New(environ.Config{Passthrough: r.Passthrough})
	list, notes := policy.Build(q)
	a := envAnswer{ID: r.ID, Env: map[string]string{}, Withheld: map[string]string{}}
	for _, name := range list.Names() {
		a.Env[name], _ = list.Lookup(name)
	}
	for _, n := range notes {
		if _, there := a.Env[n.Name]; !there && n.Outcome == environ.Withheld {
			a.Withheld[n.Name] = n.Reason
		}
	}
	return a, nil
}
