package demo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Only what a dead demo has left goes: not a living one's, not one that is about to be locked, not what is somebody else's.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	alive, err := NewFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, lock string, age time.Duration) string {
		path := filepath.Join(parent, name)
		if err := os.MkdirAll(filepath.Join(path, "locks"), 0o700); err != nil {
			t.Fatal(err)
		}
		if lock != "none" {
			if err := os.WriteFile(filepath.Join(path, lockFile), []byte(lock), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const record = "pid 4711 since 2026-03-14T12:00:00Z\n"
	stays := []string{
		alive.Path, put(prefix+"starts", "none", 0), put(prefix+"locks", "", time.Minute), put("other", record, 2*young),
	}
	goes := []string{put(prefix+"killed", record, 0), put(prefix+"old", "none", 2*young), put(prefix+"older", "", 2*young)}
	var told []string
	Sweep(parent, func(path string) { told = append(told, path) })
	if slices.Sort(goes); !slices.Equal(told, goes) {
		t.Errorf("told of %q, want %q", told, goes)
	}
	for _, path := range goes {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range stays {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if err := alive.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(alive.Path); err == nil {
		t.Error("its own folder is still there")
	}
}

// A link that only looks like a folder of a demo leads nowhere.
func TestSweepFollowsNoLink(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(parent, prefix+"x")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(elsewhere, time.Time{}, time.Now().Add(-2*young)); err != nil {
		t.Fatal(err)
	}
	Sweep(parent, func(path string) { t.Errorf("it takes %s for one", path) })
	if _, err := os.Stat(filepath.Join(elsewhere, "kept")); err != nil {
		t.Error(err)
	}
}
