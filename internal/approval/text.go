package approval

import (
	"fmt"
	"strings"
	"time"

	"hermes/internal/guard"
)

// The parts of refusals. They are read by models: they say what happened, and that no other way is meant either.
const (
	noConsent = "The user has NOT consented to this action. Do not retry it, do not rephrase it, and do not try to reach the same outcome by a different command."
	noRetry   = "Do not retry or rephrase it."
	silence   = "Silence is not consent."
)

// ForPerson is a refusal without what only a model has to be told.
func ForPerson(message string) string {
	return strings.NewReplacer(" "+noConsent, "", " "+noRetry, "").Replace(message)
}

// refusal is the text for a command that the guard refuses in every mode.
func refusal(v guard.Verdict) (message, remedy string) {
	why := v.Rule
	if v.Reason != "" {
		why += ": " + v.Reason
	}
	switch v.Tier {
	case guard.Lifecycle:
		return "Blocked: " + why + ". It would end the gateway that runs this session. No approval or mode lifts this; nothing was executed.",
			"run it from a shell outside the gateway"
	case guard.Hardline:
		return "BLOCKED (hardline): " + why + ". No mode, approval or YOLO lifts this; nothing was executed. " + noRetry, hint(v, "run it yourself, outside the agent")
	case guard.Sudo:
		return "BLOCKED: sudo password guessing via stdin (sudo -S). Nothing was executed. " + noRetry,
			"set SUDO_PASSWORD in .env, or run sudo without -S at a terminal"
	case guard.UserDeny:
		return "BLOCKED: " + why + ". The owner's approvals.deny refuses it; not even YOLO or mode off lifts that. Nothing was " +
			"executed. " + noRetry, "change approvals.deny if you are its owner"
	}
	if v.Rule == "" {
		why = strings.TrimPrefix(why, ": ")
	}
	return "BLOCKED: " + orWord(why, "no guard has judged it") + ". Nothing was executed.", v.Remedy
}

func hint(v guard.Verdict, otherwise string) string {
	if v.Remedy != "" {
		return v.Remedy
	}
	return otherwise
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// described joins the keys of the findings, each once.
func described(findings []guard.Finding) string {
	var names []string
	seen := map[string]bool{}
	for _, f := range findings {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			names = append(names, f.Rule)
		}
	}
	return strings.Join(names, "; ")
}

// isCommand is what the Command of a request is called where it is one.
const isCommand = "command"

// what returns what the Command of a request is, in a word.
func (r Request) what() string {
	if r.For != "" {
		return "connection"
	}
	return orWord(r.What, isCommand)
}

// flagged begins the refusal of what would be asked about, where nobody is.
func flagged(what, desc string) string {
	if what == isCommand {
		return "BLOCKED: Command flagged as dangerous (" + desc + ")"
	}
	return "BLOCKED: This " + what + " must be asked about (" + desc + ")"
}

func deniedText(what, desc, reason string) string {
	s := "BLOCKED: the user denied this " + what + " (" + desc + "). "
	if reason != "" {
		s += "Reason given: " + reason + ". "
	}
	return s + noConsent
}

func timeoutText(what, desc string, after time.Duration) string {
	return fmt.Sprintf("BLOCKED: the question about this %s (%s) timed out without user response after %s. %s %s",
		what, desc, after, silence, noConsent)
}

func unreachedText(what, desc string, err error) string {
	s := "BLOCKED: this " + what + " must be asked about (" + desc + "), and the question could not be put to anybody"
	if err != nil {
		s += ": " + err.Error()
	}
	return s + ". " + noConsent
}

func cancelledText(what, desc string) string {
	return "BLOCKED: the run ended while this " + what + " (" + desc + ") waited for an answer. " + noConsent
}

func nobodyText(what, desc string) string {
	return flagged(what, desc) + " but there is nobody to ask. " + noConsent
}

// headlessText is the refusal where no person is present by design.
func headlessText(p Presence, platform, what, desc string, sticky bool) (message, remedy string) {
	var who, key string
	switch p {
	case SingleQuery:
		who, key = "single-query mode (-q) runs without a user present", "approvals.single_query_mode"
	case Cron:
		who, key = "cron jobs run without a user present", "approvals.cron_mode"
	default:
		who, key = "it came from an unattended platform ("+orWord(platform, "unknown")+"), where no user is present", "approvals.unattended_mode"
	}
	message = flagged(what, desc) + " but " + who + ". Find another approach that does not need it"
	if sticky {
		return message + "; this one asks every time, and no setting lifts that.", atTerminal(what)
	}
	if what != isCommand { // command_allowlist has no entry for it
		return message + ". To let such pass, the owner sets " + key + ": approve.", "set " + key + ": approve"
	}
	return message + ". To let such commands pass, the owner sets " + key + ": approve.",
		"set " + key + ": approve, or add the command to command_allowlist"
}

// atTerminal is what can be done about what nobody was there to be asked about.
func atTerminal(what string) string {
	if what == isCommand {
		return "run it yourself at a terminal"
	}
	return "do it yourself, or be at a terminal to be asked"
}

func smartText(desc string) string {
	return "BLOCKED by smart approval: " + desc + ". " + noConsent
}

func breakerText(n int) string {
	return fmt.Sprintf(" CIRCUIT BREAKER: %d commands in a row were refused. Stop trying variations; tell the user what you wanted to do and why, and wait.", n)
}
