package process

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/internal/launch"
)

// maxLine is where a line that does not end is broken, in bytes.
const maxLine = 16 << 10

// lines keeps the last lines of an output, as plain text.
type lines struct {
	most  int   // characters
	kept  int   // characters kept
	first int64 // number of the first line that is kept, from 0
	all   []string
	open  []byte // the line that has not ended
}

// add takes output and tells each line that has ended.
func (l *lines) add(p []byte, ended func(line string)) {
	for _, c := range p {
		if c == '\n' || len(l.open) >= maxLine && utf8.RuneStart(c) {
			line := Plain(string(l.open))
			l.open = l.open[:0]
			l.put(line)
			if ended != nil {
				ended(line)
			}
		}
		if c != '\n' {
			l.open = append(l.open, c)
		}
	}
}

// end makes a line of what has not ended.
func (l *lines) end() {
	if len(l.open) > 0 {
		l.put(Plain(string(l.open)))
		l.open = nil
	}
}

func (l *lines) put(line string) {
	l.all = append(l.all, line)
	l.kept += utf8.RuneCountInString(line) + 1
	drop := 0
	for l.kept > l.most && drop < len(l.all)-1 {
		l.kept -= utf8.RuneCountInString(l.all[drop]) + 1
		l.all[drop] = ""
		drop++
	}
	l.all = l.all[drop:]
	l.first += int64(drop)
}

// count returns how many lines there were.
func (l *lines) count() int64 { return l.first + int64(len(l.all)) }

// Text is a piece of an output.
type Text struct {
	From  int64    // number of the first line, from 0
	Lines []string // whole lines
	Open  string   // the line after them that has not ended, where they reach the end
	Next  int64    // the line after them
	Total int64    // lines there are
	Lost  int64    // lines that were asked for and are no longer at hand
}

// String returns the text.
func (t Text) String() string {
	s := strings.Join(t.Lines, "\n")
	if t.Open != "" && len(t.Lines) > 0 {
		s += "\n"
	}
	return s + t.Open
}

// Read returns most lines of its output, from a line on; a negative from counts from the end. most less than 1 is all.
func (p *Process) Read(from int64, most int) Text {
	for try := 0; ; try++ {
		p.mu.Lock()
		held, before := p.begun.Held, p.out.count()
		p.mu.Unlock()
		open := ""
		if held != nil {
			open = held() // it has a lock of its own, under which output comes here
		}
		p.mu.Lock()
		if p.out.count() != before && try < 3 { // the line has ended meanwhile
			p.mu.Unlock()
			continue
		}
		if p.out.count() != before {
			open = ""
		}
		t := p.read(from, most, open)
		p.mu.Unlock()
		return t
	}
}

func (p *Process) read(from int64, most int, open string) Text {
	l := &p.out
	if from < 0 {
		from = max(l.count()+from, l.first)
	}
	t := Text{From: min(max(from, l.first), l.count()), Total: l.count()}
	t.Lost = max(0, l.first-from)
	rest := l.all[t.From-l.first:]
	if most > 0 && len(rest) > most {
		rest = rest[:most]
	}
	t.Lines = append([]string(nil), rest...)
	t.Next = t.From + int64(len(rest))
	if t.Next == t.Total && p.ended.IsZero() {
		t.Open = Plain(string(l.open) + open)
	}
	return t
}

// News returns what it has printed since its agent read last, at most the last lines of that. What has not ended comes again.
func (p *Process) News(most int) Text {
	p.mu.Lock()
	from := p.seen
	p.mu.Unlock()
	t := p.Read(from, 0)
	p.mu.Lock()
	p.seen = max(p.seen, t.Next)
	p.mu.Unlock()
	if drop := len(t.Lines) - most; most > 0 && drop > 0 {
		t.Lines, t.From, t.Lost = t.Lines[drop:], t.From+int64(drop), t.Lost+int64(drop)
	}
	return t
}

