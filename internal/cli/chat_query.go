package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/child"
	"hermes/internal/guard"
	"hermes/internal/llm"
	"hermes/internal/prompt"
	"hermes/internal/screen"
	"hermes/internal/tool/terminal"
)

// mostInput is how much of standard input goes with a message.
const mostInput = 4 << 20

// queryAnswer is what -q prints as JSON.
type queryAnswer struct {
	Answer  string      `json:"answer"`
	Ended   agent.Why   `json:"ended"`
	Error   string      `json:"error,omitempty"`
	Session string      `json:"session_id"`
	Model   string      `json:"model"`
	Usage   llm.Usage   `json:"usage"`
	Dollars *float64    `json:"dollars"` // null: not known
	Calls   []queryCall `json:"calls"`
	Refused []queryCall `json:"refused"` // of the calls
	Note    string      `json:"note,omitempty"`
}

// queryCall is one call of a tool.
type queryCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	OK        bool            `json:"ok"`
	Summary   string          `json:"summary,omitempty"`
	Error     string          `json:"error,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Seconds   float64         `json:"seconds"`
}

// query answers one message.
func (t *table) query(ctx context.Context) error {
	text, err := t.message()
	if err != nil {
		return err
	}
	ctx, stop := child.Asked(ctx)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends at once
	talk, err := t.chats.Open(ctx, t.start)
	if err != nil {
		return modelHint(err)
	}
	defer talk.Close(context.WithoutCancel(ctx))
	if t.yolo() || talk.Info.Yolo {
		t.app.Desk().SetYOLO(talk.Info.Owner, true)
		if err := t.chats.Sessions().SetYolo(ctx, talk.Info.ID, true); err != nil {
			return err
		}
		fmt.Fprintln(t.stdio.Stderr, "hermes: "+chat.YoloBanner)
	}
	h := &hearer{t: t, out: queryAnswer{Session: talk.Info.ID, Model: talk.Model, Calls: []queryCall{}, Refused: []queryCall{}}, priced: true}
	h.progress = isTerminal(t.stdio.Stderr) && !t.o.json
	err = talk.Agent.Turn(ctx, text, h.hear)
	return h.end(err)
}

// message is what is said: the text of -q, with standard input, where that is no terminal.
func (t *table) message() (string, error) {
	text := t.o.query
	input, err := readInput(t.stdio)
	if err != nil {
		return "", err
	}
	switch blank := strings.TrimSpace(input) == ""; {
	case text == "-" && blank, strings.TrimSpace(text) == "" && blank:
		return "", usage("Try: hermes chat -q 'which ports are open?'", "there is no message")
	case text == "-", strings.TrimSpace(text) == "":
		return input, nil
	case blank:
		return text, nil
	}
	return text + "\n\nStandard input:\n" + t.chats.Wrap("standard input", input), nil
}

// readInput reads standard input, where that is no terminal.
func readInput(stdio *IO) (string, error) {
	if stdio.Stdin == nil || isTerminal(stdio.Stdin) {
		return "", nil
	}
	b, err := io.ReadAll(io.LimitReader(stdio.Stdin, mostInput+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", bare(err))
	case len(b) > mostInput:
		return "", usage("Give the agent the file instead: it reads as much as it needs.", "standard input is larger than %d MiB", mostInput>>20)
	}
	return string(b), nil
}

// hearer gathers what one turn brings.
type hearer struct {
	t        *table
	out      queryAnswer
	text     strings.Builder // of the answer that comes
	done     agent.Done
	unasked  int      // of the calls that were refused: a person might have allowed them
	rules    []string // that refused the others
	stood    string   // the model that answers in place of the one that was asked
	told     []string // of those, what was told
	priced   bool
	counted  bool
	dollars  float64
	progress bool
}

func (h *hearer) hear(e agent.Event) {
	switch e := e.(type) {
	case agent.Text:
		h.text.WriteString(e.Text)
	case agent.Retry:
		h.text.Reset()
		h.say("asked again: %v", e.Cause)
		h.stands(e)
	case agent.Began:
		h.text.Reset() // what is said before a call is no answer
		h.say("%s %s", e.Call.Name, e.Title)
	case agent.Ended:
		h.call(e)
	case agent.Used:
		h.count(e)
	case agent.Notice:
		h.t.tell(e.Text)
	case agent.Done:
		h.done = e
	}
}

// say tells how it goes, where somebody watches.
func (h *hearer) say(format string, args ...any) {
	if h.progress {
		fmt.Fprintln(h.t.stdio.Stderr, "· "+screen.Clip(visible(fmt.Sprintf(format, args...)), 100, "…"))
	}
}

// stands notes which model answers in place of the one that was asked, and tells it once.
func (h *hearer) stands(e agent.Retry) {
	service, model, ok := strings.Cut(e.Choice, "/")
	if !ok {
		return
	}
	h.stood = service + ":" + model
	if !slices.Contains(h.told, h.stood) {
		h.told = append(h.told, h.stood)
		h.t.tell(fmt.Sprintf("%s is asked instead: %v", h.stood, e.Cause))
	}
}

func (h *hearer) count(e agent.Used) {
	if h.stood != "" {
		h.out.Model, h.stood = h.stood, "" // the next request begins with the first again
	}
	h.out.Usage = h.out.Usage.Plus(e.Usage)
	h.dollars += e.Dollars
	h.priced = h.priced && e.Priced
	h.counted = true
}

func (h *hearer) call(e agent.Ended) {
	c := queryCall{Name: e.Call.Name, Arguments: json.RawMessage(e.Call.Arguments), OK: e.Err == nil && !e.Result.Failed, Summary: e.Result.Summary, Seconds: e.Took.Seconds()}
	if !json.Valid(c.Arguments) {
		c.Arguments, _ = json.Marshal(e.Call.Arguments)
	}
	refused, unasked := false, false
	var denied *guard.DeniedError
	if errors.As(e.Err, &denied) {
		refused, unasked, c.Rule = true, denied.Verdict.Action == guard.Ask, denied.Verdict.Rule
	}
	if e.Err != nil {
		c.Error = e.Err.Error()
	}
	var o terminal.Outcome
	if data, ok := e.Result.Data.(json.RawMessage); ok && e.Call.Name == "terminal" && json.Unmarshal(data, &o) == nil && o.Status == "refused" {
		refused, c.OK, c.Error = true, false, o.Error
		if o.Approval != nil {
			c.Rule = o.Approval.Rule
			unasked = o.Approval.Outcome == string(approval.Blocked) || o.Approval.Outcome == string(approval.NoOne)
		}
	}
	h.out.Calls = append(h.out.Calls, c)
	switch {
	case refused && unasked:
		h.unasked++
	case refused && !slices.Contains(h.rules, c.Rule):
		h.rules = append(h.rules, c.Rule)
	}
	if refused {
		h.out.Refused = append(h.out.Refused, c)
	}
	switch {
	case refused:
		h.say("  refused: %s", c.Error)
	case c.Error != "":
		h.say("  %s", c.Error)
	case c.Summary != "":
		h.say("  %s", c.Summary)
	}
}

// end prints the answer and says how it went.
func (h *hearer) end(err error) error {
	if h.done.Why == "" { // no turn has begun
		if err == nil {
			err = errors.New("chat: no answer came")
		}
		return modelHint(err)
	}
	h.out.Answer, h.out.Ended, h.out.Note = prompt.Clean(h.text.String()), h.done.Why, h.done.Footer
	if h.counted && h.priced {
		h.out.Dollars = &h.dollars
	}
	if h.done.Err != nil {
		h.out.Error = h.done.Err.Error()
	}
	if h.t.o.json {
		if err := encode(h.t.stdio.Stdout, h.out); err != nil {
			return err
		}
	} else if h.out.Answer != "" {
		fmt.Fprintln(h.t.stdio.Stdout, strings.TrimRight(h.out.Answer, "\n"))
	}
	return h.code(err)
}

// code says on standard error what the person has to know, and returns the exit code.
func (h *hearer) code(err error) error {
	if h.done.Footer != "" && !h.t.o.json {
		fmt.Fprintln(h.t.stdio.Stderr, h.done.Footer)
	}
	if !h.t.o.json {
		h.refusals()
	}
	switch h.done.Why {
	case agent.Answered:
		return nil
	case agent.Interrupted:
		return exitCode(exitInterrupted)
	case agent.Failed:
		if h.t.o.json {
			return exitCode(exitFailed)
		}
		if err == nil {
			err = h.done.Err
		}
		return modelHint(err)
	}
	if h.t.o.json {
		return exitCode(exitFailed)
	}
	return usage("hermes chat --resume "+h.out.Session+" goes on with it.", "chat: the turn ended early: %s", h.done.Why.Text())
}

// refusals tells what was refused: what a person might have allowed, and what nobody could have.
func (h *hearer) refusals() {
	others := len(h.out.Refused)
	if h.t.presence() == approval.SingleQuery {
		others -= h.unasked
		if h.unasked > 0 {
			fmt.Fprintf(h.t.stdio.Stderr, "hermes: refused %s, because nobody can be asked here. hermes chat asks; approvals.single_query_mode approve lets such pass.\n", count(h.unasked, "call"))
		}
	}
	if others > 0 {
		fmt.Fprintf(h.t.stdio.Stderr, "hermes: the guard refused %s%s\n", count(others, "call"), visible(because(h.rules)))
	}
}

func because(rules []string) string {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return r == "" })
	if len(rules) == 0 {
		return "."
	}
	return ": " + strings.Join(rules, ", ")
}
