package cli

import (
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/launch"
	"hermes/internal/sandbox/capture"
)

// execAnswer is what exec --json prints: what came of the command, and what was in force.
type execAnswer struct {
	ID       string        `json:"id"`
	Command  string        `json:"command"`
	Dir      string        `json:"cwd"`
	Backend  string        `json:"backend"`
	Verdict  verdictAnswer `json:"verdict"`
	Decision execDecision  `json:"decision"`
	Ran      bool          `json:"ran"`
	Error    string        `json:"error,omitempty"`
	Exit     *int          `json:"exit"` // null when it has not run
	Signal   int           `json:"signal,omitempty"`
	TimedOut bool          `json:"timed_out,omitempty"`
	Millis   int64         `json:"ms"`
	Left     []string      `json:"left_running,omitempty"`

	Stdout execStream `json:"stdout"`
	Stderr execStream `json:"stderr"`

	Exposure *exposure.Exposure `json:"exposure"` // null when no sandbox was opened
	Boundary bool               `json:"boundary"`
	Missing  []execRow          `json:"missing"` // asked for by name and not in force
	Lacking  []execRow          `json:"lacking"` // a default, and not in force
	Withheld []execVariable     `json:"withheld_environment"`
	Warnings []string           `json:"warnings"`
}

type execDecision struct {
	Verdict  string     `json:"verdict"`
	Outcome  string     `json:"outcome"`
	By       string     `json:"by"`
	Choice   string     `json:"choice,omitempty"`
	Covers   string     `json:"covers,omitempty"`
	Lifted   []execLift `json:"lifted"`
	Message  string     `json:"message,omitempty"`
	Remedy   string     `json:"remedy,omitempty"`
	Question string     `json:"question,omitempty"`
}

type execLift struct {
	Rule string `json:"rule"`
	By   string `json:"by"`
}

type execStream struct {
	Text  string `json:"text"`
	Chars int    `json:"chars"`          // of the whole output
	Cut   bool   `json:"cut,omitempty"`  // text has a gap in its middle
	File  string `json:"file,omitempty"` // where more of it is kept for some days
}

type execRow struct {
	Key   string `json:"key"`
	Asked string `json:"asked"`
	Force string `json:"in_force"`
}

type execVariable struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ledger turns a result into what is printed.
func ledger(r launch.Result, err error, out, errs *capture.Buffer) execAnswer {
	a := execAnswer{
		ID: r.ID, Command: r.Command, Dir: r.Dir, Backend: r.Backend, Verdict: commandAnswer(nil, r.Verdict), Ran: r.Ran,
		Signal: r.Status.Signal, TimedOut: r.Status.TimedOut, Millis: r.Status.Wall.Milliseconds(),
		Stdout: stream(out), Stderr: stream(errs), Warnings: append([]string{}, r.Warnings...),
		Missing: []execRow{}, Lacking: []execRow{}, Withheld: []execVariable{},
	}
	d := r.Decision
	a.Decision = execDecision{Verdict: d.Action.String(), Outcome: string(d.Outcome), By: d.By, Covers: d.Grant.Text,
		Lifted: []execLift{}, Message: d.Message, Remedy: d.Remedy, Question: d.Question}
	if d.Question != "" {
		a.Decision.Choice = d.Choice.String()
	}
	for _, l := range d.Lifted {
		a.Decision.Lifted = append(a.Decision.Lifted, execLift{l.Finding.Rule, string(l.By)})
	}
	if err != nil {
		a.Error = err.Error()
	}
	if r.Ran {
		a.Exit = &r.Status.Code
	}
	for _, p := range r.Status.Left {
		a.Left = append(a.Left, p.Command)
	}
	if r.Exposure.Backend != "" {
		a.Exposure, a.Boundary = &r.Exposure, r.Exposure.Boundary()
		a.Missing, a.Lacking = rows(r.Exposure.Missing()), rows(r.Exposure.Lacking())
	}
	for _, n := range r.Notes {
		if n.Outcome == environ.Withheld {
			a.Withheld = append(a.Withheld, execVariable{n.Name, n.Reason})
		}
	}
	return a
}

func rows(from []exposure.Row) []execRow {
	out := make([]execRow, len(from))
	for i, r := range from {
		out[i] = execRow{r.Key, r.Asked, r.Force}
	}
	return out
}

func stream(b *capture.Buffer) execStream {
	r := b.Close()
	return execStream{Text: r.Text, Chars: r.Total, Cut: r.Cut, File: r.Path}
}
