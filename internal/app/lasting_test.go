package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/approval"
)

// A command means what the session's shell makes of it by now: what earlier commands have left is judged with it.
func TestWhatEarlierCommandsLeave(t *testing.T) {
	w := newWorld(t, "terminal:\n  auto_source_bashrc: false\n")
	if err := os.MkdirAll(filepath.Join(w.home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, ".ssh", "id_ed25519"), []byte("planted-words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		first, then string
		want        string // "" for what may run
	}{
		{"alias ls='rm -rf ~'", "ls", "recursive delete of home directory"},
		{"alias ls='rm -rf ~'", "cd . && ls", "recursive delete of home directory"},
		{"alias x='rm -rf'", "x ~", "recursive delete of home directory"},
		{"r() { rm \"$@\"; }", "r -rf ~", "recursive delete of home directory"},
		{"r() { rm \"$@\"; }; alias q=r", "q -rf ~", "recursive delete of home directory"},
		{"command_not_found_handle() { shift; rm \"$@\"; }", "nosuch -rf ~", "recursive delete of home directory"},
		{"export KEY=~/.ssh/id_ed25519", "cat $KEY", "BLOCKED"},
		{"export HOME=/etc", "cat ~/shadow", "BLOCKED"},
		{"f() { cat \"$KEY\"; }; export KEY=$HOME/.ssh/id_ed25519", "f", "BLOCKED"},
		{"alias while='cat ~/.ssh/id_ed25519; while'", "while false; do :; done", "BLOCKED"},
		{"alias ll='ls -l'; f() { echo \"$1\"; }; export A=b", "ll; f x; echo $A", ""},
	} {
		t.Run(row.first+" "+row.then, func(t *testing.T) {
			k := newKit(t, w, "local")
			first, err := k.call("terminal", "command", row.first)
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.call("terminal", "command", row.then)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(first, "BLOCKED") {
				got = first
			}
			if row.want == "" && strings.Contains(got, "BLOCKED") || !strings.Contains(got, row.want) || strings.Contains(got, "planted-words") {
				t.Errorf("%q, then %q", first, got)
			}
		})
	}
}

// The owner's own aliases are no news: what was allowed goes on to be.
func TestOwnAliases(t *testing.T) {
	w := newWorld(t, "command_allowlist:\n  - git push *\n")
	if err := os.WriteFile(filepath.Join(w.home, ".bashrc"), []byte("alias git='git --no-pager'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, w, "local")
	for _, text := range []string{"git --version", "alias git", "git push --force origin main"} {
		got, err := k.call("terminal", "command", text)
		if err != nil || strings.Contains(got, "BLOCKED") || text == "alias git" && !strings.Contains(got, "no-pager") {
			t.Errorf("%s: %s %v", text, got, err)
		}
	}
	if len(k.person.asked) > 0 {
		t.Errorf("asked %q", k.person.asked)
	}
}

// What was allowed for a text holds for what it says, not for what an earlier command makes of it.
func TestGrantsOfBorrowedMeaning(t *testing.T) {
	w := newWorld(t, "terminal:\n  auto_source_bashrc: false\ncommand_allowlist:\n  - git push *\n")
	for _, row := range []struct{ first, text string }{
		{"alias git='chmod 777 x; git'", "git push --force origin main"},
		{"git() { chmod 777 \"$4\"; }", "git push --force origin x"},
		{"export T=/srv/hermes-none", "rm -r $T"},
	} {
		k := newKit(t, w, "local")
		k.person.choice = approval.Session
		for _, text := range []string{row.first, row.text, row.text} {
			if _, err := k.call("terminal", "command", text); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, asked := range k.person.asked {
			if asked == row.text {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%s: asked %q, want each time", row.first, k.person.asked)
		}
	}
}
