package chat

import (
	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/session"
)

// Event is one thing that happens in a chat, for whoever shows it: Opened, Turn, Said, Queued, Asked, Answered, Output, Confirm,
// Shell, Edit, Changed or Quit. Texts are as they came: who prints them escapes what a terminal would obey.
type Event interface{ event() }

// Opened says that the chat is in this conversation from now on: the first event, and again after /new, /clear, /resume and
// /undo. What stood on the screen belongs to the conversation before it, unless Same.
type Opened struct {
	Info    session.Info
	History []session.Message // as it was, for /resume and --resume; what a person said is without its attachments
	Clear   bool              // the screen is to be emptied
	Same    bool              // it is the conversation that was open; its history is shorter now
}

// Turn is an event of the turn that runs. Of turns in the background only the answer is told, as an Output.
type Turn struct{ agent.Event }

// Said is a message that begins a turn: the person's, or, with Process, what a process in the background has to tell.
type Said struct {
	Text    string
	Files   []string // that go with it
	Process bool
}

// Queued is a message that waits: for the next step of the running turn, which tells its agent.Steered, or, with Later, for its
// end.
type Queued struct {
	Text  string
	Later bool
}

// Asked is a question to the person. It is answered with Chat.Answer; its time goes by.
type Asked struct{ approval.Question }

// Answered says that a question is settled: by an answer, or by time or the end of the turn (Void), which refuse.
type Answered struct {
	ID     string
	Choice approval.Choice
	By     string
	Void   bool
}

// Output is what a command of the chat says.
type Output struct {
	Text string
	Form Form
}

// Form says what an Output is.
type Form uint8

// The forms.
const (
	Plain    Form = iota // lines as they are
	Markdown             // the text is markdown
	Error                // something was not done, and why
	Warning              // something the person should know
)

// Confirm asks before something that cannot be taken back. It is answered with Chat.Reply; whatever is not one of the choices
// cancels.
type Confirm struct {
	ID      string
	Text    string   // what would be lost
	Choices []string // Once, Always, Cancel
}

// The answers to a Confirm.
const (
	Once   = "once"
	Always = "always"
	Cancel = "cancel"
)

// Shell is a command of the person's own (!cmd): first its Command alone, then what it prints, at last Ended.
type Shell struct {
	Command string // set in the first
	Text    string // a piece of its output
	Ended   bool
	Summary string // with Ended: "exit code 1"; "" is success
	Refused string // with Ended: why it has not run
}

// Edit gives a text back to the line that is being written: what was taken back, or waited when the turn was ended.
type Edit struct{ Text string }

// Changed says that Status is another now.
type Changed struct{ Status }

// Quit is the last event: the person leaves.
type Quit struct {
	Deleted bool   // the conversation is gone
	ID      string // of the conversation, to resume it; "" if nothing was said in it
}

func (Opened) event()   {}
func (Turn) event()     {}
func (Said) event()     {}
func (Queued) event()   {}
func (Asked) event()    {}
func (Answered) event() {}
func (Output) event()   {}
func (Confirm) event()  {}
func (Shell) event()    {}
func (Edit) event()     {}
func (Changed) event()  {}
func (Quit) event()     {}

// Status is what the line at the foot of a chat shows.
type Status struct {
	ID         string // of the conversation
	Title      string
	Model      string
	Backend    string // where commands run
	Boundary   bool   // it contains harm to this machine
	Unopened   bool   // no command has run there: whether it does is not known yet
	Dir        string // where commands start
	Profile    string
	Yolo       bool
	Context    int // tokens the conversation takes
	Limit      int // that the model takes; 0: not known
	Input      int // tokens of all answers
	Output     int
	Dollars    float64 // as far as known
	Priced     bool    // the last answer's price is known
	Busy       bool    // a turn or a command of the person's runs
	Queued     int     // messages that wait
	Background int     // turns in the background
	Running    int     // processes that commands have left running
}

// Candidate is something a line could be completed with.
type Candidate struct {
	Text  string // what stands there then: "/status", "@internal/chat/"
	About string // one line; may be empty
	Whole bool   // it is complete, so a blank may follow
}

// The texts about YOLO, the same wherever a chat is shown.
const (
	YoloBanner = "⚠ YOLO mode — all approval prompts bypassed"
	YoloMark   = "⚠ YOLO"
	yoloOn     = "⚡ YOLO mode ON — all commands auto-approved. Use with caution."
	yoloOff    = "⚠ YOLO mode OFF — dangerous commands will require approval."
)
