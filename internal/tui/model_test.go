package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
	"hermes/internal/guard/taint"
	"hermes/internal/llm"
	"hermes/internal/session"
)

var color = Look{Color: true, Wide: true}

// asked is a stage with a question on it.
func asked(q approval.Question) *stage {
	s := newStage(80, 30, color)
	s.hear(chat.Opened{}, chat.Changed{Status: busy(status())}, chat.Asked{Question: q})
	s.draw()
	return s
}

func TestQuestionIsAnswered(t *testing.T) {
	for _, row := range []struct{ what, typed, want string }{
		{"Enter alone", "", "q1 deny"},
		{"a letter", "o", "q1 once"},
		{"a word", "ONCE", "q1 once"},
		{"for the session", "s", "q1 session"},
		{"always", "always", "q1 always"},
		{"d", "d", "q1 deny"},
		{"no", "no", "q1 deny"},
		{"a word that is none", "ok", "q1 deny ok"},
		{"yes", "yes", "q1 deny yes"},
		{"the beginning of a sentence", "s it first", "q1 deny s it first"},
		{"a letter of another script", "ο", "q1 deny ο"},
	} {
		s := asked(push())
		s.arm()
		if row.typed != "" {
			s.press(row.typed)
		}
		s.press("enter")
		if got := strings.Join(s.chat.answers, "; "); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
		if len(s.chat.submitted) > 0 {
			t.Errorf("%s: it was sent as a message, too", row.what)
		}
	}
}

// What was being written when the question came is no answer to it, nor what is pasted.
func TestKeysBeforeTheQuestion(t *testing.T) {
	s := newStage(80, 30, color)
	s.hear(chat.Opened{}, chat.Changed{Status: busy(status())})
	s.press("als")
	s.hear(chat.Asked{Question: push()})
	s.press("o", "enter", "o", "enter")
	if len(s.chat.answers)+len(s.chat.submitted) > 0 {
		t.Errorf("keys that came too early: answers %q, messages %q", s.chat.answers, s.chat.submitted)
	}
	if got := s.input.value(); got != "alsoo" {
		t.Errorf("the draft is %q", got)
	}
	p := s.panels[0]
	s.Update(armed{p, 0}) // the clock of before the last key
	s.press("o", "enter")
	if p.armed || len(s.chat.answers) > 0 {
		t.Error("the question did not wait for a pause")
	}
	s.arm()
	s.Update(tea.PasteMsg{Content: "o\r"})
	s.Update(tea.PasteMsg{Content: "always\n"})
	if len(s.chat.answers) > 0 || !p.word.empty() {
		t.Errorf("a paste answered: %q", s.chat.answers)
	}
	s.press("enter")
	if got := strings.Join(s.chat.answers, "; "); got != "q1 deny" {
		t.Errorf("Enter: %q", got)
	}
}

func TestQuestionIsNotAnswered(t *testing.T) {
	t.Run("what is not offered", func(t *testing.T) {
		q := push()
		q.Covers = approval.Covers{}
		s := asked(q)
		s.arm()
		s.press("a", "enter")
		if len(s.chat.answers) > 0 || !strings.Contains(s.frame(), "not offered") {
			t.Errorf("answered %q\n%s", s.chat.answers, s.frame())
		}
		s.press("enter")
		if got := strings.Join(s.chat.answers, "; "); got != "q1 deny" {
			t.Errorf("Enter after it: %q", got)
		}
	})
	t.Run("what was not read to the end", func(t *testing.T) {
		q := push()
		q.Command += strings.Repeat("\n# harmless", 100) + "\nrm -rf ~"
		s := asked(q)
		s.arm()
		s.press("o", "enter")
		if len(s.chat.answers) > 0 || !strings.Contains(s.frame(), "read it to the end first") {
			t.Errorf("answered %q\n%s", s.chat.answers, s.frame())
		}
		for range 20 {
			s.press("pgdown")
			s.draw()
		}
		if !strings.Contains(s.frame(), "rm -rf ~") {
			t.Errorf("its end does not show\n%s", s.frame())
		}
		s.press("o", "enter")
		if got := strings.Join(s.chat.answers, "; "); got != "q1 once" {
			t.Errorf("after reading: %q", got)
		}
	})
	t.Run("one that has ended", func(t *testing.T) {
		s := asked(push())
		s.chat.settled = true
		s.arm()
		s.press("o", "enter")
		if len(s.panels) > 0 || !strings.Contains(s.frame(), "nothing was allowed by it") {
			t.Errorf("%d questions\n%s", len(s.panels), s.frame())
		}
	})
	t.Run("the next one", func(t *testing.T) {
		second := push()
		second.ID = "q2"
		s := asked(push())
		s.hear(chat.Asked{Question: second})
		s.arm()
		s.press("o", "enter")
		s.hear(chat.Answered{ID: "q1", Choice: approval.Once})
		s.press("o", "enter", "enter") // meant for the first
		if got := strings.Join(s.chat.answers, "; "); got != "q1 once" {
			t.Errorf("%q", got)
		}
		s.arm()
		s.press("enter")
		if got := strings.Join(s.chat.answers, "; "); got != "q1 once; q2 deny" {
			t.Errorf("%q", got)
		}
	})
	t.Run("Esc", func(t *testing.T) {
		s := asked(push())
		s.arm()
		s.press("o", "esc")
		if got := strings.Join(s.chat.answers, "; "); got != "q1 deny" {
			t.Errorf("%q", got)
		}
	})
}

