package approval

import "strings"

// Mode is approvals.mode. The zero Mode always asks a person.
type Mode uint8

// The modes.
const (
	Manual Mode = iota // a person decides
	Smart              // a model may decide first; what it leaves open goes to a person
	Off                // nobody is asked
)

// String returns the mode's word.
func (m Mode) String() string {
	switch m {
	case Smart:
		return "smart"
	case Off:
		return "off"
	}
	return "manual"
}

// ParseMode reads a mode. false is what YAML makes of a bare off, true of a bare on; clear is false for a text that means
// nothing, which counts as manual.
func ParseMode(s string) (m Mode, clear bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "smart":
		return Smart, true
	case "off", "false":
		return Off, true
	case "manual", "true":
		return Manual, true
	}
	return Manual, false
}

// ParseApprove reads cron_mode, single_query_mode and unattended_mode: whether commands pass there without a question.
// A bare yes or off arrives from YAML as a boolean, and means deny.
func ParseApprove(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "approve", "off", "allow", "yes":
		return true
	}
	return false
}

// Sandboxed is approvals.sandboxed: what becomes of a question about harm that the sandbox contains. The zero value asks.
type Sandboxed uint8

// The values.
const (
	AskAnyway  Sandboxed = iota // ask as if there were no sandbox
	Skip                        // do not ask about contained harm
	SkipAlways                  // the same, and ask nothing where the backend's name says container
)

// ParseSandboxed reads approvals.sandboxed; anything unknown asks.
func ParseSandboxed(s string) Sandboxed {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "skip":
		return Skip
	case "skip_always":
		return SkipAlways
	}
	return AskAnyway
}
