package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"hermes/internal/approval"
	"hermes/internal/screen"
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
	a := q.Reply(choice(word))
	a.By = "terminal"
	if name := t.env("USER"); name != "" {
		a.By = name + " at the terminal"
	}
	return a, nil
}

// choice reads what was typed.
func choice(word string) approval.Choice {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "o", "once":
		return approval.Once
	case "s", "session":
		return approval.Session
	case "a", "always":
		return approval.Always
	}
	return approval.Deny
}

// plainScreen undoes what a command that is still running may have told the terminal, so that the question shows whole: its
// settings (DECSTR), a region of lines that scrolls, hidden or drawn letters, and what stands below.
const plainScreen = "\x1b[!p\x1b7\x1b[r\x1b8\x1b[0m\x1b(B\x0f\r\x1b[J"

// forget throws away what was typed before the question was there: it was no answer to it. That takes a line that has no end
// yet along: else Enter, which denies, would send a letter that was typed before.
func (t *atTerminal) forget(f tty) {
	defer rawly(f)()
	if f.SetReadDeadline(time.Now().Add(time.Millisecond)) != nil {
		return
	}
	buf := make([]byte, 1024)
	for {
		if n, err := f.Read(buf); err != nil || n == 0 {
			break
		}
	}
	_ = f.SetReadDeadline(time.Time{})
}

// rawly lets single keys of a terminal be read, and returns how to go back to lines.
func rawly(f tty) (back func()) {
	back = func() {}
	file, ok := f.(*os.File)
	if !ok {
		return back
	}
	conn, err := file.SyscallConn() // Fd would take the deadlines away
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
			fmt.Fprint(f, "\x1b7\r"+ask(q)+"\x1b8")
		}
	}
}

func cmpErr(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// ask returns the line in front of the answer. Its length does not change while the clock runs.
func ask(q approval.Question) string {
	letters := []string{"o"}
	if q.Offers(approval.Session) {
		letters = append(letters, "s")
	}
	if q.Offers(approval.Always) {
		letters = append(letters, "a")
	}
	whole, left := clockText(q.Deadline.Sub(q.Asked)), clockText(time.Until(q.Deadline))
	return fmt.Sprintf("  Choice [%s/D], %*s left: ", strings.Join(letters, "/"), len(whole), left)
}

func clockText(d time.Duration) string {
	s := max(0, int((d+time.Second-1)/time.Second))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// render writes the question: why, the whole command with the guilty parts underlined, where, and what each answer covers.
func (t *atTerminal) render(w io.Writer, q approval.Question) {
	p := newPage(&IO{Stdout: w, Terminal: true, Width: t.cols, Env: t.env})
	sign := "!"
	if p.bar != "^" {
		sign = "⚠"
	}
	head := approval.Finding{Rule: "this command"}
	if len(q.Findings) > 0 {
		head = q.Findings[0]
	}
	p.line("")
	subject, once := head.Rule, "     [o]nce        this command, now"
	if q.For != "" {
		subject, once = "a command that runs wants to reach what is not on the sandbox's list", "     [o]nce        this connection, now"
	}
	title, more, _ := strings.Cut(screen.Wrap("  "+sign+"  "+visible(subject), p.cols, "     "), "\n")
	p.line("  " + t.bold(title[2:]))
	if more != "" {
		p.line(t.bold(more))
	}
	p.line("")
	p.command(q.Command, q.Findings)
	if q.For != "" {
		p.line(screen.Wrap("     for: "+visible(q.For), p.cols, "       "))
	}
	if head.Runs != "" {
		p.line(screen.Wrap("     runs: "+visible(head.Runs), p.cols, "       "))
	}
	var also []string
	for _, f := range q.Findings {
		if f.Rule != head.Rule && !slices.Contains(also, visible(f.Rule)) {
			also = append(also, visible(f.Rule))
		}
	}
	if len(also) > 0 {
		p.line(screen.Wrap("     also: "+strings.Join(also, ", "), p.cols, "       "))
	}
	if q.Guardian != "" {
		p.line(screen.Wrap("     "+visible(q.Guardian)+"; you may overrule it once", p.cols, "       "))
	}
	p.line(screen.Wrap("     in "+visible(t.fold(q.Dir))+" · "+visible(q.Exposure), p.cols, "       "))
	p.line("")
	p.line(once)
	if q.Offers(approval.Session) {
		p.covers("     [s]ession     ", q.Covers.Session.Text, q.Command, ", until this session ends")
	}
	if q.Offers(approval.Always) {
		p.covers("     [a]lways      ", q.Covers.Always.Text, q.Command, "     (added to "+cmp.Or(q.Covers.Always.Where, "command_allowlist")+")")
	}
	p.line("     [d]eny        (Enter)")
	p.line("")
	fmt.Fprint(w, ask(q))
}

// covers writes what an answer would cover. The command itself, which stands above in full, is not repeated where that takes
// more than a line; a pattern is shown whole.
func (p *page) covers(label, text, command, tail string) {
	line := label + visible(text) + tail
	if text == strings.TrimSpace(command) && (strings.ContainsAny(text, "\n\r") || screen.Clip(line, p.cols, p.dots) != line) {
		line = label + "this very text" + tail
	}
	p.line(screen.Wrap(line, p.cols, strings.Repeat(" ", len(label))))
}

func (t *atTerminal) fold(dir string) string {
	if rest, ok := strings.CutPrefix(dir, t.home); ok && t.home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	if dir == "" {
		return "a directory that is not known"
	}
	return dir
}

// bold makes a text stand out, unless the person wants no colours.
func (t *atTerminal) bold(s string) string {
	if t.env("NO_COLOR") != "" || t.dumb() {
		return s
	}
	return "\x1b[1;33m" + s + "\x1b[0m"
}

// command writes all of a command, line by line, long lines over several, with what the findings are about underlined.
func (p *page) command(text string, findings []approval.Finding) {
	const margin = "     "
	room := max(20, p.cols-len(margin))
	guilty := func(c screen.Cell) bool {
		return slices.ContainsFunc(findings, func(f approval.Finding) bool { return c.Start < f.End && c.End > f.Start })
	}
	for _, l := range screen.Split(text) {
		all := screen.Cells(l.Text, l.Start)
		for first := true; first || len(all) > 0; first = false {
			var shown, under strings.Builder
			used := 0
			for len(all) > 0 && used+all[0].Cols <= room {
				c := all[0]
				shown.WriteString(c.Show)
				fill := " "
				if guilty(c) {
					fill = p.bar
				}
				under.WriteString(strings.Repeat(fill, c.Cols))
				used, all = used+c.Cols, all[1:]
			}
			p.line(strings.TrimRight(margin+shown.String(), " "))
			if bar := strings.TrimRight(under.String(), " "); bar != "" {
				p.line(margin + bar)
			}
		}
	}
}
