package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/guard/checked"
)

// fresh returns an opened home in a folder of the test's own.
func fresh(t *testing.T) *Dir {
	t.Helper()
	d, err := Create(filepath.Join(t.TempDir(), "home", ".hermes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func needsModes(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: needs mode bits")
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	ok(t, err)
	return info.Mode().Perm()
}

// Whatever Hermes makes or opens in its home is for its owner only.
func TestModes(t *testing.T) {
	needsModes(t)
	base := t.TempDir()
	for _, row := range []struct {
		what      string
		dir, file fs.FileMode // as found
		wantFile  fs.FileMode
	}{
		{"nothing there yet", 0, 0, 0o600},
		{"open to all", 0o755, 0o644, 0o600},
		{"open to a group", 0o770, 0o660, 0o600},
		{"narrow already", 0o700, 0o600, 0o600},
		{"read-only stays read-only", 0o700, 0o444, 0o400},
	} {
		home := filepath.Join(base, row.what)
		if row.dir != 0 {
			ok(t, os.Mkdir(home, 0o700))
			ok(t, os.WriteFile(filepath.Join(home, "f"), []byte("x"), 0o600))
			ok(t, os.Chmod(filepath.Join(home, "f"), row.file))
			ok(t, os.Chmod(home, row.dir))
		}
		d, err := Create(home)
		ok(t, err)
		if row.dir == 0 {
			ok(t, d.WriteFile("f", []byte("x")))
		}
		if _, err := d.Read("f"); err != nil {
			t.Errorf("%s: %v", row.what, err)
		}
		if got := mode(t, home); got != 0o700 {
			t.Errorf("%s: the home has mode %o", row.what, got)
		}
		if got := mode(t, filepath.Join(home, "f")); got != row.wantFile {
			t.Errorf("%s: the file has mode %o, want %o", row.what, got, row.wantFile)
		}
		ok(t, d.Close())
	}
}

// A home that cannot be trusted is not opened, and the error says why.
func TestRefusedHomes(t *testing.T) {
	needsModes(t)
	base := t.TempDir()
	for _, row := range []struct {
		what, want string
		make       func(path string)
	}{
		{"missing", "no such file", func(string) {}},
		{"a file", "not a directory", func(p string) { ok(t, os.WriteFile(p, nil, 0o600)) }},
		{"link to nothing", "no such file", func(p string) { ok(t, os.Symlink("nowhere", p)) }},
		{"open/parent", "everybody may rename folders in", func(p string) {
			ok(t, os.MkdirAll(p, 0o700))
			ok(t, os.Chmod(filepath.Dir(p), 0o777))
		}},
		{"foreign", "it belongs to uid 4711, this process is uid 0", func(p string) {
			ok(t, os.Mkdir(p, 0o700))
			ok(t, os.Chown(p, 4711, -1))
		}},
	} {
		if row.what == "foreign" && os.Geteuid() != 0 {
			t.Log("skipped: needs root")
			continue
		}
		path := filepath.Join(base, row.what)
		row.make(path)
		d, err := Open(path)
		if err == nil {
			_ = d.Close()
			t.Errorf("%s: opened", row.what)
		} else if !strings.Contains(err.Error(), row.want) || !strings.HasPrefix(err.Error(), "open home "+path) {
			t.Errorf("%s: %v, want %s", row.what, err, row.want)
		}
	}
	if _, err := Open(filepath.Join(base, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing home is %v, want fs.ErrNotExist", err)
	}
}

func TestHomeBehindLink(t *testing.T) {
	needsModes(t)
	base := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(base, "disk"), 0o755))
	ok(t, os.Symlink("disk", filepath.Join(base, ".hermes")))
	d, err := Open(filepath.Join(base, ".hermes"))
	ok(t, err)
	defer d.Close()
	ok(t, d.WriteFile("config.yaml", []byte("a")))
	if _, err := os.Stat(filepath.Join(base, "disk", "config.yaml")); err != nil {
		t.Error(err)
	}
	if got := mode(t, filepath.Join(base, "disk")); got != 0o700 {
		t.Errorf("the folder behind the link has mode %o", got)
	}
}

// No name leads out of the home, and nothing but a regular file is read or replaced.
func TestNoWayOut(t *testing.T) {
	needsModes(t)
	d := fresh(t)
	outside := filepath.Join(filepath.Dir(d.Path()), "outside")
	ok(t, os.WriteFile(outside, []byte("kept"), 0o600))
	ok(t, os.Symlink("../outside", d.Join("link")))
	ok(t, os.Symlink(outside, d.Join("absolute")))
	ok(t, os.Symlink("..", d.Join("up")))
	ok(t, os.Symlink("inside", d.Join("alias")))
	ok(t, d.WriteFile("inside", []byte("in")))
	ok(t, d.MkdirAll("folder"))
	for _, name := range []string{"../outside", outside, "link", "absolute", "up/outside", "folder", "alias", "", "."} {
		if name != "alias" {
			if text, err := d.Read(name); err == nil {
				t.Errorf("read %q: got %q", name, text)
			}
			if err := d.Append(name, []byte("new")); err == nil {
				t.Errorf("append %q: done", name)
			}
		}
		if err := d.WriteFile(name, []byte("new")); err == nil {
			t.Errorf("write %q: done", name)
		}
	}
	if text, err := d.Read("alias"); err != nil || string(text) != "in" {
		t.Errorf("a link within the home: %q, %v", text, err)
	}
	if text, _ := os.ReadFile(outside); string(text) != "kept" {
		t.Errorf("the file outside holds %q", text)
	}
	if info, err := os.Lstat(d.Join("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

func TestProfiles(t *testing.T) {
	d := fresh(t)
	if names, err := d.Profiles(); err != nil || len(names) != 0 {
		t.Errorf("profiles of a new home: %v, %v", names, err)
	}
	name, err := checked.ParseProfileName("work")
	ok(t, err)
	if _, err := d.Profile(name, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a profile that was not made: %v", err)
	}
	p, err := d.Profile(name, true)
	ok(t, err)
	defer p.Close()
	ok(t, p.WriteFile("config.yaml", []byte("x")))
	if text, err := d.Read("profiles/work/config.yaml"); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := p.Read("../../config.yaml"); err == nil {
		t.Error("a profile reads its parent's files")
	}
	if _, err := p.Profile(name, true); err == nil {
		t.Error("a profile has a profile")
	}
	ok(t, d.MkdirAll("profiles/Not A Name"))
	ok(t, os.Symlink("..", d.Join("profiles/up")))
	if names, err := d.Profiles(); err != nil || len(names) != 1 || names[0] != name {
		t.Errorf("profiles: %v, %v", names, err)
	}
	up, _ := checked.ParseProfileName("up")
	if _, err := d.Profile(up, true); err == nil {
		t.Error("a link was opened as a profile")
	}
	if _, err := d.Profile(checked.ProfileName{}, true); err == nil {
		t.Error("no name was opened as a profile")
	}
}
