// Package checked holds parameter types that only checking can build: a function that takes one cannot be handed text
// that nobody looked at.
//
// It looks at spelling only. Whether a directory exists, a host answers or a profile is the caller's own is not its
// business. The zero value of each type is the absence of a value: String is empty, IsZero is true, and whoever needs a
// value must refuse it.
//
// Layer 8 of 8. Failure direction: refuse; what is not on a type's list of allowed characters is an error.
package checked

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error says why a text was refused. Its message names the character and where it stands, so that a person can find it.
type Error struct {
	Type  string // what was parsed: "workdir", "job id", …
	Text  string // the text
	Pos   int    // byte offset of the guilty character, -1 when the text as a whole is the trouble
	Cause string // one phrase, without the character
}

// Error returns `type "text": 'c' at character n: cause`.
func (e *Error) Error() string {
	return e.Type + " " + quote(e.Text) + ": " + e.Reason()
}

// Reason returns the message without the text it is about.
func (e *Error) Reason() string {
	if e.Pos < 0 || e.Pos >= len(e.Text) {
		return e.Cause
	}
	r, size := utf8.DecodeRuneInString(e.Text[e.Pos:])
	char := strconv.QuoteRuneToASCII(r)
	switch {
	case r == utf8.RuneError && size == 1:
		char = fmt.Sprintf("byte 0x%02x", e.Text[e.Pos])
	case strconv.IsPrint(r):
		char = strconv.QuoteRune(r)
	}
	return fmt.Sprintf("%s at character %d: %s", char, utf8.RuneCountInString(e.Text[:e.Pos])+1, e.Cause)
}

// quote shows at most the beginning of a long text.
func quote(s string) string {
	const most = 200
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
}

func refuse(typ, text string, pos int, cause string) error {
	return &Error{Type: typ, Text: text, Pos: pos, Cause: cause}
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }
