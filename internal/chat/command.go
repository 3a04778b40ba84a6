package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/llm"
	"hermes/internal/session"
	"hermes/internal/spell"
)

// command is a command of the chat.
type command struct {
	name  string
	also  []string // other names
	args  string   // what may stand behind it
	about string
	alone bool // not while a turn or a command of the person's runs
	run   func(c *Chat, arg string)
}

// commands returns all of them, as /help lists them.
func commands() []command {
	return []command{
		{name: "help", also: []string{"commands", "?"}, about: "this list", run: (*Chat).help},
		{name: "status", also: []string{"usage"}, about: "model, tokens, cost, where commands run", run: (*Chat).showStatus},
		{name: "new", also: []string{"reset"}, about: "begin a new conversation", alone: true, run: func(c *Chat, arg string) { c.fresh(arg, "/new", false) }},
		{name: "clear", about: "the same, on an empty screen", alone: true, run: func(c *Chat, arg string) { c.fresh(arg, "/clear", true) }},
		{name: "undo", args: "[N]", about: "take your last message back, with all that followed; files stay as they are", alone: true, run: (*Chat).undo},
		{name: "retry", about: "have the last message answered once more, or go on with a turn that was cut off", alone: true, run: (*Chat).retry},
		{name: "resume", args: "[ID|TITLE]", about: "go on with another conversation", alone: true, run: (*Chat).resume},
		{name: "sessions", also: []string{"history"}, args: "[WORDS]", about: "conversations, or messages that have all words", run: (*Chat).sessions},
		{name: "title", args: "[TEXT]", about: "what this conversation is called", run: (*Chat).title},
		{name: "model", args: "[NAME]", about: "the model, or another one", alone: true, run: (*Chat).model},
		{name: "tools", about: "what the model can do", run: (*Chat).tools},
		{name: "context", about: "what instructs the model, and how full its context is", run: (*Chat).context},
		{name: "compact", also: []string{"compress"}, about: "put a summary in place of older messages", alone: true, run: (*Chat).compact},
		{name: "steer", args: "TEXT", about: "tell the turn that runs something, as Enter does", run: func(c *Chat, arg string) { c.needs(arg, "/steer TEXT", c.message) }},
		{name: "queue", also: []string{"q"}, args: "TEXT", about: "say it when the turn that runs has ended", run: (*Chat).wait},
		{name: "background", also: []string{"bg"}, args: "[TEXT]", about: "have it done beside this, in a conversation of its own; without a text it is Ctrl-B", run: (*Chat).background},
		{name: "stop", about: "end the turn, what runs in the background, and what commands have left running", run: (*Chat).halt},
		{name: "approve", args: "[session|always] [all]", about: "let what is asked about run", run: (*Chat).approve},
		{name: "deny", args: "[REASON]", about: "refuse what is asked about, and say why", run: (*Chat).deny},
		{name: "approvals", args: "[revoke ENTRY]", about: "who decides, what this conversation was granted", run: (*Chat).approvals},
		{name: "yolo", args: "[on|off]", about: "dangerous commands run without a question, or ask again", run: (*Chat).toggle},
		{name: "config", args: "[KEY]", about: "settings that were changed, or one", run: (*Chat).config},
		{name: "quit", also: []string{"exit"}, args: "[--delete]", about: "leave; with --delete the conversation goes for good", run: (*Chat).quit},
	}
}

// command runs a line that begins with a slash.
func (c *Chat) command(text string) {
	word, arg, _ := strings.Cut(text[1:], " ")
	word, arg = strings.ToLower(word), strings.TrimSpace(arg)
	var names []string
	for _, cmd := range commands() {
		all := append([]string{cmd.name}, cmd.also...)
		if !slices.Contains(all, word) {
			names = append(names, all...)
			continue
		}
		if cmd.alone && c.working() {
			c.say(Error, "/%s: not while something runs. Esc ends it.", word)
			return
		}
		cmd.run(c, arg)
		return
	}
	if near := spell.Nearest(word, names); near != "" {
		c.say(Error, "/%s is not a command. Did you mean /%s? A message that begins with a slash is written with two.", word, near)
		return
	}
	c.say(Error, "/%s is not a command. /help lists them. A message that begins with a slash is written with two.", word)
}

