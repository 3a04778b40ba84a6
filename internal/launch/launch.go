// Package launch is the one way to run a command: the guard judges it, a person is asked where the guard says so and the
// sandbox does not contain the harm, the decision is written down, the command runs in its sandbox with the environment the
// policy gives it, its output loses its secrets, and the result says what was really in force.
//
// It decides none of these things itself (see guard/command, approval, guard/environ, sandbox, redact, audit): it is their
// order, the same for every caller.
//
// Failure direction: refuse. A command that was refused has not run, in no part; one whose decision could not be written down
// neither.
package launch

import (
	"io"
	"time"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/redact"
	"hermes/internal/sandbox"
	"hermes/internal/secret"
	"hermes/internal/shell"
)

// Recorder writes decisions and results down. *audit.Log is the one outside tests.
type Recorder interface {
	Decide(ref audit.Ref, command string, d audit.Decision) error
	Finish(ref audit.Ref, r audit.Result) error
}

// Rules is what the owner has decided about commands.
type Rules struct {
	Deny     []string   // approvals.deny
	Allow    []string   // command_allowlist
	Required []Required // approvals.command_approval_required
}

// Required is a glob of commands that are asked about although no rule speaks against them.
type Required struct {
	Glob   string
	Why    string
	Review bool // a model may decide; otherwise a person is asked every time
}

// Tree answers what git knows of the paths in a work tree on this machine, for one check.
type Tree func(dir string) (tracked, ignored func(path string) command.Fact)

// Policy is all that decides how commands run. Each command takes the policy that is in force when it starts.
type Policy struct {
	Rules   Rules
	Facts   command.Facts    // Dir, Env, Tracked and Ignored are filled in for each command
	Tree    Tree             // nil: nothing is known of work trees
	Environ *environ.Policy  // nil: commands get no variable at all
	Redact  *redact.Redactor // nil: a new one
	Off     bool             // security.redact_secrets is false: only known values are taken out of output
	Sudo    *secret.String   // SUDO_PASSWORD, nil when it is not set; used on backend local only
}

// Options are what a Door is made of. All are needed.
type Options struct {
	Policy func() (Policy, error) // the policy now; an error refuses
	Desk   *approval.Desk
	Log    Recorder
}

// Call is one command. Either Text or Argv is set.
//
// It is wide because each field is a property of one command that callers must be able to leave out.
type Call struct {
	Session scope.Session
	Place   *Place
	Text    string   // shell text
	Argv    []string // a program and its arguments, run without a shell

	Dir   string            // where to run it, as seen inside; empty: where the last command ended
	Env   environ.Request   // whose environment; the Surface is the caller's to say
	Extra map[string]string // variables whoever wants the command adds; judged with it

	Presence approval.Presence
	Platform string
	Prompter approval.Prompter
	Own      bool // as of approval.Request

	// Inner is set by Hermes' own programs that run a text of the agent's within them. Then it is judged, shown and written down
	// in place of Text or Argv.
	Inner *Inner

	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer // get redacted output; nil: thrown away
	Terminal       *sandbox.Size
	Resize         <-chan sandbox.Size
	Timeout        time.Duration   // 0: none
	Unbound        <-chan struct{} // closed: Timeout holds no more; nil: it always holds

	Apart   bool          // what it changes of the session's shell (directory, exports, functions) is its own: nothing of it lasts
	Started func(Started) // told once it may run, before it does; nil: nobody. It must not block
	// Display, of a command on a terminal, gets what the terminal shows as it comes, before redaction: a screen is drawn in
	// pieces. Whoever sets it shows of what it drew only what Started.Clean gives.
	Display io.Writer
}

// Started is a command that may run and is about to.
type Started struct {
	Result  Result              // what is known by now
	Program *shell.Program      // what it runs, with what earlier commands have left in the session's shell
	Held    func() string       // the line of output that has not ended yet, redacted as if it ended here. Safe for concurrent use
	Clean   func(string) string // takes the secrets out of a text as it is done for this command's output
}

// Inner is what a program of Hermes' own, which Argv starts, runs in the sandbox.
type Inner struct {
	Text  string    // the shell text that would run the same without the program around it
	Given []string  // as of shell.Options: names whose calls come back to Hermes, and are judged then
	Talk  io.Writer // gets standard output in place of Stdout, as it is: what the program says to Hermes, and nobody else reads
}

// Result is what came of a call, and what was in force: the ledger.
type Result struct {
	ID       string // names it in the audit log
	Command  string // redacted
	Dir      string
	Backend  string
	Verdict  guard.Verdict
	Decision approval.Decision
	Ran      bool // it was started; false for whatever was refused
	Status   sandbox.Status
	Exposure exposure.Exposure // zero when no sandbox was opened
	Notes    []environ.Note    // what became of variables
	Bytes    int64             // of output, before redaction
	Sudo     int               // sudo commands that were given the password
	Warnings []string
}

// Refused tells whether the command was refused.
func (r Result) Refused() bool { return !r.Decision.Allowed() }
