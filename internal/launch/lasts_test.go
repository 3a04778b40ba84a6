package launch

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/local"
)

// session is one in which things last, on this machine itself, with a home of its own.
type session struct {
	*bench
	place *Place
	path  string // PATH, in which rm deletes nothing of this machine
}

func newSession(t testing.TB, b *bench, files ...string) *session {
	t.Helper()
	if _, err := os.Stat("/usr/bin/bash"); err != nil {
		if _, err := os.Stat("/bin/bash"); err != nil {
			t.Skip("skipped: needs bash")
		}
	}
	w, err := checked.ParseWorkdir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPlace(local.New(local.Config{Search: "/usr/bin:/bin"}), sandbox.Spec{
		Workdir: w, Session: testSession(t), Persistent: true, InitFiles: files, Home: t.TempDir(),
	})
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &session{b, p, rigtest.Guarded(t, "/usr/bin:/bin")}
}

// does runs a command and returns what it printed, and why it was stopped: refused, or asked about and denied. "" is not at all.
func (s *session) does(t testing.TB, text string) (out, stopped string) {
	t.Helper()
	s.person.asked = nil
	var buf bytes.Buffer
	r, err := s.run(t, Call{Place: s.place, Text: text, Dir: noDir, Stdout: &buf, Stderr: &buf,
		Env: environ.Request{Surface: environ.Foreground, Base: map[string]string{"PATH": s.path, "HOME": s.dir}}})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if r.Refused() {
		stopped = r.Verdict.Reason
	}
	return buf.String(), stopped
}

