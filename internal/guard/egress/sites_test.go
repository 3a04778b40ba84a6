package egress

import (
	"bytes"
	"fmt"
	"path"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/guard"
)

func TestParseRule(t *testing.T) {
	for _, row := range []struct {
		in, want string
		ok       bool
	}{
		{"example.com", "example.com", true}, {"EXAMPLE.com.", "example.com", true}, {"https://www.Example.com/path?x", "example.com", true}, {"www.example.com:8080", "example.com", true}, {"user@example.com", "example.com", true},
		{"*.example.com", "*.example.com", true}, {"*.Bücher.de", "*.xn--bcher-kva.de", true}, {"*.int*nal.com", "*.int*nal.com", true}, {"*.[!a]b.com", "*.[^a]b.com", true}, {"bücher.de", "xn--bcher-kva.de", true}, {"exa\u00admple.com", "example.com", true},
		{"pаypal.com", "xn--pypal-4ve.com", true}, {"10.0.0.1", "10.0.0.1", true}, {"[::1]:80", "::1", true}, {"::1", "::1", true}, {"http://[2001:db8::1]/x", "2001:db8::1", true}, {"localhost", "localhost", true}, {"example.com # note", "example.com", true},
		{"", "", true}, {"  ", "", true}, {"# comment", "", true}, {"...", "", true}, {"https://", "", true},
		{"exa mple.com", "", false}, {"*", "", false}, {"a*b.com", "", false}, {"*.", "", false}, {"*.[", "", false}, {"||example.com^", "", false}, {"%65xample.com", "", false}, {strings.Repeat("a", 64) + ".com", "", false}, {"*.bü*.de", "", false},
	} {
		got, err := parseRule(row.in)
		if got != row.want || (err == nil) != row.ok {
			t.Errorf("%q is %q, %v, want %q", row.in, got, err, row.want)
		}
	}
}

func list(lines ...string) *Sites {
	b := NewBuilder()
	for _, line := range lines {
		b.Rule(line, "config")
	}
	return b.Sites()
}

func TestMatch(t *testing.T) {
	for _, row := range []struct {
		rule, host, by string
	}{
		{"example.com", "example.com", "example.com"}, {"example.com", "a.b.example.com", "example.com"}, {"example.com", "notexample.com", ""}, {"example.com", "example.com.evil.net", ""}, {"www.example.com", "mail.example.com", "example.com"},
		{"*.example.com", "example.com", ""}, {"*.example.com", "a.example.com", "*.example.com"}, {"*.example.com", "a.b.example.com", "*.example.com"}, {"*.int*nal.com", "x.internal.com", "*.int*nal.com"}, {"*.int*nal.com", "internal.com", ""}, {"*.a?.com", "x.ab.com", "*.a?.com"},
		{"com", "example.com", "com"}, {"*.com", "example.com", "*.com"}, {"bücher.de", "xn--bcher-kva.de", "xn--bcher-kva.de"}, {"bücher.de", "BÜCHER.de", "xn--bcher-kva.de"}, {"example.com", "exa\u00admple.com", "example.com"}, {"example.com", "ｅｘａｍｐｌｅ.com.", "example.com"},
		{"10.0.0.1", "10.0.0.1", "10.0.0.1"}, {"0.0.1", "10.0.0.1", ""}, {"::1", "[::1]", "::1"}, {"1", "10.0.0.1", ""},
	} {
		h, err := ParseHost(row.host)
		if err != nil {
			t.Fatal(err)
		}
		b, blocked := list(row.rule).Match(h)
		if blocked != (row.by != "") || b.Rule != row.by || blocked && (b.Source != "config" || b.Host != h.String()) {
			t.Errorf("%q on %q: %+v %v, want %q", row.rule, row.host, b, blocked, row.by)
		}
	}
}

// Lines of shared files: rules, hosts files, comments; what is neither is left out and noted.
func TestLines(t *testing.T) {
	b := NewBuilder()
	for _, line := range []string{
		"# comment", "", "ads.example", "  WWW.Tracker.example  # why", "0.0.0.0 a.example", "127.0.0.1\tb.example c.example", "::1 localhost ip6-localhost", "127.0.0.1 localhost", "0.0.0.0 0.0.0.0",
		"*.wild.example", "https://page.example/path", "bücher.example", "xn--bcher-kva.example", "not a line", "||adblock.example^", "ads.example", "\ufeffbom.example",
	} {
		b.Line([]byte(line), "list.txt")
	}
	if b.Left != 2 || len(b.Notes) != 2 || b.Notes[0].Entry != "not a line" || !strings.Contains(b.Notes[1].String(), "list.txt") {
		t.Errorf("left out: %d %v", b.Left, b.Notes)
	}
	s := b.Sites()
	want := "*.wild.example a.example ads.example b.example bom.example c.example page.example tracker.example xn--bcher-kva.example"
	got := s.Rules()
	sortStrings(got)
	if strings.Join(got, " ") != want || s.Len() != 9 {
		t.Errorf("%d rules: %v", s.Len(), got)
	}
}

