package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hermes/internal/secret"
)

var testKnown = []secret.String{
	secret.New("hunter2hunter2"), secret.New("Zq8!vault/value+with&signs\"x"), secret.New("shorty"),
	secret.New("line-one-of-a-secret-file-00\nline-two-of-a-secret-file-11\n"),
}

func testRedactor(m Mode) *Redactor {
	return New(Options{Mode: m, Known: testKnown, Key: []byte("test")})
}

var allModes = []Mode{Text, Code, Env, Strict, Off}

// checkInvariants: what must hold for every text in every mode.
func checkInvariants(t *testing.T, text string) {
	t.Helper()
	for _, m := range allModes {
		r := testRedactor(m)
		once := r.String(text)
		if twice := r.String(once); twice != once {
			t.Fatalf("%v: redacting twice is not redacting once\ntext  %q\nonce  %q\ntwice %q", m, clip(text), clip(once), clip(twice))
		}
		if got := string(r.Append([]byte("head"), []byte(text))); got != "head"+once {
			t.Fatalf("%v: Append differs from String for %q", m, clip(text))
		}
		checkSpans(t, r, text, once)
	}
}

// checkSpans: spans are ordered, and what lies outside them comes through byte for byte.
func checkSpans(t *testing.T, r *Redactor, text, got string) {
	t.Helper()
	var want strings.Builder
	pos := 0
	for _, s := range r.Spans(text) {
		if s.Start < pos || s.End <= s.Start || s.End > len(text) || !s.Kind.valid() {
			t.Fatalf("bad span %+v after %d in %q", s, pos, clip(text))
		}
		want.WriteString(text[pos:s.Start])
		want.WriteString("MARK")
		pos = s.End
	}
	want.WriteString(text[pos:])
	// Marks that were in the text stay as they are; hide them on both sides.
	hide := func(s string) string {
		return strings.ReplaceAll(anyMark.ReplaceAllString(s, "MARK"), "MARK", "MARK")
	}
	if hide(want.String()) != hide(got) {
		t.Fatalf("%v: text outside the spans changed\ntext %q\ngot  %q\nwant %q", r.mode, clip(text), clip(got), clip(want.String()))
	}
}

// checkStream: a stream gives the same, whatever its chunks.
func checkStream(t *testing.T, r *Redactor, text, want string, cuts ...int) {
	t.Helper()
	var b bytes.Buffer
	w := r.Writer(&b)
	pos := 0
	for _, c := range append(cuts, len(text)) {
		c = max(pos, min(c, len(text)))
		if n, err := w.Write([]byte(text[pos:c])); err != nil || n != c-pos {
			t.Fatalf("Write = %d, %v", n, err)
		}
		pos = c
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Fatalf("%v: stream cut at %v differs\ntext   %q\nstream %q\nwhole  %q", r.mode, cuts, clip(text), clip(b.String()), clip(want))
	}
}

func clip(s string) string {
	if len(s) > 1500 {
		return s[:700] + fmt.Sprintf(" …%d… ", len(s)) + s[len(s)-700:]
	}
	return s
}

// TestStreamEveryBorder cuts a text with every kind of secret at every place, and feeds it byte by byte.
func TestStreamEveryBorder(t *testing.T) {
	var b strings.Builder
	for _, r := range readRows(t) {
		if text := r.text(t); len(text) < 2000 {
			b.WriteString(text + "\n")
		}
	}
	for _, k := range formats {
		b.WriteString(k.text + "\n")
	}
	text := b.String()
	for _, m := range allModes {
		r := testRedactor(m)
		want := r.String(text)
		var every []int
		for i := range len(text) {
			every = append(every, i)
		}
		checkStream(t, r, text, want, every...)
	}
	// At every border, for one format at a time, so that the whole stays small.
	for _, k := range formats {
		r := testRedactor(k.mode)
		text := "before\n" + k.text + "\r\nafter\n"
		want := r.String(text)
		for i := range len(text) {
			checkStream(t, r, text, want, i)
			checkStream(t, r, text, want, i, i+1, i+7)
		}
	}
}

// TestLongLines: lines over the bound are looked at in windows; the result does not depend on chunks and nothing leaks at
// the windows' edges.
func TestLongLines(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	fills := map[string]string{
		"digits":  strings.Repeat("1", 997),
		"words":   strings.Repeat("word ", 199),
		"base64":  strings.Repeat("QUJD", 250),
		"json":    strings.Repeat(`{"id":1234,"name":"x"},`, 43),
		"utf8":    strings.Repeat("日本語 ", 99),
		"opening": strings.Repeat(`token="`, 141),
	}
	for name, fill := range fills {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := 0; b.Len() < 3*maxLine; i++ {
				b.WriteString(fill[:len(fill)-i%7])
				b.WriteString(" " + token + " ")
			}
			text := b.String() + "\nnext line " + token + "\n"
			r := testRedactor(Text)
			want := r.String(text)
			if strings.Contains(want, "a1B2a1B2") {
				t.Fatal("leaks a token")
			}
			checkInvariants(t, text)
			checkStream(t, r, text, want, 1, 100, maxLine-1, maxLine, maxLine+1, 2*maxLine, len(text)-60)
			var cuts []int
			for i := 0; i < len(text); i += 4093 {
				cuts = append(cuts, i)
			}
			checkStream(t, r, text, want, cuts...)
		})
	}
}

