package sitelist

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// place is a home with its list, and what its owner was told.
type place struct {
	*List
	dir  string
	told []string
}

func newPlace(t testing.TB) *place {
	p := &place{dir: t.TempDir()}
	p.List = New(p.dir, filepath.Join(p.dir, "user"), func(s string) { p.told = append(p.told, s) })
	return p
}

func (p *place) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asks says what becomes of a URL under the list.
func asks(t testing.TB, s *egress.Sites, url string) guard.Verdict {
	t.Helper()
	p, _ := egress.New(egress.Config{Sites: s})
	_, v := p.Check(url, nil)
	return v
}

func TestFiles(t *testing.T) {
	p := newPlace(t)
	p.write(t, "blocked.txt", "\ufeff# ours\nads.example\n0.0.0.0 tracker.example\n")
	p.write(t, "user/more.txt", "more.example")
	absolute := filepath.Join(t.TempDir(), "shared.txt")
	if err := os.WriteFile(absolute, []byte("shared.example\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := Settings{Enabled: true, Domains: []string{"own.example", "*.wild.example"}, Files: []string{"blocked.txt", "~/more.txt", absolute, " ", "blocked.txt"}}
	sites := p.Sites(set)
	for url, source := range map[string]string{
		"https://ads.example/": "blocked.txt", "https://x.tracker.example/": "blocked.txt", "https://more.example/": "~/more.txt", "https://shared.example/": absolute,
		"https://own.example/": "config", "https://a.wild.example/": "config", "https://wild.example/": "", "https://example.org/": "",
	} {
		v := asks(t, sites, url)
		if (v.Action == guard.Allow) != (source == "") || !strings.Contains(v.Reason, source) {
			t.Errorf("%s: %+v, want it blocked by %q", url, v, source)
		}
	}
	if sites.Len() != 6 || len(p.told) != 0 {
		t.Errorf("%d rules, told %v", sites.Len(), p.told)
	}
	if p.Sites(set) != sites {
		t.Error("nothing changed and the policy is another one")
	}
	set.Enabled = false
	if v := asks(t, p.Sites(set), "https://ads.example/"); v.Action != guard.Allow {
		t.Errorf("switched off: %+v", v)
	}
}

// Files are read again when they change, also within the same second, and settings count at once.
func TestReload(t *testing.T) {
	p := newPlace(t)
	set := Settings{Enabled: true, Files: []string{"list.txt"}}
	for i := range 5 {
		p.write(t, "list.txt", fmt.Sprintf("site%d.example\n", i))
		sites := p.Sites(set)
		for n := range 5 {
			if v := asks(t, sites, fmt.Sprintf("https://site%d.example/", n)); (v.Action == guard.Allow) != (n != i) {
				t.Errorf("after change %d: site%d %+v", i, n, v)
			}
		}
	}
	same := time.Now()
	for _, text := range []string{"aaa.example", "bbb.example"} { // of one length, at one time
		p.write(t, "list.txt", text)
		must(t, os.Chtimes(filepath.Join(p.dir, "list.txt"), same, same))
		if v := asks(t, p.Sites(set), "https://"+text+"/"); v.Rule != "site/blocked" {
			t.Errorf("%s: %+v", text, v)
		}
	}
	p.write(t, "list.txt", "site4.example")
	set.Domains = []string{"new.example"}
	if v := asks(t, p.Sites(set), "https://new.example/"); v.Rule != "site/blocked" {
		t.Errorf("%+v", v)
	}
	set.Files = nil
	if v := asks(t, p.Sites(set), "https://site4.example/"); v.Action != guard.Allow {
		t.Errorf("%+v", v)
	}
}

// A file that was good and cannot be read any more keeps its rules, whatever else changes; the owner is told once.
func TestLastGood(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"gone":      func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"directory": func(t *testing.T, path string) { must(t, os.Remove(path)); must(t, os.Mkdir(path, 0o700)) },
		"not text":  func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte{0xff, 0xfe, 0, 0}, 0o600)) },
		"no lines": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 100_000), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, "list.txt", "blocked.example\n")
			set := Settings{Enabled: true, Files: []string{"list.txt"}}
			p.Sites(set)
			spoil(t, filepath.Join(p.dir, "list.txt"))
			for range 3 {
				set.Domains = append(set.Domains, "more.example")
				sites := p.Sites(set)
				if v := asks(t, sites, "https://blocked.example/"); v.Rule != "site/blocked" {
					t.Errorf("%+v", v)
				}
				if v := asks(t, sites, "https://other.example/"); v.Action != guard.Allow {
					t.Errorf("%+v", v)
				}
			}
			if len(p.told) != 1 || !strings.Contains(p.told[0], "stay in force") {
				t.Errorf("told %q", p.told)
			}
			must(t, os.RemoveAll(filepath.Join(p.dir, "list.txt")))
			p.write(t, "list.txt", "mended.example\n")
			if v := asks(t, p.Sites(set), "https://blocked.example/"); v.Action != guard.Allow {
				t.Errorf("mended: %+v", v)
			}
		})
	}
}

