package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/llm/llmtest"
	"hermes/internal/rigtest"
)

var updateScreens = flag.Bool("update-screens", false, "write the screens that these tests compare with")

// terminal is hermes on a screen of tmux, as a person has it.
type terminal struct {
	t      *testing.T
	socket string
	home   string
	name   string
}

// sit starts hermes in a terminal, with a model that plays turns. What it prints is compared with testdata/screens/NAME-….txt.
func sit(t *testing.T, name string, cols, rows int, settings, turns string, env []string, args ...string) *terminal {
	t.Helper()
	for _, program := range []string{"tmux", "hermes"} {
		rigtest.Program(t, program)
	}
	home, err := os.MkdirTemp("", "h") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s := &terminal{t: t, socket: filepath.Join(home, "tmux"), home: home, name: name}
	server := llmtest.New(t, turns)
	for dir, files := range map[string]map[string]string{
		".hermes": {"config.yaml": settings + fmt.Sprintf("model: test:test-model\nproviders:\n  test:\n    base_url: %s/v1\n    context_length: 64000\n", server.URL)},
		"site":    {"main.go": "package main\n\nfunc main() {\n\trun(1)\n}\n"},
	} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(home, dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.start(cols, rows, env, args...)
	return s
}

// start opens the terminal; what hermes leaves on it stays.
func (s *terminal) start(cols, rows int, env []string, args ...string) {
	s.t.Helper()
	command := append([]string{"env", "-i", "PATH=" + rigtest.Guarded(s.t, os.Getenv("PATH")), "HOME=" + s.home, "USER=ada", "LANG=C.UTF-8", "TERM=tmux-256color"}, env...)
	command = append(append(command, "hermes"), args...)
	line := "cd site; " + strings.Join(command, " ") + "; printf 'exited with %d\\n' $?; exec sleep 600"
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), "-c", s.home, "sh", "-c", line)
	s.t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
}

func (s *terminal) tmux(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "LANG=C.UTF-8", "TERM=xterm-256color"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys presses keys, by tmux's names.
func (s *terminal) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// says waits until the screen shows a text.
func (s *terminal) says(text string) string {
	s.t.Helper()
	var shown string
	for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(30 * time.Millisecond) {
		if shown = s.tmux("capture-pane", "-p"); strings.Contains(shown, text) {
			return shown
		}
	}
	s.t.Fatalf("%q does not show:\n%s", text, shown)
	return ""
}

// answers types an answer to the question on the screen until it is one: keys answer only once it has stood for a while without any,
// and those that come before go on in the text.
func (s *terminal) answers(typed string) {
	s.t.Helper()
	const ask = "Choice [o/s/a/D]"
	keys, taken := []string{"Enter"}, func(shown string) bool { return !strings.Contains(shown, ask) }
	if typed != "" {
		keys, taken = []string{"C-u", typed}, func(shown string) bool { return strings.Contains(shown, " left: "+typed) }
	}
	for pause := time.Second; ; pause *= 2 {
		if pause > time.Minute {
			s.t.Fatalf("%q is no answer:\n%s", typed, s.tmux("capture-pane", "-p"))
		}
		s.keys(keys...)
		if s.becomes(pause, taken) {
			break
		}
	}
	if typed != "" {
		s.keys("Enter")
		if !s.becomes(30*time.Second, func(shown string) bool { return !strings.Contains(shown, ask) }) {
			s.t.Fatalf("%q answers nothing:\n%s", typed, s.tmux("capture-pane", "-p"))
		}
		s.keys("C-u") // what came before
	}
}

// becomes waits until the screen is as it should be.
func (s *terminal) becomes(most time.Duration, so func(shown string) bool) bool {
	s.t.Helper()
	for begun := time.Now(); time.Since(begun) < most; time.Sleep(30 * time.Millisecond) {
		if so(s.tmux("capture-pane", "-p")) {
			return true
		}
	}
	return false
}

// child is the process id of hermes.
func (s *terminal) child() string {
	s.t.Helper()
	pane := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}"))
	children, err := os.ReadFile(filepath.Join("/proc", pane, "task", pane, "children"))
	if err != nil || len(strings.Fields(string(children))) == 0 {
		s.t.Fatalf("no child of %s: %q, %v", pane, children, err)
	}
	return strings.Fields(string(children))[0]
}

// memory returns how much of it hermes holds, in kB.
func (s *terminal) memory() int {
	s.t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", s.child(), "status"))
	if err != nil {
		s.t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		s.t.Fatalf("no VmRSS: %s", status)
	}
	n, _ := strconv.Atoi(string(m[1]))
	s.t.Logf("resident: %d kB", n)
	return n
}

