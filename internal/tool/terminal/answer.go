package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/process"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/capture"
	"hermes/internal/shell"
	"hermes/internal/tool"
)

// Outcome is the whole result of a call, for programs.
type Outcome struct {
	ID       string `json:"id,omitempty"` // in the audit log
	Status   string `json:"status"`       // finished, running, refused, degraded or failed
	Output   string `json:"output"`
	Exit     *int   `json:"exit_code"` // null while it runs, and when it has not run
	Meaning  string `json:"exit_code_meaning,omitempty"`
	Error    string `json:"error,omitempty"`
	Process  string `json:"session_id,omitempty"` // in the background
	Terminal bool   `json:"pty,omitempty"`

	Dir      string   `json:"cwd,omitempty"`
	Observed bool     `json:"cwd_observed,omitempty"`
	Chars    int      `json:"output_total_chars,omitempty"`
	Path     string   `json:"full_output_path,omitempty"`
	Left     []string `json:"left_running,omitempty"`

	Backend  string   `json:"backend,omitempty"`
	Exposure string   `json:"exposure,omitempty"`
	Boundary bool     `json:"boundary"`
	Approval *Verdict `json:"approval,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Seconds  float64  `json:"seconds"`
}

// Verdict is what was decided about a command that something spoke against.
type Verdict struct {
	Approved    bool   `json:"approved"`
	Outcome     string `json:"outcome"`
	Hardline    bool   `json:"hardline,omitempty"`
	UserDeny    bool   `json:"user_deny,omitempty"`
	Consent     *bool  `json:"user_consent,omitempty"` // false: a person was asked, and did not consent
	Rule        string `json:"pattern_key,omitempty"`
	Description string `json:"description,omitempty"`
	Reason      string `json:"deny_reason,omitempty"`
	By          string `json:"by,omitempty"`
}

// answer makes the result of a call.
type answer struct {
	o       *Options
	args    runArgs
	prog    *shell.Program
	p       *process.Process
	notes   []string
	timeout time.Duration
}

// printed is a part that a command has printed.
func printed(text string, from taint.Origin) tool.Part {
	return tool.Part{Text: text, Origin: from, Risk: taint.Assess(text)}
}

// foreground is the result of a command that has ended, or never began.
func (a *answer) foreground() tool.Result {
	r, err := a.p.Result()
	if isRefusal(r) {
		return refused(r, err)
	}
	whole := a.p.Whole()
	out := a.told(r, err, whole)
	d := out.Data.(Outcome)
	var says []string
	switch {
	case err != nil:
		says = append(says, trouble(err))
	case r.Status.TimedOut:
		says = append(says, fmt.Sprintf("[Command timed out after %ds] exit code 124. If it was meant to run on, use background true; if it needs longer, a longer timeout.", a.timeout/time.Second))
	case r.Status.Interrupted:
		says = append(says, "[Command interrupted] exit code 130.")
	default:
		says = append(says, exitText(d.Exit, d.Meaning))
	}
	if whole.Cut {
		says = append(says, fmt.Sprintf("The output had %d characters; %s", whole.Total, where(whole.Path)))
	}
	if d.Observed && d.Dir != r.Dir {
		says = append(says, "The directory is now "+d.Dir+".")
	}
	if len(d.Left) > 0 {
		says = append(says, fmt.Sprintf("It has left running: %s. What that prints is lost, and it ends with the session. Use background true instead of &, nohup and the like.",
			strings.Join(d.Left, "; ")))
	}
	a.close(&out, append(says, a.about(r)...))
	return out
}

// background is the result of a command that runs on, or has ended at once.
func (a *answer) background() tool.Result {
	r, err := a.p.Result()
	i := a.p.Info()
	if !i.Running() {
		if isRefusal(r) {
			return refused(r, err)
		}
		out := a.told(r, err, a.p.Whole())
		d := out.Data.(Outcome)
		d.Process = i.ID
		out.Data = d
		says := exitText(d.Exit, d.Meaning)
		if err != nil {
			says = trouble(err)
		}
		a.close(&out, append([]string{"It has ended at once: " + says}, a.about(r)...))
		return out
	}
	text := a.p.News(recent).String()
	out := tool.Result{Summary: "runs in the background as " + i.ID, Approved: tool.ApprovedBy(r.Decision)}
	d := outcome(r)
	d.Status, d.Process, d.Output, d.Terminal, d.Exit = "running", i.ID, text, i.Terminal, nil
	out.Data = d
	if text != "" {
		out.Parts = append(out.Parts, printed(text, i.Origin))
	}
	says := []string{fmt.Sprintf("It runs in the background: session_id %q, for the tool process.", i.ID)}
	if i.Terminal {
		says = append(says, "It has a terminal: process types into it, read_terminal shows it.")
	}
	switch {
	case i.Notify:
		says = append(says, "You will be told when it ends.")
	case len(i.Watch) > 0:
		says = append(says, "You will be told of lines with: "+strings.Join(i.Watch, ", ")+".")
	}
	a.close(&out, append(says, a.about(r)...))
	return out
}

// told is what a command printed, and the facts.
func (a *answer) told(r launch.Result, err error, whole capture.Result) tool.Result {
	d := outcome(r)
	d.Status, d.Output, d.Chars, d.Path = "finished", whole.Text, whole.Total, whole.Path
	d.Dir, d.Observed = r.Status.Dir, r.Status.Observed
	for _, p := range r.Status.Left {
		d.Left = append(d.Left, p.Command)
	}
	if r.Ran && err == nil {
		d.Meaning = meaning(a.prog, r.Status)
	}
	out := tool.Result{Approved: tool.ApprovedBy(r.Decision)}
	if err != nil {
		d.Status, d.Error, d.Exit, out.Failed = "failed", err.Error(), nil, true
		if degraded := (*sandbox.DegradedError)(nil); errors.As(err, &degraded) {
			d.Status = "degraded"
		}
		out.Summary = "could not run"
	} else {
		out.Summary = fmt.Sprintf("exit code %d", r.Status.Code)
	}
	out.Data = d
	switch {
	case whole.Text != "":
		out.Parts = append(out.Parts, printed(whole.Text, a.p.Info().Origin))
	case err == nil:
		out.Parts = append(out.Parts, tool.Own("(no output)"))
	}
	return out
}

// close adds what Hermes says itself.
func (a *answer) close(out *tool.Result, says []string) {
	for _, n := range a.notes {
		says = append(says, "Note: "+n+".")
	}
	out.Parts = append(out.Parts, tool.Own(strings.Join(says, "\n")))
}

// about says what was in force, where that is not what one would expect.
func (a *answer) about(r launch.Result) (says []string) {
	if e := r.Exposure; len(e.Gaps) > 0 || e.Backend != "" && e.Backend != "local" && e.Backend != "ssh" && !e.Boundary() {
		says = append(says, "Note: "+e.Summary()+".")
	}
	for _, n := range r.Notes {
		if n.Outcome == environ.Withheld && (strings.Contains(a.args.Command, "$"+n.Name) || strings.Contains(a.args.Command, "${"+n.Name)) {
			says = append(says, "Note: commands do not get the variable "+n.Name+": "+n.Reason+".")
		}
	}
	if text := a.p.Whole().Text; r.Ran && r.Sudo == 0 && r.Status.Code != 0 && strings.Contains(text, "sudo:") && strings.Contains(text, "password") {
		says = append(says, "Note: sudo has no password here, and none can be typed. The person can give it one: hermes config set SUDO_PASSWORD - (backend local only). Do not try to guess it.")
	}
	for _, w := range r.Warnings {
		if !r.Status.TimedOut || !strings.HasPrefix(w, "timed out") {
			says = append(says, "Warning: "+w)
		}
	}
	return says
}

// outcome holds the facts that every result has.
func outcome(r launch.Result) Outcome {
	d := Outcome{ID: r.ID, Backend: r.Backend, Warnings: r.Warnings, Seconds: r.Status.Wall.Seconds()}
	if r.Exposure.Backend != "" {
		d.Exposure, d.Boundary = r.Exposure.Summary(), r.Exposure.Boundary()
	}
	if r.Ran {
		code := r.Status.Code
		d.Exit = &code
	}
	if v := r.Decision; v.Outcome != approval.Clean && v.Outcome != "" {
		d.Approval = &Verdict{
			Approved: v.Allowed(), Outcome: string(v.Outcome), Hardline: r.Verdict.Tier == guard.Hardline && !v.Allowed(),
			UserDeny: r.Verdict.Tier == guard.UserDeny, Rule: r.Verdict.Rule, Description: r.Verdict.Reason, Reason: v.Reason, By: v.By,
		}
		switch v.Outcome {
		case approval.Denied, approval.TimedOut:
			no := false
			d.Approval.Consent = &no
		case approval.Answered:
			yes := true
			d.Approval.Consent = &yes
		}
	}
	return d
}

// isRefusal tells whether somebody decided that it does not run. Without a sandbox nothing was decided.
func isRefusal(r launch.Result) bool { return r.Refused() && r.Decision.Outcome != "" }

// refused is the result of something that was not run or typed.
func refused(r launch.Result, err error) tool.Result {
	d := outcome(r)
	d.Status, d.Error = "refused", r.Decision.Message
	if d.Error == "" {
		d.Error = "BLOCKED: it was not run."
	}
	says := []string{d.Error}
	if f := r.Verdict.Findings; len(f) > 0 && f[0].Runs != "" {
		says = append(says, "It would run: "+f[0].Runs)
	}
	var next []string
	for _, s := range []string{r.Decision.Remedy, r.Verdict.Remedy} {
		if s = sentence(s); s != "" && !slices.Contains(next, s) {
			next = append(next, s)
		}
	}
	if len(next) > 0 {
		says = append(says, "What can be done: "+strings.Join(next, " "))
	}
	if err != nil {
		says = append(says, err.Error())
	}
	return tool.Result{Parts: []tool.Part{tool.Own(strings.Join(says, "\n"))}, Failed: true, Data: d, Summary: "refused: " + string(r.Decision.Outcome)}
}

// sentence makes a sentence of a phrase.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "`") {
		s += "."
	}
	return s
}

// trouble says why a command could not run to its end, and what can be done.
func trouble(err error) string {
	var missing *sandbox.MissingError
	var degraded *sandbox.DegradedError
	var broken *sandbox.BrokenError
	text := "It could not run: " + err.Error() + "."
	switch {
	case errors.Is(err, context.Canceled):
		return "[Command interrupted] It was interrupted: " + err.Error() + "."
	case errors.As(err, &missing) && missing.Remedy != "":
		text += " What the person can do: " + sentence(missing.Remedy)
	case errors.As(err, &degraded):
		text += " Nothing was run. It may work again later."
		if degraded.Remedy != "" {
			text += " What the person can do: " + sentence(degraded.Remedy)
		}
	case errors.As(err, &broken):
		text += " It may have run in part: look at what it did before you run it again. The next command gets a new sandbox."
	}
	return text
}

// where says where the rest of an output is.
func where(path string) string {
	if path == "" {
		return "the middle is lost: run it again with less output, or into a file."
	}
	return "all of it is for some days in " + path + " on the machine that Hermes runs on."
}
