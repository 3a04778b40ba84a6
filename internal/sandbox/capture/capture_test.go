package capture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBuffer(t *testing.T) {
	digits := func(n int) string { return strings.Repeat("0123456789", n/10) }
	cut := func(head string, omitted, total int, tail string) string {
		return fmt.Sprintf("%s\n\n... [OUTPUT TRUNCATED - %d chars omitted out of %d total] ...\n\n%s", head, omitted, total, tail)
	}
	for _, row := range []struct {
		what, in, want string
		limit, total   int
	}{
		{"nothing", "", "", 10, 0},
		{"all of it", "0123456789", "0123456789", 10, 10},
		{"one too many", "0123456789a", cut("0123", 1, 11, "56789a"), 10, 11},
		{"much too many", digits(1000), cut("0123", 990, 1000, "456789"), 10, 1000},
		{"characters, not bytes", "ä€😀ü" + digits(10), cut("ä€😀ü", 4, 14, "456789"), 10, 14},
		{"exactly, of several bytes", "ä€😀ü", "ä€😀ü", 4, 4},
		{"no characters", "a\xff\xfeb\xc3", "a\uFFFD\uFFFDb\uFFFD", 10, 5},
		{"a beginning without an end, twice", "\xe2\xe2\x82", "\uFFFD\uFFFD\uFFFD", 10, 3},
		{"no limit", digits(200_000), digits(200_000), -1, 200_000},
		{"the default", digits(60_000), cut(digits(20_000), 10_000, 60_000, digits(30_000)), 0, 60_000},
	} {
		for _, size := range []int{0, 1, 3} {
			b := New(Config{Limit: row.limit})
			for rest := row.in; rest != ""; {
				n := len(rest)
				if size > 0 {
					n = min(size, n)
				}
				_, _ = b.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			r := b.Close()
			if r.Text != row.want || r.Total != row.total || r.Cut != (len(row.want) != len(row.in) && row.limit > 0 && row.total > row.limit || row.limit == 0) || r.Path != "" {
				t.Errorf("%s, by %d: %.80q, %+v; want %.80q", row.what, size, r.Text, r.Total, row.want)
			}
			if again := b.Close(); again != r {
				t.Errorf("%s: the second end tells something else", row.what)
			}
		}
	}
}

// The text of any output is its beginning and its end, whatever the pieces it came in.
func TestBufferPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		whole := make([]rune, random.IntN(400))
		for i := range whole {
			whole[i] = []rune("aé€😀\n")[random.IntN(5)]
		}
		b := New(Config{Limit: 100})
		for rest := []byte(string(whole)); len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			_, _ = b.Write(rest[:n])
			rest = rest[n:]
		}
		want := string(whole)
		if n := len(whole); n > 100 {
			want = fmt.Sprintf("%s\n\n... [OUTPUT TRUNCATED - %d chars omitted out of %d total] ...\n\n%s", string(whole[:40]), n-100, n, string(whole[n-60:]))
		}
		if r := b.Close(); r.Text != want || r.Total != len(whole) {
			t.Fatalf("%q became %q", string(whole), r.Text)
		}
	}
}

func TestSpill(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	dir := filepath.Join(t.TempDir(), "cache", "terminal-output")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"out-1-1-aa.log": 8 * 24 * time.Hour, "out-2-1-bb.log": 6 * 24 * time.Hour, "other.txt": 99 * 24 * time.Hour} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(text string) Result {
		b := New(Config{Limit: 100, Dir: dir, Now: func() time.Time { return now }, Log: func(err error) { t.Log(err) }})
		_, _ = b.Write([]byte(text))
		return b.Close()
	}
	if r := write("short"); r.Path != "" {
		t.Errorf("a file for a short output: %+v", r)
	}
	long := strings.Repeat("0123456789", 30)
	r := write(long)
	text, err := os.ReadFile(r.Path)
	if err != nil || string(text) != long || filepath.Dir(r.Path) != dir {
		t.Fatalf("%q in %q, %v", text, r.Path, err)
	}
	if info, err := os.Stat(r.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(names) != 3 {
		t.Errorf("what is old is removed, what is not ours stays: %q", names)
	}
	huge := write(strings.Repeat("x", spillLimit+1000))
	if info, err := os.Stat(huge.Path); err != nil || info.Size() < spillLimit || info.Size() > spillLimit+100 || huge.Total != spillLimit+1000 {
		t.Errorf("%v, %v, %d", info, err, huge.Total)
	}
	for what, change := range map[string]func() error{
		"others can write": func() error { return os.Chmod(dir, 0o777) },
		"a link": func() error {
			return os.Rename(dir, dir+"2")
		},
	} {
		_ = os.Chmod(dir, 0o700)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if what == "a link" {
			if err := os.Symlink(dir+"2", dir); err != nil {
				t.Fatal(err)
			}
		}
		if r := write(long); r.Path != "" || !r.Cut {
			t.Errorf("%s: %+v", what, r)
		}
		if what == "a link" {
			_ = os.Remove(dir)
			_ = os.Rename(dir+"2", dir)
		}
	}
}

// A gibibyte of output takes no more memory than a little of it.
func TestBoundedMemory(t *testing.T) {
	var before, after runtime.MemStats
	b := New(Config{Dir: filepath.Join(t.TempDir(), "d")})
	piece := make([]byte, 1<<20)
	for i := range piece {
		piece[i] = byte(i)
	}
	runtime.ReadMemStats(&before)
	for range 64 {
		_, _ = b.Write(piece)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("memory grew by %d KiB", grown>>10)
	}
	if r := b.Close(); r.Total < 64<<20/2 || r.Path == "" {
		t.Errorf("%d, %q", r.Total, r.Path)
	}
}
