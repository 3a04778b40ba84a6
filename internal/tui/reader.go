package tui

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// typed is a line, and after how many questions it was begun.
type typed struct {
	text string
	age  int
}

// mostTyped bounds a line.
const mostTyped = 1 << 20

// lineReader reads lines. What was typed before a question is no answer to it.
type lineReader struct {
	r io.Reader

	mu      sync.Mutex // guards what follows
	partial []byte
	age     int
	deaf    bool      // what comes is thrown away
	last    time.Time // something came
}

// read hands lines on until the input ends.
func (l *lineReader) read(out chan<- typed) {
	defer close(out)
	buf := make([]byte, 4096)
	for {
		n, err := l.r.Read(buf)
		for _, t := range l.take(buf[:n]) {
			out <- t
		}
		if err != nil {
			if t, ok := l.rest(); ok {
				out <- t
			}
			return
		}
	}
}

func (l *lineReader) take(b []byte) (out []typed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
	if l.deaf {
		return nil
	}
	l.partial = append(l.partial, b...)
	for {
		line, rest, ok := bytes.Cut(l.partial, []byte("\n"))
		if !ok {
			if len(l.partial) > mostTyped {
				l.partial = nil
			}
			return out
		}
		out = append(out, typed{string(bytes.TrimSuffix(line, []byte("\r"))), l.age})
		l.partial = rest
	}
}

// rest returns a last line without an end.
func (l *lineReader) rest() (typed, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := typed{string(l.partial), l.age}
	l.partial = nil
	return t, t.text != "" && !l.deaf
}

// patience is how long a keyboard is waited for to be quiet.
const patience = 5 * time.Second

// forget throws away what was typed so far, the line that has no end yet included, and what is typed until the keyboard has been
// quiet for a while. It returns the age of the lines that are begun from then on.
func (l *lineReader) forget() int {
	l.mu.Lock()
	l.deaf, l.partial = true, nil
	l.mu.Unlock()
	if f, ok := l.r.(*os.File); ok && isTerminal(f) {
		back := Keys(f)
		begun := time.Now()
		for time.Since(begun) < patience {
			time.Sleep(guardTime / 6)
			l.mu.Lock()
			quiet := time.Since(l.last)
			l.mu.Unlock()
			if time.Since(begun) >= guardTime && quiet >= guardTime {
				break
			}
		}
		back()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf, l.partial = false, nil
	l.age++
	return l.age
}

func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn() // Fd would take the deadlines away
	is := false
	if err == nil {
		_ = conn.Control(func(fd uintptr) { is = term.IsTerminal(int(fd)) })
	}
	return is
}

// Keys lets single keys of a terminal be read, and returns how to go back to lines.
func Keys(f *os.File) (back func()) {
	back = func() {}
	conn, err := f.SyscallConn()
	if err != nil {
		return back
	}
	_ = conn.Control(func(fd uintptr) {
		if was, err := term.MakeRaw(int(fd)); err == nil {
			back = func() { _ = conn.Control(func(fd uintptr) { _ = term.Restore(int(fd), was) }) }
		}
	})
	return back
}
