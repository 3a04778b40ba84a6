package redact

import (
	b64 "encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"

	"hermes/internal/secret"
)

// TestKnownEncodings: a value we hold is found wherever it is, plain or encoded, in every mode.
func TestKnownEncodings(t *testing.T) {
	for _, v := range []string{"hunter2hunter2", "Zq8!vault/value+with&signs\"x", "pässwört-mit-ümlaut", "abcdefgh", strings.Repeat("long value 7 ", 12) + "end"} {
		esc, _ := json.Marshal(v)
		escaped := string(esc[1 : len(esc)-1])
		twice, _ := json.Marshal(escaped)
		forms := map[string]string{
			"plain":         v,
			"hex":           hex.EncodeToString([]byte(v)),
			"HEX":           strings.ToUpper(hex.EncodeToString([]byte(v))),
			"query":         url.QueryEscape(v),
			"query, %20":    strings.ReplaceAll(url.QueryEscape(v), "+", "%20"),
			"path":          url.PathEscape(v),
			"json":          escaped,
			"json in json":  string(twice[1 : len(twice)-1]),
			"json, slashes": strings.ReplaceAll(escaped, "/", `\/`),
		}
		for name, text := range forms {
			for _, m := range allModes {
				got := New(Options{Mode: m, Known: []secret.String{secret.New(v)}}).String("<" + text + ">")
				if len(anyMark.FindAllString(got, -1)) != 1 || !strings.HasPrefix(got, "<⟦") || !strings.HasSuffix(got, "⟧>") {
					t.Errorf("%s of %q in %v: %q", name, v, m, got)
				}
			}
		}
	}
}

// TestKnownBase64: at every alignment in a longer text, the characters that depend on the value alone are gone.
func TestKnownBase64(t *testing.T) {
	const v = "correct-horse-battery-staple"
	r := New(Options{Mode: Code, Known: []secret.String{secret.New(v)}})
	for pad := range 9 {
		for _, enc := range []*b64.Encoding{b64.StdEncoding, b64.URLEncoding, b64.RawStdEncoding, b64.RawURLEncoding} {
			whole := enc.EncodeToString([]byte(strings.Repeat("u", pad) + v + ":tail"))
			got := r.String(whole)
			left, right, found := strings.Cut(anyMark.ReplaceAllString(got, "\x00"), "\x00")
			if !found {
				t.Errorf("pad %d: not found in %s", pad, whole)
				continue
			}
			for _, piece := range []string{left, right} {
				for cut := range 4 {
					if cut > len(piece) {
						break
					}
					plain, _ := b64.RawStdEncoding.DecodeString(strings.TrimRight(piece[cut:], "="))
					if strings.Contains(string(plain), "horse") || strings.Contains(string(plain), "battery") {
						t.Errorf("pad %d: %q left in %s", pad, plain, got)
					}
				}
			}
		}
	}
}

func TestKnownIDs(t *testing.T) {
	a, b := secret.New("first-secret-value"), secret.New("other-secret-value")
	r := New(Options{Known: []secret.String{a, b}})
	id := func(r *Redactor, s string) string { return anyMark.FindString(r.String(s)) }
	plain := id(r, "x first-secret-value")
	if encoded := id(r, "y "+hex.EncodeToString([]byte("first-secret-value"))); plain == "" || encoded != plain {
		t.Errorf("one secret, two marks: %s and %s", plain, encoded)
	}
	if other := id(r, "x other-secret-value"); other == plain {
		t.Errorf("two secrets, one mark: %s", other)
	}
	same := 0
	for range 8 { // ids are keyed: another redactor gives others
		if id(New(Options{Known: []secret.String{a}}), "x first-secret-value") == plain {
			same++
		}
	}
	if same > 2 {
		t.Errorf("%d of 8 redactors gave the same id", same)
	}
}

// TestKnownNot: what would mask half of every text is not looked for.
func TestKnownNot(t *testing.T) {
	r := New(Options{Known: []secret.String{secret.New(""), secret.New("abc"), secret.New("true"), secret.New("${TOKEN}"), secret.New("changeme"), secret.New("shorty")}})
	const text = "abc true ${TOKEN} changeme undefined shortyness"
	if got := r.String(text); got != text {
		t.Errorf("got %q", got)
	}
	if got := r.String("a shorty b"); !strings.Contains(got, "⟦secret:known:") {
		t.Errorf("a short value as a word of its own: %q", got)
	}
}

func TestKnownSeveralLines(t *testing.T) {
	key := "-----BEGIN X-----\nAAAAB3NzaC1yc2EAAAADAQABk3m9\nzzzzB3NzaC1yc2EAAAADAQABk3m9\n-----END X-----\n"
	r := New(Options{Mode: Off, Known: []secret.String{secret.New(key)}})
	if got := r.String("cat:\n" + key); strings.Contains(got, "3NzaC1yc2E") || !strings.Contains(got, "-----END X-----") {
		t.Errorf("got %q", got)
	}
	j, _ := json.Marshal(key)
	if got := r.String(string(j)); strings.Contains(got, "3NzaC1yc2E") {
		t.Errorf("got %q", got)
	}
}

// TestFails: a redactor that breaks lets nothing through.
func TestFails(t *testing.T) {
	r := New(Options{})
	r.fault = func() { panic("broken") }
	if got := r.String("raw text"); got != Unavailable {
		t.Errorf("String = %q", got)
	}
	if got := string(r.Append([]byte("head "), []byte("raw text"))); got != "head "+Unavailable {
		t.Errorf("Append = %q", got)
	}
	var b strings.Builder
	w := r.Writer(&b)
	_, err := w.Write([]byte("raw text\nmore"))
	_, again := w.Write([]byte("raw text\n"))
	if b.String() != Unavailable || err == nil || again == nil || w.Close() == nil {
		t.Errorf("Writer = %q, %v, %v", b.String(), err, again)
	}
}

func TestConcurrent(t *testing.T) {
	r := testRedactor(Text)
	var all strings.Builder
	for _, f := range formats {
		all.WriteString(f.text + "\n")
	}
	want := r.String(all.String())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := r.String(all.String()); got != want {
					t.Error("differs")
				}
			}
		})
	}
	wg.Wait()
}

func TestDisplay(t *testing.T) {
	r := testRedactor(Text)
	for _, row := range []struct{ value, want string }{
		{"", "(not set)"},
		{"\n\u200b\x1b", "(not set)"},
		{"sk-abc", "⟦secret:value:****⟧"},
		{"abcdef0123456789zzzz", "⟦secret:value:****⟧"},
	} {
		got := r.Display(row.value, "(not set)")
		if i := strings.LastIndex(got, ":"); i > 0 {
			got = got[:i+1] + "****⟧"
		}
		if got != row.want {
			t.Errorf("Display(%q) = %q", row.value, got)
		}
	}
}
