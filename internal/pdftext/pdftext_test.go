package pdftext

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	file, err := os.ReadFile("testdata/two-pages.pdf")
	if err != nil {
		t.Fatal(err)
	}
	text, err := Read(file)
	if want := "## Page 1\n\nFirst page of bees\n\n## Page 2\n\nSecond page of hives\n\n"; err != nil || text != want {
		t.Errorf("%q %v", text, err)
	}
}

// What is no PDF, or a broken one, is an error and nothing worse.
func TestBroken(t *testing.T) {
	file, err := os.ReadFile("testdata/two-pages.pdf")
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "a head": []byte("%PDF-1.4"), "half": file[:len(file)/2], "no end": file[:len(file)-40], "other root": bytes.Replace(file, []byte("/Root 1"), []byte("/Root 9"), 1),
		"pages without text": bytes.ReplaceAll(file, []byte(" Tj"), []byte("   ")),
	} {
		if out, err := Read(text); err == nil || out != "" || !strings.HasPrefix(err.Error(), "read PDF: ") {
			t.Errorf("%s: %q %v", what, out, err)
		}
	}
}

// No file ends the process by a panic. What a file may take of memory and time is bounded by the process it is read in.
func FuzzRead(f *testing.F) {
	file, err := os.ReadFile("testdata/two-pages.pdf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte("%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 1 0 R>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"))
	f.Fuzz(func(t *testing.T, file []byte) {
		text, err := Read(file)
		if err != nil && text != "" {
			t.Errorf("%q and %v", text, err)
		}
	})
}