// A file that never was good refuses every site, and says what to do.
func TestNeverGood(t *testing.T) {
	p := newPlace(t)
	p.write(t, "good.txt", "blocked.example\n")
	set := Settings{Enabled: true, Files: []string{"good.txt", "missing.txt"}}
	v := asks(t, p.Sites(set), "https://other.example/")
	if v.Rule != "site/unreadable" || !strings.Contains(v.Reason, "missing.txt") || !strings.Contains(v.Remedy, "security.website_blocklist.shared_files") {
		t.Errorf("%+v", v)
	}
	if len(p.told) != 1 {
		t.Errorf("told %q", p.told)
	}
	p.write(t, "missing.txt", "late.example\n")
	sites := p.Sites(set)
	if v := asks(t, sites, "https://other.example/"); v.Action != guard.Allow {
		t.Errorf("%+v", v)
	}
	if v := asks(t, sites, "https://late.example/"); v.Rule != "site/blocked" {
		t.Errorf("%+v", v)
	}
	off := Settings{Files: []string{"nowhere.txt"}}
	if v := asks(t, newPlace(t).Sites(off), "https://other.example/"); v.Action != guard.Allow {
		t.Errorf("switched off: %+v", v)
	}
}

// A line that is no rule is left out and told; the rest holds.
func TestBadLines(t *testing.T) {
	p := newPlace(t)
	p.write(t, "list.txt", "good.example\nnot a rule\n"+strings.Repeat("bad^rule\n", 20)+"also.good.example\n")
	sites := p.Sites(Settings{Enabled: true, Domains: []string{"%bad", "fine.example"}, Files: []string{"list.txt"}})
	for _, url := range []string{"https://good.example/", "https://also.good.example/", "https://fine.example/"} {
		if v := asks(t, sites, url); v.Rule != "site/blocked" {
			t.Errorf("%s: %+v", url, v)
		}
	}
	told := strings.Join(p.told, "\n")
	for _, want := range []string{`"%bad" is ignored`, `"not a rule" is ignored`, "(list.txt)", "13 more entries are ignored"} {
		if !strings.Contains(told, want) {
			t.Errorf("told %q, want %q in it", told, want)
		}
	}
}

// One profile's list is nothing to another's, in either order.
func TestReport_N061(t *testing.T) {
	for _, first := range []bool{true, false} {
		a, b := newPlace(t), newPlace(t)
		for i := range 4 {
			if on := (i%2 == 0) == first; on {
				if v := asks(t, a.Sites(Settings{Enabled: true, Domains: []string{"x.example"}}), "https://x.example/"); v.Rule != "site/blocked" {
					t.Errorf("%+v", v)
				}
			} else if v := asks(t, b.Sites(Settings{Domains: []string{"x.example"}}), "https://x.example/"); v.Action != guard.Allow {
				t.Errorf("%+v", v)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A million lines: how long until they are in force, what they take, and what asking costs while nothing changed.
func BenchmarkMillion(b *testing.B) {
	p := newPlace(b)
	var text strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "0.0.0.0 ad%d.host-%d.example%d.net\n", i%977, i, i%31)
	}
	p.write(b, "hosts", text.String())
	old := time.Now().Add(-time.Hour)
	must(b, os.Chtimes(filepath.Join(p.dir, "hosts"), old, old))
	set := Settings{Enabled: true, Files: []string{"hosts"}}
	text.Reset()
	b.Run("load", func(b *testing.B) {
		before := heap()
		var sites *egress.Sites
		for b.Loop() {
			sites = New(p.dir, "", nil).Sites(set)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB")
		if sites.Len() != 1_000_000 {
			b.Fatal(sites.Len())
		}
	})
	p.Sites(set)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			p.Sites(set)
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
