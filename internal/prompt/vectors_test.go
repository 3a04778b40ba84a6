package prompt

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hermes/internal/guard/taint"
	"hermes/internal/vectortest"
)

// ids are what the original's blocks do not have.
var ids = regexp.MustCompile(` id="[0-9a-f]{24}"`)

// compare holds the answers of rows against what is known to be otherwise on purpose.
func compare(t *testing.T, trouble map[string]string) {
	t.Helper()
	for id, reason := range vectortest.Divergences(t, "testdata/divergences.jsonl") {
		if got, asked := trouble[id]; asked && got == "" {
			t.Errorf("%s is listed as otherwise on purpose (%q), and is as the original", id, reason)
		}
		delete(trouble, id)
	}
	for id, what := range trouble {
		if what != "" {
			t.Errorf("%s: %s", id, what)
		}
	}
}

// expected is what a wrapped text should be.
type expected struct {
	Unchanged  bool
	StartsWith string `json:"starts_with"`
	EndsWith   string `json:"ends_with"`
	Contains   []string
	Count      map[string]int
}

func (e expected) trouble(in, got string) string {
	got = ids.ReplaceAllString(got, "")
	got = regexp.MustCompile(` risk="[^"]*"`).ReplaceAllString(got, "")
	switch {
	case e.Unchanged && got != in:
		return "changed: " + got
	case !strings.HasPrefix(got, e.StartsWith), !strings.HasSuffix(got, e.EndsWith):
		return "begins or ends otherwise: " + got
	}
	for _, part := range e.Contains {
		if !strings.Contains(got, strings.TrimRight(part, "\n")) {
			return "misses " + part
		}
	}
	for part, n := range e.Count {
		if strings.Count(got, part) != n {
			return fmt.Sprintf("has %s %d times", part, strings.Count(got, part))
		}
	}
	return ""
}

func TestUntrustedVectors(t *testing.T) {
	type vector struct {
		ID, Fn string
		In     struct {
			Tool    string
			Content json.RawMessage
			Fault   string
		}
		Expect struct {
			expected
			Value   bool
			Part    *expected        `json:"text_of_part0"`
			Content *expected        `json:"content"`
			Risk    *json.RawMessage `json:"risk_metadata"`
		}
	}
	p, trouble := New(Options{}), map[string]string{}
	for _, v := range vectortest.Rows[vector](t, "testdata/untrusted.jsonl") {
		if v.Fn == "is_untrusted" {
			trouble[v.ID] = ""
			if got := taint.ToolOrigin(v.In.Tool) == taint.Outside; got != v.Expect.Value {
				trouble[v.ID] = fmt.Sprint(got)
			}
			continue
		}
		var in string
		var parts []struct{ Type, Text string }
		var object map[string]string
		switch {
		case json.Unmarshal(v.In.Content, &in) == nil:
		case json.Unmarshal(v.In.Content, &parts) == nil:
			in = parts[0].Text
		case json.Unmarshal(v.In.Content, &object) == nil:
			in = string(v.In.Content)
		default:
			t.Fatal(v.ID, "has no content that is known")
		}
		b := Block{Tool: v.In.Tool, Text: in, Origin: taint.ToolOrigin(v.In.Tool)}
		want := v.Expect.expected
		if v.Expect.Part != nil {
			want = *v.Expect.Part
		} else if v.Expect.Content != nil {
			want = *v.Expect.Content
		}
		trouble[v.ID] = want.trouble(in, p.Wrap(b))
		if object != nil || v.In.Fault != "" {
			if r := assess(b); r.Level != "" {
				trouble[v.ID] = "risk " + r.Level
			}
		}
	}
	compare(t, trouble)
}

func TestTruncationVectors(t *testing.T) {
	type vector struct {
		ID, Fn string
		In     struct {
			Text     vectortest.Text
			Filename string
			Max      int `json:"max_chars"`
			Window   int `json:"context_length_tokens"`
			Config   struct {
				Chars int `json:"context_file_max_chars"`
			}
		}
		Expect struct {
			Unchanged, Shorter bool
			Contains           []string
			Folded             []string `json:"contains_ci"`
			Cap                int
			Warnings           int
			Warning            []string `json:"warning_contains"`
			NoWarning          []string `json:"warning_not_contains"`
		}
	}
	trouble := map[string]string{}
	for _, v := range vectortest.Rows[vector](t, "../guard/taint/testdata/threat_patterns.jsonl") {
		if v.Fn != "truncate_context" {
			continue
		}
		trouble[v.ID] = ""
		o := Options{Chars: v.In.Config.Chars, Window: v.In.Window}
		limit := o.limit()
		if v.In.Max > 0 {
			limit = v.In.Max
		}
		if v.Expect.Cap > 0 && limit != v.Expect.Cap {
			trouble[v.ID] = fmt.Sprint("cap ", limit)
		}
		in := string(v.In.Text)
		got, _ := cut(v.In.Filename, v.In.Filename, in, limit)
		if v.Expect.Unchanged && got != in || v.Expect.Shorter && len(got) >= len(in) {
			trouble[v.ID] = got
		}
		for _, part := range v.Expect.Contains {
			if !strings.Contains(got, part) {
				trouble[v.ID] += " misses " + part
			}
		}
		for _, part := range v.Expect.Folded {
			if !strings.Contains(strings.ToLower(got), part) {
				trouble[v.ID] += " misses " + part
			}
		}
		if v.Expect.Warnings > 0 {
			var s System
			s.add(judge(v.In.Filename, v.In.Filename, in, taint.Context, stranger, limit).File)
			all := strings.Join(s.Warnings, "\n")
			if len(s.Warnings) != v.Expect.Warnings || !strings.Contains(all, v.Expect.Warning[0]) || strings.Contains(all, v.Expect.NoWarning[0]) {
				trouble[v.ID] = "warns " + all
			}
		}
	}
	compare(t, trouble)
}
