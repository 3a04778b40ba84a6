package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/internal/process"
	"hermes/internal/screen"
	"hermes/internal/tool"
)

// Process is the tool process: what runs in the background.
type Process struct{ Options }

// How much of an output is returned, and how long one waits for more.
const (
	recent     = 200                    // lines, where none are named
	mostLines  = 2000                   // of one call
	mostChars  = 50000                  // of one call
	firstTime  = time.Second            // for an answer to what is typed
	stillTime  = 200 * time.Millisecond // after which an answer counts as whole
	answerTime = 3 * time.Second        // for all of it
)

// Spec implements tool.Tool.
func (p Process) Spec() tool.Spec {
	return tool.Spec{
		Name: "process", Words: "action",
		Description: "Commands that run in the background (terminal with background true). list: all of this session. poll: state, and what is new since the last poll. " +
			"log: lines of output, by offset and limit. wait: until it ends, or timeout. kill: end it with all it started. write: data to its input, as it is " +
			"(on a terminal as if typed: \\u0003 is Ctrl-C). submit: data and Enter. close: end its input. What is typed into a shell or interpreter is judged like a command.",
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
			`"action":{"type":"string","enum":["list","poll","log","wait","kill","write","submit","close"]},`+
			`"session_id":{"type":"string","description":"of the process, as terminal returned it; needed for all but list"},`+
			`"data":{"type":"string","description":"for write and submit"},`+
			`"timeout":{"type":"integer","minimum":1,"description":"for wait: seconds; default %d, at most %d"},`+
			`"offset":{"type":"integer","description":"for log: the first line, from 0; less than 0 counts from the end. Default: the last lines"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"for log: lines; default %d"}`+
			`},"required":["action"],"additionalProperties":false}`, p.timeout()/time.Second, p.longest()/time.Second, mostLines, recent)),
	}
}

type processArgs struct {
	Action  string  `json:"action"`
	ID      string  `json:"session_id"`
	Data    *string `json:"data"`
	Timeout *int64  `json:"timeout"`
	Offset  *int64  `json:"offset"`
	Limit   int     `json:"limit"`
}

// State is what a program is told of a process.
type State struct {
	ID       string  `json:"session_id"`
	Status   string  `json:"status"` // running or exited
	Command  string  `json:"command"`
	Dir      string  `json:"cwd,omitempty"`
	Terminal bool    `json:"pty,omitempty"`
	Exit     *int    `json:"exit_code,omitempty"`
	Killed   bool    `json:"killed,omitempty"`
	TimedOut bool    `json:"timed_out,omitempty"`
	Error    string  `json:"error,omitempty"`
	Seconds  float64 `json:"seconds"`
	Lines    int64   `json:"lines"`
	Path     string  `json:"full_output_path,omitempty"`

	Output string `json:"output,omitempty"`
	Offset int64  `json:"offset,omitempty"`      // of the first line of Output
	Next   int64  `json:"next_offset,omitempty"` // of the line after them
	Lost   int64  `json:"lost_lines,omitempty"`  // that were asked for and are no longer kept
}

func stateOf(i process.Info) State {
	s := State{
		ID: i.ID, Status: "running", Command: i.Command, Dir: i.Dir, Terminal: i.Terminal, Killed: i.Killed, TimedOut: i.TimedOut,
		Seconds: i.Took().Round(time.Millisecond).Seconds(), Lines: i.Lines, Path: i.Path,
	}
	if !i.Running() {
		s.Status = "exited"
		if i.Err == nil {
			s.Exit = &i.Code
		} else {
			s.Error = i.Err.Error()
		}
	}
	return s
}

// line tells a state in a line.
func (s State) line() string {
	took := time.Duration(s.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
	text := fmt.Sprintf("%s %s for %s", s.ID, "runs", took)
	switch {
	case s.Status == "running":
	case s.Error != "":
		text = fmt.Sprintf("%s could not run to its end: %s", s.ID, s.Error)
	case s.Killed:
		text = fmt.Sprintf("%s was killed after %s", s.ID, took)
	case s.TimedOut:
		text = fmt.Sprintf("%s took too long and was ended after %s (exit code 124)", s.ID, took)
	default:
		text = fmt.Sprintf("%s has ended with exit code %d after %s", s.ID, *s.Exit, took)
	}
	return text
}

// Call implements tool.Tool.
func (p Process) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a processArgs
	if err := tool.Decode(c, &a); err != nil {
		return tool.Result{}, err
	}
	if a.Action == "list" {
		return p.list(), nil
	}
	do, ok := map[string]func(context.Context, *process.Process, processArgs) (tool.Result, error){
		"poll": p.poll, "log": p.log, "wait": p.await, "kill": p.kill, "write": p.write, "submit": p.write, "close": p.end,
	}[a.Action]
	if !ok {
		return tool.Result{}, fmt.Errorf("read arguments: action %q is none of list, poll, log, wait, kill, write, submit, close", a.Action)
	}
	found, err := p.find(a.ID, "session_id")
	if err != nil {
		return tool.Result{}, err
	}
	return do(ctx, found, a)
}

// find finds a process of the session.
func (o *Options) find(id, argument string) (*process.Process, error) {
	all := o.Processes.List(o.Session)
	if id == "" {
		return nil, fmt.Errorf("read arguments: %s is needed%s", argument, known(all))
	}
	p, err := o.Processes.Find(o.Session, id)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, known(all))
	}
	return p, nil
}

// known names the processes there are.
func known(all []*process.Process) string {
	if len(all) == 0 {
		return "; there is none"
	}
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID())
	}
	return "; there are: " + strings.Join(ids, ", ")
}

