package vectortest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failure is a test that was told to fail.
type failure struct{ testing.TB }

func (failure) Helper()                   {}
func (failure) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (failure) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// failed runs f and returns why it failed its test, "" if it did not.
func failed(f func(testing.TB)) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint(r)
		}
	}()
	f(failure{})
	return ""
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRows(t *testing.T) {
	type row struct {
		ID string
		In Text
	}
	long := strings.Repeat("x", 1<<17) // longer than a line may be for a scanner
	got := Rows[row](t, file(t, `{"id":"a","in":"`+long+`"}`+"\n"+`{"id":"b","in":[{"s":"no","times":2},{"s":"!","times":1}]}`))
	if len(got) != 2 || got[0].In != Text(long) || got[1].In != "nono!" {
		t.Errorf("%d rows, %.40v", len(got), got)
	}
	for what, text := range map[string]string{"an empty file": "", "a line that is no JSON": "{\"id\":\"a\"}\nid b\n", "an empty line": "{}\n\n{}\n", "another type": `{"id":1}`} {
		name := file(t, text)
		if failed(func(t testing.TB) { Rows[row](t, name) }) == "" {
			t.Errorf("%s passes", what)
		}
	}
	if failed(func(t testing.TB) { Rows[row](t, filepath.Join("testdata", "none.jsonl")) }) == "" {
		t.Error("a file that is not there passes")
	}
}

func TestDivergences(t *testing.T) {
	got := Divergences(t, file(t, `{"id":"a","reason":"why"}`+"\n"))
	if len(got) != 1 || got["a"] != "why" {
		t.Error(got)
	}
	for what, text := range map[string]string{"no reason": `{"id":"a"}`, "no id": `{"reason":"why"}`, "twice": "{\"id\":\"a\",\"reason\":\"b\"}\n{\"id\":\"a\",\"reason\":\"c\"}"} {
		name := file(t, text)
		if failed(func(t testing.TB) { Divergences(t, name) }) == "" {
			t.Errorf("%s passes", what)
		}
	}
}
