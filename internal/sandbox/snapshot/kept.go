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
	for _, pair := range [][2]map[string]string{{k.Vars, s.start.Vars}, {k.Functions, s.start.Functions}, {k.Aliases, s.start.Aliases}} {
		for name, value := range pair[0] {
			if old, ok := pair[1][name]; !ok || old != value {
				k.Changed[name] = true
			}
		}
	}
	return k
}

// keeps is what there is now. The caller holds s.mu.
func (s *State) keeps() sandbox.Kept {
	return sandbox.Kept{
		Vars: maps.Clone(s.vars), Unset: slices.Sorted(maps.Keys(s.unset)), Functions: maps.Clone(s.defs.functions), Aliases: standFor(s.defs.aliases),
	}
}

// standFor reads what aliases stand for out of "alias -p".
func standFor(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		rest, ok := strings.CutPrefix(text, "alias ")
		name, value, more := strings.Cut(strings.TrimPrefix(rest, "-- "), "=")
		if !ok || !more {
			return out // not what bash writes
		}
		var b strings.Builder
		for value != "" && value[0] != '\n' {
			switch {
			case value[0] == '\'':
				quoted, after, _ := strings.Cut(value[1:], "'")
				b.WriteString(quoted)
				value = after
			case value[0] == '\\' && len(value) > 1:
				b.WriteByte(value[1])
				value = value[2:]
			default:
				b.WriteByte(value[0])
				value = value[1:]
			}
		}
		out[name] = b.String()
		text = strings.TrimPrefix(value, "\n")
	}
	return out
}
