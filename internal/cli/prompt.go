package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"hermes/internal/approval"
	"hermes/internal/tui"
)

// tty is a terminal that a person sits at. *os.File is the one outside tests.
type tty interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}

// atTerminal asks at the terminal, one question after the other. It reads the terminal itself, so that standard input stays the
// command's.
type atTerminal struct {
	open  func() (tty, error)
	home  string // shown as ~
	env   func(string) string
	cols  int
	plain string        // written before a question, see plainScreen
	tick  time.Duration // between two states of the clock; 0: it stands still

	mu sync.Mutex // held while a question is on the screen; output waits for it
}

// newTerminal returns the way to ask, nil when none of the standard streams is a terminal: then nobody looks.
func newTerminal(stdio *IO) *atTerminal {
	if !stdio.Terminal && !isTerminal(stdio.Stdin) && !isTerminal(stdio.Stderr) {
		return nil
	}
	open := func() (tty, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
	f, err := open()
	if err != nil {
		return nil
	}
	_ = f.Close()
	t := &atTerminal{open: open, env: stdio.Env, home: stdio.Env("HOME"), cols: max(40, stdio.Width), tick: time.Second}
	if stdio.Width == 0 {
		t.cols = 80
	}
	if t.dumb() {
		t.tick = 0
	} else {
		t.plain = plainScreen
	}
	return t
}

func (t *atTerminal) dumb() bool { return t.env("TERM") == "" || t.env("TERM") == "dumb" }

// Prompt asks one question. Enter, the end of input, Ctrl-C and every other word than one of those offered deny.
func (t *atTerminal) Prompt(ctx context.Context, q approval.Question) (approval.Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return approval.Answer{}, err
	}
	f, err := t.open()
	if err != nil {
		return approval.Answer{}, fmt.Errorf("open the terminal: %w", bare(err))
	}
	defer f.Close()
	var screen bytes.Buffer
	screen.WriteString(t.plain)
	t.render(&screen, q)
	t.forget(f)
	if _, err := f.Write(screen.Bytes()); err != nil {
		return approval.Answer{}, fmt.Errorf("write to the terminal: %w", bare(err))
	}
	word, err := t.read(ctx, f, q)
	if err != nil {
		fmt.Fprint(f, "\n  No answer: denied.\n")
		if ctx.Err() != nil {
			return approval.Answer{}, ctx.Err()
		}
		return q.Reply(approval.Deny), nil // the end of input is an answer
	}
	a := q.Reply(tui.Word(word))
	a.By = "terminal"
	if name := t.env("USER"); name != "" {
		a.By = name + " at the terminal"
	}
	return a, nil
}

// plainScreen undoes what a command that is still running may have told the terminal, so that the question shows whole: its
// settings (DECSTR), a region of lines that scrolls, hidden or drawn letters, and what stands below.
const plainScreen = "\x1b[!p\x1b7\x1b[r\x1b8\x1b[0m\x1b(B\x0f\r\x1b[J"

// forget throws away what was typed before the question was there: it was no answer to it. That takes a line that has no end
// yet along: else Enter, which denies, would send a letter that was typed before.
func (t *atTerminal) forget(f tty) {
	defer rawly(f)()
	buf := make([]byte, 1024)
	for quiet := 0; quiet < quietLooks; {
		if f.SetReadDeadline(time.Now().Add(quietTime)) != nil {
			return
		}
		n, err := f.Read(buf)
		switch {
		case n > 0:
			quiet = 0
		case errors.Is(err, os.ErrDeadlineExceeded):
			quiet++
		default:
			quiet = quietLooks
		}
	}
	_ = f.SetReadDeadline(time.Time{})
}

// How often nothing must be found on a terminal, and how long each look takes. A look that comes after its time, as it may on a
// machine with much to do, sees nothing whatever was typed.
const (
	quietLooks = 3
	quietTime  = 10 * time.Millisecond
)

// rawly lets single keys of a terminal be read, and returns how to go back to lines.
func rawly(f tty) (back func()) {
	if file, ok := f.(*os.File); ok {
		return tui.Keys(file)
	}
	return func() {}
}

// quiet passes output on to the same terminal, but not while a question is on it: a command that runs could otherwise write
// over what is asked.
type quiet struct {
	w  io.Writer
	at *atTerminal
}

func (q *quiet) Write(p []byte) (int, error) {
	q.at.mu.Lock()
	defer q.at.mu.Unlock()
	return q.w.Write(p)
}

// maxWord is more than any answer has.
const maxWord = 256

// read returns the line that is typed, while the clock runs.
func (t *atTerminal) read(ctx context.Context, f tty, q approval.Question) (string, error) {
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		var text []byte
		one := make([]byte, 1)
		for len(text) < maxWord {
			n, err := f.Read(one)
			switch {
			case n == 1 && one[0] == '\n':
				typed <- line{string(text), nil}
				return
			case n == 1:
				text = append(text, one[0])
			case err != nil || n == 0:
				typed <- line{"", cmpErr(err)}
				return
			}
		}
		typed <- line{"", errors.New("the line is too long")}
	}()
	var clock <-chan time.Time
	if t.tick > 0 {
		ticker := time.NewTicker(t.tick)
		defer ticker.Stop()
		clock = ticker.C
	}
	for {
		select {
		case got := <-typed:
			return got.text, got.err
		case <-ctx.Done():
			_ = f.SetReadDeadline(time.Now()) // lets the reader end, where the system can
			return "", ctx.Err()
		case <-clock:
			// Save the cursor, write the line anew up to what is typed, go back.
			fmt.Fprint(f, "\x1b7\r"+tui.Ask(q, time.Now())+"\x1b8")
		}
	}
}

func cmpErr(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// render writes the question, and the line in front of the answer.
func (t *atTerminal) render(w io.Writer, q approval.Question) {
	look := tui.LookOf(t.env)
	look.Home = t.home
	tui.WriteQuestion(w, q, t.cols, look)
	fmt.Fprint(w, tui.Ask(q, time.Now()))
}
