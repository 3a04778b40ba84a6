package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/llm"
	"hermes/internal/session"
)

// ours are the only commands to the terminal that stand in a frame: colours and attributes, one at a time.
var ours = regexp.MustCompile(`\x1b\[(0|[0-9]{1,2}(;[0-9]{1,2})*)m`)

// obeyed returns the first character of a text that a terminal would obey, or that hides or turns others.
func obeyed(s string) (rune, bool) {
	for _, r := range s {
		if r != '\n' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
			return r, true
		}
	}
	return 0, false
}

func checkSafe(t *testing.T, what, shown string, colors bool) {
	t.Helper()
	rest := shown
	if colors {
		rest = ours.ReplaceAllString(shown, "")
	}
	if r, ok := obeyed(rest); ok {
		at := strings.IndexRune(rest, r)
		t.Fatalf("%s: %U is sent to the terminal: %q", what, r, rest[max(0, at-40):min(len(rest), at+40)])
	}
}

// everywhere is text of strangers at all places where a chat can show it.
func everywhere(s string) []chat.Event {
	args, _ := json.Marshal(map[string]string{"command": s, s: "x"})
	call := llm.Call{ID: "c" + s, Name: s, Arguments: string(args)}
	end := agent.Ended{Call: call, Took: time.Second}
	end.Result.Summary, end.Result.Diff = s, "--- "+s+"\n+++ b\n@@ -1 +1 @@\n-"+s+"\n+"+s
	end.Result.Approved = session.Approval{By: s, How: s}
	wrong := call
	wrong.Arguments = s
	q := push()
	q.Command, q.Dir, q.Exposure, q.For, q.Guardian = "x"+s, s, s, s, s
	q.Findings = []approval.Finding{{Rule: s, Reason: s + ".", Runs: s, Start: 1, End: 2}, {Rule: s + "2", Start: 0, End: len(s)}}
	q.Covers.Session.Text, q.Covers.Always.Text, q.Covers.Always.Where = s, "x"+s, s
	st := status()
	st.Model, st.Title, st.Backend, st.Profile, st.Dir = s, s, s, s, s
	st.Busy = true
	turn := func(e agent.Event) chat.Event { return chat.Turn{Event: e} }
	return []chat.Event{
		chat.Opened{History: []session.Message{{Message: llm.Message{Role: llm.User, Text: s}},
			{Message: llm.Message{Role: llm.Assistant, Text: s, Calls: []llm.Call{call}}},
			{Message: llm.Message{Role: llm.Result, CallID: call.ID, Text: s, Failed: true}}}},
		chat.Changed{Status: st}, chat.Said{Text: s, Files: []string{s}}, chat.Said{Text: s, Process: true}, chat.Queued{Text: s},
		turn(agent.Thinking{Text: s}), turn(agent.Text{Text: s + "\n"}), turn(agent.Text{Text: "[a](" + s + ") `" + s + "` **" + s + "**\n\n```\n" + s}),
		turn(agent.Began{Call: call, Title: s}), turn(told(call.ID, s)), turn(agent.Told{ID: call.ID}),
		turn(end), turn(agent.Ended{Call: wrong, Err: errors.New(s)}), turn(agent.Retry{Again: llm.Again{Cause: errors.New(s), Choice: s}}),
		turn(agent.Steered{Text: s}), turn(agent.Notice{Text: s}), turn(agent.Done{Why: agent.Failed, Err: errors.New(s), Footer: s}),
		chat.Output{Text: s}, chat.Output{Text: s, Form: chat.Markdown}, chat.Output{Text: s, Form: chat.Error}, chat.Output{Text: s, Form: chat.Warning},
		chat.Shell{Command: s}, chat.Shell{Text: s}, chat.Shell{Ended: true, Summary: s}, chat.Shell{Command: s}, chat.Shell{Ended: true, Refused: s},
		chat.Edit{Text: s}, chat.Asked{Question: q}, chat.Answered{ID: "q1", By: s}, chat.Confirm{ID: "k", Text: s, Choices: []string{chat.Once}},
	}
}

var attacks = []string{
	"\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;https://evil.example\x1b\\go.dev\x1b]8;;\x1b\\", "\x1b]52;c;cm0gLXJmIC8=\x07",
	"\u009b2J", "\x9b2J", "\xc2\x9b31m", "a\u202egnp.exe", "\u2066x\u2069", "\x08\x08\x08", "a\rb", "\x00", "\x7f", "&#27;[2J", "&#x9b;2J",
	"| a |\n|---|\n| \x1b[31m |", "\ufeff\u200b\u2060", "\U000e0041", "e" + strings.Repeat("\u0301", 50), "\xff\xfe\xfd", "\u2028\u2029",
	"[x](javascript:\x1b[2J)", "# \x1b[2J", "> \x1b[2J", "- \x1b[2J", "<b\x1b[2J>", "`\x1b[2J`", "\t\v\f", strings.Repeat("界", 60), "```\x1b[2J\nx\n```",
}

// Nothing that a model, a tool or a file prints can command the terminal.
func TestNothingCommandsTheTerminal(t *testing.T) {
	for _, s := range attacks {
		playSafely(t, s, true)
	}
}

func FuzzNothingCommandsTheTerminal(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1024 {
			playSafely(t, s, false)
		}
	})
}

// playSafely looks at the screen after each event, or only where a question hides the rest, and at the end.
func playSafely(t *testing.T, s string, always bool) {
	t.Helper()
	for _, size := range []struct {
		cols, rows int
		look       Look
	}{{80, 200, Look{Color: true, Wide: true}}, {13, 50, Look{}}, {3, 5, Look{Wide: true}}} {
		if !always && size.cols != [...]int{80, 13, 3}[len(s)%3] {
			continue
		}
		stage := newStage(size.cols, size.rows, size.look)
		for _, open := range []bool{false, true} {
			stage.open = open
			events := everywhere(s)
			last := len(events) - 1
			for i, e := range events {
				stage.hear(e)
				_, asks := e.(chat.Edit)
				if always && (size.cols == 80 || i%5 == 0) || asks || i == last {
					checkSafe(t, fmt.Sprintf("%q, %T at %d columns", s, e, size.cols), stage.View().Content, size.look.Color)
					lines, _, _ := stage.draw()
					for _, l := range lines { // before paint looks at it once more
						checkSafe(t, fmt.Sprintf("%q, %T at %d columns", s, e, size.cols), l.String(), false)
					}
					checkFrame(t, stage, size.cols, size.rows)
				}
			}
		}
		stage.input.paste(s)
		stage.popup = popup{list: []chat.Candidate{{Text: s, About: s}}}
		stage.panels = nil
		checkSafe(t, "a paste", stage.View().Content, size.look.Color)
		var left bytes.Buffer
		stage.left = &chat.Quit{ID: s}
		stage.farewell(&left)
		checkSafe(t, "the farewell", left.String(), size.look.Color)
	}
	for _, person := range []bool{false, true} {
		var out bytes.Buffer
		p := testPlain(&out, &fake{}, person)
		for _, e := range everywhere(s) {
			p.hear(e)
		}
		p.hear(chat.Quit{ID: s})
		checkSafe(t, fmt.Sprintf("%q as lines", s), out.String(), false)
	}
}