func sortStrings(s []string) {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

// Of a rule for a domain and one for what is below it the wider one holds, in either order.
func TestWiderRuleHolds(t *testing.T) {
	h, _ := ParseHost("example.com")
	for _, s := range []*Sites{list("example.com", "*.example.com"), list("*.example.com", "example.com")} {
		if _, blocked := s.Match(h); !blocked || s.Len() != 1 {
			t.Errorf("%v", s.Rules())
		}
	}
}

func TestSitesRefuse(t *testing.T) {
	h, _ := ParseHost("example.com")
	for _, row := range []struct {
		sites *Sites
		rule  string
	}{{nil, "site/unloaded"}, {BrokenSites("permission denied"), "site/unreadable"}, {list("example.com"), "site/blocked"}, {NoSites(), ""}, {list(), ""}, {list("example.org"), ""}} {
		v := row.sites.check(h)
		if v.Rule != row.rule || (v.Action == guard.Allow) != (row.rule == "") {
			t.Errorf("%+v: %+v", row, v)
		}
		if row.rule != "" && row.rule != "site/blocked" && !strings.Contains(v.Reason, keySites) {
			t.Errorf("%s does not name the setting", v.Reason)
		}
	}
	if v := list("example.com").check(h); v.Reason != "Blocked by website policy: 'example.com' matched rule 'example.com' from config" {
		t.Error(v.Reason)
	}
}

// The table finds what trying every rule finds.
func FuzzMatch(f *testing.F) {
	f.Add("example.com\n*.a.b\nc", "x.a.b")
	f.Add("a.a\na\n*.a.a", "a.a.a")
	f.Add("*.x?y.z\n0.0.0.0 q.r", "a.x1y.z")
	f.Fuzz(func(t *testing.T, lines, host string) {
		h, err := ParseHost(host)
		if err != nil || len(lines) > 4096 {
			return
		}
		b := NewBuilder()
		for line := range strings.Lines(lines) {
			b.Line(bytes.TrimSuffix([]byte(line), []byte("\n")), "file")
		}
		s := b.Sites()
		want := false
		for _, rule := range s.Rules() {
			want = want || ruleMatches(rule, h.String(), h.Name() == "")
		}
		if _, got := s.Match(h); got != want {
			t.Errorf("%q on %q: blocked %v, want %v", s.Rules(), h, got, want)
		}
	})
}

func ruleMatches(rule, host string, address bool) bool {
	rest, below := strings.CutPrefix(rule, "*.")
	switch {
	case address:
		return rule == host
	case below && strings.ContainsAny(rest, "*?["):
		ok, _ := path.Match(rule, host)
		return ok
	case below:
		return strings.HasSuffix(host, "."+rest)
	}
	return host == rule || strings.HasSuffix(host, "."+rule)
}

// million is a list as people use it: a hosts file of a million names of ordinary length.
func million() []byte {
	var b bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "0.0.0.0 ad%d.host-%d.example%d.net\n", i%977, i, i%31)
	}
	return b.Bytes()
}

func load(text []byte) *Sites {
	b := NewBuilder()
	for line := range bytes.Lines(text) {
		b.Line(bytes.TrimSuffix(line, []byte("\n")), "hosts")
	}
	return b.Sites()
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkLoadMillion(b *testing.B) {
	text := million()
	before := heap()
	b.ResetTimer()
	var s *Sites
	for b.Loop() {
		s = load(text)
	}
	b.StopTimer()
	b.ReportMetric(float64(heap()-before)/(1<<20), "MB")
	runtime.KeepAlive(text)
	if s.Len() != 1_000_000 {
		b.Fatal(s.Len())
	}
}

func BenchmarkLoadMillionMap(b *testing.B) { // what a map of names costs
	text := million()
	before := heap()
	b.ResetTimer()
	var m map[string]struct{}
	for b.Loop() {
		m = map[string]struct{}{}
		for line := range bytes.Lines(text) {
			m[string(bytes.TrimPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("0.0.0.0 ")))] = struct{}{}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(heap()-before)/(1<<20), "MB")
	runtime.KeepAlive(text)
	if len(m) != 1_000_000 {
		b.Fatal(len(m))
	}
}

func BenchmarkLookupMillion(b *testing.B) {
	s := load(million())
	for _, row := range []struct{ name, host string }{
		{"hit", "ad5.host-12708.example29.net"}, {"below", "a.b.c.ad5.host-12708.example29.net"}, {"miss", "www.some-ordinary-site.co.uk"}, {"longest", strings.Repeat("a.", 124) + "net"},
	} {
		h, err := ParseHost(row.host)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				s.Match(h)
			}
		})
	}
	m := map[string]struct{}{}
	for _, rule := range s.Rules() {
		m[rule] = struct{}{}
	}
	b.Run("map/miss", func(b *testing.B) {
		for b.Loop() {
			for name, found := "www.some-ordinary-site.co.uk", true; found; _, name, found = strings.Cut(name, ".") {
				if _, hit := m[name]; hit {
					b.Fatal("hit")
				}
			}
		}
	})
}