// What differs from run to run: what moves, times, and the ids of conversations.
var changing = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`), "⠿"},
	{regexp.MustCompile(` [·-] \d+(\.\d)?s\b`), ""},
	{regexp.MustCompile(`(working) \d+s`), "$1"},
	{regexp.MustCompile(`   \d+s$`), ""},
	{regexp.MustCompile(`[\d.]+k?/64k \(\d+%\)`), "N/64k"},
	{regexp.MustCompile(`\d:\d\d left`), "M:SS left"},
	{regexp.MustCompile(`\d{8}-\d{6}-[0-9a-z]+`), "SESSION"},
}

// shot compares the screen with its file once it shows a text.
func (s *terminal) shot(what, once string) {
	s.t.Helper()
	shown := s.says(once)
	goes := what == "streaming" || what == "long-output" // these are looked at while something runs
	for range 100 {                                      // and has come to rest
		time.Sleep(60 * time.Millisecond)
		next := s.tmux("capture-pane", "-p")
		if next == shown && (goes || !strings.Contains(next, "Esc interrupts")) {
			break
		}
		shown = next
	}
	lines := strings.Split(shown, "\n")
	for i, l := range lines {
		for _, c := range changing {
			l = c.pattern.ReplaceAllString(l, c.with)
		}
		lines[i] = strings.TrimRight(strings.ReplaceAll(l, s.home, "HOME"), " ")
	}
	got := strings.Join(lines, "\n")
	file := filepath.Join("testdata", "screens", s.name+"-"+what+".txt")
	if *updateScreens {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		s.t.Errorf("%s: -want +got; if that is meant: go test ./cmd/hermes -run TestScreen -update-screens\n%s", file, diff)
	}
}

const pushTurns = `
-- 1 --
say I publish it.
call terminal {"command":"git push --force origin main"}
stop calls
-- 2 --
say That is all.
`

// A first conversation: an answer as it comes, calls, a difference, a refusal, the person's own command, leaving and coming back.
func TestScreenConversation(t *testing.T) {
	s := sit(t, "80", 80, 30, "", `
-- 1 --
say "# Plan\n\nThe build needs **two** things, see [the manual](https://go.dev/ref/mod):\n\n"
say "1. a flag\n2. a module, and this line is long enough to be wrapped at the right edge of it\n\n"
wait 1500ms
say "`+"```go\\nrun(2)\\n```"+`\n\n| file | line |\n|---|---|\n| main.go | 4 |\n"
usage 1200 80 0
-- 2 --
call read_file {"path":"main.go"}
call terminal {"command":"echo one; echo two; exit 3"}
stop calls
-- 3 --
call patch {"mode":"replace","path":"main.go","old_string":"run(1)","new_string":"run(2)"}
stop calls
-- 4 --
say It is changed.
-- 5 --
call terminal {"command":"F=-rf; rm $F /etc"}
stop calls
-- 6 --
say I may not.
-- 7 --
call terminal {"command":"seq -f 'line %g' 300; sleep 3"}
stop calls
-- 8 --
say Built.
`, nil, "--backend", "local")
	s.shot("first-start", "Type a message")
	s.keys("what is missing?", "Enter")
	s.shot("streaming", "right edge of it")
	s.shot("answer", "main.go  4")
	s.keys("mend it", "Enter")
	s.shot("calls-and-diff", "It is changed.")
	s.keys("free some space", "Enter")
	s.shot("refused", "I may not.")
	s.keys("C-o")
	s.shot("unfolded", "command: F=-rf")
	s.keys("C-o")
	s.keys("build", "Enter")
	s.shot("long-output", "line 300")
	s.says("Built.")
	s.keys("!echo mine", "Enter")
	s.shot("own-command", "  mine")
	s.keys("/st")
	s.shot("completion", "/status")
	s.keys("C-u")
	s.keys("/yolo", "Enter")
	s.shot("yolo", "YOLO mode ON")
	for _, size := range [][2]string{{"40", "20"}, {"120", "30"}, {"200", "40"}, {"20", "8"}} {
		s.tmux("resize-window", "-x", size[0], "-y", size[1])
		cols, _ := strconv.Atoi(size[0])
		s.shot("resized-to-"+size[0], "\n"+strings.Repeat("─", cols-1)+"\n>") // drawn anew
	}
	s.tmux("resize-window", "-x", "80", "-y", "30")
	s.says("\n" + strings.Repeat("─", 79) + "\n>")
	if most := 60 << 10; s.memory() > most {
		t.Errorf("an idle chat takes %d kB, want at most %d", s.memory(), most)
	}
	s.keys("C-d")
	s.shot("left", "exited with 0")
	s.start(80, 30, nil, "--resume")
	s.tmux("kill-session", "-t", "0")
	s.shot("resumed", "⚠ YOLO")
}

// The question and each of its answers.
func TestScreenQuestion(t *testing.T) {
	for _, row := range []struct{ name, typed, shows string }{
		{"once", "o", "That is all."}, {"session", "s", "That is all."}, {"always", "a", "That is all."}, {"denied", "", "That is all."},
		{"denied-with-reason", "push a branch of your own", "That is all."},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := sit(t, "question", 100, 30, "approvals:\n  mode: manual\n", pushTurns, nil, "--backend", "local")
			s.says("Type a message")
			s.keys("publish it", "Enter")
			if row.name == "once" {
				s.shot("asked", "Choice [o/s/a/D]")
			}
			s.says("Choice [o/s/a/D]")
			s.answers(row.typed)
			s.shot(row.name, row.shows)
		})
	}
	t.Run("time-out", func(t *testing.T) {
		s := sit(t, "question", 100, 30, "approvals:\n  mode: manual\n  timeout: 2\n", pushTurns, nil, "--backend", "local")
		s.says("Type a message")
		s.keys("publish it", "Enter")
		s.says("Choice [o/s/a/D]")
		s.shot("time-out", "That is all.")
	})
}

// Ctrl-B, and /bg where lines are read, let a command go on while the agent does, which is told of its end.
func TestScreenBackground(t *testing.T) {
	const turns = `