// TestEndlessSecret: a secret longer than any bound is masked to its end.
func TestEndlessSecret(t *testing.T) {
	for _, text := range []string{
		"API_KEY=" + strings.Repeat("Ab1", 100_000) + " end\nnext\n",
		"x eyJ" + strings.Repeat("Ab1", 100_000) + " end",
		`{"password": "` + strings.Repeat("Ab1", 50_000) + `", "next": 1}`,
	} {
		r := testRedactor(Text)
		got := r.String(text)
		if strings.Contains(got, "Ab1Ab1") || !strings.Contains(got, "nd") && !strings.Contains(got, "next") {
			t.Errorf("got %q", clip(got))
		}
		checkStream(t, r, text, got, 10, 70_000, 140_000)
	}
}

// TestWriterHoldsBackLittle: a long stream without line ends is passed on as it comes.
func TestWriterHoldsBackLittle(t *testing.T) {
	var b bytes.Buffer
	w := testRedactor(Text).Writer(&b)
	n := 0
	for range 1000 {
		m, err := w.Write([]byte(strings.Repeat("0123456789abcdef ", 60)))
		if err != nil {
			t.Fatal(err)
		}
		if n += m; n-b.Len() > 2*maxLine {
			t.Fatalf("%d bytes held back", n-b.Len())
		}
	}
	if err := w.Close(); err != nil || b.Len() != n {
		t.Errorf("%d of %d bytes, %v", b.Len(), n, err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := w.Write([]byte("x")); err != ErrClosed {
		t.Errorf("write after Close: %v", err)
	}
}

// slowUnits are made to be slow when repeated.
var slowUnits = []string{
	"1", "a", "-", "=", ":", "a.", "a=", "token=", "token: ", `token="`, `"token":"`, `password=\"`, "\x01a", "sk-\x01", "ghp_\x01", "ghp_\n", "sk-a\n",
	"a://", "a://b:c@", "a://b:c/", "https://a?token=", "https://", "Authorization: Basic ", "Cookie: a=b; ", "eyJ", "eyJ.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----\n", "bot12345678:", "12345678:", "⟦secret:", "⟦secret:token:", "⟦secret:known:0000⟧", "a&b=", "?a=b&", "\t", "a\tTRUE\t", "hunter2", "hunter2hunter2", "aHVudGVyMmh1bnRlcjI", "{", "((((", "Bearer ", "--password ", "x-api-key: ", "password=(", "password=,,,,", "<password>",
}

// TestLinear counts steps instead of time: texts made to be slow cost a bounded number of steps a byte.
func TestLinear(t *testing.T) {
	for _, unit := range slowUnits {
		for _, m := range []Mode{Text, Strict} {
			steps := func(n int) int {
				sc := newScanner(testRedactor(m))
				defer sc.release()
				sc.scan(strings.Repeat(unit, n/len(unit)), true)
				return sc.work + len(sc.out)
			}
			small, large := steps(80_000), steps(320_000)
			if large > 5*small+100_000 || large > 300*320_000 {
				t.Errorf("%q in %v: %d steps for 80 kB, %d for 320 kB", unit, m, small, large)
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, k := range formats {
		f.Add(k.text, 7)
	}
	for _, c := range nearMisses {
		f.Add(c.text, 3)
	}
	f.Add("a=⟦secret:token:00ff⟧ ⟦secret:nokind:00ff⟧ \x1b[31mghp_\x1b[0mabcdefghij1234\u200b5\nx", 11)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		checkInvariants(t, text)
		for _, m := range allModes {
			r := testRedactor(m)
			whole := r.String(text)
			checkStream(t, r, text, whole, abs(cut)%(len(text)+1))
			var every []int
			for i := range len(text) {
				every = append(every, i)
			}
			checkStream(t, r, text, whole, every...)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

// TestHeld: what came out and what is held back are together what the text would give if it ended there, and looking changes
// nothing.
func TestHeld(t *testing.T) {
	for _, k := range formats {
		r := testRedactor(k.mode)
		text := "before\n" + k.text + "\r\nafter\n"
		var b bytes.Buffer
		w := r.Writer(&b)
		for i := range len(text) {
			if _, err := w.Write([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
			if got, want := b.String()+w.Held(), r.String(text[:i+1]); got != want {
				t.Fatalf("%q: got %q, want %q", text[:i+1], got, want)
			}
		}
		if err := w.Close(); err != nil || b.String() != r.String(text) || w.Held() != "" {
			t.Errorf("%q: %q, %v", text, b.String(), err)
		}
	}
}
