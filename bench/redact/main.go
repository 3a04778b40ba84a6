// Command redact compares the redactor with gitleaks on the same generated files: secrets found and missed, false hits,
// speed. It prints a table in Markdown.
//
// It is no test: it judges nothing. Speed is counted in processor time of one thread, so that a busy machine does not change it
// much.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/zricethezav/gitleaks/v8/detect"

	"hermes/internal/redact"
	"hermes/internal/redact/redacttest"
)

func main() {
	seeds := flag.Uint64("seeds", 25, "how many values of each kind")
	size := flag.Int("size", 2<<20, "bytes of clean text")
	dir := flag.String("dir", "", "also look at the files below this directory, which should hold few secrets")
	flag.Parse()
	if err := run(*seeds, *size, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "redact bench:", err)
		os.Exit(1)
	}
}

// finder gives what a tool would take for secrets in a text.
type finder struct {
	name string
	find func(text string) []string
	pass func(text string) // one pass, for the speed

	passes int // how many passes the speed is the best of
}

func run(seeds uint64, size int, dir string) error {
	leaks, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return fmt.Errorf("start gitleaks: %w", err)
	}
	rules := map[string]int{}
	tools := []finder{ours(redact.Text), ours(redact.Strict), {
		name: "gitleaks 8.30.1",
		find: func(text string) []string {
			var out []string
			for chunk := range chunks(text) {
				for _, f := range leaks.DetectString(chunk) {
					out = append(out, f.Secret)
					rules[f.RuleID]++
				}
			}
			return out
		},
		pass: func(text string) {
			for chunk := range chunks(text) {
				leaks.DetectString(chunk)
			}
		},
		passes: 2,
	}}
	clean := redacttest.Clean(1000, size)
	var planted []string
	for _, s := range redacttest.Samples(1) {
		planted = append(planted, s.Text)
	}
	mixed := redacttest.Mixed(1001, size, planted)
	var plantedOnly []redacttest.Sample
	for seed := range seeds {
		plantedOnly = append(plantedOnly, redacttest.Samples(seed)...)
	}
	fmt.Printf("%d secrets of %d kinds; clean text: %d kB, %d lines\n\n", len(plantedOnly), len(planted), len(clean)/1000, strings.Count(clean, "\n"))
	fmt.Println("| tool | kinds found | secrets found | missed | false hits in clean text | MB/s clean | MB/s few secrets |")
	fmt.Println("|---|---|---|---|---|---|---|")
	misses := map[string][]string{}
	for _, t := range tools {
		found, kinds, missed := count(t, plantedOnly)
		clear(rules)
		noise := len(t.find(clean))
		misses[t.name] = missed
		fmt.Printf("| %s | %d of %d | %d | %d | %d | %.1f | %.1f |\n", t.name, kinds, len(planted), found, len(plantedOnly)-found, noise, speed(t, clean), speed(t, mixed))
	}
	if dir != "" {
		files, err := readAll(dir, 24<<20)
		if err != nil {
			return err
		}
		fmt.Printf("\n%d kB of files below %s\n\n| tool | hits | MB/s |\n|---|---|---|\n", len(files)/1000, dir)
		for _, t := range tools {
			fmt.Printf("| %s | %d | %.1f |\n", t.name, len(t.find(files)), speed(finder{pass: t.pass, passes: 1}, files))
		}
		clear(rules)
		tools[len(tools)-1].find(files)
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		fmt.Printf("\nHits of gitleaks there by %s: %d\n", rule, rules[rule])
	}
	for _, t := range tools {
		fmt.Printf("\nKinds that %s misses (more than half of the values): %s\n", t.name, strings.Join(misses[t.name], ", "))
	}
	return nil
}

// ours counts a secret as found when the text that comes out does not hold it.
func ours(m redact.Mode) finder {
	r := redact.New(redact.Options{Mode: m})
	return finder{
		name: "hermes, " + m.String(),
		find: func(text string) []string {
			var out []string
			for _, s := range r.Spans(text) {
				out = append(out, text[s.Start:s.End])
			}
			return out
		},
		pass:   func(text string) { r.String(text) },
		passes: 15,
	}
}

// count: a secret is found if some finding covers it, or at least nine tenths of it.
func count(t finder, samples []redacttest.Sample) (found, kinds int, missed []string) {
	hits, of := map[string]int{}, map[string]int{}
	for _, s := range samples {
		of[s.What]++
		for _, f := range t.find(s.Text) {
			if strings.Contains(f, s.Secret) || strings.Contains(s.Secret, f) && 10*len(f) >= 9*len(s.Secret) {
				found++
				hits[s.What]++
				break
			}
		}
	}
	for what, n := range of {
		if 2*hits[what] >= n {
			kinds++
		} else {
			missed = append(missed, what)
		}
	}
	sort.Strings(missed)
	return found, kinds, missed
}

// readAll joins the regular files below dir, up to limit bytes.
func readAll(dir string, limit int) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || b.Len() > limit {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) < 1<<20 && utf8.Valid(data) {
			b.Write(data)
		}
		return err
	})
	return b.String(), err
}

// chunks cuts a text at line ends into pieces of 100 kB, the size gitleaks reads files in; on longer ones it is slower.
func chunks(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			n := len(text)
			if n > 100_000 {
				n = 100_000 + 1 + strings.IndexByte(text[100_000:]+"\n", '\n')
				n = min(n, len(text))
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// speed gives the best of some passes in MB per second of processor time.
func speed(t finder, text string) float64 {
	best := 0.0
	for range t.passes {
		runtime.GC()
		start := processor()
		t.pass(text)
		if used := processor() - start; used > 0 {
			best = max(best, float64(len(text))/1e6/used)
		}
	}
	return best
}

// processor gives the seconds this process has computed.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
