package filesync

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// Whoever is told that copying has failed is told when nothing is read for it any more.
func TestCutOff(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	w := newWorld(t)
	base(w)
	s, cut := w.sync(), errors.New("cut off")
	for range 50 {
		if err := s.Up(t.Context(), func(context.Context, string, io.Reader, io.Writer) error { return cut }, ""); !errors.Is(err, cut) {
			t.Fatal(err)
		}
		all := make([]byte, 1<<20)
		if text := string(all[:runtime.Stack(all, true)]); strings.Contains(text, "(*Sync).put") {
			t.Fatalf("it is read on:\n%s", text)
		}
	}
}