// working tells whether a turn or a command of the person's runs.
func (c *Chat) working() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.front != nil || c.shell != nil
}

// needs says how a command is called that has nothing to work on.
func (c *Chat) needs(arg, usage string, run func(string)) {
	if arg == "" {
		c.say(Error, "Write %s.", usage)
		return
	}
	run(arg)
}

// fail says what went wrong.
func (c *Chat) fail(err error) {
	var ambiguous *session.AmbiguousError
	text := strings.TrimSuffix(err.Error(), ".") + "."
	switch {
	case errors.Is(err, session.ErrNone):
		text += " /sessions lists them."
	case errors.As(err, &ambiguous):
		text += " Write more of the id."
	case llm.Next(err) != "":
		text += "\n" + llm.Next(err)
	}
	c.say(Error, "%s", text)
}

func (c *Chat) help(string) {
	var b strings.Builder
	for _, cmd := range commands() {
		name := "/" + cmd.name
		for _, also := range cmd.also {
			name += ", /" + also
		}
		fmt.Fprintf(&b, "%-38s %s\n", strings.TrimSpace(name+" "+cmd.args), cmd.about)
	}
	b.WriteString("\n!COMMAND runs on this machine as yours. @FILE goes with a message. Esc ends a turn.\n")
	b.WriteString("Ctrl-B lets a command of the agent's that runs go on in the background, and the agent go on without it.\n")
	b.WriteString("/new, /clear, /undo and /quit --delete ask first; now or --yes behind them skips that.")
	c.say(Plain, "%s", b.String())
}

// confirm is a question before something is destroyed.
type confirm struct {
	id string
	do func()
}

// sure does something that destroys, once the person has confirmed it. arg is what stands behind the command; what is left of it
// is handed on.
func (c *Chat) sure(arg, what string, do func()) {
	if skips(arg) || c.o.Confirms != nil && !c.o.Confirms() {
		do()
		return
	}
	c.serial++
	c.confirm = &confirm{fmt.Sprint(c.serial), do}
	c.mu.Lock()
	c.waits = true
	c.mu.Unlock()
	choices := []string{Once, Always, Cancel}
	if c.o.Trust == nil {
		choices = []string{Once, Cancel}
	}
	c.emit(Confirm{ID: c.confirm.id, Text: what, Choices: choices})
}

// skips tells whether the words behind a command say that it needs no confirmation.
func skips(arg string) bool {
	return slices.ContainsFunc(strings.Fields(arg), func(w string) bool { return w == "now" || w == "--yes" || w == "-y" })
}

// rest returns the words behind a command without those that confirm it.
func rest(arg string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(arg), func(w string) bool { return skips(w) }), " ")
}

func (c *Chat) pending() string {
	if c.confirm == nil {
		return ""
	}
	return c.confirm.id
}

// reply takes the answer to a confirm. Whatever is no consent cancels.
func (c *Chat) reply(id, choice string) {
	if c.confirm == nil || c.confirm.id != id || c.talk == nil {
		return // it is settled
	}
	do := c.confirm.do
	c.confirm = nil
	c.mu.Lock()
	c.waits = false
	c.mu.Unlock()
	switch {
	case choice == Always && c.o.Trust != nil:
		if err := c.o.Trust(); err != nil {
			c.say(Warning, "It will ask again: %s", err)
		} else {
			c.say(Plain, "It will not ask again: approvals.destructive_slash_confirm is false now.")
		}
		do()
	case choice == Once:
		do()
	default:
		c.say(Plain, "Nothing was changed.")
	}
}