-- 1 --
call terminal {"command":"echo begun; until test -e go; do sleep 0.1; done; echo late","timeout":600}
stop calls
-- 2 --
expect go on in the background, as long as it takes
say I go on.
-- 3 --
expect late
say It has ended.
`
	ends := func(s *terminal) {
		s.says("I go on.")
		s.says("1 left running")
		if err := os.WriteFile(filepath.Join(s.home, "site", "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.says("It has ended.")
	}
	t.Run("screen", func(t *testing.T) {
		s := sit(t, "background", 100, 24, "", turns, nil, "--backend", "local")
		s.says("Type a message")
		s.keys("build", "Enter")
		s.says("Ctrl-B lets the command go on")
		s.keys("C-b")
		ends(s)
	})
	t.Run("lines", func(t *testing.T) {
		s := sit(t, "background-lines", 100, 24, "", turns, nil, "--plain", "--backend", "local")
		s.says("Type a message")
		s.keys("build", "Enter")
		s.says("/bg lets it go on")
		s.keys("/bg", "Enter")
		ends(s)
	})
}

// A terminal without colours gets none, and one that cannot move its cursor gets lines.
func TestScreenPlain(t *testing.T) {
	t.Run("no-color", func(t *testing.T) {
		s := sit(t, "no-color", 80, 24, "", pushTurns, []string{"NO_COLOR=1"}, "--yolo", "--backend", "local")
		s.shot("yolo", "YOLO mode — all approval prompts bypassed")
		if shown := s.tmux("capture-pane", "-e", "-p"); strings.Contains(shown, "\x1b[") {
			t.Errorf("colours: %q", shown)
		}
	})
	t.Run("color", func(t *testing.T) {
		s := sit(t, "color", 80, 24, "", pushTurns, nil, "--yolo", "--backend", "local")
		s.says("YOLO mode — all approval prompts bypassed")
		if shown := s.tmux("capture-pane", "-e", "-p"); !regexp.MustCompile(`\x1b\[[0-9;]*41m⚠ YOLO mode`).MatchString(shown) {
			t.Errorf("the banner is not red: %q", shown)
		}
	})
	t.Run("dumb", func(t *testing.T) {
		s := sit(t, "dumb", 80, 40, "approvals:\n  mode: manual\n", pushTurns, []string{"TERM=dumb"}, "--backend", "local")
		s.says("Type a message")
		s.keys("publish it", "Enter")
		s.says("Choice [o/s/a/D]")
		s.keys("o", "Enter")
		s.says("That is all.")
		s.keys("C-d")
		s.shot("once", "exited with 0")
	})
}

// What ends a program from outside leaves the terminal as it was.
func TestScreenSignals(t *testing.T) {
	s := sit(t, "signal", 80, 24, "", pushTurns, nil, "--backend", "local")
	s.says("Type a message")
	pid, err := strconv.Atoi(s.child())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.says("exited with")
	if on := strings.TrimSpace(s.tmux("display-message", "-p", "#{alternate_on}")); on != "0" {
		t.Error("it stays on the other screen")
	}
}
