package browse

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/home"
	"hermes/internal/tool"
)

const writerVar = "HERMES_TEST_DOWNLOADS"

// TestMain is also the other process of TestCacheBetweenProcesses.
func TestMain(m *testing.M) {
	if where := os.Getenv(writerVar); where != "" {
		if err := manyDownloads(where); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	cacheTotal = 50_000
	cacheFile  = 10_000
)

func manyDownloads(where string) error {
	dir, err := home.Open(where)
	if err != nil {
		return err
	}
	defer dir.Close()
	d := Download{Store: dir, Total: cacheTotal}
	for i := range 60 {
		if err := d.put(context.Background(), fmt.Sprintf("%d-%d", os.Getpid(), i), make([]byte, cacheFile)); err != nil {
			return err
		}
	}
	return nil
}

func kept(t *testing.T, dir *home.Dir) (names string, total int64) {
	t.Helper()
	all, err := dir.List(Folder)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range all {
		out = append(out, f.Name())
		if f.Mode().IsRegular() {
			total += f.Size()
		}
	}
	return strings.Join(out, " "), total
}

func cache(t *testing.T) *home.Dir {
	t.Helper()
	dir, err := home.Create(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

// Downloads take no more room than they may: the oldest go, and nothing that is not a download.
func TestCache(t *testing.T) {
	dir := cache(t)
	d := Download{Store: dir, Total: 30}
	began := time.Now().Add(-time.Hour)
	for i, row := range []struct {
		name string
		size int
		want string
	}{
		{"d", 10, "d"}, {"c", 10, "c d"}, {"b", 10, "b c d"},
		{"a", 10, "a b c"},   // the oldest goes, whatever its name
		{"c", 10, "a b c"},   // the same again makes room for nothing
		{"e", 20, "c e"},     // as many as it takes, and what came again is young
		{"f", 30, "f"},       // all
		{"g", 1, "g"},        // f has no room any more
		{"h", 31, "refused"}, // more than all downloads may take
		{"h", 0, "g h"},
	} {
		err := d.put(context.Background(), row.name, make([]byte, row.size))
		if row.want == "refused" {
			if err == nil || !strings.Contains(err.Error(), "web.download_cache_mb") {
				t.Errorf("%+v: %v", row, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", row, err)
		}
		// The clock of a file system may be coarse.
		at := began.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(dir.Join(Folder+"/"+row.name), at, at); err != nil {
			t.Fatal(err)
		}
		if got, _ := kept(t, dir); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}

	// What is no download stays; what a killed writer left goes at once.
	for _, name := range []string{".x.pdf.tmp-ABC", "y"} {
		if err := dir.WriteFile(Folder+"/"+name, make([]byte, 29)); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.MkdirAll(Folder + "/mine"); err != nil {
		t.Fatal(err)
	}
	if err := d.put(context.Background(), "z", make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if got, _ := kept(t, dir); got != "h mine y z" {
		t.Error(got)
	}
}

// A tool that cannot stay within the limit says so, and has kept nothing.
func TestCacheRefuses(t *testing.T) {
	w := newWeb(t)
	d := Download{Options: w.Options, Store: cache(t), Total: 5}
	r, err := d.Call(context.Background(), tool.Call{Args: fmt.Appendf(nil, `{"url":%q}`, w.serve("/x", "text/plain", "123456"))})
	if got := r.Data.(Downloaded); err != nil || !r.Failed || got.Path != "" || !strings.Contains(got.Error, "see web.download_cache_mb") {
		t.Errorf("%+v %v", r, err)
	}
}

// Two processes that download at once do not exceed the limit together.
func TestCacheBetweenProcesses(t *testing.T) {
	dir := cache(t)
	if err := dir.MkdirAll(Folder); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	for range cap(ended) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writerVar+"="+dir.Path())
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ended <- err
		}()
	}
	most := int64(0)
	for left := cap(ended); left > 0; {
		select {
		case err := <-ended:
			left--
			if err != nil {
				t.Error(err)
			}
		default:
		}
		lock, err := dir.Lock(t.Context(), "downloads")
		if err != nil {
			t.Fatal(err)
		}
		_, total := kept(t, dir)
		most = max(most, total)
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	if names, total := kept(t, dir); most > cacheTotal || total != cacheTotal {
		t.Errorf("%d bytes at most, %d at the end: %s", most, total, names)
	}
}
