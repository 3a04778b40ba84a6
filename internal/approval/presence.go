package approval

import (
	"slices"
	"strings"
)

// Presence says who is there. The zero Presence is nobody.
type Presence uint8

// The kinds of presence.
const (
	Nobody      Presence = iota // nothing is known of anybody
	Person                      // somebody sits at a terminal or an editor
	Chat                        // somebody is reached through a messenger or a client
	Asked                       // HERMES_EXEC_ASK: whoever can be reached must be asked
	SingleQuery                 // chat -q
	Cron                        // a scheduled job
	Unattended                  // a webhook or an API
)

var presenceNames = [...]string{"nobody", "person", "chat", "ask", "single query", "cron", "unattended"}

// String returns the presence's name.
func (p Presence) String() string {
	if int(p) < len(presenceNames) {
		return presenceNames[p]
	}
	return presenceNames[Nobody]
}

// there tells whether somebody could be asked.
func (p Presence) there() bool { return p == Person || p == Chat || p == Asked }

// headless tells whether it is a context of its own without a person.
func (p Presence) headless() bool { return p == SingleQuery || p == Cron || p == Unattended }

// Signals are the marks in a task's own context, or else in the environment, that tell who is there.
type Signals struct {
	Interactive bool   // HERMES_INTERACTIVE, or somebody at the terminal
	Gateway     bool   // HERMES_GATEWAY_SESSION
	Platform    string // HERMES_SESSION_PLATFORM
	Ask         bool   // HERMES_EXEC_ASK
	SingleQuery bool   // HERMES_SINGLE_QUERY_SESSION
	Cron        bool   // HERMES_CRON_SESSION
}

// ReadSignals reads the signals through env, which returns "" for what is not set.
func ReadSignals(env func(string) string) Signals {
	return Signals{
		Interactive: Truthy(env("HERMES_INTERACTIVE")), Gateway: Truthy(env("HERMES_GATEWAY_SESSION")),
		Platform: env("HERMES_SESSION_PLATFORM"), Ask: Truthy(env("HERMES_EXEC_ASK")),
		SingleQuery: Truthy(env("HERMES_SINGLE_QUERY_SESSION")), Cron: Truthy(env("HERMES_CRON_SESSION")),
	}
}

// Truthy reads a switch from the environment.
func Truthy(s string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(s)))
}

// Presence tells who is there. What runs without a person stays so, whatever else is set: a job bound to a chat for the
// delivery of its answer has nobody who waits for a question.
func (s Signals) Presence() Presence {
	switch {
	case s.SingleQuery:
		return SingleQuery
	case s.Cron:
		return Cron
	case s.unattended():
		return Unattended
	case s.Interactive:
		return Person
	case s.Gateway || s.Platform != "":
		return Chat
	case s.Ask:
		return Asked
	}
	return Nobody
}

func (s Signals) unattended() bool {
	switch strings.ToLower(strings.TrimSpace(s.Platform)) {
	case "webhook", "msgraph_webhook", "api_server":
		return true
	}
	return false
}
