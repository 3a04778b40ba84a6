// Package config reads and writes the settings of one home: config.yaml, .env, and the variables that override them.
//
// It is the only reader of settings and of the environment, and it knows every setting by name, type and default. What a
// setting means for a guard or a backend is theirs to say; app hands each of them its part.
//
// Failure direction: refuse. A file that cannot be understood in full is not used in part: with it the last good settings
// stay in force and the trouble is told; if there never were any, there are none.
package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"hermes/internal/guard/checked"
	"hermes/internal/secret"
)

// Locate returns where the home is: HERMES_HOME, or .hermes in the user's home; and which profile below it is meant by
// HERMES_PROFILE, the zero name for none.
func Locate(env func(name string) string) (dir string, profile checked.ProfileName, err error) {
	if name := env("HERMES_PROFILE"); name != "" && name != "default" {
		if profile, err = checked.ParseProfileName(name); err != nil {
			return "", profile, fmt.Errorf("HERMES_PROFILE: %w", err)
		}
	}
	user := env("HOME")
	if user == "" {
		user = env("USERPROFILE")
	}
	dir = env("HERMES_HOME")
	switch {
	case dir == "" && user == "":
		return "", profile, fmt.Errorf("find home: neither HERMES_HOME nor HOME is set")
	case dir == "":
		dir = filepath.Join(user, ".hermes")
	case dir == "~", strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(user, strings.TrimPrefix(dir, "~"))
	}
	if !filepath.IsAbs(dir) {
		return "", profile, fmt.Errorf("find home: HERMES_HOME is %q, which is not an absolute path", dir)
	}
	dir = filepath.Clean(dir)
	if filepath.Base(dir) == profile.String() && filepath.Base(filepath.Dir(dir)) == "profiles" {
		profile = checked.ProfileName{} // HERMES_HOME is the profile's home already
	}
	return dir, profile, nil
}

// Place is where a value comes from, weakest first.
type Place uint8

// The places.
const (
	FromDefault Place = iota
	FromFile          // config.yaml
	FromEnvFile       // .env
	FromProcess       // the environment of the process
)

// Source is where a value comes from.
type Source struct {
	Kind Place
	Name string // of the variable, "" if it is none
	Line int    // in the file, 0 if there is none
}

// String returns the source as it is shown: "default", "config.yaml:12", "TERMINAL_ENV in .env:3", "TERMINAL_ENV".
func (s Source) String() string {
	switch s.Kind {
	case FromFile:
		return fmt.Sprintf("%s:%d", File, s.Line)
	case FromEnvFile:
		return fmt.Sprintf("%s in %s:%d", s.Name, EnvFile, s.Line)
	case FromProcess:
		return s.Name + " in the environment"
	}
	return "default"
}

// Value is one setting with where it comes from.
type Value struct {
	Key    Key
	Name   string
	Value  any // string, bool, int64, float64, []string, map[string]string; of a Tree whatever it holds
	Source Source
}

// Snapshot is the settings as they were at one moment. It does not change and is safe for concurrent use.
type Snapshot struct {
	Settings Settings
	Notices  []*Problem // what is worth a word and stops nothing

	values map[string]Value
	doc    *document
	env    *dotenv
	lookup func(string) string
}

// build puts the two files and the environment together.
func build(doc *document, env *dotenv, lookup func(string) string) (*Snapshot, error) {
	s := &Snapshot{values: make(map[string]Value, len(keys)), doc: doc, env: env, lookup: lookup}
	var errs Problems
	for _, k := range keys {
		if k.Retired != "" || strings.Contains(k.Name, "<") {
			continue
		}
		v, err := fromText(k, k.Default)
		if err != nil {
			return nil, fmt.Errorf("default of %s: %w", k.Name, err) // the test of the table finds it
		}
		s.values[k.Name] = Value{Key: k, Name: k.Name, Value: v}
	}
	for _, e := range doc.entries {
		s.values[e.name] = Value{Key: e.key, Name: e.name, Value: e.value, Source: Source{Kind: FromFile, Line: e.line}}
	}
	for _, k := range keys {
		if k.Env == "" {
			continue
		}
		switch v, p := s.override(k); {
		case p != nil && k.Name == "security.allow_private_urls":
			s.Notices = append(s.Notices, p)
		case p != nil:
			errs = append(errs, p)
		case v.Key.Name != "":
			s.values[k.Name] = v
		}
	}
	s.Notices = append(s.Notices, doc.notices...)
	s.bind()
	return s, errs.orNil()
}

