package redact

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"hermes/internal/redact/redacttest"
	"hermes/internal/secret"
)

func BenchmarkString(b *testing.B) {
	clean := redacttest.Clean(1, 4<<20)
	var planted []string
	for _, f := range formats {
		if f.mode != Strict {
			planted = append(planted, f.text)
		}
	}
	var held []secret.String
	for i := range 40 {
		held = append(held, secret.New(fmt.Sprintf("held-value-%d-%s", i, strings.Repeat("x9", i))))
	}
	texts := []struct{ name, text string }{{"clean", clean}, {"few secrets", redacttest.Mixed(2, 4<<20, planted)}}
	for _, t := range texts {
		for _, m := range []Mode{Text, Code, Strict} {
			r := New(Options{Mode: m})
			b.Run(t.name+"/"+m.String(), func(b *testing.B) { run1(b, r, t.text) })
		}
		b.Run(t.name+"/text, 40 known values", func(b *testing.B) { run1(b, New(Options{Known: held}), t.text) })
	}
	b.Run("stream", func(b *testing.B) {
		r := New(Options{})
		b.SetBytes(int64(len(clean)))
		for b.Loop() {
			w := r.Writer(io.Discard)
			for i := 0; i < len(clean); i += 32 << 10 {
				_, _ = io.WriteString(w, clean[i:min(len(clean), i+32<<10)])
			}
			_ = w.Close()
		}
	})
	b.Run("short line", func(b *testing.B) {
		run1(b, New(Options{}), "level=info msg=\"request done\" status=200 path=/api/v1/items")
	})
}

func run1(b *testing.B, r *Redactor, text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.String(text)
	}
}

// TestCleanCorpus: mixed text without secrets comes back byte for byte.
func TestCleanCorpus(t *testing.T) {
	for seed := range uint64(3) {
		text := redacttest.Clean(seed+10, 1<<20)
		for _, m := range []Mode{Text, Code, Strict} {
			r := New(Options{Mode: m})
			for i, s := range r.Spans(text) {
				if i < 5 {
					t.Errorf("%v: %s in %q", m, s.Kind, text[max(0, s.Start-60):min(len(text), s.End+20)])
				}
			}
		}
	}
}

// TestCleanFiles: whole files that hold no secret come back byte for byte.
func TestCleanFiles(t *testing.T) {
	files, err := os.ReadDir("testdata/clean")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile("testdata/clean/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []Mode{Text, Code, Strict} {
			for _, s := range New(Options{Mode: m}).Spans(string(b)) {
				t.Errorf("%s, %v: %s in %q", f.Name(), m, s.Kind, b[max(0, s.Start-50):min(len(b), s.End+20)])
			}
		}
	}
}
