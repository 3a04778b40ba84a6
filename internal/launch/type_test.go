package launch

import (
	"strings"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/sandbox"
)

// keyboard types into one command.
type keyboard struct {
	b     *bench
	door  *Door
	call  Call
	typed Typed
}

func newKeyboard(t *testing.T, command string, terminal bool) *keyboard {
	b := newBench(t)
	b.person.choice = approval.Once
	k := &keyboard{b: b, door: New(Options{Policy: func() (Policy, error) { return b.policy, b.perr }, Desk: approval.New(b.desk), Log: b.log})}
	k.call = Call{Session: testSession(t), Place: b.place(t), Text: command, Dir: b.dir, Presence: approval.Person, Prompter: b.person}
	if terminal {
		k.call.Terminal = &sandbox.Size{Rows: 24, Cols: 80}
	}
	return k
}

// press types, and tells in a word what became of it.
func (k *keyboard) press(t *testing.T, text string) string {
	t.Helper()
	asked := len(k.b.person.asked)
	r, err := k.door.Type(t.Context(), k.call, &k.typed, text)
	switch {
	case err != nil:
		t.Fatal(err)
	case r.Verdict.Action == guard.Block && r.Refused():
		return "deny"
	case len(k.b.person.asked) > asked && r.Refused():
		return "refused"
	case len(k.b.person.asked) > asked:
		return "ask"
	case r.Refused():
		return "deny"
	}
	return "allow"
}

// What is typed is judged by who reads it.
func TestType(t *testing.T) {
	for _, row := range []struct {
		command  string
		terminal bool
		typed    []string
		want     string
	}{
		// A shell runs what it reads.
		{"bash", false, []string{"ls -l\n", "git status\n"}, "allow allow"},
		{"bash", false, []string{"rm -rf /etc\n"}, "deny"},
		{"bash -i", true, []string{"git push --force origin main\n", "ls\n", "git push --force origin main\n"}, "ask allow ask"},
		{"cd src && exec bash # for later", false, []string{"rm -rf /etc\n"}, "deny"},
		{"sudo -u bob bash | tee log", false, []string{"rm -rf /etc\n"}, "deny"},
		{"ssh host", true, []string{"ls\n"}, "allow"},
		{"docker exec -i c sh", false, []string{"rm -rf /\n"}, "deny"},
		// However it is cut into pieces.
		{"bash", false, []string{"rm -r", "f /et", "c\n"}, "allow ask deny"},
		{"bash", true, []string{"rm -rf /etcX\x7f\n"}, "deny"},
		{"bash", true, []string{"rm -rf /e", "tX\x7f", "c\r"}, "ask ask deny"},
		{"bash", true, []string{"rm -rf /etc\x15ls\n"}, "deny"},
		{"bash", false, []string{"cd /\n", "rm -rf etc\n"}, "allow deny"},
		// Keys that fetch something from elsewhere.
		{"bash", true, []string{"\x1b[A\n"}, "ask"},
		{"bash", true, []string{"!rm\n"}, "ask"},
		{"bash", true, []string{"ls /usr/lo\t\n"}, "ask"},
		{"bash", true, []string{"[ ! -e x ] && test 1 != 2\n"}, "allow"},
		// Interpreters.
		{"python3 -q", true, []string{"print(1 + 1)\n", "x = 3 != 4\n"}, "allow allow"},
		{"python3 -q", true, []string{"import shutil\n", "shutil.rmtree('/etc')\n"}, "allow deny"},
		{"python3 -q", true, []string{"import os\n", "os.system(input())\n", "print(2)\n", "os.system(input())\n"}, "allow ask allow ask"},
		{"sqlite3 a.db", false, []string{"select 1;\n", ".shell rm -rf /\n"}, "allow deny"},
		// Others get data, and on a terminal perhaps commands.
		{"npm init", false, []string{"a name\n", "yes\n"}, "allow allow"},
		{"cat > notes", false, []string{"never run rm -rf /etc\n"}, "allow"},
		{"less README", true, []string{"/word\n", "\x1b[B", " ", "q"}, "allow allow allow allow"},
		{"less README", true, []string{"!rm -rf /etc\n"}, "deny"},
		{"vim README", true, []string{":!rm -rf /etc\n"}, "deny"},
		{"vim README", true, []string{"ihello\x1b:!rm -rf /etc\r"}, "deny"},
		{"./console", false, []string{"yes\n", "! rm -rf /etc\n"}, "allow deny"},
		{"tmux", true, []string{"rm -rf /etc\n"}, "deny"},
		{"gdb ./a", true, []string{"break main\n", "shell rm -rf /etc\n"}, "allow ask"},
		{"./console", false, []string{"rm -r", "f /etc\n"}, "allow deny"},
		{"grep -c x", false, []string{"rm -rf /etc\n"}, "allow"},
		// What was asked about when it started is not asked about again.
		{"sudo -i", false, []string{"true\n"}, "allow"},
	} {
		k := newKeyboard(t, row.command, row.terminal)
		var got []string
		for _, text := range row.typed {
			got = append(got, k.press(t, text))
		}
		if got := strings.Join(got, " "); got != row.want {
			t.Errorf("%s: typing %q: %s, want %s", row.command, row.typed, got, row.want)
		}
	}
}

