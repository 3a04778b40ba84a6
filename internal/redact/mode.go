package redact

import "fmt"

// Mode says which passes run. Token formats, headers, private keys, connection strings and known values are looked for in
// every mode but Off.
type Mode uint8

const (
	// Text is for logs, chat and model text: assignments and fields with credential names count too. Credentials inside
	// web links stay, because an agent must be able to follow a link.
	Text Mode = iota
	// Code is for source files and ordinary command output: no assignments, so that code comes back byte for byte.
	Code
	// Env is for environment dumps and files of settings: assignments, and fewer doubts about their values.
	Env
	// Strict is Text plus credentials in web links: for logs, panels and whatever leaves the machine.
	Strict
	// Off masks known values only.
	Off
)

// ParseMode reads a mode by name; the empty name is Text.
func ParseMode(name string) (Mode, error) {
	switch name {
	case "", "text":
		return Text, nil
	case "code", "file":
		return Code, nil
	case "env":
		return Env, nil
	case "strict", "url":
		return Strict, nil
	case "off":
		return Off, nil
	}
	return Text, fmt.Errorf("redact mode %q: want text, code, env, strict or off", name)
}

// String gives the mode's name.
func (m Mode) String() string {
	switch m {
	case Text:
		return "text"
	case Code:
		return "code"
	case Env:
		return "env"
	case Strict:
		return "strict"
	case Off:
		return "off"
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// assigns says whether credential names before a value count.
func (m Mode) assigns() bool { return m == Text || m == Env || m == Strict }
