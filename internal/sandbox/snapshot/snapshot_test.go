package snapshot

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/guard/environ"
)

// state returns a state whose commands begin with env.
func state(t *testing.T, change func(*Config), env ...string) *State {
	t.Helper()
	list, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Foreground, Base: environ.Parse(env)})
	c := Config{Shell: "/bin/bash", Dir: "/", Lasts: true, Env: list, Prelude: 30, Write: 31}
	if change != nil {
		change(&c)
	}
	return New(c)
}

// written makes what a shell writes.
func written(sections ...string) []byte {
	var b strings.Builder
	for i := 0; i < len(sections); i += 2 {
		b.WriteString("\x00" + sections[i] + "\x00" + sections[i+1])
	}
	return []byte(b.String() + "\x00end\x00")
}

func TestVariables(t *testing.T) {
	for _, row := range []struct{ text, name, value string }{
		{`declare -x A="plain"`, "A", "plain"},
		{`declare -x A=""`, "A", ""},
		{`declare -rx A="read only"`, "A", "read only"},
		{`declare -ix A="5"`, "A", "5"},
		{"declare -x A=\"two\nlines\"", "A", "two\nlines"},
		{"declare -x A=\"declare -x B=\\\"b\\\"\n\"", "A", "declare -x B=\"b\"\n"},
		{`declare -x A="\"q\" \\ \$d \` + "`t\\`" + `"`, "A", "\"q\" \\ $d `t`"},
		{`declare -x A=$'\001\E[0m\a\b\n\t\'\\\177'`, "A", "\x01\x1b[0m\a\b\n\t'\\\x7f"},
		{`declare -x A=$'\303\274'`, "A", "ü"},
		{`declare -x A=$'\u20AC\U0001F600\x41'`, "A", "€😀A"},
	} {
		vars, arrays := variables(row.text + "\ndeclare -x NEXT=\"1\"\n")
		if diff := cmp.Diff(map[string]string{row.name: row.value, "NEXT": "1"}, vars); diff != "" || arrays != "" {
			t.Errorf("%q: %s %q", row.text, diff, arrays)
		}
	}
	vars, arrays := variables("declare -x NONE\ndeclare -ax L=([0]=\"a\nb\" [1]=\"c)\")\ndeclare -x Z=\"z\"\nnonsense\ndeclare -x Y=\"y\"\n")
	if diff := cmp.Diff(map[string]string{"Z": "z"}, vars); diff != "" || arrays != "declare -ax L=([0]=\"a\nb\" [1]=\"c)\")\n" {
		t.Errorf("%s %q", diff, arrays)
	}
}

