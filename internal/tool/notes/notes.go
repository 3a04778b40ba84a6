// Package notes holds the tools todo and memory: what an agent has to do, and what it is to remember.
//
// What is to be remembered enters the prompts of later conversations, so it is scanned strictly when it is written, and again
// when it is read: files can be changed by others. It does not decide how a prompt shows it (see prompt), nor who else may
// write these files (see guard/paths).
//
// Where something in the conversation came from outside, the person is asked about each change (see guard/taint).
//
// Failure direction: refuse. A note that instructs or holds a secret is not kept, nor one that nobody can be asked about; one that was
// changed to instruct is left out.
package notes

import (
	"strings"
	"unicode/utf8"

	"hermes/internal/guard/taint"
	"hermes/internal/tool"
)

// told is a piece that repeats notes.
func told(text, source string) tool.Part {
	return tool.Part{Text: text, Origin: taint.Work, Source: source, Risk: taint.Assess(text)}
}

// plain tells whether a text has no control characters but line breaks and tabs.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
	})
}
