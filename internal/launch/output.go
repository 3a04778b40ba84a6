package launch

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/redact"
)

// output takes the secrets out of what a command prints.
type output struct {
	stdout, stderr io.Writer
	streams        []*stream
	clean          *redact.Redactor
}

// stream is one of the two. The lock lets a sandbox write from wherever it reads.
type stream struct {
	mu      sync.Mutex
	n       atomic.Int64
	w       *redact.Writer
	display io.Writer // nil: none
}

func (j *journey) newOutput() *output {
	mode := redact.ModeFor(j.text)
	if j.p.Off {
		mode = redact.Off
	}
	clean := j.p.Redact.With(mode)
	o := &output{clean: clean}
	add := func(w io.Writer) *stream {
		if w == nil {
			w = io.Discard
		}
		s := &stream{w: clean.Writer(w)}
		o.streams = append(o.streams, s)
		return s
	}
	if j.c.Inner != nil {
		o.stdout, o.stderr = j.c.Inner.Talk, add(j.c.Stderr)
		return o
	}
	out := add(j.c.Stdout)
	if j.c.Terminal != nil {
		out.display = j.c.Display
	}
	o.stdout, o.stderr = out, out
	if j.c.Stderr != j.c.Stdout {
		o.stderr = add(j.c.Stderr)
	}
	return o
}

// Write takes all of p, or fails because the reader's end did.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n.Add(int64(len(p)))
	if s.display != nil {
		if n, err := s.display.Write(p); err != nil {
			return n, err
		}
	}
	return s.w.Write(p)
}

// held returns the line that has not ended, of standard output first.
func (o *output) held() string {
	for _, s := range o.streams {
		s.mu.Lock()
		text := s.w.Held()
		s.mu.Unlock()
		if text != "" {
			return text
		}
	}
	return ""
}

func (o *output) bytes() (n int64) {
	for _, s := range o.streams {
		n += s.n.Load()
	}
	return n
}

// close passes on what is held back.
func (o *output) close() error {
	var first error
	for _, s := range o.streams {
		s.mu.Lock()
		if err := s.w.Close(); err != nil && first == nil {
			first = fmt.Errorf("write output: %w", err)
		}
		s.mu.Unlock()
	}
	return first
}

// timedOut says after how long.
func timedOut(after time.Duration) string {
	if after == time.Second {
		return "timed out after 1 second"
	}
	if after%time.Second == 0 {
		return fmt.Sprintf("timed out after %d seconds", after/time.Second)
	}
	return "timed out after " + after.String()
}
