package program

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInstall(t *testing.T) {
	dir, text := t.TempDir(), []byte("#!/bin/true\n")
	path, err := install(dir, text)
	if err != nil || filepath.Dir(path) != dir {
		t.Fatal(path, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for what, change := range map[string]func() error{
		"as it was": func() error { return nil },
		"changed": func() error {
			return os.WriteFile(path, []byte("#!/bin/evil\n"), 0o700)
		},
		"others can write": func() error { return os.Chmod(path, 0o777) },
		"a link": func() error {
			if err := os.WriteFile(filepath.Join(dir, "other"), text, 0o700); err != nil {
				return err
			}
			_ = os.Remove(path)
			return os.Symlink("other", path)
		},
		"gone": func() error { return os.Remove(path) },
	} {
		if what != "gone" {
			_ = os.Chmod(path, 0o700)
		}
		if err := change(); err != nil {
			t.Fatal(what, err)
		}
		again, err := install(dir, text)
		if err != nil || again != path || !same(path, text) {
			t.Errorf("%s: %q, %v", what, again, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".runner-*"))
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := install(filepath.Join(dir, "none"), text); err == nil {
		t.Error("installed into nothing")
	}
}

// The binary of a test is never started as a runner by accident: it would start its tests.
func TestFindInTests(t *testing.T) {
	if p, err := Find(t.TempDir()); len(embedded) == 0 && err == nil {
		t.Errorf("%+v", p)
	}
}