// What the real bash writes comes back as it was.
func TestVariablesOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: needs bash")
	}
	for _, locale := range []string{"C", "C.UTF-8"} {
		for _, value := range []string{"", "a b", "ü €😀", "\xff\xfe", "\x01\x02\x7f\x1b", "'\"\\$`!", "\n\n", "a\tb\r", "~/*?[]{}", "declare -x A=\"1\""} {
			cmd := exec.Command(bash, "-c", "export -p")
			cmd.Env = []string{"LC_ALL=" + locale, "VALUE=" + value}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if vars, _ := variables(string(out)); vars["VALUE"] != value || vars["LC_ALL"] != locale {
				t.Errorf("%s: %q came back as %q", locale, value, vars["VALUE"])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(written("dir", "/x\n", "vars", "declare -x A=\"b\"\n"))
	f.Add(written("names", "declare -f f\n", "functions", "f () \n{ \n    :\n}\n", "aliases", "alias a='b'\n"))
	f.Add([]byte("\x00vars\x00declare -x A=$'\\x\\u\\'"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, ok := parse(text)
		if ok && d.dir != "" && d.dir[0] != '/' {
			t.Errorf("a relative directory: %q", d.dir)
		}
	})
}

func TestFunctions(t *testing.T) {
	names := "declare -f _hidden\ndeclare -f __kept\ndeclare -f a\ndeclare -fx b\n"
	text := "_hidden () \n{ \n    :\n}\n__kept () \n{ \n    :\n}\na () \n{ \n    cat <<E\n}\nE\n\n}\nb () \n{ \n    echo b\n}\n"
	out, exported := functions(names, text)
	if got := slices.Sorted(mapKeys(out)); !slices.Equal(got, []string{"__kept", "a", "b"}) || !exported["b"] || len(exported) != 1 {
		t.Errorf("%q, %v", got, exported)
	}
	if want := "a () \n{ \n    cat <<E\n}\nE\n\n}\n"; out["a"] != want {
		t.Errorf("%q", out["a"])
	}
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// What is not whole does not count, and what belongs to one command is never kept.
func TestApply(t *testing.T) {
	s := state(t, func(c *Config) {
		c.Stores = func(name, value string) bool { return name != "TOKEN" && value != "secret" }
	}, "BASE=1", "GONE=1")
	p := s.Text("x", environ.List{}, "")
	for _, bad := range [][]byte{nil, []byte("\x00dir\x00/usr\n"), []byte("\x00vars\x00declare -x A=\"1\"\n\x00en"), written("dir", "relative\n"), written("what", "x")} {
		if dir, ok := s.Apply(p, bad); ok || dir != "" || s.Dir() != "/" {
			t.Errorf("%q counted: %q", bad, dir)
		}
	}
	vars := `declare -x A="1"
declare -x BASE="2"
declare -x TOKEN="t"
declare -x HELD="secret"
declare -x HERMES_SESSION_ID="s"
declare -x HERMES_RPC_X="s"
declare -x AI_AGENT="other"
declare -x SHLVL="3"
`
	if dir, ok := s.Apply(p, append([]byte("noise of a child"), written("dir", "/usr\n", "vars", vars)...)); !ok || dir != "/usr" {
		t.Errorf("%q, %v", dir, ok)
	}
	got := environ.Parse(s.Text("x", environ.List{}, "").Env)
	// What the shell did not write, it had unset.
	want := map[string]string{"A": "1", "BASE": "2", "AI_AGENT": "hermes-agent", "HERMES_AGENT": "true", "PWD": "/usr"}
	delete(got, "BASH_ENV")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlan(t *testing.T) {
	judge := func(text string) Judgement {
		return Judgement{Keeps: Everything, Spelt: !strings.Contains(text, "$")}
	}
	s := state(t, func(c *Config) { c.Judge = judge }, "HOME=/home/u")
	p := s.Text("ls", environ.List{}, "~/x")
	if p.Write || p.Prelude != nil || p.Dir != "/home/u/x" || !slices.Equal(p.Argv, []string{"/bin/bash", "-O", "expand_aliases", "-c", "ls"}) {
		t.Errorf("a text that changes nothing: %+v", p)
	}
	if dir, ok := s.Apply(p, nil); dir != "/home/u/x" || !ok {
		t.Errorf("%q, %v", dir, ok)
	}
	s.Bootstrapped(Plan{}, written("names", "declare -f f\ndeclare -f g\ndeclare -f h\n",
		"functions", "f () \n{ \n    g\n}\ng () \n{ \n    :\n}\nh () \n{ \n    :\n}\n", "aliases", "alias ll='ls -l'\n"))
	for _, row := range []struct {
		text string
		want []string
		not  []string
	}{
		{"ls", nil, []string{"f ()", "alias"}},
		{"f", []string{"f ()", "g ()"}, []string{"h ()", "alias"}},
		{"ll", []string{"f ()", "g ()", "h ()", "alias -- ll"}, nil},
		{"$x", []string{"f ()", "g ()", "h ()", "alias -- ll"}, nil},
	} {
		pre := string(s.Text(row.text, environ.List{}, "").Prelude)
		for _, w := range row.want {
			if !strings.Contains(pre, w) {
				t.Errorf("%s: no %q in %q", row.text, w, pre)
			}
		}
		for _, n := range row.not {
			if strings.Contains(pre, n) {
				t.Errorf("%s: %q in %q", row.text, n, pre)
			}
		}
	}
	none := state(t, func(c *Config) { c.Lasts = false })
	if p := none.Text("cd /usr; export A=1", environ.List{}, ""); p.Write || p.Prelude != nil {
		t.Errorf("nothing lasts: %+v", p)
	}
	posix := state(t, func(c *Config) { c.Posix, c.Shell = true, "/bin/sh" })
	if p := posix.Text("ls", environ.List{}, ""); p.Write || !slices.Equal(p.Argv, []string{"/bin/sh", "-c", "ls"}) {
		t.Errorf("no bash: %+v", p)
	}
}

// What the plan of a command costs in a session of 100 exports and 50 functions.
func BenchmarkText(b *testing.B) {
	s := New(Config{
		Shell: "/bin/bash", Dir: "/", Lasts: true, Prelude: 30, Write: 31, Judge: func(string) Judgement { return Judgement{Keeps: Everything, Spelt: true} },
	})
	var vars, names, functions strings.Builder
	for i := range 100 {
		fmt.Fprintf(&vars, "declare -x EXPORTED_%d=\"value number %d\"\n", i, i)
	}
	for i := range 50 {
		fmt.Fprintf(&names, "declare -f func%d\n", i)
		fmt.Fprintf(&functions, "func%d () \n{ \n    echo %d\n}\n", i, i)
	}
	p := s.Bootstrap(nil, false)
	if !s.Bootstrapped(p, written("dir", "/", "old", "", "vars", vars.String(), "names", names.String(), "functions", functions.String(), "aliases", "")) {
		b.Fatal("it was not taken")
	}
	for b.Loop() {
		if p := s.Text("true", noExtras, ""); len(p.Env) < 100 {
			b.Fatal(p.Env)
		}
	}
}
