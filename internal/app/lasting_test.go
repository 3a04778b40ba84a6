package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
