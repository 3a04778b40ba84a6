package tui

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/llm"
)

var update = flag.Bool("update", false, "write the frames that these tests compare with")

const answerText = `# What is wrong

The build fails because of **two** things:

1. ` + "`main.go`" + ` uses *Parse* with one argument;
2. the module is not listed in go.mod.

` + "```go\nfunc main() {\n\tcfg, err := config.Parse(os.Args[1])\n}\n```" + `

| file | line | problem |
|---|---|---|
| main.go | 12 | too few arguments |
| go.mod | 5 | module missing |

See [the manual](https://go.dev/ref/mod#go-get) for more.
`

const diffText = `--- main.go
+++ main.go
@@ -10,3 +10,3 @@
 func main() {
-	cfg, err := config.Parse(os.Args[1])
+	cfg, err := config.Parse(os.Args[1], config.Strict)
 	if err != nil {
`

// scenes are what a person sees in the course of a chat.
var scenes = []struct {
	name string
	play func(s *stage)
}{
	{"first start", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: status()})
	}},
	{"first start in a sandbox", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: boundary()})
	}},
	{"streaming answer", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "why does the build fail?"})
		s.turn(agent.Thinking{Text: "Let me look at the output."})
		s.wait(2 * time.Second)
		s.turn(agent.Text{Text: answerText[:300]})
	}},
	{"whole answer", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: status()}, chat.Said{Text: "why does the build fail?"})
		s.turn(agent.Text{Text: answerText}, agent.Done{Why: agent.Answered})
	}},
	{"tool calls", func(s *stage) { playCalls(s) }},
	{"tool calls unfolded", func(s *stage) { playCalls(s); s.press("ctrl+o") }},
	{"long command", func(s *stage) { playLong(s) }},
	{"long command in tmux", func(s *stage) { s.look.Tmux = true; playLong(s) }},
	{"diff", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: busy(boundary())}, chat.Said{Text: "mend it"})
		e := ended("c1", "patch", `{"path":"main.go"}`, "patched", "1 file, +1 -1", 30*time.Millisecond)
		e.Result.Diff = diffText
		s.turn(began("c1", "patch", "main.go", `{"path":"main.go"}`), e, agent.Text{Text: "`main.go` is mended."})
	}},
	{"question", func(s *stage) { playQuestion(s) }},
	{"question about a long command", func(s *stage) {
		q := push()
		q.Command = "set -e\nfor h in $(cat hosts); do\n\tssh \"$h\" 'systemctl restart web'\ndone\nrm -rf \"$DIR\"/* && echo 界界 \x1b[2J done"
		start := strings.Index(q.Command, "\"$DIR\"/*")
		q.Findings = []approval.Finding{{Rule: "unset variable may expand to /", Reason: "$DIR is not set in this line; empty, this is: rm -rf /*", Start: start, End: start + 8},
			{Rule: "command over ssh", Start: strings.Index(q.Command, "ssh"), End: strings.Index(q.Command, "ssh") + 3}}
		q.Covers = approval.Covers{Session: approval.Cover{Entry: q.Command, Text: q.Command}}
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "clean up"}, chat.Asked{Question: q})
	}},
	{"question with an hour", func(s *stage) {
		q := push()
		q.Deadline = noon.Add(90 * time.Minute)
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Asked{Question: q})
		s.wait(42 * time.Second)
	}},
	{"answer once", func(s *stage) { playQuestion(s); s.arm(); s.press("o") }},
	{"allowed once", func(s *stage) { playAnswer(s, "o", approval.Once) }},
	{"allowed for the session", func(s *stage) { playAnswer(s, "s", approval.Session) }},
	{"allowed always", func(s *stage) { playAnswer(s, "always", approval.Always) }},
	{"denied", func(s *stage) { playAnswer(s, "", approval.Deny) }},
	{"denied with a reason", func(s *stage) {
		playQuestion(s)
		s.arm()
		s.press("push to a branch of your own", "enter")
		s.hear(chat.Answered{ID: "q1", By: "ada"})
		s.turn(refused("c1", "terminal", `{"command":"git push --force origin main"}`,
			"BLOCKED: the user denied this command (git force push (rewrites remote history)). Reason given: push to a branch of your own. The user has NOT consented to this action."))
	}},
	{"time-out", func(s *stage) {
		playQuestion(s)
		s.wait(5 * time.Minute)
		s.hear(chat.Answered{ID: "q1", Void: true})
		s.turn(refused("c1", "terminal", `{"command":"git push --force origin main"}`,
			"BLOCKED: the question about this command timed out without user response after 5m0s. Silence is not consent."))
	}},
	{"refused", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "free some space"})
		s.turn(began("c1", "terminal", "F=-rf; rm $F /etc", `{"command":"F=-rf; rm $F /etc"}`),
			refused("c1", "terminal", `{"command":"F=-rf; rm $F /etc"}`,
				"BLOCKED (hardline): recursive delete of system directory: wipes a directory the system needs. No mode, approval or YOLO lifts this; nothing was executed. Do not retry or rephrase it."),
			agent.Text{Text: "I may not do that."}, agent.Done{Why: agent.Answered})
		s.hear(chat.Changed{Status: status()})
	}},
	{"yolo on", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: yolo(status())},
			chat.Output{Text: "⚡ YOLO mode ON — all commands auto-approved. Use with caution.", Form: chat.Warning})
	}},
	{"resume", func(s *stage) {
		s.hear(chat.Opened{History: stored()}, chat.Changed{Status: boundary()})
	}},
	{"long output", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "build it"})
		s.turn(began("c1", "terminal", "make all", `{"command":"make all"}`))
		for i := range 3000 {
			s.turn(told("c1", fmt.Sprintf("[%4d/3000] compiling file_%d.go with \x1b[32mcolours\x1b[0m\n", i+1, i)))
		}
		s.wait(83 * time.Second)
	}},
	{"long answer, reading back", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: status()}, chat.Said{Text: "count"})
		for i := range 200 {
			s.turn(agent.Text{Text: fmt.Sprintf("Paragraph %d.\n\n", i+1)})
		}
		s.turn(agent.Done{Why: agent.Answered})
		s.draw()
		s.press("pgup", "pgup")
	}},
	{"waiting messages and a draft", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "build it"})
		st := busy(status())
		st.Queued = 2
		s.hear(chat.Queued{Text: "and run the tests"}, chat.Queued{Text: "then\npush", Later: true}, chat.Changed{Status: st})
		s.press("one line", "alt+enter", "two 界 lines")
	}},
	{"completion", func(s *stage) {
		s.chat.found = []chat.Candidate{{Text: "/status", About: "what is in force", Whole: true}, {Text: "/stop", About: "end what runs", Whole: true}}
		s.hear(chat.Opened{}, chat.Changed{Status: status()})
		s.press("/st", "down")
	}},
	{"confirm", func(s *stage) {
		s.hear(chat.Opened{History: stored()}, chat.Changed{Status: status()},
			chat.Confirm{ID: "k1", Text: "Delete this conversation for good, and leave?", Choices: []string{chat.Once, chat.Always, chat.Cancel}})
	}},
	{"shell", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: status()}, chat.Shell{Command: "git status -s"}, chat.Shell{Text: " M main.go\n?? notes\n"},
			chat.Shell{Ended: true}, chat.Shell{Command: "false"}, chat.Shell{Ended: true, Summary: "exit code 1"},
			chat.Shell{Command: "rm -rf /"}, chat.Shell{Ended: true, Refused: "BLOCKED (hardline): recursive delete of root filesystem"})
	}},
	{"ends of a turn", func(s *stage) {
		s.hear(chat.Opened{}, chat.Changed{Status: status()}, chat.Said{Text: "go"})
		s.turn(agent.Notice{Text: "The turn took 20m, the most it may (agent.run_budget_seconds), and ends here. Say how to go on."}, agent.Done{Why: agent.Time})
		s.turn(agent.Text{Text: "Half an ans"}, agent.Retry{Again: llm.Again{Cause: errors.New("429 Too Many Requests"), Attempt: 2}},
			agent.Text{Text: "Half an answer"}, agent.Done{Why: agent.Interrupted, Footer: "These files were not changed, whatever is said above: main.go"},
			agent.Compacted{Messages: 42, Before: 180_000, After: 12_000}, agent.Done{Why: agent.Failed, Err: &llm.Error{Provider: "openai", Kind: llm.Auth, Status: 401, Message: "Incorrect API key provided", KeyName: "OPENAI_API_KEY"}})
	}},
}

