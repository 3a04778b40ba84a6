package approval

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
)

// EntryKind is how an entry of the allow-list is read.
type EntryKind string

// The kinds.
const (
	TextEntry  EntryKind = "text"  // one command
	GlobEntry  EntryKind = "glob"  // commands that match a pattern
	ClassEntry EntryKind = "class" // whatever a rule would ask about
	EmptyEntry EntryKind = "empty" // nothing
)

// Entry is an entry of the allow-list, told for people.
type Entry struct {
	Text   string // as it is stored
	Kind   EntryKind
	Shown  string // the command, the pattern, or the rule it stands for
	Covers string // in words
	Idle   bool   // it lifts nothing; Covers says why
}

// Describe says what an entry of the allow-list covers.
func Describe(entry string) Entry {
	e := Entry{Text: entry, Kind: TextEntry, Shown: entry}
	command, one := spelled(entry)
	switch rule, key := ruleOf(entry); {
	case strings.TrimSpace(entry) == "":
		e.Kind, e.Covers, e.Idle = EmptyEntry, "nothing: it is empty", true
	case key && rule.Tier.Refuses():
		e.Kind, e.Covers, e.Idle = ClassEntry, "nothing: this rule refuses, and no entry lifts it", true
	case key && (rule.Sticky || rule.Tier == guard.Self):
		e.Kind, e.Covers, e.Idle = ClassEntry, "nothing: this rule asks every time", true
	case key:
		e.Kind, e.Covers = ClassEntry, "every command that this rule would ask about, whatever it does it to"
	case one && command != entry:
		e.Shown, e.Covers = command, "this command, exactly as it stands"
	case strings.ContainsAny(entry, "*?["):
		e.Kind, e.Covers = GlobEntry, "single commands that match this pattern, and none that is joined to others"
	case entry != strings.TrimSpace(entry):
		e.Covers, e.Idle = "nothing: blanks at its ends, which no command has", true
	case !strings.ContainsAny(entry, " \t"):
		e.Covers = "this one word as the whole command, and nothing behind it"
	default:
		e.Covers = "this command, exactly as it stands"
	}
	return e
}

// spelled undoes literal: it returns the only text that a pattern matches. ok is false for a pattern that is one.
func spelled(entry string) (text string, ok bool) {
	text = strings.NewReplacer("[*]", "*", "[?]", "?", "[[]", "[").Replace(entry)
	return text, literal(text) == entry
}

// ruleOf returns the rule whose key an entry is. Of several with that key, one that the entry does something for.
func ruleOf(entry string) (found command.Rule, ok bool) {
	for _, r := range command.Rules() {
		if r.Key == entry && (!ok || found.Sticky || found.Tier.Refuses()) {
			found, ok = r, true
		}
	}
	return found, ok
}
