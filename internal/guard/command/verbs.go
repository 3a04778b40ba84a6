package command

import (
	"strings"

	"hermes/internal/shell"
)

// verbs lists what programs are told to do by their words, wherever their options stand.
type verbs struct {
	programs string   // names, blanks between
	takes    string   // options that take the next word, dashes included, blanks between
	dry      string   // options with which nothing is changed, beyond the ones all programs share
	fold     bool     // words are the same in upper and lower case
	forms    []string // words to find in order: "a|b", "delete-*", "*-delete"; "**" stands for any number of words
}

// told holds when a program is told to do one of the forms, and not only to show what it would do.
func told(list ...verbs) match {
	m := match{test: func(c *ctx, i int) (span, bool) {
		name := c.name(i)
		for k := range list {
			v := &list[k]
			if !listed(v.programs, name) {
				continue
			}
			if at, ok := v.find(c.args(i)); ok {
				return at, true
			}
		}
		return span{}, false
	}}
	for _, v := range list {
		m.names = append(m.names, strings.Fields(v.programs)...)
	}
	return m
}

// find returns the last word of the first form that the arguments hold.
func (v *verbs) find(args []shell.Word) (span, bool) {
	var buf [12]int
	words := spoken(args, v.takes, buf[:0])
	if len(words) == 0 || args[words[0]].Is("help") {
		return span{}, false
	}
	for _, form := range v.forms {
		if n := v.match(form, args, words); n >= 0 {
			return at(args[n]), !v.rehearses(args)
		}
	}
	return span{}, false
}

// match returns the index of the word that ends the form, or -1.
func (v *verbs) match(form string, args []shell.Word, words []int) int {
	last := -1
	for form != "" {
		var want string
		want, form, _ = cut(form, ' ')
		if want == "**" {
			for k := range words {
				if n := v.match(form, args, words[k:]); n >= 0 {
					return n
				}
			}
			return -1
		}
		if len(words) == 0 || len(args[words[0]].Holes) > 0 || !v.fits(want, args[words[0]].Text) {
			return -1
		}
		last, words = words[0], words[1:]
	}
	return last
}

// fits tells whether a word is one of the alternatives.
func (v *verbs) fits(want, word string) bool {
	if v.fold {
		word = strings.ToLower(word)
	}
	for want != "" {
		var one string
		one, want, _ = cut(want, '|')
		switch {
		case one == word:
			return true
		case strings.HasSuffix(one, "*") && strings.HasPrefix(word, one[:len(one)-1]), one[0] == '*' && strings.HasSuffix(word, one[1:]):
			return true
		}
	}
	return false
}

// rehearses tells whether the program is told to show what it would do, or how it is used.
func (v *verbs) rehearses(args []shell.Word) bool {
	for _, w := range args[1:] {
		t := w.Text
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		name, value, _ := cut(t, '=')
		switch name {
		case "--dry-run", "--dryrun", "-dry-run", "--dryRun", "--preview", "--preview-only", "--what-if", "-WhatIf", "--noop", "--simulate", "--help",
			"-help":
		default:
			if !listed(v.dry, name) {
				continue
			}
		}
		if value != "none" && value != "false" {
			return true
		}
	}
	return args[len(args)-1].Is("help")
}

// spoken appends the indices of the arguments in front of "--" that are neither options nor values of the options listed.
func spoken(args []shell.Word, takes string, out []int) []int {
	for k := 1; k < len(args); k++ {
		t := args[k].Text
		if t == "--" && len(args[k].Holes) == 0 {
			break
		}
		if len(t) > 1 && t[0] == '-' {
			if takes != "" && listed(takes, t) {
				k++
			}
			continue
		}
		out = append(out, k)
	}
	return out
}

// given holds when one of the words stands among the arguments, alone or with a value attached by "=".
func given(words ...string) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[min(1, len(c.args(i))):] {
			for _, want := range words {
				if strings.HasPrefix(w.Text, want) && (len(w.Text) == len(want) || w.Text[len(want)] == '=') {
					return at(w), true
				}
			}
		}
		return span{}, false
	})
}

// says holds when an argument holds one of the texts.
func says(texts ...string) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[min(1, len(c.args(i))):] {
			for _, t := range texts {
				if strings.Contains(w.Text, t) {
					return at(w), true
				}
			}
		}
		return span{}, false
	})
}

// hears holds when the command is known to read one of the texts from its standard input.
func hears(texts ...string) match {
	return when(func(c *ctx, i int) (span, bool) {
		in := c.cmd(i).Stdin
		if in == nil {
			return span{}, false
		}
		for _, t := range texts {
			if strings.Contains(in.Text, t) {
				return span{}, true
			}
		}
		return span{}, false
	})
}

// onHost holds unless the command runs in a container.
func onHost() match {
	return when(func(c *ctx, i int) (span, bool) { return span{}, c.cmd(i).Place != shell.Container })
}

// head returns the first n bytes of a word as a word of its own.
func head(w shell.Word, n int) shell.Word {
	out := shell.Word{Text: w.Text[:n], Start: w.Start, End: w.End, Quoted: w.Quoted}
	out.Holes = w.Holes[:min(len(w.Holes), strings.Count(out.Text, shell.Unknown))]
	return out
}