// override reads the variable of a key; an empty one overrides nothing. Lists and maps are JSON there.
func (s *Snapshot) override(k Key) (Value, *Problem) {
	text, source, ok := s.variable(k.Env)
	if !ok {
		return Value{}, nil
	}
	v, err := fromText(k, text)
	switch t := strings.TrimSpace(text); {
	case err != nil:
	case k.Kind == List && !strings.HasPrefix(t, "["):
		err = fmt.Errorf("is not a JSON list")
	case k.Kind == Map && !strings.HasPrefix(t, "{"):
		err = fmt.Errorf("is not a JSON object")
	}
	if err != nil {
		p := &Problem{Key: k.Env, Text: fmt.Sprintf("Invalid value for %s: it sets %s, which %v", k.Env, k.Name, err)}
		if source.Kind == FromEnvFile {
			p.File, p.Line = EnvFile, source.Line
		}
		return Value{}, p
	}
	return Value{Key: k, Name: k.Name, Value: v, Source: source}, nil
}

// variable reads a variable: the process first, then .env. Some count in the process only.
func (s *Snapshot) variable(name string) (string, Source, bool) {
	if s.lookup != nil {
		if text := s.lookup(name); text != "" {
			return text, Source{Kind: FromProcess, Name: name}, true
		}
	}
	item, ok := s.env.lookup(name)
	if v, _ := FindVariable(name); !ok || item.value.Empty() || v.Process {
		return "", Source{}, false
	}
	return item.value.Reveal(), Source{Kind: FromEnvFile, Name: name, Line: item.start + 1}, true
}

// Lookup returns a setting by its dotted name. One that has an open segment (mcp_servers.<name>.url) exists only if set.
func (s *Snapshot) Lookup(name string) (Value, bool) {
	v, ok := s.values[name]
	if !ok {
		if k, known := Find(name); known && k.Retired == "" && k.Default != "" && !strings.Contains(k.Name, "hooks") {
			if d, err := fromText(k, k.Default); err == nil && s.hasSection(name) {
				return Value{Key: k, Name: name, Value: d}, true
			}
		}
	}
	return v, ok
}

// hasSection tells whether anything is set beside a name with an open segment.
func (s *Snapshot) hasSection(name string) bool {
	section, _ := cutLast(name)
	for set := range s.values {
		if strings.HasPrefix(set, section+".") {
			return true
		}
	}
	return false
}

// Values returns all settings below a section, by name; "" is all.
func (s *Snapshot) Values(section string) []Value {
	var out []Value
	for _, name := range sortedNames(s.values) {
		if section == "" || strings.HasPrefix(name, section+".") || name == section {
			out = append(out, s.values[name])
		}
	}
	return out
}

// Variable returns a variable's value and where it comes from: the process, then .env. ok is false if neither has it.
func (s *Snapshot) Variable(name string) (value secret.String, source Source, ok bool) {
	text, source, ok := s.variable(name)
	return secret.New(text), source, ok
}

// EnvFile returns what .env assigns, by name in the order of the file. It is what a child of this profile may be given.
func (s *Snapshot) EnvFile() []Assignment {
	var out []Assignment
	for _, item := range s.env.items {
		out = append(out, Assignment{Name: item.name, Value: item.value, Line: item.start + 1})
	}
	return out
}

// Assignment is one line of .env.
type Assignment struct {
	Name  string
	Value secret.String
	Line  int
}

// Secrets returns every value that is held as a secret: what must appear in no output and no child's environment, whatever
// its name there.
func (s *Snapshot) Secrets() []secret.String {
	var out []secret.String
	for _, item := range s.env.items {
		if Hidden(item.name) && !item.value.Empty() {
			out = append(out, item.value)
		}
	}
	if s.lookup != nil {
		for _, v := range variables() {
			if text := s.lookup(v.Name); v.Secret && text != "" {
				out = append(out, secret.New(text))
			}
		}
	}
	for _, v := range s.values {
		m, ok := v.Value.(map[string]string)
		for name, text := range m {
			if ok && text != "" && (v.Key.Secret || SecretName(name)) {
				out = append(out, secret.New(text))
			}
		}
	}
	return out
}

// Hidden tells whether a variable's value is not shown. Of those that are not known, all are hidden.
func Hidden(name string) bool {
	v, _ := FindVariable(name)
	return v.Secret
}
