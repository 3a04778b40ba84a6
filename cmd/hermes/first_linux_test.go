package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where nothing is set up, hermes at a terminal says so, asks, and changes nothing for who leaves.
func TestFirstStart(t *testing.T) {
	home := t.TempDir()
	s := seated(t, home, t.TempDir(), "dumb")
	s.until(1, "and no server answers on")
	s.until(1, "Three questions, and the chat begins. Ctrl-C leaves, and changes nothing.")
	s.until(1, "Number [1]: ")
	s.types("\x03")
	if code := s.left(); code == 0 {
		t.Error("it ended as if all were well")
	}
	if text, err := os.ReadFile(filepath.Join(home, ".hermes", "config.yaml")); err == nil && strings.TrimSpace(string(text)) != "" {
		t.Errorf("it was changed: %s", text)
	}
}
