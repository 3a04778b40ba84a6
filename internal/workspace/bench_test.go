package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hermes/internal/guard/paths"
)

// BenchmarkFind searches the library's sources.
func BenchmarkFind(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	if err != nil || src == "src" {
		b.Skip("needs the library's sources")
	}
	home := b.TempDir()
	w := New(Options{Home: home, Policy: paths.New(paths.Config{Homes: []string{home}})})
	for name, pattern := range map[string]string{"literal": "func OpenRoot", "expression": `(?i)openroot\(`} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				found, err := w.Find(b.Context(), Search{In: Name{Path: src}, Pattern: regexp.MustCompile(pattern)})
				if err != nil || len(found.Hits) == 0 {
					b.Fatal(err)
				}
				b.ReportMetric(float64(found.Files), "files")
			}
		})
	}
}

// BenchmarkRead reads a small file, every name of which is judged.
func BenchmarkRead(b *testing.B) {
	home := b.TempDir()
	name := filepath.Join(home, "a", "b", "c.txt")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("text\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	own := filepath.Join(home, ".hermes")
	w := New(Options{Home: home, Policy: paths.New(paths.Config{Homes: []string{home}, Hermes: []string{own}, Own: own})})
	for b.Loop() {
		if _, err := w.Read(b.Context(), Name{Path: name}); err != nil {
			b.Fatal(err)
		}
	}
}
