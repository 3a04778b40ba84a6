package config

import (
	"fmt"
	"strings"
)

// Problem is what is wrong, or worth a word, at one place of the settings.
type Problem struct {
	File string // config.yaml, .env or "" for the environment
	Line int    // from 1, 0 when not known
	Col  int
	Key  string // the setting or variable, "" when the file as a whole is meant
	Text string // what is wrong
	Hint string // what to do, "" if the text says it
}

// Error returns `file:line:col: text`.
func (p *Problem) Error() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Line == 0:
		return p.File + ": " + p.Text
	case p.Col == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Text)
}

// Problems is the error about settings that cannot be used, in the order of the files.
type Problems []*Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each problem to errors.As.
func (p Problems) Unwrap() []error {
	out := make([]error, len(p))
	for i, one := range p {
		out[i] = one
	}
	return out
}

// orNil returns p as an error, nil if it is empty.
func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// UnknownError says that a setting does not exist.
type UnknownError struct {
	Name  string
	Near  string // what was most likely meant, "" if nothing is near
	Below []Key  // if Name is a section: what is in it
}

// Error returns what the name is not.
func (e *UnknownError) Error() string {
	if len(e.Below) > 0 {
		return e.Name + " is a section, not a setting"
	}
	return e.Name + " is not a setting"
}

// Unknown returns the error about a name that is no setting, with what was most likely meant.
func Unknown(name string) *UnknownError {
	if isSection(name) {
		return &UnknownError{Name: name, Below: Section(name)}
	}
	return &UnknownError{Name: name, Near: suggest(name)}
}
