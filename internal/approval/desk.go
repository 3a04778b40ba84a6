package approval

import (
	"context"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/redact"
	"hermes/internal/shell"
)

// Options are a Desk's settings. The zero value asks a person about everything, and refuses where there is none.
type Options struct {
	Mode        Mode
	YOLO        bool          // HERMES_YOLO_MODE or --yolo, as it was when the process started
	Timeout     time.Duration // to answer a question; 0 is five minutes
	Sandboxed   Sandboxed
	SingleQuery bool // commands pass where nobody is present: single_query_mode, cron_mode, unattended_mode
	Cron        bool
	Unattended  bool

	Review  Reviewer // decides in mode smart; nil leaves all to a person
	Policy  string   // the owner's rules for the reviewer
	Breaker int      // denials of the reviewer in a row that make its refusal say stop; 0 never

	Store  Store               // nil: nothing is kept for good
	Redact func(string) string // for what people are shown; nil: package redact, strictly
	Spans  func(string) []redact.Span
}

const (
	defaultTimeout = 5 * time.Minute
	maxTimeout     = 365 * 24 * time.Hour
)

// Desk decides. It is safe for concurrent use; make one for a process and hand it new Options when settings change.
type Desk struct {
	mu       sync.Mutex // guards what follows
	o        Options
	sessions map[scope.Session]*session
	flights  map[flightKey]*flight
	breaker  breaker
}

// New makes a Desk.
func New(o Options) *Desk {
	d := &Desk{flights: map[flightKey]*flight{}}
	d.o = settle(o)
	return d
}

func settle(o Options) Options {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	o.Timeout = min(o.Timeout, maxTimeout)
	if o.Redact == nil || o.Spans == nil {
		r := redact.New(redact.Options{Mode: redact.Strict})
		o.Redact, o.Spans = r.String, r.Spans
	}
	return o
}

// Set takes new settings. YOLO stays what it was when the Desk was made: nothing that runs later switches it on.
func (d *Desk) Set(o Options) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o.YOLO = d.o.YOLO
	d.o = settle(o)
}

func (d *Desk) options() Options {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.o
}

func (d *Desk) redact(s string) string { return d.options().Redact(s) }

// Request is a command that the guard has judged.
type Request struct {
	Session scope.Session
	Command string
	Dir     string
	Backend string
	Program *shell.Program // what the command would run; nil: lasting answers cover its text only
	// Verdict is the guard's, without any allow-list.
	Verdict guard.Verdict
	// Judge returns the verdict with the owner's allow-list and the entries given. nil: there is no list, and nothing can be
	// granted for good.
	Judge    func(entries []string) guard.Verdict
	Exposure exposure.Exposure // of the sandbox it would run in
	Presence Presence
	Platform string   // where it came from, for texts
	Prompter Prompter // nil: nobody can be asked
	Own      bool     // the person's own command, which no agent wants: what is granted for it covers no agent's, and the other way round

	What   string  // what Command is, in a word for texts, where it is none: "file access"
	For    string  // the running command, where Command is a connection that it wants
	Covers *Covers // what lasting answers cover, where that is no command; nil: as the command is
	Store  Store   // where what is granted for good is kept; nil: the Desk's
}

// Decide answers a request, in this order: what the guard refuses stays refused; harm that the sandbox contains is not asked
// about; YOLO and mode off; the allow-list and the session's grants; contexts without a person; the reviewing model; a
// person. Sticky findings skip all but the first and the last. It returns when it is decided, at the latest when the question's
// time is over or ctx ends.
func (d *Desk) Decide(ctx context.Context, r Request) Decision {
	o := d.options()
	out := Decision{Verdict: r.Verdict, By: "policy"}
	switch r.Verdict.Action {
	case guard.Allow:
		out.Action, out.Outcome = guard.Allow, Clean
		return out
	case guard.Ask:
	default:
		out.Outcome = Refused
		out.Message, out.Remedy = refusal(r.Verdict)
		return out
	}
	open := r.Verdict.Findings
	if len(open) == 0 { // an Ask without a reason cannot be lifted
		open = []guard.Finding{{Tier: r.Verdict.Tier, Rule: r.Verdict.Rule, Reason: r.Verdict.Reason, Sticky: true}}
	}
	open = d.lift(&out, r, o, open)
	if len(open) == 0 {
		out.Action = guard.Allow
		return out
	}
	desc := described(open)
	switch {
	case r.Presence.headless():
		d.headless(&out, r, o, open)
	case !r.Presence.there():
		out.Outcome, out.Message = NoOne, nobodyText(r.what(), desc)
		out.Remedy = "run it at a terminal"
		if !sticky(open) && r.what() == isCommand {
			out.Remedy += ", or add the command to command_allowlist"
		}
	default:
		d.consult(ctx, &out, r, o, open)
	}
	return out
}

// lift takes out what needs no question, and notes why.
func (d *Desk) lift(out *Decision, r Request, o Options, open []guard.Finding) []guard.Finding {
	take := func(by Outcome, which func(guard.Finding) bool) {
		var rest []guard.Finding
		for _, f := range open {
			if f.Sticky || f.Tier == guard.Self || f.Tier.Refuses() || !which(f) {
				rest = append(rest, f)
				continue
			}
			out.Lifted, out.Outcome = append(out.Lifted, Lift{f, by}), by
		}
		open = rest
	}
	all := func(guard.Finding) bool { return true }
	switch {
	case o.Sandboxed == SkipAlways && byName(r.Backend, r.Exposure):
		take(Contained, all)
	case o.Sandboxed != AskAnyway:
		take(Contained, func(f guard.Finding) bool { return r.Exposure.Covers(f.Harms) })
	}
	if d.YOLO(r.Session) {
		take(YOLO, all)
	}
	if o.Mode == Off {
		take(ModeOff, all)
	}
	if len(open) > 0 && r.Judge != nil {
		left := r.Judge(nil)
		take(Listed, func(f guard.Finding) bool { return !holds(left, f) })
	}
	if len(open) > 0 && d.granted(r) {
		take(Granted, all)
	}
	return open
}

// holds tells whether a finding is still there in a verdict that an allow-list had a say in.
func holds(v guard.Verdict, f guard.Finding) bool {
	if v.Action == guard.Block {
		return true
	}
	for _, g := range v.Findings {
		if g.Rule == f.Rule && g.Tier == f.Tier && g.Start == f.Start && g.End == f.End {
			return true
		}
	}
	return false
}

// byName tells whether a backend counts as a container by its name: with a folder of the owner's mounted it does not.
func byName(backend string, e exposure.Exposure) bool {
	switch backend {
	case "singularity", "modal", "daytona", "vercel_sandbox":
		return true
	case "docker":
		return e.Tree == exposure.OwnTree || e.Tree == exposure.NoTree
	}
	return false
}

func sticky(findings []guard.Finding) bool {
	for _, f := range findings {
		if f.Sticky || f.Tier == guard.Self {
			return true
		}
	}
	return false
}

// headless decides where no person is present by design. It never waits.
func (d *Desk) headless(out *Decision, r Request, o Options, open []guard.Finding) {
	approve := map[Presence]bool{SingleQuery: o.SingleQuery, Cron: o.Cron, Unattended: o.Unattended}[r.Presence]
	if approve && !sticky(open) {
		for _, f := range open {
			out.Lifted = append(out.Lifted, Lift{f, Headless})
		}
		out.Action, out.Outcome, out.By = guard.Allow, Headless, "owner"
		return
	}
	out.Outcome = Blocked
	out.Message, out.Remedy = headlessText(r.Presence, strings.TrimSpace(r.Platform), r.what(), described(open), approve)
}
