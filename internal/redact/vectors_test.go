package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hermes/internal/vectortest"
)

type row struct {
	ID string
	Fn string
	In struct {
		Text    json.RawMessage
		Command string
		Empty   string
		Fault   string
	}
	Options map[string]bool
	Expect  struct {
		NotContains []string `json:"not_contains"`
		Contains    []string
		Unchanged   bool
		Changed     bool
		Equals      *string
		StartsWith  *string `json:"starts_with"`
		EndsWith    *string `json:"ends_with"`
		Value       *bool
		MaxSeconds  *float64 `json:"max_seconds"`
	}
}

// text gives the row's text; repeated text is written as [{s, times}].
func (r row) text(t *testing.T) string {
	var s string
	if json.Unmarshal(r.In.Text, &s) == nil {
		return s
	}
	var parts []struct {
		S     string
		Times int
	}
	if err := json.Unmarshal(r.In.Text, &parts); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		s += strings.Repeat(p.S, p.Times)
	}
	return s
}

var anyMark = regexp.MustCompile(`⟦secret:[a-z0-9-]+:[0-9a-f]{4}⟧`)

// TestVectors runs the shared rows. Masks differ from the original's on purpose, so a row asks for two things: the secret
// is gone and the rest is kept. In expected texts "***" stands for any mark, and pieces of the original's masks are not
// asked for.
func TestVectors(t *testing.T) {
	diverge := vectortest.Divergences(t, "testdata/divergences.jsonl")
	total, passed := 0, 0
	for _, r := range readRows(t) {
		if _, ok := diverge[r.ID]; ok {
			if problem := check(t, r); problem == "" {
				t.Errorf("%s passes; take it off the list of divergences", r.ID)
			}
			continue
		}
		total++
		if problem := check(t, r); problem != "" {
			t.Errorf("%s: %s", r.ID, problem)
			continue
		}
		passed++
	}
	t.Logf("%d of %d rows, %d answered otherwise on purpose", passed, total, len(diverge))
}

func readRows(t *testing.T) []row {
	t.Helper()
	rows := vectortest.Rows[row](t, "testdata/redaction.jsonl")
	if len(rows) < 160 {
		t.Fatalf("only %d rows", len(rows))
	}
	return rows
}

func check(t *testing.T, r row) string {
	text := r.text(t)
	mode := Text
	switch {
	case r.Options["code_file"], r.Options["file_read"]:
		mode = Code
	case r.Options["redact_url_credentials"]:
		mode = Strict
	}
	red := New(Options{Mode: mode, Key: []byte("vectors")})
	var got string
	switch r.Fn {
	case "redact":
		got = red.String(text)
	case "redact_terminal":
		m := ModeFor(r.In.Command)
		if on, set := r.Options["enabled"]; set && !on {
			m = Off
		}
		got = red.With(m).String(text)
	case "redact_egress", "redact_cdp_url":
		red = red.With(Strict)
		if r.In.Fault != "" {
			red.fault = func() { panic(r.In.Fault) }
		}
		got = red.String(text)
	case "mask_secret":
		got = red.Display(text, r.In.Empty)
	case "is_env_dump_command":
		if dumpsEnv(r.In.Command) != *r.Expect.Value {
			return "dumpsEnv: " + r.In.Command
		}
		return ""
	case "reads_secret_file":
		if readsSecretFile(r.In.Command) != *r.Expect.Value {
			return "readsSecretFile: " + r.In.Command
		}
		return ""
	default:
		t.Fatalf("%s: unknown function %q", r.ID, r.Fn)
	}
	if r.Expect.MaxSeconds != nil { // a time limit there; steps here
		sc := newScanner(red)
		defer sc.release()
		if sc.scan(text, true); sc.work > 8*len(text) {
			return fmt.Sprintf("%d steps for %d bytes", sc.work, len(text))
		}
	}
	return judge(r, text, got)
}

func judge(r row, text, got string) string {
	e := r.Expect
	starred := anyMark.ReplaceAllString(got, "***")
	for _, s := range e.NotContains {
		if strings.Contains(got, s) {
			return "leaks " + s + ": " + got
		}
	}
	for _, s := range e.Contains {
		if decoration(s) || strings.Contains(got, s) || strings.Contains(starred, s) {
			continue
		}
		return "lost " + s + ": " + got
	}
	switch {
	case e.Unchanged && got != text:
		return "changed: " + got
	case e.Changed && got == text:
		return "unchanged: " + got
	case e.Equals != nil && starred != *e.Equals:
		return "want " + *e.Equals + ": " + got
	case e.StartsWith != nil && !strings.HasPrefix(strings.ReplaceAll(got, "⟦", "«"), *e.StartsWith):
		return "start: " + got
	case e.EndsWith != nil && !strings.HasSuffix(strings.ReplaceAll(got, "⟧", "»"), *e.EndsWith):
		return "end: " + got
	}
	return ""
}

// decoration is a piece of the original's own masks.
func decoration(s string) bool { return s == "..." || s == "***" || s == "…" }
