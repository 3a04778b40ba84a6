//go:build unix

package local

import (
	"bytes"
	"testing"
	"time"
)

// What a shell has written of its state counts, however late it is read; and what it has left with the pipe is not waited for.
func TestStateIsReadLate(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 40<<10)
	for _, state := range []string{"\x00vars\x00A=1\x00end\x00", string(long) + "\x00end\x00", "\x00vars\x00A=", ""} {
		s, err := openSide(nil, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.remote[1].WriteString(state); err != nil { // it stays open, as in the hands of something that runs on
			t.Fatal(err)
		}
		_ = s.out.SetReadDeadline(time.Unix(1, 0)) // the time was up before anybody came to read
		s.read()
		close(s.whole)
		if got := string(s.written()); got != state {
			t.Errorf("%d bytes of %d: %.40q", len(got), len(state), got)
		}
		for _, f := range s.remote {
			_ = f.Close()
		}
		s.close()
	}
}
