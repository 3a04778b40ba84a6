// Package taint decides which outside text may enter the context of a model: it finds what tries to instruct the model, and
// wraps what came from outside as data.
//
// A finding is a hint, not a proof, and a text without findings is not harmless: what holds is that text from outside is
// marked whatever it says. The package reads no file and fetches nothing (see prompt); it does not take secrets out of text
// (see redact).
//
// Failure direction: text whose origin is not known counts as from outside; a scan is never cut short, all of a text is read.
package taint

import (
	"fmt"
	"slices"
	"strings"
)

// Scope says how much is looked for: each scope has all of the one before. The zero value is not a scope.
type Scope uint8

// The scopes.
const (
	All     Scope = iota + 1 // classic injection and exfiltration: any text
	Context                  // what others wrote and the model will read: context files, tool results
	Strict                   // what will be read again and again: memory, skills
)

var scopeNames = [...]string{All: "all", Context: "context", Strict: "strict"}

// String returns the scope's name.
func (s Scope) String() string {
	if int(s) < len(scopeNames) && s != 0 {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope(%d)", uint8(s))
}

// ParseScope reads a scope's name.
func ParseScope(name string) (Scope, error) {
	for s, n := range scopeNames {
		if n == name && s != 0 {
			return Scope(s), nil
		}
	}
	return 0, fmt.Errorf("unknown scope %q: it is none of %s", name, strings.Join(scopeNames[1:], ", "))
}

// Finding is one place of a text that looks like an attack.
type Finding struct {
	ID     string // stable key: prompt_injection, invisible_unicode_U+200B, …
	Start  int    // byte span in the text
	End    int
	Quoted bool // it is quoted by a text that warns of it
	Hidden bool // the person who looks at the text does not see it
}

// Scan finds everything of a scope in a text, in order of place. An unknown scope counts as Strict. It is safe for concurrent
// use, and takes time in proportion to the text.
func Scan(text string, s Scope) []Finding {
	if s < All || s > Strict {
		s = Strict
	}
	found := scan(text, s)
	q := quotes{text: text}
	// In code or in quotation marks a mark is told of, elsewhere it is there.
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.ID == roleMarker && !f.Hidden && q.inMarks(f.Start, f.End) })
	q = quotes{text: text}
	for i := range found {
		if f := &found[i]; !f.Hidden && !strings.HasPrefix(f.ID, invisible) {
			f.Quoted = q.quoted(f.Start, f.End)
		}
	}
	return found
}

// scan is Scan without a look at what is quoted: what is hidden quotes nothing.
func scan(text string, s Scope) []Finding {
	f := folded(text)
	found := f.findings
	sc := scanner{f: f, scope: s}
	sc.run()
	found = append(found, sc.found...)
	for _, hidden := range f.hidden {
		for _, id := range IDs(scan(hidden.text, max(hidden.scope, All))) {
			found = append(found, Finding{ID: id, Start: hidden.start, End: hidden.end, Hidden: true})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Start - b.Start })
	found = slices.CompactFunc(found, func(a, b Finding) bool { return a.ID == b.ID && a.Start < b.End })
	return found
}

// IDs returns the different ids of findings, in order of place.
func IDs(found []Finding) []string {
	var out []string
	for _, f := range found {
		if !slices.Contains(out, f.ID) {
			out = append(out, f.ID)
		}
	}
	return out
}

// Blocks tells whether findings keep a context file out: any that the text does not merely quote.
func Blocks(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return !f.Quoted })
}

// Message is what the author of a memory or skill is told of the first finding, "" if there is none.
func Message(found []Finding) string {
	if len(found) == 0 {
		return ""
	}
	if point, ok := strings.CutPrefix(found[0].ID, invisible); ok {
		return "Blocked: the text has invisible unicode characters (" + point + "). Remove them and try again."
	}
	return fmt.Sprintf("Blocked: the text matches a threat pattern (%s). What is stored here is read as instructions later.", found[0].ID)
}
