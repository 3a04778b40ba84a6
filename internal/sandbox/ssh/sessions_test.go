package ssh

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/sandbox"
)

// A server that gives fewer sessions than there are commands is waited for: what it gave no session for has not run, and its input is
// not lost.
func TestFewSessions(t *testing.T) {
	s := serve(t, options{known: true, more: "MaxSessions 3\n"})
	box := s.open(noRunner, quiet)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			var out bytes.Buffer
			name := fmt.Sprintf("ran%d", i)
			st, err := box.Run(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", "cat; mkdir " + name}, Stdin: strings.NewReader(name), Stdout: &out, Stderr: &out})
			if err != nil || st.Code != 0 || out.String() != name {
				t.Errorf("%d: %q, %+v, %v", i, out.String(), st, err)
			}
		})
	}
	all.Wait()
	if _, out := run(t, box, "ls -d ran* | wc -l"); strings.TrimSpace(out) != "24" {
		t.Errorf("%s ran", out)
	}
}

// slow takes its time, as a terminal far away.
type slow struct{ n int }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	s.n += len(p)
	return len(p), nil
}

// Whoever reads slowly gets all that was printed before the end, whatever was left running with the streams.
func TestSlowReaderGetsAll(t *testing.T) {
	s := serve(t, options{known: true})
	box := s.open(noRunner, quiet)
	for _, text := range []string{"head -c 1500000 /dev/zero", "sleep 200 & head -c 1500000 /dev/zero"} {
		out := &slow{}
		if st, err := box.Run(t.Context(), sandbox.Command{Text: text, Stdout: out}); err != nil || st.Code != 0 || out.n != 1500000 {
			t.Errorf("%s: %d bytes, %+v, %v", text, out.n, st, err)
		}
	}
}

// What is printed comes at once, but for what the mark of the end may begin with.
func TestUpTo(t *testing.T) {
	const mark = "\x00word"
	for _, row := range []struct {
		writes []string
		at     string // what is there after the last of them
		all    string // and after the end
		told   bool
	}{
		{[]string{"one\n", "two"}, "one\ntwo", "one\ntwo", false},
		{[]string{"one\x00wo"}, "one", "one\x00wo", false},
		{[]string{"one\x00wo", "man"}, "one\x00woman", "one\x00woman", false},
		{[]string{"one\x00\x00", "wo", "rd"}, "one\x00", "one\x00", true},
		{[]string{"one", mark, "of something that runs on"}, "one", "one", true},
		{[]string{mark}, "", "", true},
		{[]string{"a" + mark + mark}, "a", "a", true},
	} {
		var out bytes.Buffer
		u := &upTo{w: &out, mark: []byte(mark), told: make(chan struct{})}
		for _, w := range row.writes {
			if n, err := u.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%q: %d, %v", row.writes, n, err)
			}
		}
		at := out.String()
		u.flush()
		if at != row.at || out.String() != row.all || u.over != row.told {
			t.Errorf("%q: %q, then %q, told %v", row.writes, at, out.String(), u.over)
		}
	}
}
