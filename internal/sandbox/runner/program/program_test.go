package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"hermes/internal/sandbox/runner"
)

// The content that is embedded in these tests, and its SHA-256.
const (
	text = "#!/bin/true\n"
	hash = "d74bd1f4eb4d7a8fcdb3c7b4de8cf4ee4ae2d6a7ed7f1d5c8a2ca6e7b0e3b1f0"
)

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	from := fstest.MapFS{"runner-linux-arm64.bin": {Data: []byte(text)}}
	p, err := find(from, dir, "linux", "arm64")
	if err != nil || filepath.Dir(p.Path) != dir || !p.Small || filepath.Base(p.Path) != runner.Marker+"-"+p.SHA256 {
		t.Fatal(p, err)
	}
	if info, err := os.Stat(p.Path); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, row := range []struct {
		what   string
		change func() error
	}{
		{"as it was", func() error { return nil }},
		{"changed", func() error { return os.WriteFile(p.Path, []byte("#!/bin/evil\n"), 0o700) }},
		{"longer", func() error { return os.WriteFile(p.Path, []byte(text+text), 0o700) }},
		{"cut off", func() error { return os.Truncate(p.Path, 3) }},
		{"others can write", func() error { return os.Chmod(p.Path, 0o777) }},
		{"a link", func() error {
			if err := os.WriteFile(filepath.Join(dir, "other"), []byte(text), 0o700); err != nil {
				return err
			}
			_ = os.Remove(p.Path)
			return os.Symlink("other", p.Path)
		}},
		{"gone", func() error { return os.Remove(p.Path) }},
	} {
		_ = os.Chmod(p.Path, 0o700)
		if err := row.change(); err != nil {
			t.Fatal(row.what, err)
		}
		again, err := find(from, dir, "linux", "arm64")
		now, _ := os.ReadFile(p.Path)
		info, bad := os.Lstat(p.Path)
		if err != nil || again != p || string(now) != text || bad != nil || info.Mode() != 0o500 && row.what != "as it was" {
			t.Errorf("%s: %+v, %v, %q, %v", row.what, again, err, now, info.Mode())
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".runner-*"))
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := find(from, filepath.Join(dir, "none"), "linux", "arm64"); err == nil {
		t.Error("installed into nothing")
	}
}

// The hash that came with a program is used without counting again, but what does not have it is not installed.
func TestEmbeddedHash(t *testing.T) {
	from := fstest.MapFS{
		"runner-linux-arm64.bin":    {Data: []byte(text)},
		"runner-linux-arm64.sha256": {Data: []byte(hash + "\n")},
	}
	if p, err := find(from, t.TempDir(), "linux", "arm64"); err == nil || !strings.Contains(err.Error(), "not what was built") {
		t.Errorf("%+v, %v", p, err)
	}
	right, err := sum(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	from["runner-linux-arm64.sha256"] = &fstest.MapFile{Data: []byte(right + "\n")}
	if p, err := find(from, t.TempDir(), "linux", "arm64"); err != nil || p.SHA256 != right {
		t.Errorf("%+v, %v", p, err)
	}
}

// What is not there is told, with what to do about it; another machine's program is never taken for ours.
func TestMissing(t *testing.T) {
	own := fstest.MapFS{"runner.bin": {Data: []byte(text)}}
	if p, err := find(own, t.TempDir(), runtime.GOOS, runtime.GOARCH); err != nil || !p.Small {
		t.Errorf("%+v, %v", p, err)
	}
	for _, row := range [][2]string{{"linux", "riscv64"}, {"darwin", "amd64"}, {"linux", ""}, {"linux", "../arm64"}, {runtime.GOOS, "other"}} {
		_, err := find(own, t.TempDir(), row[0], row[1])
		var missing *MissingError
		if !errors.As(err, &missing) || !strings.Contains(missing.Hint(), "cmd/runner") {
			if !errors.Is(err, fs.ErrInvalid) { // a name that is none
				t.Errorf("%q: %v", row, err)
			}
		}
	}
}

// The binary of a test is never started as a runner by accident: it would start its tests.
func TestFindInTests(t *testing.T) {
	if all, _ := embedded.ReadDir("."); len(all) > 0 {
		t.Skip("skipped: needs a build without embedded runners")
	}
	if p, err := Find(t.TempDir()); err == nil {
		t.Errorf("%+v", p)
	}
	if p, err := For(t.TempDir(), runtime.GOOS, runtime.GOARCH); err == nil {
		t.Errorf("%+v", p)
	}
}