func playCalls(s *stage) {
	s.hear(chat.Opened{}, chat.Changed{Status: busy(boundary())}, chat.Said{Text: "look around", Files: []string{"notes.md"}})
	s.turn(agent.Text{Text: "I look."},
		began("c1", "read_file", "internal/config/parse.go", `{"path":"internal/config/parse.go"}`),
		ended("c1", "read_file", `{"path":"internal/config/parse.go"}`, "package config\n\nfunc Parse()", "212 lines", 12*time.Millisecond),
		began("c2", "terminal", "go test ./... && go vet ./... && staticcheck -checks all ./internal/... ./cmd/...", `{"command":"go test ./..."}`),
		told("c2", "ok  \thermes/internal/a\t0.1s\n--- FAIL: TestParse (0.00s)\n    parse_test.go:14: got 1\nFAIL\n"))
	e := ended("c2", "terminal", `{"command":"go test ./..."}`, "", "exit code 1", 2300*time.Millisecond)
	e.Result.Failed = true
	e.Result.Approved.How, e.Result.Approved.By = "contained", "rule"
	s.turn(e, began("c3", "web_extract", "https://go.dev/ref/mod", `{"urls":["https://go.dev/ref/mod"]}`))
	s.wait(4 * time.Second)
}

func playQuestion(s *stage) {
	s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "publish it"})
	s.turn(began("c1", "terminal", "git push --force origin main", `{"command":"git push --force origin main"}`))
	s.hear(chat.Asked{Question: push()})
	s.wait(2 * time.Second)
}