func TestConfirm(t *testing.T) {
	for typed, want := range map[string]string{"": "k cancel", "c": "k cancel", "o": "k once", "always": "k cancel", "x": "k cancel"} {
		s := newStage(80, 24, color)
		s.hear(chat.Opened{}, chat.Confirm{ID: "k", Text: "Delete it?", Choices: []string{chat.Once, chat.Cancel}})
		s.arm()
		if typed != "" {
			s.press(typed)
		}
		s.press("enter")
		if got := strings.Join(s.chat.replies, "; "); got != want || len(s.panels) > 0 {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestSending(t *testing.T) {
	for _, row := range []struct {
		what string
		keys []string
		want []string
	}{
		{"Enter sends", []string{"hello", "enter"}, []string{"hello"}},
		{"nothing is not sent", []string{"enter", " ", "enter"}, nil},
		{"lines", []string{"a", "alt+enter", "b", "ctrl+j", "c", "shift+enter", "d", "enter"}, []string{"a\nb\nc\nd"}},
		{"a backslash goes on", []string{"a\\", "enter", "b", "enter"}, []string{"a\nb"}},
		{"back in what was sent", []string{"one", "enter", "two", "enter", "dra", "up", "up", "enter"}, []string{"one", "two", "one"}},
		{"forth to the draft", []string{"one", "enter", "dra", "up", "down", "ft", "enter"}, []string{"one", "draft"}},
		{"up in lines first", []string{"one", "enter", "a", "alt+enter", "b", "up", "X", "enter"}, []string{"one", "aX\nb"}},
		{"Ctrl-C empties", []string{"rm", "ctrl+c", "ls", "enter"}, []string{"ls"}},
		{"editing", []string{"one two", "ctrl+w", "three", "ctrl+a", "X", "ctrl+e", "Y", "left", "backspace", "enter"}, []string{"Xone threY"}},
		{"killing", []string{"one two", "alt+b", "ctrl+k", "home", "right", "delete", "enter"}, []string{"oe "}},
		{"wide letters and marks", []string{"界e\u0301x", "left", "backspace", "enter"}, []string{"界x"}},
	} {
		s := newStage(80, 24, color)
		s.chat.idle = true
		s.hear(chat.Opened{}, chat.Changed{Status: status()})
		s.press(row.keys...)
		if diff := cmp.Diff(row.want, s.chat.submitted); diff != "" {
			t.Errorf("%s: -want +got\n%s", row.what, diff)
		}
	}
}

func TestPasteSendsNothing(t *testing.T) {
	s := newStage(80, 24, color)
	s.hear(chat.Opened{}, chat.Changed{Status: status()})
	s.Update(tea.PasteMsg{Content: "line 1\r\nline 2\n"})
	long := strings.Repeat("word ", 1000)
	s.press(" and ")
	s.Update(tea.PasteMsg{Content: long + "\n!rm -rf /\n"})
	if len(s.chat.submitted) > 0 {
		t.Fatalf("sent %q", s.chat.submitted)
	}
	if !strings.Contains(s.frame(), "[pasted text 1: 2 lines]") {
		t.Errorf("no mark for a long paste\n%s", s.frame())
	}
	s.press("enter")
	if want := "line 1\nline 2\n and " + long + "\n!rm -rf /\n"; len(s.chat.submitted) != 1 || s.chat.submitted[0] != want {
		t.Errorf("sent %.80q", s.chat.submitted)
	}
}

// Ctrl-B lets a command of the agent's go on in the background; without one it moves in the text.
func TestDetaching(t *testing.T) {
	s := newStage(80, 24, color)
	s.hear(chat.Opened{}, chat.Changed{Status: busy(status())})
	s.chat.waited = 2
	says := func() bool { return strings.Contains(s.frame(), "Ctrl-B") }
	if s.wait(0); says() {
		t.Error("a command that has just begun is offered to the background")
	}
	if s.wait(time.Second); !says() {
		t.Errorf("a long one is not:\n%s", s.frame())
	}
	s.press("ac", "ctrl+b")
	if s.wait(0); s.chat.detached != 2 || says() {
		t.Errorf("%d were let go, and it says:\n%s", s.chat.detached, s.frame())
	}
	s.press("ctrl+b", "b", "enter")
	if want := []string{"abc"}; !slices.Equal(s.chat.submitted, want) {
		t.Errorf("sent %q", s.chat.submitted)
	}
	s.hear(chat.Changed{Status: status()})
	s.chat.waited = 1 // of another turn
	if s.press("ctrl+b"); s.chat.detached != 2 {
		t.Error("something was let go although nothing runs")
	}
}

func TestInterrupting(t *testing.T) {
	s := newStage(80, 24, color)
	s.hear(chat.Opened{}, chat.Changed{Status: busy(status())})
	s.press("ctrl+c")
	if s.chat.interrupts != 1 || len(s.chat.submitted) > 0 {
		t.Errorf("once: %d interrupts, sent %q", s.chat.interrupts, s.chat.submitted)
	}
	s.wait(time.Second)
	s.press("ctrl+c")
	if want := []string{"/quit"}; !slices.Equal(s.chat.submitted, want) {
		t.Errorf("twice: sent %q", s.chat.submitted)
	}
	s = newStage(80, 24, color)
	s.chat.idle = true
	s.hear(chat.Opened{}, chat.Changed{Status: status()})
	s.press("ctrl+c")
	s.wait(3 * time.Second)
	s.press("ctrl+c")
	if len(s.chat.submitted) > 0 {
		t.Errorf("twice with time between: sent %q", s.chat.submitted)
	}
	s.press("ctrl+d")
	if want := []string{"/quit"}; !slices.Equal(s.chat.submitted, want) {
		t.Errorf("Ctrl-D: sent %q", s.chat.submitted)
	}
	if _, cmd := s.Update(heard{chat.Quit{ID: "s1"}}); cmd == nil || s.left.ID != "s1" {
		t.Error("it did not end")
	}
}

func TestCompletion(t *testing.T) {
	s := newStage(80, 24, color)
	s.hear(chat.Opened{}, chat.Changed{Status: status()})
	s.chat.found = []chat.Candidate{{Text: "@internal/tui/"}, {Text: "@internal/tool/"}}
	s.chat.from = len("look at ")
	s.press("look at @int", "esc", "tab")
	if got := s.input.value(); got != "look at @internal/t" {
		t.Errorf("what is common: %q", got)
	}
	s.press("tab")
	if got := s.input.value(); got != "look at @internal/tui/" {
		t.Errorf("the first: %q", got)
	}
	s.chat.found = []chat.Candidate{{Text: "/status", Whole: true}}
	s.chat.from = 0
	s.press("ctrl+u", "/sta", "enter")
	if want := []string{"/sta"}; !slices.Equal(s.chat.submitted, want) {
		t.Errorf("Enter sends what is written, not what is offered: %q", s.chat.submitted)
	}
	s.press("/sta", "down", "enter")
	if got := s.input.value(); got != "/status " {
		t.Errorf("what was picked: %q", got)
	}
}

// Whatever the size, the screen is filled, nothing is wider, and YOLO is marked.
func TestEverySize(t *testing.T) {
	for _, scene := range scenes {
		s := newStage(80, 24, color)
		scene.play(s)
		st := s.status
		st.Yolo = true
		s.hear(chat.Changed{Status: st})
		for cols := 1; cols <= 130; cols += 3 {
			for _, rows := range []int{1, 2, 5, 11, 24} {
				s.Update(tea.WindowSizeMsg{Width: cols, Height: rows})
				checkFrame(t, s, cols, rows)
			}
		}
		if t.Failed() {
			t.Fatal(scene.name)
		}
	}
}

// What has been laid out of an answer stays where it is while more of it comes.
func TestStreamingIsStable(t *testing.T) {
	var a stream
	var before []string
	for i := range answerText {
		a.text = answerText[:i+1]
		var now []string
		for _, l := range a.lines(60, color) {
			now = append(now, l.String())
		}
		for n := range before[:max(0, len(before)-4)] { // the block that is being written may change
			if n >= len(now) || now[n] != before[n] {
				t.Fatalf("after %q, line %d was %q and is %q", a.text[max(0, i-20):], n, before[n], now[min(n, len(now)-1)])
			}
		}
		before = now
	}
	a.done = true
	whole := markdown(answerText, 60, color)
	if diff := cmp.Diff(joined(whole), joined(a.lines(60, color))); diff != "" {
		t.Errorf("laid out piece by piece and at once: -at once +piecewise\n%s", diff)
	}
}

func TestReadingBack(t *testing.T) {
	s := newStage(60, 20, color)
	s.hear(chat.Opened{}, chat.Changed{Status: status()})
	for range 100 {
		s.turn(agent.Text{Text: "a line\n\n"})
	}
	s.draw()
	s.press("pgup")
	before, _, _ := s.draw()
	s.turn(agent.Text{Text: strings.Repeat("more\n\n", 30)})
	after, _, _ := s.draw()
	for i := range s.room {
		if before[i].String() != after[i].String() {
			t.Fatalf("row %d moved while it was read: %q, %q", i, before[i], after[i])
		}
	}
	s.press("home")
	if first, _, _ := s.draw(); !strings.Contains(first[0].String(), "Hermes") {
		t.Errorf("Home: %q", first[0].String())
	}
	s.press("end")
	if s.top != nil {
		t.Error("End does not follow")
	}
	for range 200 {
		s.press("pgdown")
		s.draw()
	}
	if s.top != nil {
		t.Error("at the end it does not follow")
	}
}

// A question stands over a full screen of output, and its time goes by.
func TestTheClockOfAQuestion(t *testing.T) {
	s := asked(push())
	for _, row := range []struct {
		after time.Duration
		want  string
	}{{0, "5:00 left"}, {time.Second, "4:59 left"}, {4 * time.Minute, "0:59 left"}, {2 * time.Minute, "0:00 left"}} {
		s.wait(row.after)
		if !strings.Contains(s.frame(), row.want) {
			t.Errorf("not %q\n%s", row.want, s.frame())
		}
	}
	if len(s.chat.answers) > 0 {
		t.Errorf("the screen answered by itself: %q", s.chat.answers)
	}
}

func TestLookOf(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		want Look
	}{
		{map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8", "HOME": "/h"}, Look{Color: true, Wide: true, Home: "/h"}},
		{map[string]string{"TERM": "xterm", "LANG": "C"}, Look{Color: true}},
		{map[string]string{"TERM": "xterm", "LANG": "C.utf8", "NO_COLOR": "1"}, Look{Wide: true}},
		{map[string]string{"TERM": "dumb", "LANG": "C.UTF-8"}, Look{}},
		{map[string]string{"LC_ALL": "C", "LANG": "C.UTF-8"}, Look{}},
		{map[string]string{"TERM": "tmux-256color", "LANG": "C.UTF-8", "TMUX": "/tmp/t,1,0"}, Look{Color: true, Wide: true, Tmux: true}},
		{map[string]string{}, Look{}},
	} {
		if got := LookOf(func(k string) string { return row.env[k] }); got != row.want {
			t.Errorf("%v: %+v, want %+v", row.env, got, row.want)
		}
	}
}

// A long message is folded; with everything unfolded, and where there is no key for it, all of it is there.
func TestLongMessageIsFolded(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	m := &said{text: text.String() + "look"}
	shown := func(open bool) string {
		var b strings.Builder
		for _, l := range m.lines(view{cols: 79, look: Look{}, open: open}) {
			b.WriteString(l.String() + "\n")
		}
		return b.String()
	}
	folded := shown(false)
	if n := strings.Count(folded, "\n"); n != saidHead+1+saidTail || !strings.Contains(folded, "4985 more lines: Ctrl-O") ||
		!strings.Contains(folded, "line 12\n") || strings.Contains(folded, "line 13\n") || !strings.HasSuffix(folded, "line 5000\n  look\n") {
		t.Errorf("%d lines:\n%.2000s", n, folded)
	}
	if open := shown(true); strings.Count(open, "\n") != 5001 {
		t.Errorf("unfolded it has %d lines", strings.Count(open, "\n"))
	}
	m.text = strings.Repeat("short\n", 19) + "end"
	if whole := shown(false); strings.Count(whole, "\n") != 20 {
		t.Errorf("what is little longer is folded:\n%s", whole)
	}
}

// A stored conversation shows how its calls went as it did when they were made.
func TestStoredCalls(t *testing.T) {
	wrapped := func(text string) string { return taint.Wrap(taint.Label{Tool: "terminal", ID: "x1"}, text) + "\n" }
	for _, row := range []struct {
		what, tool, text string
		failed           bool
		want             string
	}{
		{"done", "terminal", "hello\nexit code 0", false, "✓ terminal   exit code 0"},
		{"failed", "terminal", "no such file\nexit code 2", false, "✗ terminal   exit code 2"},
		{"no error", "terminal", "(no output)\nexit code 1 (nothing matched; no error)", false, "✗ terminal   exit code 1"},
		{"interrupted", "terminal", "half\n[Command interrupted] exit code 130.", false, "✗ terminal   exit code 130"},
		{"timed out", "terminal", "half\n[Command timed out after 30s] exit code 124. If it was meant to run on, use background true", false, "✗ terminal   exit code 124"},
		{"ended at once", "terminal", "It has ended at once: exit code 127", false, "✗ terminal   exit code 127"},
		{"it says of itself that it went well", "terminal", "exit code 0\nexit code 3", false, "✗ terminal   exit code 3"},
		{"and so does what is left running", "terminal", wrapped("exit code 0") + "exit code 3\nIt has left running: x\nexit code 0", false, "✗ terminal   exit code 3"},
		{"broken off", "terminal", "The call was broken off: the person interrupted.", true, "✗ terminal   failed"},
		{"runs on", "terminal", "It runs in the background: session_id \"p1\", for the tool process.", false, "✓ terminal"},
		{"a file's words", "read_file", "exit code 1", false, "✓ read_file"},
		{"a program", "execute_code", "3\nit was interrupted", false, "✗ execute_code   it was interrupted"},
		{"a program that went well", "execute_code", "it is 3\nTool calls: read_file 1.", false, "✓ execute_code"},
		{"refused", "terminal", "BLOCKED: no", true, "⊘ terminal   refused"},
	} {
		var log transcript
		log.opened([]session.Message{
			{Message: llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: row.tool}}}},
			{Message: llm.Message{Role: llm.Result, CallID: "c1", Text: row.text, Failed: row.failed}, Tool: row.tool},
		})
		if got := log.entries[0].lines(view{cols: 80, look: Look{Wide: true}})[0].String(); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

// Of a sandbox that is not open nobody knows what it contains; once it is open that is told.
func TestUnopened(t *testing.T) {
	for _, row := range []struct {
		name       string
		change     func(*chat.Status)
		head, foot string
	}{
		{"not open", func(s *chat.Status) { s.Boundary, s.Unopened = false, true }, "not opened yet: what it contains is measured with the first one", "native (not opened yet)"},
		{"nor asked about", func(s *chat.Status) { s.Boundary, s.Unopened, s.Yolo = false, true, true }, "not opened yet, and nothing is asked about", "native (not opened yet)"},
		{"open", func(*chat.Status) {}, "a boundary: they do not reach this machine", "native (boundary)"},
		{"without walls", func(s *chat.Status) { s.Boundary = false }, "no boundary; what could do harm is asked about first", "native (no boundary)"},
	} {
		st := boundary()
		row.change(&st)
		s := newStage(120, 30, Look{Wide: true})
		s.hear(chat.Opened{}, chat.Changed{Status: st})
		if got := s.frame(); !strings.Contains(got, row.head) || !strings.Contains(got, row.foot) {
			t.Errorf("%s:\n%s", row.name, got)
		}
	}
}
