package terminal

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/rigtest"
)

// A Python console is driven as a person would: typed into, looked at, interrupted, left.
func TestPython(t *testing.T) {
	rigtest.Program(t, "python3")
	b := newBench(t)
	id := b.start("PYTHON_BASIC_REPL=1 python3 -q", args{"pty": true})
	b.screen(id, ">>>")
	enter := func(text string) {
		b.call("process", args{"action": "submit", "session_id": id, "data": text})
	}
	enter("6 * 7")
	s := b.screen(id, "42\n>>>")
	if s.Rows != 30 || s.Cols != 100 || s.Row != 3 || s.Col != 5 {
		t.Errorf("%+v", s)
	}
	enter("def double(x):\n    return 2 * x\n")
	enter("print(double(21) + 1)")
	b.screen(id, "43")
	enter("while True: pass")
	b.call("process", args{"action": "write", "session_id": id, "data": "\x03"})
	b.screen(id, "KeyboardInterrupt")
	// What it can do to the machine is asked about, or refused.
	r := b.call("process", args{"action": "submit", "session_id": id, "data": "import shutil; shutil.rmtree('/etc/hermes-none')"})
	if d, ok := r.Data.(Outcome); !ok || d.Status != "refused" {
		t.Errorf("%+v", r)
	}
	enter("exit()")
	if s := b.call("process", args{"action": "wait", "session_id": id, "timeout": 30}).Data.(State); s.Status != "exited" || *s.Exit != 0 {
		t.Errorf("%+v", s)
	}
	if s := b.call("read_terminal", args{"process_id": id}).Data.(Shown); !strings.Contains(s.Output, "42") {
		t.Errorf("the screen is gone with the program: %q", s.Output)
	}
}

// A program that draws all of the screen, and leaves it as it was.
func TestLess(t *testing.T) {
	rigtest.Program(t, "less")
	b := newBench(t)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %d of the file\n", i+1)
	}
	if err := os.WriteFile(b.dir+"/file", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	id := b.start("echo before; LESS= less file; echo after; sleep 60", args{"pty": true})
	s := b.screen(id, "line 29 of the file")
	if lines := strings.Split(s.Output, "\n"); len(lines) != 30 || lines[0] != "line 1 of the file" || strings.Contains(s.Output, "before") {
		t.Errorf("%d lines: %q", len(lines), s.Output)
	}
	press := func(keys string) { b.call("process", args{"action": "write", "session_id": id, "data": keys}) }
	press(" ")
	b.screen(id, "line 58 of the file")
	press("/line 150\r")
	if s := b.screen(id, "line 150 of the file"); !strings.HasPrefix(s.Output, "line 150 of the file\nline 151") {
		t.Errorf("%q", s.Output)
	}
	// Another size is told to the program.
	r := b.call("read_terminal", args{"process_id": id, "rows": 10, "cols": 40})
	if s := r.Data.(Shown); s.Rows != 10 || s.Cols != 40 {
		t.Errorf("%+v", s)
	}
	press("g")
	if s := b.screen(id, "line 9 of the file"); strings.Contains(s.Output, "line 10 of") {
		t.Errorf("%q", s.Output)
	}
	press("q")
	if s := b.screen(id, "after"); !strings.HasPrefix(s.Output, "before") || strings.Contains(s.Output, "line 9") {
		t.Errorf("%q", s.Output)
	}
}

// A shell on a terminal, in the size it was told.
func TestShell(t *testing.T) {
	b := newBench(t)
	id := b.start("bash --norc -i", args{"pty": true})
	b.screen(id, "bash-")
	enter := func(text string) {
		b.call("process", args{"action": "submit", "session_id": id, "data": text})
	}
	enter("tty > /dev/null && echo on a terminal; stty size")
	b.screen(id, "on a terminal\n30 100")
	enter("seq 1 100")
	if s := b.screen(id, "99\n100\n"); strings.Contains(s.Output, "\n50\n") {
		t.Errorf("%q", s.Output)
	}
	s := b.call("read_terminal", args{"process_id": id, "history": 1000}).Data.(Shown)
	if !strings.Contains(s.Output, "\n1\n2\n3\n") || s.History < 70 {
		t.Errorf("%d lines above: %q", s.History, s.Output)
	}
	// Put away, it runs on.
	if said := said(b.call("close_terminal", args{"process_id": id})); !strings.Contains(said, "is put away") {
		t.Error(said)
	}
	if _, err := b.try(t.Context(), "read_terminal", args{"process_id": id}); err == nil || !strings.Contains(err.Error(), "no terminal") {
		t.Error(err)
	}
	if _, err := b.try(t.Context(), "close_terminal", args{"process_id": id}); err == nil {
		t.Error("closed twice")
	}
	enter("echo still here; exit")
	b.until(id, "still here")
	if s := b.call("process", args{"action": "wait", "session_id": id}).Data.(State); s.Status != "exited" {
		t.Errorf("%+v", s)
	}
}

// In the foreground a terminal is only what a program sees.
func TestForegroundTerminal(t *testing.T) {
	b := newBench(t)
	r := b.call("terminal", args{"command": "tty > /dev/null && echo yes; stty size", "pty": true})
	if d := r.Data.(Outcome); strings.ReplaceAll(d.Output, "\r", "") != "yes\n30 100\n" {
		t.Errorf("%+v", d)
	}
	// One that waits for somebody who types ends with its time.
	r = b.call("terminal", args{"command": "read x", "pty": true, "timeout": 1})
	if d := r.Data.(Outcome); *d.Exit != 124 {
		t.Errorf("%+v", d)
	}
}

// A program that asks the terminal something gets its answer, and nothing it prints comes out as it came.
func TestTerminalAnswers(t *testing.T) {
	b := newBench(t)
	id := b.start(`stty raw -echo; printf 'abc\033[6n'; read -r -d R -t 30 a; stty cooked; printf '\033]0;title\007\033]52;c;ZXZpbA==\007\r\n\033[31m%s\033[0m\007' "${a#*[}"; sleep 60`, args{"pty": true})
	s := b.screen(id, "1;4")
	if strings.ContainsAny(s.Output+s.Title, "\x1b\x07") || strings.Contains(s.Output, "ZXZ") || s.Title != "title" {
		t.Errorf("%+v", s)
	}
}

func TestScreenArguments(t *testing.T) {
	b := newBench(t)
	if _, err := b.try(t.Context(), "read_terminal", args{}); err == nil || !strings.Contains(err.Error(), "no terminal is open") {
		t.Error(err)
	}
	piped := b.start("sleep 60", nil)
	if _, err := b.try(t.Context(), "read_terminal", args{"process_id": piped}); err == nil || !strings.Contains(err.Error(), "no terminal") {
		t.Error(err)
	}
	one := b.start("echo one; sleep 60", args{"pty": true})
	for range 50 {
		if s := b.call("read_terminal", args{}).Data.(Shown); s.ID == one && s.Output == "one" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.start("sleep 60", args{"pty": true})
	for _, row := range []struct {
		a    args
		want string
	}{
		{args{}, "process_id is needed"},
		{args{"process_id": one, "history": -1}, "history"},
		{args{"process_id": one, "rows": 0}, "from 1 to"},
		{args{"process_id": one, "cols": 100000}, "from 1 to"},
	} {
		if _, err := b.try(t.Context(), "read_terminal", row.a); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v: %v, want %q", row.a, err, row.want)
		}
	}
}
