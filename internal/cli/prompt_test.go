package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/guard/command"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/shell"
	"hermes/internal/tui"
)

// keyboard is a terminal on which something is typed when the question is there.
type keyboard struct {
	types string // "" types nothing and waits
	end   bool   // the end of input instead

	mu    sync.Mutex
	shown bytes.Buffer
	in    chan byte
	once  sync.Once
	gone  chan struct{}
	early bool // a deadline is set
	late  int  // looks that come after their deadline, and so see nothing
}

func newKeyboard(types string) *keyboard {
	return &keyboard{types: types, in: make(chan byte, 1024), gone: make(chan struct{})}
}

func (y *keyboard) Read(p []byte) (int, error) {
	y.mu.Lock()
	early, late := y.early, y.early && y.late > 0
	if late {
		y.late--
	}
	y.mu.Unlock()
	if late {
		return 0, os.ErrDeadlineExceeded
	}
	if early {
		select {
		case p[0] = <-y.in:
			return 1, nil
		default:
			return 0, os.ErrDeadlineExceeded
		}
	}
	select {
	case b, ok := <-y.in:
		if !ok {
			return 0, io.EOF
		}
		p[0] = b
		return 1, nil
	case <-y.gone:
		return 0, os.ErrDeadlineExceeded
	}
}

func (y *keyboard) Write(p []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.once.Do(func() {
		for i := range len(y.types) {
			y.in <- y.types[i]
		}
		if y.end {
			close(y.in)
		}
	})
	return y.shown.Write(p)
}

func (y *keyboard) SetReadDeadline(at time.Time) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.early = !at.IsZero()
	if y.early && y.shown.Len() > 0 {
		close(y.gone)
	}
	return nil
}

func (y *keyboard) Close() error { return nil }

func (y *keyboard) text() string { y.mu.Lock(); defer y.mu.Unlock(); return y.shown.String() }

func testTerminal(y tty, env map[string]string) *atTerminal {
	if env == nil {
		env = map[string]string{"TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"}
	}
	return &atTerminal{open: func() (tty, error) { return y, nil }, home: "/home/ada", cols: 80, env: func(k string) string { return env[k] }}
}

// decide asks about a text through a Desk, as launch does.
func decide(t *testing.T, text string, p approval.Prompter, o approval.Options) approval.Decision {
	t.Helper()
	profile, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	session, err := scope.ParseSession(profile, "exec", "1")
	if err != nil {
		t.Fatal(err)
	}
	facts := command.Facts{Home: "/home/ada", Dir: "/home/ada/src/site"}
	prog := shell.Parse(text, shell.Options{Home: facts.Home, Dir: facts.Dir})
	judge := func(allow []string) guard.Verdict {
		return command.Compile(command.Policy{Allow: allow}).Judge(&prog, facts)
	}
	return approval.New(o).Decide(t.Context(), approval.Request{
		Session: session, Command: text, Dir: facts.Dir, Backend: "local", Program: &prog, Verdict: judge(nil), Judge: judge,
		Exposure: exposure.Exposure{Backend: "local"}, Presence: approval.Person, Prompter: p,
	})
}

