// Package vectortest reads the files of cases that answers are compared with in tests: one JSON object a line.
//
// It judges nothing: what a row asks for is known to the test that runs it. It is for tests and not part of the binary.
//
// Failure direction: a file that is missing or empty, and a line that cannot be read, fail the test.
package vectortest

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Rows reads all rows of a file.
func Rows[T any](t testing.TB, file string) (out []T) {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(all) {
		n++
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s:%d: %v: %s", file, n, err, line)
		}
		out = append(out, row)
	}
	if n == 0 {
		t.Fatalf("%s has no rows", file)
	}
	return out
}

// Divergences reads which rows are answered otherwise on purpose, and why. Each must have a reason, and stand there once.
func Divergences(t testing.TB, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range Rows[struct{ ID, Reason string }](t, file) {
		if _, twice := out[row.ID]; row.ID == "" || row.Reason == "" || twice {
			t.Fatalf("%s: %q: a row has an id, once, and a reason", file, row.ID)
		}
		out[row.ID] = row.Reason
	}
	return out
}

// Text is one of a row: a string, or a list of pieces {"s": …, "times": …} that stand one after the other.
type Text string

// UnmarshalJSON reads either form.
func (x *Text) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*string)(x)) == nil {
		return nil
	}
	var pieces []struct {
		S     string
		Times int
	}
	if err := json.Unmarshal(b, &pieces); err != nil {
		return err
	}
	*x = ""
	for _, p := range pieces {
		*x += Text(strings.Repeat(p.S, p.Times))
	}
	return nil
}