// What one command leaves, the next is judged with, or it is not left: nothing reaches the owner's file either way.
func TestPoisonedSession(t *testing.T) {
	forged := func(sections string) string {
		return `alias q=r; cd .; printf '` + sections + `\0end\0' >&4`
	}
	// forgedArray has a state told in which a variable is said to be harmless, and an array of its name would hide it.
	forgedArray := func(name, value string, over bool) string {
		harmless, array := `declare -x `+name+`="/tmp/nothing-there"\n`, `declare -ax `+name+`=([0]="%s")\n`
		if !over {
			harmless, array = array, harmless
		}
		return `export ` + name + `=; cd .; printf '\0vars\0` + harmless + array + `\0end\0' "` + value + `" >&4`
	}
	type row struct{ name, first, then string }
	definitions := []row{
		{"alias", "alias ls='rm -rf ~'", "ls"},
		{"alias by its last blank", "alias sudo='env ' ls='rm -rf ~'", "sudo ls"},
		{"alias in a list", "alias ls='rm -rf ~'", "cd . && ls | cat"},
		{"alias of a word of the language", "alias while='rm -rf ~; while'", "while false; do :; done"},
		{"function", `r() { rm "$@"; }`, "r -rf ~"},
		{"function of another", `f() { g "$@"; }; g() { rm "$@"; }`, "f -rf ~"},
		{"function by alias", `r() { rm "$@"; }; alias q=r`, "q -rf ~"},
		{"function in place of a builtin", `cd() { rm "$@"; }`, "cd -rf ~"},
		{"exported function, in another shell", `r() { rm "$@"; }; export -f r`, "bash -c 'r -rf ~'"},
		{"function for what is not found", `command_not_found_handle() { shift; rm "$@"; }`, "nosuch -rf ~"},
		{"function with a name that is hidden", `r() { rm "$@"; }; alias -- -x=r`, `r -r'f' ~`},
		{"a variable", "export F='-rf'", `rm $F ~`},
		{"a variable's path", "export D=~", `rm -rf "$D"`},
		{"an array", "declare -ax D=(~)", `rm -rf "$D"`},
		{"an array's second", "declare -ax D=(x ~)", `rm -rf "${D[1]}"`},
		{"an array for a variable of the environment", "unset HOME; declare -ax HOME=(/etc/hermes-none)", "rm -rf ~"},
		{"a variable of a function", `f() { rm -rf "$D"; }; export D=~`, "f"},
		{"HOME", "export HOME=/etc", "rm -rf ~/hermes-none"},
		{"CDPATH", "export CDPATH=$HOME/..", "cd ${PWD##*/} && rm -rf *"},
	}
	asked := []row{ // when they are made; what a person allows is then there, or forgotten
		{"exported function by its variable", `export 'BASH_FUNC_ls%%=() { rm -rf ~; }'`, "ls"},
		{"a program's path", "hash -p /tmp/x git", "git status"},
		{"a loaded builtin", "enable -f /tmp/x.so ls", "ls"},
		{"BASH_ENV", "echo 'rm -rf ~' > env; export BASH_ENV=$PWD/env", "bash -c :"},
		{"PATH", "mkdir -p /tmp/evil; export PATH=/tmp/evil:$PATH", "ls"},
		{"PROMPT_COMMAND", "export PROMPT_COMMAND='rm -rf ~'", "bash -i -c :"},
		{"PS4", "export PS4='$(rm -rf ~)'", "set -x; ls"},
		{"a trap", "trap 'rm -rf ~' DEBUG", "ls"},
		{"a trap for the end", "trap 'rm -rf ~' EXIT", "ls"},
	}
	forgotten := []row{
		{"HOME, made harmless", "export HOME=/tmp/nothing-there", "rm -rf ~/*"},
		{"HOME, forged", forged(`\0vars\0declare -x HOME="/tmp/nothing-there"\n`), "rm -rf ~/*"},
		{"aliases by their table", "BASH_ALIASES[ls]='rm -rf ~'", "ls"},
		{"a forged alias", forged(`\0names\0\0functions\0\0aliases\0rm -rf ~\n`), "export X=1"},
		{"text behind a forged alias", forged(`\0names\0\0functions\0\0aliases\0alias a=b; rm -rf ~\n`), "export X=1"},
		{"a forged name of an alias", forged(`\0names\0\0functions\0\0aliases\0alias a;rm -rf ~;b=c\n`), "export X=1"},
		{"text behind a forged function", forged(`\0names\0declare -f f\n\0functions\0f () { :; }\nrm -rf ~\n\0aliases\0`), "export X=1"},
		{"a forged name of a function", forged(`\0names\0declare -fx f;rm -rf ~\n\0functions\0f;rm -rf ~ () { :; }\n\0aliases\0`), "export X=1"},
		{"a forged array", forged(`\0vars\0declare -ax a=($(rm -rf ~))\n`), "export X=1"},
		{"a forged array's number", forged(`\0vars\0declare -aix a=([0]="b[\$(rm -rf ~)]")\n`), "export X=1"},
		{"a forged array's subscript", forged(`\0vars\0declare -ax a=([$(rm -rf ~)]="b")\n`), "export X=1"},
		{"an array, forged over a variable", forgedArray("D", "$HOME", true), `rm -rf "$D"`},
		{"an array, forged under a variable", forgedArray("D", "$HOME", false), `rm -rf "$D"`},
		{"an array, forged over HOME", forgedArray("HOME", "/etc", true), `rm -rf ~/hermes-none`},
		{"a state told by another builtin", `builtin() { printf >&4 '\0names\0\0functions\0\0aliases\0rm -rf ~\n\0end\0'; }`, "export X=1"},
	}
	for k, row := range slices.Concat(definitions, asked, forgotten) {
		t.Run(row.name, func(t *testing.T) {
			s := newSession(t, newBench(t))
			keep := filepath.Join(s.dir, "keep")
			if err := os.WriteFile(keep, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.person.choice = approval.Once
			_, refused := s.does(t, row.first)
			was := refused != "" || len(s.person.asked) > 0
			s.person.choice = approval.Deny
			_, then := s.does(t, row.then)
			if _, err := os.Stat(keep); err != nil {
				t.Errorf("it was deleted: %v", err)
			}
			switch {
			case k < len(definitions) && then == "" && refused == "":
				t.Error("nothing was stopped")
			case k >= len(definitions) && k < len(definitions)+len(asked) && !was:
				t.Error("nobody was asked")
			}
			other := newSession(t, newBench(t))
			if out, stopped := other.does(t, "echo $F$D; type -t r f q; echo end"); stopped != "" || out != "\nend\n" {
				t.Errorf("another session: %q %s", out, stopped)
			}
		})
	}
}

// What a command exports is there for the next, whatever the environment began with; what the policy gives a command besides counts more.
func TestExportsLast(t *testing.T) {
	s := newSession(t, newBench(t))
	for _, row := range []struct{ text, want string }{
		{"export HOME=/tmp PATH=/usr/bin:/bin:/nowhere NEW=1; echo $HOME", "/tmp\n"},
		{"echo $HOME $PATH $NEW", "/tmp /usr/bin:/bin:/nowhere 1\n"},
		{"unset HOME; echo [$HOME]", "[]\n"},
		{"echo [$HOME]", "[]\n"},
	} {
		if out, stopped := s.does(t, row.text); out != row.want || stopped != "" {
			t.Errorf("%s: %q %s, want %q", row.text, out, stopped, row.want)
		}
	}
}

// What does not last: options, places of programs, traps, variables that are not exported, IFS.
func TestForgotten(t *testing.T) {
	for first, then := range map[string]string{
		"shopt -s nullglob; set -f; set -o noclobber":    `shopt nullglob | cut -f2; echo $-; set -o | grep -c 'noclobber.*on'`,
		"export IFS=/; F='a b'":                          `x=a/b; echo $x; echo "[$F]"`,
		"trap 'echo trapped' DEBUG; shopt -u sourcepath": "echo on",
		"readonly R=1; export R":                         "R=2; echo $R",
		"export BASHOPTS SHELLOPTS; set -f":              `echo $-`,
	} {
		s := newSession(t, newBench(t))
		b := newSession(t, newBench(t))
		want, _ := b.does(t, then)
		if _, stopped := s.does(t, first); stopped != "" {
			continue // asked about, and so not there
		}
		if out, stopped := s.does(t, then); out != want || stopped != "" {
			t.Errorf("%q, then %q: %q %s, want %q", first, then, out, stopped, want)
		}
	}
}

// What the owner's start files make is the owner's, and everyday commands go on; until it comes to something that a command made.
func TestOwnersFunctions(t *testing.T) {
	b := newBench(t)
	rc := filepath.Join(b.dir, "rc")
	text := `alias ll='ls -l' rmi='rm -i'
export FROMRC=1
ls() { command ls --color "$@"; }
run() { "$@"; }
deploy() { eval "$(cat script)"; helper x; }
helper() { :; }
wipe() { rm -rf "$1"; }
`
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, b, rc)
	for _, everyday := range []string{"ls", "ll", "deploy", "run true", "echo $FROMRC", "export A=1", "helper; type -t wipe", "ls; ll"} {
		if _, stopped := s.does(t, everyday); stopped != "" {
			t.Errorf("%q was stopped: %s", everyday, stopped)
		}
	}
	s.person.choice = approval.Once
	s.does(t, `r() { rm "$@"; }; greet() { echo hi; }`)
	s.person.choice = approval.Deny
	for text, stops := range map[string]bool{"ls": false, "ll": false, "greet": false, "run r -rf ~": true, "r -rf ~": true} {
		if _, stopped := s.does(t, text); (stopped != "") != stops {
			t.Errorf("%q after others: %q", text, stopped)
		}
	}
	s.person.choice = approval.Once
	s.does(t, `helper() { rm "$@"; }`)
	s.person.choice = approval.Deny
	if _, stopped := s.does(t, "deploy"); stopped == "" {
		t.Error("a function of the owner's that comes to another's was not stopped")
	}
	if _, stopped := s.does(t, "ll; ls"); stopped != "" {
		t.Errorf("others were: %s", stopped)
	}
}

