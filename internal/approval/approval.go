// Package approval answers whether a command that the guard wants a person to be asked about may run: what the sandbox
// contains is not asked about, what was granted is not asked again, and for the rest it puts the question to somebody.
//
// It does not judge commands (see guard/command), does not run them (see launch), draws nothing and reads no keys (a
// Prompter does), and keeps no file (a Store does).
//
// Layer 2 of 8. Failure direction: refuse. Silence, an error, an answer that belongs to another question, and nobody to
// ask all refuse.
package approval

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"hermes/internal/guard/scope"
)

// Choice is what a person answers. The zero value denies.
type Choice uint8

// The choices.
const (
	Deny    Choice = iota
	Once           // this command, now; nothing is kept
	Session        // what the question says it will cover, until the session ends
	Always         // the same, and it is added to the allow-list
)

// String returns the word used in prompts, logs and JSON.
func (c Choice) String() string {
	switch c {
	case Once:
		return "once"
	case Session:
		return "session"
	case Always:
		return "always"
	}
	return "deny"
}

// Prompter puts a question to a person and waits for the answer. Implementations: the terminal of package cli, Queue for
// places where the answer comes later. Safe for concurrent use.
//
// Prompt returns when ctx ends; what it returns then does not count. An error means that the question did not reach
// anybody. The answer carries the question's ID and Sum, or it grants nothing; the zero Answer denies.
type Prompter interface {
	Prompt(ctx context.Context, q Question) (Answer, error)
}

// Answer is a person's answer to one question.
type Answer struct {
	ID, Sum string // of the question that was answered
	Choice  Choice
	By      string // who answered, for the audit
	Reason  string // why not; told to whoever wanted the command
}

// Question is what a person is shown. It is a value and holds no secret: texts are redacted.
type Question struct {
	ID       string // random; an answer names it
	Sum      string // of the command, its directory and its backend
	Session  scope.Session
	Command  string // whole
	Dir      string // where it would run
	Backend  string
	Exposure string    // what the sandbox exposes, in one line
	Findings []Finding // why it is asked, the deciding one first
	For      string    // the running command that wants to connect; "": the question is about Command itself
	Guardian string    // set when the model that reviews said no: it may be overruled once
	Covers   Covers
	Asked    time.Time
	Deadline time.Time // after it, silence has refused
}

// Finding is one reason for a question. The span is in Question.Command.
type Finding struct {
	Rule, Reason, Remedy, Runs string
	Start, End                 int
	Sticky                     bool // asks every time
}

// Covers is what the lasting choices would cover, exactly. A choice whose entry is empty is not offered.
type Covers struct {
	Session, Always Cover
}

// Cover is one entry: a command's text or, with Glob, a pattern of commands.
type Cover struct {
	Entry string // as it is matched and stored
	Text  string // for people, without secrets
	Glob  bool
	Where string // the setting it is kept in; "": command_allowlist
}

// Offers tells whether a choice can be made.
func (q Question) Offers(c Choice) bool {
	switch c {
	case Session:
		return q.Covers.Session.Entry != ""
	case Always:
		return q.Covers.Always.Entry != ""
	}
	return c <= Always
}

// Reply returns an answer to this very question.
func (q Question) Reply(c Choice) Answer { return Answer{ID: q.ID, Sum: q.Sum, Choice: c} }

// Sum names what an approval is about: this command, there, on that backend.
func Sum(command, dir, backend string) string {
	h := sha256.New()
	for _, s := range []string{command, dir, backend} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(s)))
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return hex.EncodeToString(b)
}