// The question shows the command with what would be typed, and nothing can be granted for longer.
func TestTypeQuestion(t *testing.T) {
	k := newKeyboard(t, "bash", false)
	k.b.person.choice = approval.Deny
	if got := k.press(t, "git push --force origin main\n"); got != "refused" {
		t.Fatal(got)
	}
	q := k.b.person.asked[0]
	if q.Command != "bash <<'END_OF_INPUT'\ngit push --force origin main\nEND_OF_INPUT\n" || q.Offers(approval.Session) || q.Offers(approval.Always) {
		t.Errorf("%+v", q)
	}
	if f := q.Findings[0]; q.Command[f.Start:f.End] != "--force" {
		t.Errorf("%+v", f)
	}
	// What was refused is not part of what was typed.
	if got := k.press(t, "ls\n"); got != "allow" {
		t.Error(got)
	}
	if len(k.b.log.decisions) != 2 || len(k.b.log.results) != 1 {
		t.Errorf("%+v", k.b.log)
	}
}

func TestTypeRefuses(t *testing.T) {
	k := newKeyboard(t, "bash", false)
	for _, text := range []string{"", "a\x00b", strings.Repeat("a", maxTyped+1)} {
		if _, err := k.door.Type(t.Context(), k.call, &k.typed, text); err == nil {
			t.Errorf("%.10q is taken", text)
		}
	}
	k.b.log.err = strings.NewReader("").UnreadByte()
	if r, err := k.door.Type(t.Context(), k.call, &k.typed, "ls\n"); err == nil || !r.Refused() {
		t.Errorf("%+v %v", r, err)
	}
	// Nobody there: what would be asked about is refused.
	k = newKeyboard(t, "bash", false)
	k.call.Presence = approval.Nobody
	if got := k.press(t, "git push --force origin main\n"); got != "deny" {
		t.Error(got)
	}
}

// What was typed long ago is forgotten by the line, what is typed on is not.
func TestTypeForgets(t *testing.T) {
	k := newKeyboard(t, "bash", false)
	for range 3 {
		if got := k.press(t, strings.Repeat("echo a long line that harms nobody\n", 500)); got != "allow" {
			t.Fatal(got)
		}
	}
	if len(k.typed.text) > maxTyped || !strings.HasPrefix(k.typed.text, "echo") {
		t.Errorf("%d bytes, %.20q", len(k.typed.text), k.typed.text)
	}
	if got := k.press(t, "rm -rf /etc\n"); got != "deny" {
		t.Error(got)
	}
}

// However a text is cut in two: what is refused whole is refused.
func TestTypeInTwo(t *testing.T) {
	for _, command := range []string{"bash", "sudo -u bob sh", "python3 -q", "vim x", "./console"} {
		for _, text := range []string{"rm -rf /etc\n", "cd /; rm -rf etc\n", "F=-rf\nrm $F /etc\n", "bash -c 'rm -rf /etc'\n"} {
			if command == "python3 -q" {
				text = "import os\nos.system('rm -rf /etc')\n"
			}
			for _, terminal := range []bool{false, true} {
				if k := newKeyboard(t, command, terminal); k.press(t, text) != "deny" {
					if command == "./console" || command == "vim x" {
						continue // as shell text alone, without the directory
					}
					t.Errorf("%s, terminal %v: %q passes", command, terminal, text)
					continue
				}
				for cut := 1; cut < len(text); cut++ {
					k := newKeyboard(t, command, terminal)
					if one, two := k.press(t, text[:cut]), k.press(t, text[cut:]); one != "deny" && two != "deny" {
						t.Errorf("%s, terminal %v: %q and %q pass: %s, %s", command, terminal, text[:cut], text[cut:], one, two)
					}
				}
			}
		}
	}
}
