package snapshot

import (
	"maps"
	"slices"
	"strings"

	"hermes/internal/sandbox"
)

// Kept returns what the next command finds.
func (s *State) Kept() sandbox.Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keeps()
	k.Changed = map[string]bool{}
	changed(k.Changed, k.Functions, s.start.Functions)
	changed(k.Changed, k.Aliases, s.start.Aliases)
	s.own(&k)
	changed(k.Changed, k.Vars, s.start.Vars)
	return k
}

func changed(into map[string]bool, now, start map[string]string) {
	for name, value := range now {
		if old, ok := start[name]; !ok || old != value {
			into[name] = true
		}
	}
}

// own leaves out the functions and aliases that are as the owner's start files made them: those are the owner's to know. But for
// those that can come to a changed one, which makes them something else. It goes by their letters.
func (s *State) own(k *sandbox.Kept) {
	if len(k.Changed) == 0 {
		k.Functions, k.Aliases = nil, nil
		return
	}
	reach := maps.Clone(k.Changed)
	for again := true; again; {
		again = false
		for name, text := range k.Functions {
			if !reach[name] && s.reaches(strings.TrimPrefix(text, name+" () "), reach) {
				reach[name], again = true, true
			}
		}
	}
	maps.DeleteFunc(k.Functions, func(name, _ string) bool { return !reach[name] })
}

// reaches tells whether a text may run something that has one of the names.
func (s *State) reaches(text string, names map[string]bool) bool {
	for name := range names {
		if strings.Contains(text, name) {
			return true
		}
	}
	return s.conf.Judge == nil || !s.conf.Judge(text).Spelt
}

// same tells whether variables are the same, but for one that only tells of the directory.
func same(a, b map[string]string) bool {
	const old = "OLDPWD"
	size := func(m map[string]string) int {
		if _, ok := m[old]; ok {
			return len(m) - 1
		}
		return len(m)
	}
	for name, value := range a {
		if now, ok := b[name]; name != old && (!ok || now != value) {
			return false
		}
	}
	return size(a) == size(b)
}

func (d *definitions) equal(e *definitions) bool {
	return d.aliases == e.aliases && d.arrays == e.arrays && maps.Equal(d.functions, e.functions) && maps.Equal(d.exports, e.exports)
}

// keeps is what there is now. The caller holds s.mu.
func (s *State) keeps() sandbox.Kept {
	k := sandbox.Kept{
		Version: s.version, Vars: maps.Clone(s.vars), Unset: slices.Sorted(maps.Keys(s.unset)), Functions: maps.Clone(s.defs.functions), Aliases: standFor(s.defs.aliases),
	}
	for _, name := range arrayNames(s.defs.arrays) { // an array stands for the variable of that name: what it was before says nothing
		if delete(k.Vars, name); !slices.Contains(k.Unset, name) {
			k.Unset = append(k.Unset, name)
		}
	}
	slices.Sort(k.Unset)
	return k
}

// standFor reads what aliases stand for.
func standFor(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		rest, ok := strings.CutPrefix(text, "alias ")
		name, value, more := strings.Cut(strings.TrimPrefix(rest, "-- "), "=")
		if !ok || !more {
			return out // not what bash writes
		}
		word, size := quoted(value)
		out[name] = word
		text = strings.TrimPrefix(value[size:], "\n")
	}
	return out
}
