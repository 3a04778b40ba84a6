package taint

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
)

// sample is a text of a corpus with its kind.
type sample struct{ kind, text string }

// corpus reads the texts of a file, each below a line with its kind.
func corpus(t *testing.T, name string) (out []sample) {
	t.Helper()
	b, err := os.ReadFile("testdata/corpus/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(b), "\n%% ")[1:] {
		kind, text, _ := strings.Cut(part, "\n")
		out = append(out, sample{kind, text})
	}
	return out
}

// Attacks are found. This is the line that holds: not all of them are, and more must not be lost.
func TestHostileCorpus(t *testing.T) {
	all := corpus(t, "hostile.txt")
	missed := 0
	for _, s := range all {
		if !Blocks(Scan(s.text, Context)) {
			missed++
			t.Logf("missed: %s: %q %v", s.kind, s.text, Scan(s.text, Context))
		}
	}
	t.Logf("%d of %d found", len(all)-missed, len(all))
	if len(all) < 150 || missed*100 > 3*len(all) {
		t.Errorf("%d of %d missed", missed, len(all))
	}
}

// forms are ways to write an attack so that a person or a machine still reads it.
var forms = map[string]func(string) string{
	"capitals":     strings.ToUpper,
	"in a heading": func(s string) string { return "# " + s + "\n" },
	"in a list":    func(s string) string { return "1. one\n2. " + s },
	"Windows":      func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"far down":     func(s string) string { return strings.Repeat("An ordinary line with few words in it.\n", 3000) + s },
	"between":      func(s string) string { return "Привет, мир. 你好。\n\n" + s + "\n\nشكرا" },
	"soft hyphens": func(s string) string { return strings.ReplaceAll(s, "e", "e\u00ad") },
	"zero width":   func(s string) string { return strings.ReplaceAll(s, "o", "o\u200b") },
	"accents":      func(s string) string { return strings.ReplaceAll(s, "i", "i\u0301") },
	"two blanks":   func(s string) string { return strings.ReplaceAll(s, " ", "  ") },
	"hard blanks":  func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") },
	"a word a line": func(s string) string {
		return strings.ReplaceAll(s, " ", "\n")
	},
	"tags": func(s string) string {
		return "ok " + strings.Map(func(r rune) rune {
			if r < 0x20 || r > 0x7e {
				return 0xe0020
			}
			return r + 0xe0000
		}, s)
	},
	"base64":     func(s string) string { return "data: " + base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 URL": func(s string) string { return "?d=" + base64.RawURLEncoding.EncodeToString([]byte(s)) },
}

// An attack in English that is found is found in any of these forms.
func TestForms(t *testing.T) {
	for _, s := range corpus(t, "hostile.txt") {
		if !strings.HasSuffix(s.kind, ", English") || !Blocks(Scan(s.text, Context)) {
			continue
		}
		for name, form := range forms {
			// A shape that needs its line, or a name of a variable, is none in another form.
			if strings.HasPrefix(s.kind, "secrets") && name != "capitals" && name != "in a list" && name != "Windows" && name != "far down" {
				continue
			}
			if text := form(s.text); !Blocks(Scan(text, Context)) {
				t.Errorf("%s, %s: missed: %q", s.kind, name, text[max(0, len(text)-300):])
			}
		}
	}
}

// What is no attack is not kept out, and what quotes one is told of. A false hit is a defect like a miss.
func TestBenignCorpus(t *testing.T) {
	all := corpus(t, "benign.txt")
	for _, s := range all {
		found := Scan(s.text, Context)
		quotes := s.kind == "quotes an attack"
		if Blocks(found) || len(found) > 0 && !quotes {
			t.Errorf("%s: %q: %+v", s.kind, s.text, found)
		}
	}
	if len(all) < 200 {
		t.Errorf("%d texts", len(all))
	}
}

// The same texts one after another have no more findings: what one ends with does not complete what another begins.
func TestBenignTogether(t *testing.T) {
	var all strings.Builder
	for _, s := range corpus(t, "benign.txt") {
		if s.kind != "quotes an attack" {
			all.WriteString(s.text + "\n\n----\n\n")
		}
	}
	for _, f := range Scan(all.String(), Context) {
		t.Errorf("%s in %q", f.ID, all.String()[f.Start:f.End])
	}
}