func (p Process) list() tool.Result {
	states, lines := []State{}, []string{}
	for _, one := range p.Processes.List(p.Session) {
		s := stateOf(one.Info())
		states = append(states, s)
		line := s.line()
		if s.Terminal {
			line += ", on a terminal"
		}
		lines = append(lines, line+": "+screen.OneLine(s.Command, 100))
		one.Told()
	}
	if len(lines) == 0 {
		lines = append(lines, "Nothing runs in the background, and nothing that did is kept.")
	}
	return tool.Result{
		Parts: []tool.Part{tool.Own(strings.Join(lines, "\n"))}, Summary: fmt.Sprintf("%d processes", len(states)),
		Data: struct {
			Processes []State `json:"processes"`
		}{states},
	}
}

func (p Process) poll(_ context.Context, one *process.Process, _ processArgs) (tool.Result, error) {
	return p.news(one), nil
}

// news is the state of a process, and what is new of its output.
func (p Process) news(one *process.Process) tool.Result {
	text := one.News(recent)
	return state(one, text)
}

// state tells the state of a process with a piece of its output.
func state(one *process.Process, text process.Text) tool.Result {
	i := one.Info()
	s := stateOf(i)
	if !i.Running() {
		one.Told()
	}
	s.Output, s.Offset, s.Next, s.Lost = limit(text.String()), text.From, text.Next, text.Lost
	out := tool.Result{Data: s, Summary: s.line()}
	if s.Output != "" {
		out.Parts = append(out.Parts, printed(s.Output, i.Origin))
	}
	says := []string{s.line() + "."}
	switch {
	case s.Output == "":
		says = append(says, "Nothing new was printed.")
	case text.Lost > 0:
		says = append(says, fmt.Sprintf("%d lines before these were left out: process log with offset and limit shows what is kept.", text.Lost))
	}
	if text.Open != "" {
		says = append(says, "The last line has not ended.")
	}
	if s.Path != "" {
		says = append(says, "All of its output: "+where(s.Path))
	}
	out.Parts = append(out.Parts, tool.Own(strings.Join(says, "\n")))
	return out
}

// limit keeps the end of a text.
func limit(s string) string {
	if len(s) <= mostChars {
		return s
	}
	s = s[len(s)-mostChars:]
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return "… (cut)\n" + strings.ToValidUTF8(s, "")
}

func (p Process) log(_ context.Context, one *process.Process, a processArgs) (tool.Result, error) {
	if a.Limit < 0 || a.Limit > mostLines {
		return tool.Result{}, fmt.Errorf("read arguments: limit %d is not from 1 to %d", a.Limit, mostLines)
	}
	if a.Limit == 0 {
		a.Limit = recent
	}
	from := int64(-a.Limit)
	if a.Offset != nil {
		from = *a.Offset
	}
	text := one.Read(from, a.Limit)
	out := state(one, text)
	lines := fmt.Sprintf("Lines %d to %d of %d.", text.From, text.Next, text.Total)
	if text.Next < text.Total {
		lines += fmt.Sprintf(" Offset %d is next.", text.Next)
	}
	out.Parts = append(out.Parts, tool.Own(lines))
	return out, nil
}

func (p Process) await(ctx context.Context, one *process.Process, a processArgs) (tool.Result, error) {
	most := p.timeout()
	if a.Timeout != nil {
		if *a.Timeout < 1 {
			return tool.Result{}, fmt.Errorf("read arguments: timeout %d is less than 1", *a.Timeout)
		}
		most = time.Duration(min(*a.Timeout, maxTimeout)) * time.Second
	}
	most = min(most, p.longest())
	ended := one.Wait(ctx, most)
	out := p.news(one)
	switch {
	case ended:
	case ctx.Err() != nil:
		out.Parts = append(out.Parts, tool.Own("The waiting was interrupted; it runs on."))
	default:
		out.Parts = append(out.Parts, tool.Own(fmt.Sprintf("It still runs after %s.", most)))
	}
	return out, nil
}

// killTime bounds the waiting for an end.
const killTime = 20 * time.Second

func (p Process) kill(ctx context.Context, one *process.Process, _ processArgs) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if err := one.Kill(ctx); err != nil {
		return tool.Result{}, err
	}
	return p.news(one), nil
}

func (p Process) write(ctx context.Context, one *process.Process, a processArgs) (tool.Result, error) {
	switch {
	case a.Data == nil:
		return tool.Result{}, errors.New("read arguments: data is needed")
	case a.Action == "write" && *a.Data == "":
		return tool.Result{}, errors.New("read arguments: data is empty")
	}
	text := *a.Data
	if a.Action == "submit" && one.Info().Terminal {
		text = strings.ReplaceAll(text, "\n", "\r") + "\r"
	} else if a.Action == "submit" {
		text += "\n"
	}
	r, err := one.Write(ctx, text)
	if err == nil && r.Refused() || isRefusal(r) {
		return refused(r, err), nil
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s %s: %w", a.Action, one.ID(), err)
	}
	one.Settle(firstTime, stillTime, answerTime)
	out := p.news(one)
	out.Approved = tool.ApprovedBy(r.Decision)
	if one.Info().Screen {
		out.Parts = append(out.Parts, tool.Own("read_terminal shows its screen."))
	}
	return out, nil
}

func (p Process) end(_ context.Context, one *process.Process, _ processArgs) (tool.Result, error) {
	if err := one.CloseInput(); err != nil {
		return tool.Result{}, fmt.Errorf("close %s: %w", one.ID(), err)
	}
	one.Settle(firstTime, stillTime, answerTime)
	return p.news(one), nil
}