func playAnswer(s *stage, word string, c approval.Choice) {
	playQuestion(s)
	s.arm()
	if word != "" {
		s.press(word)
	}
	s.press("enter")
	s.hear(chat.Answered{ID: "q1", Choice: c, By: "ada"})
	if c == approval.Deny {
		s.turn(refused("c1", "terminal", `{"command":"git push --force origin main"}`, "BLOCKED: the user denied this command."))
		return
	}
	e := ended("c1", "terminal", `{"command":"git push --force origin main"}`, "", "exit code 0", 1400*time.Millisecond)
	e.Result.Approved.How, e.Result.Approved.By = c.String(), "ada at the terminal"
	s.turn(e, agent.Text{Text: "It is published."}, agent.Done{Why: agent.Answered})
	s.hear(chat.Changed{Status: status()})
}

var sizes = []struct {
	name string
	cols int
	rows int
	look Look
}{
	{"40", 40, 24, Look{Color: true, Wide: true}},
	{"80", 80, 24, Look{Color: true, Wide: true}},
	{"120", 120, 30, Look{Color: true, Wide: true}},
	{"200", 200, 40, Look{Color: true, Wide: true}},
	{"80-no-color", 80, 24, Look{Wide: true}},
	{"80-ascii", 80, 24, Look{}},
}

func playLong(s *stage) {
	s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Said{Text: "build it"})
	s.turn(began("c1", "terminal", "make all", `{"command":"make all"}`), told("c1", "[1/3000] compiling\n"))
	s.chat.waited = 1
	s.wait(0)
	s.wait(12 * time.Second)
}

// Each scene looks as its frame in testdata says: colours are written as ␛[…m.
func TestFrames(t *testing.T) {
	for _, scene := range scenes {
		for _, size := range sizes {
			t.Run(scene.name+"/"+size.name, func(t *testing.T) {
				s := newStage(size.cols, size.rows, size.look)
				scene.play(s)
				got := s.frame()
				checkFrame(t, s, size.cols, size.rows)
				file := filepath.Join("testdata", "frames", strings.ReplaceAll(scene.name, " ", "-")+"."+size.name+".txt")
				compare(t, file, strings.ReplaceAll(got, "\x1b", "␛"))
			})
		}
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got; if that is meant: go test ./internal/tui -update\n%s", file, diff)
	}
}

// checkFrame holds what is true of every screen: it fits, and says YOLO when that holds.
func checkFrame(t *testing.T, s *stage, cols, rows int) {
	t.Helper()
	lines, x, y := s.draw()
	if len(lines) != rows {
		t.Errorf("%d lines on %d rows", len(lines), rows)
	}
	for _, l := range lines {
		if n := l.cols(); n > cols {
			t.Errorf("a line takes %d of %d columns: %q", n, cols, l.String())
		}
	}
	if x < 0 || x >= cols || y >= rows {
		t.Errorf("the cursor stands at %d, %d of %d, %d", x, y, cols, rows)
	}
	if foot := lines[len(lines)-1].String(); s.status.Yolo && cols >= 8 && !strings.Contains(foot, "YOLO") {
		t.Errorf("the foot does not say YOLO: %q", foot)
	}
}