// A definition makes no verdict milder.
func TestDefinitionsOnlyAdd(t *testing.T) {
	rules := Rules{}
	harmless := func(name string, alias bool) (string, bool) {
		if alias {
			return "true", strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
		}
		return name + " () \n{ \n    :\n}\n", strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-_./") == ""
	}
	order := map[guard.Action]int{guard.Allow: 0, guard.Ask: 1, guard.Block: 2}
	texts := []string{"rm -rf /", "cd / && rm -rf *", "x=rm; $x -rf /", "echo rm -rf / | sh", "sudo rm -rf ~", "unset -f rm; rm -rf /", "unalias rm\nrm -rf /"}
	for _, r := range command.Rules() {
		texts = append(texts, r.Hits...)
		texts = append(texts, r.Passes...)
	}
	for _, text := range texts {
		f := command.Facts{Home: "/home/u", Dir: "/home/u/p"}
		plain := rules.Parse(text, f)
		f.Defined = harmless
		with := rules.Parse(text, f)
		if a, b := rules.Judge(&plain, f), rules.Judge(&with, f); order[a.Action] > order[b.Action] || a.Tier == guard.Hardline && b.Tier != guard.Hardline {
			t.Errorf("%q is %v by itself, %v with definitions", text, a.Action, b.Action)
		}
	}
}

// A command that waited while another one changed the shell is judged with what it finds.
func TestChangedMeanwhile(t *testing.T) {
	for _, row := range []struct {
		change, text string
		runs         bool
	}{
		{"export X=1", "echo ran", true},
		{"alias other='rm -rf ~'", "echo ran", true},
		{"alias greet='rm -rf ~'", "greet; echo ran", false},
		{"greet() { echo hi; }", "greet; echo ran", false},
	} {
		s := newSession(t, newBench(t))
		s.does(t, "export FIRST=1")
		var buf bytes.Buffer
		r, err := s.run(t, Call{Place: s.place, Text: row.text, Dir: noDir, Stdout: &buf, Stderr: &buf,
			Env:     environ.Request{Surface: environ.Foreground, Base: map[string]string{"PATH": s.path, "HOME": s.dir}},
			Started: func(Started) { s.does(t, row.change) }})
		if ran := strings.Contains(buf.String(), "ran"); ran != row.runs || (err == nil) != row.runs || r.Ran != row.runs {
			t.Errorf("%q while %q: %q, %v, ran %v", row.text, row.change, buf.String(), err, r.Ran)
		}
	}
}

// What judging costs in a session in which a few exports last.
func BenchmarkLasting(b *testing.B) {
	s := newSession(b, newBench(b))
	for _, text := range []string{"export A=1 B=2 GOFLAGS=-count=1", "cd ."} {
		if _, stopped := s.does(b, text); stopped != "" {
			b.Fatal(stopped)
		}
	}
	list, _ := s.policy.Environ.Build(environ.Request{Surface: environ.Foreground, Base: map[string]string{"PATH": "/usr/bin:/bin"}})
	for name, place := range map[string]*Place{"kept": s.place, "none": NewPlace(s.box, sandbox.Spec{})} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				j := &journey{d: New(Options{}), c: Call{Place: place}, p: s.policy, text: "git status && go test ./... 2>&1 | tail -5", env: list}
				if _, _, v := j.read(); v.Action != guard.Allow {
					b.Fatal(v)
				}
			}
		})
	}
}