func TestPromptShows(t *testing.T) {
	y := newKeyboard("\n")
	got := decide(t, "git push --force origin main", testTerminal(y, nil), approval.Options{})
	if got.Outcome != approval.Denied {
		t.Errorf("Enter: %s", got.Outcome)
	}
	want := `
  ⚠  git force push (rewrites remote history)

     git push --force origin main
              ━━━━━━━
     why: replaces history that others may have
     in ~/src/site · backend local (no boundary: this is your machine)

     [o]nce        this command, now
     [s]ession     git push --force origin main, until this session ends
     [a]lways      git push --force origin main     (added to command_allowlist)
     [d]eny        (Enter)

  Choice [o/s/a/D], 5:00 left: `
	if diff := cmp.Diff(want, y.text()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPromptAnswers(t *testing.T) {
	for typed, want := range map[string]approval.Choice{
		"o\n": approval.Once, "ONCE\n": approval.Once, " s \n": approval.Session, "session\n": approval.Session,
		"a\n": approval.Always, "always\n": approval.Always,
		"\n": approval.Deny, "d\n": approval.Deny, "y\n": approval.Deny, "yes\n": approval.Deny, "os\n": approval.Deny, "\x1b[A\n": approval.Deny,
		strings.Repeat("o", 5000) + "\n": approval.Deny,
	} {
		if len(typed) > 1024 {
			continue
		}
		got := decide(t, "git push --force origin main", testTerminal(newKeyboard(typed), nil), approval.Options{})
		if got.Choice != want || got.Allowed() != (want != approval.Deny) {
			t.Errorf("%q: %s %s", typed, got.Choice, got.Outcome)
		}
	}
}

func TestReport_hermes_82647(t *testing.T) {
	// What was typed before the question was there is no answer to it; Enter denies.
	for late := range 3 { // nor on a machine that has too much to do to look in time
		y := newKeyboard("\n")
		y.late = late
		for _, b := range []byte("o\n") {
			y.in <- b
		}
		if got := decide(t, "git push --force origin main", testTerminal(y, nil), approval.Options{}); got.Allowed() {
			t.Errorf("an answer typed before the question, %d looks too late: %s", late, got.Outcome)
		}
	}
}

func TestPromptFailsClosed(t *testing.T) {
	end := newKeyboard("o") // a word without its Enter
	end.end = true
	if got := decide(t, "git reset --hard", testTerminal(end, nil), approval.Options{}); got.Outcome != approval.Denied {
		t.Errorf("end of input: %s", got.Outcome)
	}
	none := testTerminal(nil, nil)
	none.open = func() (tty, error) { return nil, errors.New("no such device") }
	if got := decide(t, "git reset --hard", none, approval.Options{}); got.Outcome != approval.NotifyFailed {
		t.Errorf("no terminal: %s", got.Outcome)
	}
	silent := newKeyboard("")
	if got := decide(t, "git reset --hard", testTerminal(silent, nil), approval.Options{Timeout: 50 * time.Millisecond}); got.Outcome != approval.TimedOut {
		t.Errorf("silence: %s", got.Outcome)
	}
}

// The whole command is shown, whatever is in it; nothing of it reaches the terminal as a command to it.
func TestPromptShowsAllAndNothingElse(t *testing.T) {
	long := "git reset --hard " + strings.Repeat("x", 300) + "\necho \x1b[2J\x1b]0;gone\x07 \u202e ; rm -rf .git # the end"
	y := newKeyboard("\n")
	decide(t, long, testTerminal(y, nil), approval.Options{})
	shown := y.text()
	if strings.ContainsAny(shown, "\x1b\x07\u202e") {
		t.Errorf("control characters come through:\n%q", shown)
	}
	if strings.Count(shown, "x") < 300 || !strings.Contains(shown, "# the end") || !strings.Contains(shown, "also: ") {
		t.Errorf("not all is shown:\n%s", shown)
	}
	for line := range strings.Lines(shown) {
		if n := len([]rune(line)); n > 100 && !strings.HasPrefix(strings.TrimSpace(line), "also:") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

func TestPromptColours(t *testing.T) {
	for _, row := range []struct {
		env    map[string]string
		colour bool
		sign   string
	}{
		{map[string]string{"TERM": "xterm", "LANG": "C.UTF-8"}, true, "⚠"},
		{map[string]string{"TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"}, false, "⚠"},
		{map[string]string{"TERM": "dumb", "LANG": "C.UTF-8"}, false, "!"},
		{map[string]string{"TERM": "xterm", "LANG": "C"}, true, "!"},
	} {
		y := newKeyboard("\n")
		decide(t, "git reset --hard", testTerminal(y, row.env), approval.Options{})
		if strings.Contains(y.text(), "\x1b[") != row.colour || !strings.Contains(y.text(), row.sign+"  git reset") {
			t.Errorf("%v:\n%q", row.env, y.text())
		}
	}
}

func TestPromptOfWhatAsksEveryTime(t *testing.T) {
	y := newKeyboard("a\n")
	got := decide(t, "hermes config set approvals.mode off", testTerminal(y, nil), approval.Options{})
	if got.Allowed() || strings.Contains(y.text(), "[s]") || strings.Contains(y.text(), "[a]") || !strings.Contains(y.text(), "Choice [o/D]") {
		t.Errorf("%s\n%s", got.Outcome, y.text())
	}
}

// The vectors on the prompt: the reviewing model's refusal leaves once and deny; "a" is always.
func TestVectorsOfThePrompt(t *testing.T) {
	deny := func(context.Context, string, string) (string, error) { return "DENY", nil }
	y := newKeyboard("\n")
	decide(t, "rm -rf .git", testTerminal(y, nil), approval.Options{Mode: approval.Smart, Review: deny})
	for text, want := range map[string]bool{"[o]nce": true, "[d]eny": true, "[s]ession": false, "[a]lways": false} {
		if strings.Contains(y.text(), text) != want {
			t.Errorf("%s shown: %t", text, !want)
		}
	}
	if got := tui.Word("a"); got != approval.Always {
		t.Errorf("a is %s", got)
	}
}

func TestPromptHidesSecrets(t *testing.T) {
	const key = "sk-proj-abc123xyz4567890abcdef"
	y := newKeyboard("\n")
	decide(t, `K=`+key+` git push --force origin main`, testTerminal(y, nil), approval.Options{})
	if strings.Contains(y.text(), key) || !strings.Contains(y.text(), "━━━━━━━") {
		t.Error(y.text())
	}
}

// On a real terminal: the answer is read from it, and the clock does not disturb what is typed.
func TestPromptOnATerminal(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("skipped: needs a pseudo-terminal: %v", err)
	}
	defer ours.Close()
	defer theirs.Close()
	at := testTerminal(nil, nil)
	at.tick = 20 * time.Millisecond
	at.open = func() (tty, error) { return os.OpenFile(theirs.Name(), os.O_RDWR, 0) }
	go func() {
		shown := make([]byte, 0, 4096)
		for buf := make([]byte, 512); ; {
			n, err := ours.Read(buf)
			if err != nil {
				return
			}
			was := bytes.Count(shown, []byte("left: "))
			shown = append(shown, buf[:n]...)
			switch now := bytes.Count(shown, []byte("left: ")); {
			case was < 2 && now >= 2:
				_, _ = ours.Write([]byte("onc"))
			case was < 4 && now >= 4:
				_, _ = ours.Write([]byte("e\n"))
			}
		}
	}()
	if got := decide(t, "git reset --hard", at, approval.Options{Timeout: 20 * time.Second}); got.Outcome != approval.Answered || got.Choice != approval.Once {
		t.Errorf("%s %s", got.Outcome, got.Choice)
	}
}

// A letter without its Enter that was typed before the question is no answer either: the Enter that denies does not send it.
func TestPromptForgetsHalfALine(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("skipped: needs a pseudo-terminal: %v", err)
	}
	defer ours.Close()
	defer theirs.Close()
	at := testTerminal(nil, nil)
	at.open = func() (tty, error) { return os.OpenFile(theirs.Name(), os.O_RDWR, 0) }
	if _, err := ours.Write([]byte("x\no")); err != nil {
		t.Fatal(err)
	}
	// What is echoed has arrived.
	if _, err := io.ReadAtLeast(ours, make([]byte, 64), len("x\r\no")); err != nil {
		t.Fatal(err)
	}
	go func() {
		shown, answered := make([]byte, 0, 4096), false
		for buf := make([]byte, 512); ; {
			n, err := ours.Read(buf)
			if err != nil {
				return
			}
			if shown = append(shown, buf[:n]...); !answered && bytes.Contains(shown, []byte("left: ")) {
				answered = true
				_, _ = ours.Write([]byte("\n"))
			}
		}
	}()
	if got := decide(t, "git reset --hard", at, approval.Options{Timeout: 20 * time.Second}); got.Outcome != approval.Denied {
		t.Errorf("%s %s", got.Outcome, got.Choice)
	}
}

// While a question is on the screen, what a running command prints waits: it cannot write over the question.
func TestOutputWaitsForTheAnswer(t *testing.T) {
	at := testTerminal(nil, nil)
	at.open = func() (tty, error) {
		if at.mu.TryLock() {
			t.Error("nothing keeps output back while the question is on the screen")
			at.mu.Unlock()
		}
		return newKeyboard("\n"), nil
	}
	if _, err := at.Prompt(t.Context(), approval.Question{}); err != nil {
		t.Fatal(err)
	}
	out := &quiet{writerFunc(func(p []byte) (int, error) {
		if at.mu.TryLock() {
			t.Error("a question may appear in the middle of output")
			at.mu.Unlock()
		}
		return len(p), nil
	}), at}
	if n, err := out.Write([]byte("\x1b[9A another host")); n != 17 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A question about a connection says what it is about, for which command, and where an answer for good is kept.
func TestPromptOfAConnection(t *testing.T) {
	y := newKeyboard("\n")
	q := approval.Question{
		Command: "connect a.example:443", For: "npm ci\x1b[2J", Dir: "/home/ada/src", Exposure: "backend native",
		Findings: []approval.Finding{{Rule: "egress/unlisted", End: 21}},
		Covers: approval.Covers{
			Session: approval.Cover{Entry: "connect a.example:443", Text: "a.example:443"},
			Always:  approval.Cover{Entry: "a.example", Text: "a.example", Where: "terminal.network_allow"},
		},
	}
	if _, err := testTerminal(y, nil).Prompt(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not on the sandbox's list", "for: npm ci\\x1b[2J\n", "[o]nce        this connection, now", "a.example     (added to terminal.network_allow)"} {
		if !strings.Contains(y.text(), want) {
			t.Errorf("%q is missing:\n%s", want, y.text())
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
