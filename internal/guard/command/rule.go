package command

import (
	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Rule is one row of a table: what it matches, what that harms, and what to do instead.
//
// To add one, add a row to the table of its domain: the examples are its tests and its documentation.
type Rule struct {
	Key    string                       // stable: shown, stored in allow-lists, audited
	Tier   guard.Tier                   // zero means guard.Danger
	Harms  guard.Harms                  // what a person should fear
	Why    string                       // one phrase
	Remedy string                       // what to do instead; commands in it stand between backquotes and are tested to pass
	Match  match                        // when it applies
	Hits   []string                     // texts that must give a finding of this rule
	Passes []string                     // texts that must not
	Say    func(c *ctx, cmd int) string // the reason when it depends on the text; may be nil
	Sticky bool                         // no mode and no allow-list lifts it
	Facts  *Facts                       // what the examples are judged against; nil means nothing is known
}

type table []Rule

// span is the guilty part of the text. The zero span means: the whole command.
type span struct{ start, end int }

func at(w shell.Word) span { return span{w.Start, w.End} }

// trigger says for which parts of a program a match is tried.
type trigger uint8

const (
	onCommand  trigger = iota // for each command; i is its index
	onRedirect                // for each command with a redirection that writes
	onWrite                   // for each command that writes to files by redirection or by its own doing
	onAssign                  // for each command with assignments in front
	onPayload                 // for each piece of program text in another language; i is the payload's index
	onNote                    // for each note; i is the note's index
	onText                    // once; i is 0
	onSpent                   // once, when following pipes took more work than is spent on one text; i is 0
	onWindows                 // once, in a text that Windows' shells or programs are used in; i is 0
)

// match is a condition on a part of a program. names, when set, are the only programs it can hold for: the index
// finds rules by them, so nearly every match should have them.
type match struct {
	on    trigger
	names []string
	test  test
}

// test tells whether a condition holds for part i and which words are guilty.
type test func(c *ctx, i int) (span, bool)

// runs holds when the command runs one of the programs (base names, lower case).
func runs(names ...string) match {
	return match{names: names, test: func(c *ctx, i int) (span, bool) { return span{}, has(names, c.name(i)) }}
}

// when makes a match of a plain condition on a command.
func when(f test) match { return match{test: f} }

// text makes a match of a condition on the text as a whole.
func text(f func(c *ctx) (span, bool)) match {
	return match{on: onText, test: func(c *ctx, _ int) (span, bool) { return f(c) }}
}

// noted holds for a note of one of the kinds.
func noted(kinds ...shell.NoteKind) match {
	return match{on: onNote, test: func(c *ctx, i int) (span, bool) {
		n := &c.prog.Notes[i]
		for _, k := range kinds {
			if n.Kind == k {
				return span{n.Start, n.End}, true
			}
		}
		return span{}, false
	}}
}

// all holds when every one of ms does. The span is the one of the last that names words.
func all(ms ...match) match {
	out := match{on: ms[0].on}
	for _, m := range ms {
		if m.on != onCommand {
			out.on = m.on
		}
		if out.names == nil {
			out.names = m.names
		}
	}
	out.test = func(c *ctx, i int) (span, bool) {
		var where span
		for _, m := range ms {
			s, ok := m.test(c, i)
			if !ok {
				return span{}, false
			}
			if s != (span{}) {
				where = s
			}
		}
		return where, true
	}
	return out
}

// either holds when one of ms does. They must all be tried for the same parts.
func either(ms ...match) match {
	out := match{on: ms[0].on}
	named := true
	for _, m := range ms {
		named = named && m.names != nil
		out.names = append(out.names, m.names...)
	}
	if !named {
		out.names = nil
	}
	out.test = func(c *ctx, i int) (span, bool) {
		for _, m := range ms {
			if s, ok := m.test(c, i); ok {
				return s, true
			}
		}
		return span{}, false
	}
	return out
}

// not holds when m does not.
func not(m match) match {
	return match{on: m.on, test: func(c *ctx, i int) (span, bool) {
		_, ok := m.test(c, i)
		return span{}, !ok
	}}
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
