package snapshot

import (
	"maps"
	"slices"

	"hermes/internal/guard/environ"
)

// merged is the environment of a session, put together once until something of it changes: most commands change nothing. It is
// never written to.
type merged struct {
	vars  map[string]string
	pairs []string // sorted
	names []string // of the pairs
	large []string // names of what execve does not take
}

func merge(vars map[string]string) *merged {
	m := &merged{vars: vars, pairs: flatten(vars)}
	m.names = make([]string, len(m.pairs))
	for i, pair := range m.pairs {
		for j := range len(pair) {
			if pair[j] == '=' && j > 0 {
				m.names[i] = pair[:j]
				break
			}
		}
	}
	for name, value := range vars {
		if len(name)+len(value) > longValue {
			m.large = append(m.large, name)
		}
	}
	return m
}

// merged returns the session's environment. The caller holds s.mu, and sets s.cache to nil when it changes any part of it.
func (s *State) merged() *merged {
	if s.cache != nil {
		return s.cache
	}
	vars := maps.Clone(s.base)
	maps.Copy(vars, s.vars)
	maps.Copy(vars, s.defs.exported())
	for name := range s.unset {
		delete(vars, name)
	}
	for _, name := range s.gone {
		delete(vars, name)
	}
	s.cache = merge(vars)
	return s.cache
}

// environment is that of one command: the session's but for a few variables.
type environment struct {
	of   *merged
	set  map[string]string
	gone map[string]bool
}

func newEnvironment(of *merged, extra environ.List) *environment {
	e := &environment{of: of, set: environ.Parse(extra.Strings()), gone: map[string]bool{}}
	for _, name := range extra.Absent() {
		if _, given := e.set[name]; !given {
			e.gone[name] = true
		}
	}
	return e
}

func (e *environment) get(name string) string {
	if value, ok := e.set[name]; ok || e.gone[name] {
		return value
	}
	return e.of.vars[name]
}

func (e *environment) put(name, value string) {
	delete(e.gone, name)
	e.set[name] = value
}

func (e *environment) remove(name string) {
	delete(e.set, name)
	e.gone[name] = true
}

// spill takes the variables out that execve does not take.
func (e *environment) spill() map[string]string {
	var out map[string]string
	for _, name := range slices.Concat(e.of.large, slices.Collect(maps.Keys(e.set))) {
		if value := e.get(name); len(name)+len(value) > longValue {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
			e.remove(name)
		}
	}
	return out
}

// pairs returns it as a program gets it.
func (e *environment) pairs() []string {
	out := make([]string, 0, len(e.of.pairs)+len(e.set))
	for i, pair := range e.of.pairs {
		name := e.of.names[i]
		if _, other := e.set[name]; !other && !e.gone[name] {
			out = append(out, pair)
		}
	}
	for name, value := range e.set {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func flatten(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}
