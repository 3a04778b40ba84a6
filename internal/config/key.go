package config

import (
	"slices"
	"strings"

	"hermes/internal/spell"
)

// Kind is what a setting's value is.
type Kind uint8

// The kinds of values.
const (
	Text   Kind = iota
	Bool        // true or false
	Int         // a whole number
	Number      // a number
	Choice      // one of Key.Values
	List        // texts in order
	Map         // texts by name
	Tree        // whatever YAML can say; checked when it is read into its type
)

// String returns the kind as it is called in messages.
func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Bool:
		return "true or false"
	case Int:
		return "a whole number"
	case Number:
		return "a number"
	case Choice:
		return "a choice"
	case List:
		return "a list"
	case Map:
		return "a map"
	case Tree:
		return "a structure"
	}
	return "nothing"
}

// Key is one row of the table of settings.
type Key struct {
	Name    string   // dotted; a segment <name> stands for any name, <platform> for one of the messengers
	Kind    Kind     //
	Default string   // as it would be written in config.yaml; "" is the kind's zero value
	Values  []string // of a Choice
	Min     int64    // of an Int or Number; 0 unless said otherwise
	Env     string   // the variable that overrides it, "" for none
	Doc     string   // one line

	InEffect bool   // something reads it; what is set for features to come is kept, and told as that
	EnvOnly  bool   // lives in .env or the environment, never in config.yaml
	Lenient  bool   // a wrong value is told and counts as Fallback, instead of making the file unreadable
	Fallback string // "" is Default
	Retired  string // why it is gone; it is dropped with one line
	Names    bool   // the items of a List, or the names of a Map, are environment variables
	Secret   bool   // its value is not shown
}

// Find returns the row of a key by its dotted name.
func Find(name string) (Key, bool) {
	segments := strings.Split(name, ".")
	for _, k := range keys {
		if matches(k.Name, segments) {
			return k, true
		}
	}
	return Key{}, false
}

// Keys returns all rows, in the order in which they are documented. The caller must not change what they hold.
func Keys() []Key { return slices.Clone(keys) }

// matches compares segment by segment. A pattern that ends in * stands for everything that begins like it.
func matches(pattern string, name []string) bool {
	for i, want := range name {
		head, rest, more := strings.Cut(pattern, ".")
		if more != (i < len(name)-1) || !segment(head, want) {
			return false
		}
		pattern = rest
	}
	return true
}

func segment(pattern, name string) bool {
	switch {
	case pattern == name:
		return true
	case pattern == "<name>":
		return name != ""
	case pattern == "<platform>":
		return slices.Contains(platforms, name)
	}
	stem, ok := strings.CutSuffix(pattern, "*")
	return ok && strings.HasPrefix(name, stem)
}

// isSection tells whether some key lies below this dotted name.
func isSection(name string) bool {
	segments := strings.Split(name, ".")
	return slices.ContainsFunc(keys, func(k Key) bool { return below(k.Name, segments) })
}

// below tells whether a key lies in the section with these segments.
func below(pattern string, section []string) bool {
	for _, want := range section {
		head, rest, more := strings.Cut(pattern, ".")
		if !more || !segment(head, want) {
			return false
		}
		pattern = rest
	}
	return true
}

// Section returns the rows below a dotted name; "" is all of them.
func Section(name string) []Key {
	if name == "" {
		return Keys()
	}
	segments := strings.Split(name, ".")
	var out []Key
	for _, k := range keys {
		if below(k.Name, segments) {
			out = append(out, k)
		}
	}
	return out
}

// suggest returns the key or variable that was most likely meant, "" if none is near.
func suggest(name string) string {
	var names []string
	for _, k := range keys {
		if k.Retired == "" {
			names = append(names, concrete(k.Name, name))
		}
	}
	for _, v := range variables() {
		names = append(names, v.Name)
	}
	if near := spell.Nearest(name, names); near != "" {
		return near
	}
	// A key that was written without its section, or in another one.
	last := name[strings.LastIndexByte(name, '.')+1:]
	for _, k := range keys {
		if strings.HasSuffix(k.Name, "."+last) && len(last) > 4 && !strings.Contains(k.Name, "<") {
			return k.Name
		}
	}
	return ""
}

// concrete fills a row's open segments with those of a name, so that the two can be compared.
func concrete(pattern, name string) string {
	if !strings.Contains(pattern, "<") {
		return pattern
	}
	p, n := strings.Split(pattern, "."), strings.Split(name, ".")
	for i := range p {
		if i < len(n) && (p[i] == "<name>" || p[i] == "<platform>" && slices.Contains(platforms, n[i])) {
			p[i] = n[i]
		}
	}
	return strings.Join(p, ".")
}
