package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock tells a second more each time.
func clock() func() time.Time {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Second); return now }
}

func folder(t testing.TB) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func begin(t testing.TB, root *os.Root, o Options) *Log {
	t.Helper()
	if o.Now == nil {
		o.Now = clock()
	}
	o.Sync, o.Version = SyncNever, "1.2.3"
	l, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// fill writes n pairs of records.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	for i := range n {
		ref := Ref{ID: fmt.Sprintf("c%d", i), Session: []string{"one", "two"}[i%2]}
		if err := l.Decide(ref, fmt.Sprintf("echo %d", i), Decision{Verdict: "allow", Backend: "local"}); err != nil {
			t.Fatal(err)
		}
		if err := l.Finish(ref, Result{Exit: i % 3, Duration: time.Second, Bytes: 7}); err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t testing.TB, root *os.Root) Report {
	t.Helper()
	r, err := Verify(root)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func all(t testing.TB, root *os.Root) []Record {
	t.Helper()
	out := []Record{}
	for r, err := range Tail(t.Context(), root, Query{Last: -1}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestWhatIsWritten(t *testing.T) {
	root, dir := folder(t)
	l := begin(t, root, Options{})
	const token = "ghp_012345678901234567890123456789abcdef"
	command := "curl -H 'Authorization: Bearer " + token + "' https://example.com"
	err := errors.Join(
		l.Decide(Ref{"c1", "s1"}, command, Decision{Verdict: "ask", Tier: "danger", Rule: "r", Harms: []string{"remote"}, By: "alice",
			How: "once", Backend: "native", Exposure: "host"}),
		l.Finish(Ref{"c1", "s1"}, Result{Exit: 3, Duration: 1500 * time.Millisecond, Bytes: 10, Backend: "native"}))
	if err != nil {
		t.Fatal(err)
	}
	got := all(t, root)
	at := time.Date(2030, 1, 2, 3, 4, 6, 0, time.UTC)
	want := []Record{
		{N: 0, Prev: none, Time: at, Kind: KindStart, Start: &Start{File: "audit-000001.jsonl", Host: got[0].Start.Host, Version: "1.2.3", Format: 1}},
		{N: 1, Prev: got[1].Prev, Time: at.Add(time.Second), Kind: KindDecision, ID: "c1", Session: "s1", Decision: &Decision{
			Sum: Sum(command), Text: got[1].Decision.Text, Verdict: "ask", Tier: "danger", Rule: "r", Harms: []string{"remote"}, By: "alice",
			How: "once", Backend: "native", Exposure: "host"}},
		{N: 2, Prev: got[2].Prev, Time: at.Add(2 * time.Second), Kind: KindResult, ID: "c1", Session: "s1",
			Result: &Result{Exit: 3, Duration: 1500 * time.Millisecond, Bytes: 10, Backend: "native"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit-000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(token)) || !bytes.Contains(text, []byte("https://example.com")) {
		t.Errorf("the text is not the command without its secret: %s", text)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if got[1].Prev != sum(lines[0]) || got[2].Prev != sum(lines[1]) {
		t.Error("a record does not name the one before")
	}
	for _, name := range []string{"audit-000001.jsonl", headName, lockName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	root, _ := folder(t)
	l := begin(t, root, Options{})
	command := strings.Repeat("é", 1<<20)
	if err := l.Decide(Ref{}, command, Decision{Verdict: "allow"}); err != nil {
		t.Fatal(err)
	}
	d := all(t, root)[1].Decision
	if len(d.Text) > maxText+20 || !strings.HasSuffix(d.Text, "é [cut off]") || d.Sum != Sum(command) {
		t.Errorf("%d bytes, ends %q", len(d.Text), d.Text[len(d.Text)-20:])
	}
}

func TestOpenNeedsAClock(t *testing.T) {
	root, _ := folder(t)
	if _, err := Open(root, Options{}); err == nil {
		t.Error("opened")
	}
}

func TestRotation(t *testing.T) {
	root, _ := folder(t)
	l := begin(t, root, Options{Size: 1500})
	fill(t, l, 40)
	r := verify(t, root)
	if len(r.Problems)+len(r.Notes) > 0 || r.Files < 10 {
		t.Errorf("%+v", r)
	}
	records := all(t, root)
	hosts := map[string]bool{}
	for i, one := range records {
		if one.N != uint64(i) {
			t.Fatalf("record %d has number %d", i, one.N)
		}
		if one.Start != nil {
			hosts[one.Start.Host] = true
		}
	}
	if len(records) != 80+r.Files || len(hosts) != 1 {
		t.Errorf("%d records, hosts %v", len(records), hosts)
	}
	// A new process goes on where the old one was, with the same host.
	l.Close()
	l = begin(t, root, Options{Size: 1500})
	fill(t, l, 10)
	if r := verify(t, root); len(r.Problems)+len(r.Notes) > 0 || r.Records != uint64(100+r.Files) {
		t.Errorf("%+v", r)
	}
	for _, one := range all(t, root) {
		if one.Start != nil && !hosts[one.Start.Host] {
			t.Errorf("another host: %+v", one.Start)
		}
	}
}

// After Close nothing is written and nothing is lost.
func TestClosed(t *testing.T) {
	root, _ := folder(t)
	l := begin(t, root, Options{})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Decide(Ref{}, "x", Decision{}); err == nil {
		t.Error("written")
	}
	if r := verify(t, root); len(r.Problems) > 0 || r.Records != 1 {
		t.Errorf("%+v", r)
	}
}

func TestTail(t *testing.T) {
	two := func(r Record) bool { return r.Session == "two" }
	rows := []struct {
		what string
		q    Query
		want string
	}{
		{"all", Query{Last: -1, Keep: func(r Record) bool { return r.Decision != nil }}, "c0 c1 c2 c3 c4 c5 c6 c7 c8 c9"},
		{"the last", Query{Last: 3}, "c8 c9 c9"},
		{"none", Query{Last: 0}, ""},
		{"more than there are", Query{Last: 99, Keep: func(r Record) bool { return r.Result != nil }}, "c0 c1 c2 c3 c4 c5 c6 c7 c8 c9"},
		{"of a session", Query{Last: 3, Keep: two}, "c7 c9 c9"},
	}
	for _, size := range []int64{0, 700} {
		root, _ := folder(t)
		fill(t, begin(t, root, Options{Size: size}), 10)
		for _, row := range rows {
			q := row.q
			keep := q.Keep
			q.Keep = func(r Record) bool { return r.Start == nil && (keep == nil || keep(r)) }
			ids := []string{}
			for r, err := range Tail(t.Context(), root, q) {
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, r.ID)
			}
			if got := strings.Join(ids, " "); got != row.want {
				t.Errorf("size %d, %s: %s, want %s", size, row.what, got, row.want)
			}
		}
	}
}

func TestTailOfNothing(t *testing.T) {
	root, _ := folder(t)
	for r, err := range Tail(t.Context(), root, Query{Last: 5}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A line that is no record is an error in its place.
func TestTailGoesOnAfterGarbage(t *testing.T) {
	root, dir := folder(t)
	fill(t, begin(t, root, Options{}), 2)
	name := filepath.Join(dir, "audit-000001.jsonl")
	text, _ := os.ReadFile(name)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[2] = []byte("garbage\n")
	if err := os.WriteFile(name, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	good, bad := 0, 0
	for _, err := range Tail(t.Context(), root, Query{Last: -1}) {
		if err != nil {
			bad++
		} else {
			good++
		}
	}
	if good != 4 || bad != 1 {
		t.Errorf("%d good, %d bad", good, bad)
	}
}

// Following gives every record once, in order, across files, and ends with the context.
func TestFollow(t *testing.T) {
	root, _ := folder(t)
	synctest.Test(t, func(t *testing.T) {
		l := begin(t, root, Options{Size: 600})
		fill(t, l, 2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan []uint64)
		go func() {
			seen := []uint64{}
			for r, err := range Tail(ctx, root, Query{Last: 1, Follow: true}) {
				if err != nil {
					t.Error(err)
				}
				seen = append(seen, r.N)
			}
			done <- seen
		}()
		for range 5 {
			time.Sleep(time.Second)
			fill(t, l, 3)
		}
		time.Sleep(time.Second)
		cancel()
		seen := <-done
		want := []uint64{}
		for n := seen[0]; n < verify(t, root).Records; n++ {
			want = append(want, n)
		}
		if diff := cmp.Diff(want, seen); diff != "" || len(seen) < 30 {
			t.Errorf("%d seen\n%s", len(seen), diff)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	for _, way := range []struct {
		name string
		sync Sync
	}{{"memory", SyncNever}, {"disk", SyncAlways}} {
		b.Run(way.name, func(b *testing.B) {
			root, _ := folder(b)
			l, err := Open(root, Options{Now: time.Now, Sync: way.sync})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			for b.Loop() {
				if err := l.Decide(Ref{"c", "s"}, "git status", Decision{Verdict: "allow", Backend: "native"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Whatever is in a sandbox can be refused as often as it likes, and does not fill the disk with it: how often is told.
func TestRefusalsDoNotFillTheDisk(t *testing.T) {
	root, _ := folder(t)
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	l := begin(t, root, Options{Sync: SyncNever, Now: func() time.Time { return now }})
	reach := func(method, verdict string) {
		t.Helper()
		if err := l.Reached(Ref{"c1", "s1"}, Reach{Method: method, Target: "x.example", Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		reach("CONNECT", "deny")
		reach("DNS", "allow")
	}
	reach("CONNECT", "allow") // never left out
	reach("CONNECT", "deny")
	now = now.Add(time.Second)
	reach("CONNECT", "deny")
	reach("CONNECT", "deny")
	reach("CONNECT", "deny")
	if err := l.Finish(Ref{"c1", "s1"}, Result{}); err != nil {
		t.Fatal(err)
	}
	var told []uint64
	for _, r := range all(t, root) {
		switch {
		case r.Reach != nil:
			told = append(told, r.Reach.Skipped)
		case r.Result != nil:
			told = append(told, r.Result.Skipped)
		}
	}
	want := append(make([]uint64, burst), 2000-burst, 1, 0, 1)
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
