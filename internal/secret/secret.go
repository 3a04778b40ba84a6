// Package secret holds values that must not be printed: whatever formats a String writes "[redacted]".
//
// It does not find secrets in text (see redact), does not load or store them, and does not wipe memory.
//
// Failure direction: a way of printing that was not thought of shows the mask, because the value sits behind a func.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// Mask is what every form of printing gives instead of the value.
const Mask = "[redacted]"

// String is a secret text. The zero value is the empty secret. It is safe for concurrent use and may be copied.
//
// The value is kept in a closure, so that reflection (spew, go-cmp, debug dumps) cannot walk to it either.
// Two Strings cannot be compared with ==; use Equal.
type String struct {
	reveal func() string
}

// New wraps a value.
func New(value string) String {
	if value == "" {
		return String{}
	}
	return String{reveal: func() string { return value }}
}

// Reveal gives the value. Each call is a place where the secret leaves the type; keep them few.
func (s String) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Empty says whether there is no value.
func (s String) Empty() bool { return s.reveal == nil }

// Equal compares two secrets in time that depends on their lengths only.
func (s String) Equal(other String) bool { return s.EqualText(other.Reveal()) }

// EqualText compares with a text that came from outside, such as a webhook header, in time that depends on the lengths only.
func (s String) EqualText(text string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(text)) == 1
}

// String implements fmt.Stringer with the mask.
func (String) String() string { return Mask }

// GoString implements fmt.GoStringer with the mask.
func (String) GoString() string { return Mask }

// Format implements fmt.Formatter: the mask under every verb and flag.
func (String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Mask) }

// MarshalText gives the mask to JSON, YAML and TOML encoders and to map keys.
func (String) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// MarshalJSON gives the mask as a JSON string.
func (String) MarshalJSON() ([]byte, error) { return []byte(`"` + Mask + `"`), nil }

// MarshalYAML gives the mask to YAML encoders that look for this method first.
func (String) MarshalYAML() (any, error) { return Mask, nil }

// MarshalBinary gives the mask to gob and similar encoders.
func (String) MarshalBinary() ([]byte, error) { return []byte(Mask), nil }

// LogValue gives the mask to slog.
func (String) LogValue() slog.Value { return slog.StringValue(Mask) }

// UnmarshalText takes the value from a decoder, so that configuration can be read straight into a String.
// The mask itself is refused: it would silently replace a real value that was once printed.
func (s *String) UnmarshalText(text []byte) error {
	if string(text) == Mask {
		return fmt.Errorf("secret: the text is the mask %q, not a value", Mask)
	}
	*s = New(string(text))
	return nil
}
