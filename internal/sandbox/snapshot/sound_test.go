package snapshot

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard/environ"
	"hermes/internal/sandbox"
	"hermes/internal/shell"
)

// What real bash tells of its aliases, arrays and functions comes back as it was.
func TestSoundOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: needs bash")
	}
	const text = `alias ll='ls -l' q="it's" two=$'a\nb' s='x '
declare -ax list=(1 "two three" $'tab\t' '$x' '` + "`y`" + `'); declare -Ax map=([k]=v ["a b"]='$z')
f () { cat <<E
}
E
}
g () { :; }; export -f g; h () { echo h; }`
	out, err := exec.Command(bash, "-c", text+"\nalias -p; printf '\\0'; export -p; printf '\\0'; declare -F; printf '\\0'; declare -f").Output()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(out), "\x00")
	made, names := aliases(parts[0])
	if slices.Sort(names); !slices.Equal(names, []string{"ll", "q", "s", "two"}) {
		t.Errorf("aliases %q", names)
	}
	for name, want := range map[string]string{"ll": "ls -l", "q": "it's", "two": "a\nb", "s": "x "} {
		if got := standFor(made)[name]; got != want {
			t.Errorf("%s stands for %q, want %q", name, got, want)
		}
	}
	if _, arrays := variables(parts[1]); strings.Count(arrays, "declare") != 2 {
		t.Errorf("arrays %q of %q", arrays, parts[1])
	}
	held, exported := functions(parts[2], parts[3])
	if len(held) != 3 || !exported["g"] || len(exported) != 1 {
		t.Errorf("functions %q, exported %v", held, exported)
	}
	for name, text := range held {
		if shell.Declares(text) != name {
			t.Errorf("%q declares %q", text, shell.Declares(text))
		}
	}
}

func TestLiteral(t *testing.T) {
	for value, want := range map[string]bool{
		`([0]="a" [1]="b c")`: true, `()`: true, `([0]="\$x \` + "`" + `y")`: true, `([0]=$'a\n$(x)')`: true,
		`([0]="$x")`: false, `([0]="` + "`x`" + `")`: false, `($(x))`: false, `([$(x)]="a")`: false, `([x]="a")`: false, `([0]=a)`: false,
		`([0]="a"); x`: false, `([0]="a"`: false, `"a"`: false, `([0]="a" $(x))`: false, `([0]="a"$(x))`: false, `([0]="a)`: false, `([0]=$'a)`: false,
	} {
		if got := literal(value, false); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
	for value, want := range map[string]bool{
		`([k]="v" )`: true, `(["a b"]="v" [c]="w" )`: true, `([$'\t']="v" )`: false, `([$(x)]="v" )`: false, `(["$(x)"]="v" )`: false, "([`x`]=\"v\" )": false,
	} {
		if got := literal(value, true); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}

// Whatever is told, only definitions come back.
func FuzzSound(f *testing.F) {
	f.Add("alias a='b'\n", `declare -ax a=([0]="b")`+"\n")
	f.Add("alias a='b'; rm x\nrm y\n", "declare -ax a=($(rm x))\n")
	f.Add("alias a;rm x;b='c'\nalias b=\\\n", "declare -Ax a=([\"$(rm x)\"]=\"\" )\ndeclare -ai a=([0]=\"a[\\$(rm x)]\")\n")
	f.Fuzz(func(t *testing.T, told, vars string) {
		made, _ := aliases(told)
		_, arrays := variables(vars)
		p := shell.Parse(made+arrays, shell.Options{})
		for i := range p.Commands {
			if name := p.Commands[i].Args; len(name) == 0 || name[0].Text != "alias" && name[0].Text != "declare" {
				t.Errorf("%q and %q come back as %q, which runs %q", told, vars, made+arrays, p.Line(i))
			}
		}
	})
}

// A version names what lasts, but for the directory.
func TestVersion(t *testing.T) {
	judge := func(text string) Judgement { return Judgement{Declares: shell.Declares(text)} }
	s := state(t, func(c *Config) { c.Judge = judge })
	at := func() uint64 { return s.Kept().Version }
	for judged, want := range map[uint64]error{at(): nil, 0: nil, at() + 1: sandbox.ErrChanged} {
		for _, c := range []sandbox.Command{{Text: "x", Judged: judged}, {Argv: []string{"x"}, Judged: judged}} {
			if _, err := s.Plan(c); err != want {
				t.Errorf("what was judged with version %d, in version %d: %v, want %v", judged, at(), err, want)
			}
		}
	}
	f := "f () \n{ \n    :\n}\n"
	for _, row := range []struct {
		what    string
		text    []byte
		changes bool
	}{
		{"a variable", written("dir", "/usr\n", "vars", "declare -x A=\"1\"\n"), true},
		{"a directory", written("dir", "/usr\n", "old", "/", "vars", "declare -x A=\"1\"\n"), false},
		{"the same again", written("dir", "/\n", "old", "/usr", "vars", "declare -x A=\"1\"\ndeclare -x OLDPWD=\"/usr\"\n"), false},
		{"a function", written("vars", "declare -x A=\"1\"\n", "names", "declare -f f\n", "functions", f), true},
		{"the same function", written("vars", "declare -x A=\"1\"\n", "names", "declare -f f\n", "functions", f), false},
		{"no function", written("vars", "declare -x A=\"1\"\n", "names", "declare -f f\n", "functions", f+"rm x\n"), true},
		{"an alias", written("vars", "declare -x A=\"1\"\n", "aliases", "alias a='b'\n"), true},
	} {
		was, p := at(), s.Text("x", environ.List{}, "")
		s.Apply(p, row.text)
		if changed := at() != was; changed != row.changes {
			t.Errorf("%s: version %d after %d", row.what, at(), was)
		}
	}
	if k := s.Kept(); len(k.Functions) != 0 || k.Aliases["a"] != "b" || !k.Changed["a"] {
		t.Errorf("%+v", k)
	}
}
