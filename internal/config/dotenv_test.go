package config

import (
	"strings"
	"testing"

	"hermes/internal/secret"
)

func newSecret(s string) secret.String { return secret.New(s) }

// Lines of .env and what they assign.
func TestParseEnv(t *testing.T) {
	for _, row := range []struct{ line, want string }{
		{`A=b`, "b"},
		{`export A=b`, "b"},
		{`  A = b  `, "b"},
		{`A=b # comment`, "b"},
		{`A=b#no`, "b#no"},
		{`A=#all comment`, ""},
		{`A=`, ""},
		{`A=a=b`, "a=b"},
		{`A='b # c' # d`, "b # c"},
		{`A='it\'s'`, "it's"},
		{`A='C:\path\n'`, `C:\path\n`},
		{`A="a\nb\"c\\d\$e"`, "a\nb\"c\\d$e"},
		{"A=\"first\nsecond # in\"", "first\nsecond # in"},
		{"A='-----BEGIN\r\nKEY'", "-----BEGIN\nKEY"},
		{`A=$HOME/${X}`, "$HOME/${X}"},
		{"A=1\nA=2", "2"},
		{"\ufeffA=b", "b"},
		{"A=b\r", "b"},
	} {
		d, err := parseEnv([]byte("# top\n" + row.line + "\nB=c\n"))
		if strings.HasPrefix(row.line, "\ufeff") {
			d, err = parseEnv([]byte(row.line + "\nB=c\n"))
		}
		if err != nil {
			t.Errorf("%q: %v", row.line, err)
			continue
		}
		item, _ := d.lookup("A")
		after, ok := d.lookup("B")
		if item.value.Reveal() != row.want || !ok || after.value.Reveal() != "c" {
			t.Errorf("%q: A is %q, B is %q", row.line, item.value.Reveal(), after.value.Reveal())
		}
	}
}

// What is wrong is told by its line, and never with the text: it may be a secret.
func TestBadEnv(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"A=1\nhunter2\n", ".env:2: NAME=VALUE is expected here"},
		{"hun-ter2=1\n", ".env:1: what stands before = is not the name of a variable"},
		{"A='hunter2\nB=1\n", ".env:1: the quote that begins here is never closed"},
		{"A='x' hunter2\n", ".env:1: something follows the closing quote"},
	} {
		if _, err := parseEnv([]byte(row.text)); err == nil || err.Error() != row.want {
			t.Errorf("%q: %v, want %s", row.text, err, row.want)
		}
	}
}

func TestEditEnv(t *testing.T) {
	const old = "# keys\nexport A=1  # one\n\nB='x\ny'\nC=3\nB=later"
	for _, row := range []struct{ name, value, want string }{
		{"A", "new value", "# keys\nexport A='new value'  # one\n\nB='x\ny'\nC=3\nB=later"},
		{"B", "z", "# keys\nexport A=1  # one\n\nB='x\ny'\nC=3\nB=z"},
		{"D", "it's", "# keys\nexport A=1  # one\n\nB='x\ny'\nC=3\nB=later\nD='it's'\n"},
		{"-A", "", "# keys\n\nB='x\ny'\nC=3\nB=later"},
		{"-B", "", "# keys\nexport A=1  # one\n\nC=3"},
	} {
		d, err := parseEnv([]byte(old))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if name, remove := strings.CutPrefix(row.name, "-"); remove {
			got = string(d.unset(name))
		} else {
			got = string(d.set(row.name, secret.New(row.value)))
		}
		want := strings.Replace(row.want, "D='it's'", `D="it's"`, 1)
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", row.name, got, want)
		}
	}
}
