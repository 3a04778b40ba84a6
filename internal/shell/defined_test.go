package shell

import (
	"slices"
	"strings"
	"testing"
)

// What the shell has before the text counts as what stands in the text.
func TestDefined(t *testing.T) {
	aliases := map[string]string{
		"ls": "rm -rf ~", "ll": "ls -l", "self": "self --color", "sudo": "sudo ", "run": "work", "while": "rm -rf ~; while", "odd": "echo '",
	}
	functions := map[string]string{
		"work":   "work () \n{ \n    rm -rf \"$1\"\n}\n",
		"a/b":    "a/b () \n{ \n    rm \"$@\"\n}\n",
		"broken": "broken () \n{ \n    if\n}\n",
		"loop":   "loop () \n{ \n    loop | loop &\n}\n",
		"cd":     "cd () \n{ \n    rm x\n}\n",
	}
	plainly := Options{Home: "/home/u", Defined: func(name string, alias bool) (text string, ok bool) {
		if alias {
			text, ok = aliases[name]
		} else {
			text, ok = functions[name]
		}
		return text, ok
	}}
	handled := plainly
	handled.Defined = func(name string, alias bool) (string, bool) {
		if name == "command_not_found_handle" && !alias {
			return "command_not_found_handle () \n{ \n    rm \"$@\"\n}\n", true
		}
		return plainly.Defined(name, alias)
	}
	for _, row := range []struct {
		text string
		opt  Options
		want string // a line of what would run; with "!" a kind of note
	}{
		{"ls", plainly, "rm -rf /home/u"},
		{"ls /tmp", plainly, "rm -rf /home/u /tmp"},
		{"cd /x; ls", plainly, "rm -rf /home/u"},
		{"(true && ls)", plainly, "rm -rf /home/u"},
		{"echo $(ls)", plainly, "rm -rf /home/u"},
		{"work /etc", plainly, "rm -rf /etc"},
		{"wo'rk' /etc", plainly, "rm -rf /etc"},
		{"x=wo; ${x}rk /etc", plainly, "rm -rf /etc"},
		{"run /etc", plainly, "rm -rf /etc"},
		{"a/b /etc", plainly, "rm /etc"},
		{"cd /etc", plainly, "rm x"},
		{"ll", plainly, "rm -rf /home/u -l"},
		{"sudo ls", plainly, "rm -rf /home/u"},
		{"self", plainly, "self --color"},
		{"broken", plainly, "!code"},
		{"odd", plainly, "!unparsed"},
		{"while true; do :; done", plainly, "!code"},
		{"loop", plainly, "!bomb"},
		{"nosuch -rf /etc", handled, "rm nosuch -rf /etc"},
		{"\\ls", plainly, "ls"},
		{"command ls", plainly, "ls"},
		{"unalias ls; ls", plainly, "ls"},
		{"ls() { echo; }; unalias ls; ls", plainly, "echo"},
		{"env ls", plainly, "ls"},
	} {
		p := Parse(row.text, row.opt)
		kinds := map[string]NoteKind{"!code": DynamicCode, "!unparsed": Unparsed, "!bomb": ForkBomb}
		if kind, ok := kinds[row.want]; ok {
			if !slices.ContainsFunc(p.Notes, func(n Note) bool { return n.Kind == kind }) {
				t.Errorf("%q: notes %+v, want %s", row.text, p.Notes, row.want)
			}
			continue
		}
		var lines []string
		for i, c := range p.Commands {
			lines = append(lines, p.Line(i))
			if c.Start < 0 || c.End > len(row.text) || c.Start > c.End {
				t.Errorf("%q: command %q stands at %d to %d", row.text, p.Line(i), c.Start, c.End)
			}
		}
		if !slices.Contains(lines, row.want) {
			t.Errorf("%q would run %q, want %q", row.text, strings.Join(lines, "; "), row.want)
		}
	}
}

// Ways to make an alias that are not followed are told.
func TestTables(t *testing.T) {
	for text, want := range map[string]bool{
		"declare -n r=BASH_ALIASES\nr[ls]='rm -rf ~'\nls":          true,
		"printf -v 'BASH_ALIASES[ls]' %s 'rm -rf ~'\nls":           true,
		"read 'BASH_ALIASES[ls]' <<< 'rm -rf ~'\nls":               true,
		"BASH_ALIASES=([ls]='rm -rf ~')\nls":                       true,
		"BASH_CMDS+=([ls]=/tmp/x)\nls":                             true,
		"alias if='rm -rf ~; if'\nif true; then :; fi":             true,
		"alias ll='ls -l'\nll":                                     false,
		"echo BASH_ALIASES; grep -r BASH_ALIASES .; alias ls='ls'": false,
	} {
		p := Parse(text, Options{})
		got := slices.ContainsFunc(p.Notes, func(n Note) bool { return n.Kind == DynamicWord || n.Kind == DynamicCode })
		if got != want {
			t.Errorf("%q: %+v", text, p.Notes)
		}
	}
}
