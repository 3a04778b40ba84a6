package agent

import (
	"time"

	"hermes/internal/llm"
	"hermes/internal/tool"
)

// Event is one thing that happens in a turn, for whoever shows it: Text, Thinking, Began, Told, Ended, Retry, Used, Compacted, Steered,
// Notice or Done. Texts are as the model or a tool gave them: who prints them escapes what a terminal would obey.
type Event interface{ event() }

// Text is a piece of the answer.
type Text struct{ Text string }

// Thinking is a piece of what the model thinks.
type Thinking struct{ Text string }

// Began says that a call has begun, or would have: also one that is not made is answered, and ended. Arguments are as the model wrote
// them, without secrets.
type Began struct {
	Call  llm.Call
	Title string // one line: the command, the path, the URL
}

// Told is something a call says while it runs.
type Told struct {
	ID string
	tool.Update
}

// Ended says what came of a call.
type Ended struct {
	Call   llm.Call
	Result tool.Result
	Took   time.Duration
	Err    error // it was refused, or could not be made; the model is told the same
}

// Retry says that what came of this answer so far counts no more, and why.
type Retry struct{ llm.Again }

// Used counts tokens, after each answer.
type Used struct {
	llm.Usage
	Dollars float64
	Priced  bool // Dollars is known
	Context int  // tokens the conversation takes now
	Limit   int  // that the model takes; 0: not known
}

// Compacted says that older messages stand as a summary from now on. They stay stored.
type Compacted struct {
	Messages      int // that the summary stands for
	Before, After int // tokens, about
}

// Steered says that a message of the person has been given to the model in the middle of its turn.
type Steered struct{ Text string }

// Notice is something the person should know.
type Notice struct{ Text string }

// Done is the last event of a turn.
type Done struct {
	Why    Why
	Footer string // what the person has to know whatever the model says: files that were not changed
	Err    error  // with Failed
}

// Why says why a turn ended.
type Why string

// The ends of a turn. Before Steps, Time and Stuck a Notice tells the person what to do about it.
const (
	Answered    Why = "answered"
	Interrupted Why = "interrupted" // by the person; what had come is kept
	Steps       Why = "steps"
	Time        Why = "time"
	Failed      Why = "failed"
	Stuck       Why = "stuck"
)

// Text says it in words, to the person and to the model.
func (w Why) Text() string {
	switch w {
	case Interrupted:
		return "interrupted by the person"
	case Steps:
		return "the turn took as many steps as it may"
	case Time:
		return "the turn took as long as it may"
	case Failed:
		return "no answer could be had"
	case Stuck:
		return "the same call failed again and again"
	}
	return string(w)
}

// mark is what stands in the conversation in place of what did not come.
func (w Why) mark() string {
	if w == Interrupted {
		return w.Text()
	}
	return "stopped: " + w.Text()
}

func (Text) event()      {}
func (Thinking) event()  {}
func (Began) event()     {}
func (Told) event()      {}
func (Ended) event()     {}
func (Retry) event()     {}
func (Used) event()      {}
func (Compacted) event() {}
func (Steered) event()   {}
func (Notice) event()    {}
func (Done) event()      {}