// Settle waits for output after something was done to it: for the first of it not longer than first, then until nothing came for
// a while, but not longer than most altogether, nor beyond its end.
func (p *Process) Settle(first, still, most time.Duration) {
	begin := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		last := p.last
		p.mu.Unlock()
		switch now := time.Now(); {
		case now.Sub(begin) >= most,
			!last.After(begin) && now.Sub(begin) >= first,
			last.After(begin) && now.Sub(last) >= still:
			return
		}
	}
}

// output takes what it prints, redacted.
type output struct{ p *Process }

func (o output) Write(text []byte) (int, error) {
	p := o.p
	var notices []Notice
	p.mu.Lock()
	p.last = time.Now()
	if p.whole != nil {
		_, _ = p.whole.Write(text) // it never fails
	}
	p.out.add(text, func(line string) {
		if n, ok := p.matched(line); ok {
			notices = append(notices, n)
		}
	})
	tee := p.spec.Tee
	if p.alone {
		tee = nil
	}
	p.mu.Unlock()
	for _, n := range notices {
		p.r.o.Notify(n)
	}
	if tee != nil {
		_, _ = tee.Write(text) // who looks on does not stop it
	}
	return len(text), nil
}

// display takes what its terminal shows, and gives the answers a terminal gives.
type display struct{ p *Process }

func (d display) Write(text []byte) (int, error) {
	p := d.p
	p.mu.Lock()
	p.last = time.Now()
	var answer []byte
	if p.screen != nil {
		answer = p.screen.Write(text)
	}
	p.mu.Unlock()
	if len(answer) > 0 {
		_ = p.in.write(answer) // one who does not read gets no answer
	}
	return len(text), nil
}

// ErrNoTerminal is the error for a process without a terminal, or whose terminal was closed.
var ErrNoTerminal = errors.New("it has no terminal")

// View is what a person would see on a terminal.
type View struct {
	Rows, Cols int
	Lines      []string // without blanks at their ends; empty ones at the end are left out
	Above      int      // so many of them have gone off its top
	Row, Col   int      // of the cursor, from 0
	Hidden     bool     // the cursor does not show
	Title      string
}

// Look returns what its terminal shows, without secrets, and at most so many lines that have gone off its top.
func (p *Process) Look(above int) (View, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.screen == nil {
		return View{}, ErrNoTerminal
	}
	clean := p.begun.Clean
	if clean == nil {
		return View{}, errors.New("it does not run yet")
	}
	return p.screen.View(above, clean), nil
}

// Resize gives its terminal another size.
func (p *Process) Resize(rows, cols int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.screen == nil || !p.ended.IsZero() {
		return ErrNoTerminal
	}
	p.screen.Resize(rows, cols)
	for {
		select {
		case p.resize <- size(rows, cols):
			return nil
		case <-p.resize: // one that nobody took counts no more
		}
	}
}

// CloseTerminal puts its terminal away: it runs on, and is not looked at any more.
func (p *Process) CloseTerminal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.screen == nil {
		return ErrNoTerminal
	}
	p.screen = nil
	return nil
}

// Write writes to its input, or types on its terminal, if that is allowed: what a shell reads, it runs. The result of a refusal
// says why.
func (p *Process) Write(ctx context.Context, text string) (launch.Result, error) {
	switch {
	case p.in == nil || p.spec.Judge == nil:
		return launch.Result{}, errNoInput
	case p.over():
		return launch.Result{}, errOver
	}
	p.typing.Lock()
	defer p.typing.Unlock() // so that it is typed in the order it was judged in
	r, err := p.spec.Judge(ctx, text)
	if err != nil || r.Refused() {
		return r, err
	}
	return r, p.in.write([]byte(text))
}

// CloseInput ends its input; on a terminal it types what ends input there.
func (p *Process) CloseInput() error {
	switch {
	case p.in == nil:
		return errNoInput
	case p.over():
		return errOver
	case p.spec.Terminal != nil:
		return p.in.write([]byte{4})
	}
	p.in.close()
	return nil
}

var (
	errNoInput = errors.New("it has no input: only commands in the background and terminals have one")
	errOver    = errors.New("it has ended")
)
