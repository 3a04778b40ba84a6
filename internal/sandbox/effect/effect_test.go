package effect

import (
	"testing"

	"hermes/internal/sandbox/snapshot"
)

func TestJudge(t *testing.T) {
	const all = snapshot.Everything
	rows := []struct {
		text    string
		changes snapshot.Change
		spelt   bool
	}{
		{"ls -la", 0, true},
		{"git status && go test ./...", 0, true},
		{"cat a | grep b > c", 0, true},
		{"make --jobs=4", 0, true},
		{"echo $HOME", 0, true},
		{"./build.sh", 0, true},
		{"python3 -c 'print(1)'", 0, true},
		{"if test -f x; then cat x; fi", 0, true},
		{"cd /tmp && ls", snapshot.Dir, true},
		{"(cd /tmp; ls)", snapshot.Dir, true},
		{"A=1", snapshot.Exports, true},
		{"PATH=/x make", snapshot.Exports, true},
		{"read A", snapshot.Exports, true},
		{"printf -v PATH x", snapshot.Exports, true},
		{"for PATH in a b; do ls; done", snapshot.Exports, true},
		{": ${PATH:=x}", snapshot.Exports, true},
		{"((PATH++))", snapshot.Exports, true},
		{"exec {PATH}>f", all, false},
		{"type ls", 0, false},
		{"export A=1", all, false},
		{"f() { ls; }", all, true},
		{"function f { ls; }", all, true},
		{"alias a=b", all, false},
		{"unset -f a", all, false},
		{"eval ls", all, false},
		{". ./env", all, false},
		{"source env", all, false},
		{"trap 'cd /' EXIT", all, false},
		{"$X /tmp", all, false},
		{"if", all, false},
		{`c""d /tmp`, all, false},
		{`\cd /tmp`, snapshot.Dir, true},
		{"builtin cd /tmp", all, false},
		{"x=cd; $x /tmp", snapshot.Dir | snapshot.Exports, true},
		{"x=c; ${x}d /tmp", all, false},
		{"command cd /tmp", snapshot.Dir, false},
		{"cat <<< $(cd /x)", snapshot.Dir, true},
	}
	for _, row := range rows {
		j := Judge(row.text)
		if got := all &^ j.Keeps; got != row.changes && got&row.changes != row.changes || j.Spelt != row.spelt {
			t.Errorf("%q: changes %03b, spelt %v; want %03b, %v", row.text, got, j.Spelt, row.changes, row.spelt)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	for b.Loop() {
		Judge("git status && go test ./... 2>&1 | tail -5")
	}
}
