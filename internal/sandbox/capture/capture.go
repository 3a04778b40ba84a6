// Package capture keeps a command's output in bounded memory: its beginning and its end, and the whole of it in a file when
// that is too long.
//
// It does not redact (see redact): give it what is redacted, or redact what it returns. Failure direction: a file that cannot
// be made as private as it has to be is not made, and the text then says that the rest is gone.
package capture

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

// Defaults.
const (
	DefaultLimit = 50_000
	spillLimit   = 5_000_000
	keepSpill    = 7 * 24 * time.Hour
)

// Config says how much is kept.
type Config struct {
	Limit int              // characters of the text; 0: DefaultLimit. Less than 0: all, for readers inside
	Dir   string           // where whole outputs are kept, a directory of Hermes' own; empty: they are not
	Now   func() time.Time // nil: time.Now
	Log   func(error)      // what went wrong with the file; may be nil
}

// Buffer takes the output of a command. Write is safe for concurrent use; it never fails. Close it.
type Buffer struct {
	conf Config

	mu    sync.Mutex
	head  []byte // the first characters, up to head's share; until there are more than the limit, all of them
	tail  ring
	total int    // characters
	part  []byte // the beginning of a character whose end did not come yet
	spill *spill // nil until there is too much
	path  string
}

// New returns an empty buffer.
func New(c Config) *Buffer {
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Buffer{conf: c}
}

// headShare is how many of limit characters are from the beginning.
func headShare(limit int) int { return limit * 2 / 5 }

// Write takes output. Characters that come in two pieces are put together; bytes that are no character become U+FFFD, one each.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if len(b.part) > 0 {
		p = append(b.part, p...)
		b.part = nil
	}
	whole := len(p) - unfinished(p)
	b.part = append([]byte(nil), p[whole:]...)
	for p = p[:whole]; len(p) > 0; {
		size := len(p)
		if size > blockSize {
			size = blockSize - unfinished(p[:blockSize])
		}
		b.take(valid(p[:size]))
		p = p[size:]
	}
	return n, nil
}

// blockSize bounds what is looked at at once.
const blockSize = 32 << 10

// unfinished returns how many bytes at the end begin a character that is not whole.
func unfinished(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if utf8.RuneStart(p[len(p)-n]) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// valid returns p, with U+FFFD for each byte that is no character.
func valid(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	out := make([]byte, 0, 2*len(p))
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		out = utf8.AppendRune(out, r)
		p = p[size:]
	}
	return out
}

// take adds whole characters.
func (b *Buffer) take(p []byte) {
	count := utf8.RuneCount(p)
	b.total += count
	switch {
	case b.tail.size > 0:
		b.spill.write(p, count)
		b.tail.add(p, count)
	default:
		b.head = append(b.head, p...)
		if b.conf.Limit >= 0 && b.total > b.conf.Limit {
			b.overflow()
		}
	}
}

// overflow begins to keep the end apart from the beginning; the file gets what there was so far.
func (b *Buffer) overflow() {
	b.spill = b.open()
	b.spill.write(b.head, b.total)
	keep := headShare(b.conf.Limit)
	b.tail = ring{size: b.conf.Limit - keep}
	at, n := 0, 0
	for n < keep && at < len(b.head) {
		_, size := utf8.DecodeRune(b.head[at:])
		at += size
		n++
	}
	rest := append([]byte(nil), b.head[at:]...)
	b.head = bytes.Clone(b.head[:at])
	b.tail.add(rest, b.total-n)
}

func (b *Buffer) open() *spill {
	if b.conf.Dir == "" {
		return nil
	}
	s, err := openSpill(b.conf.Dir, b.conf.Now())
	if err != nil {
		if b.conf.Log != nil {
			b.conf.Log(fmt.Errorf("keep the whole output: %w", err))
		}
		return nil
	}
	b.path = s.f.Name()
	return s
}

// Path returns where the whole output is kept so far, "" while it is short or where it cannot be.
func (b *Buffer) Path() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.path
}

// Result is what is kept.
type Result struct {
	Text  string
	Total int    // characters of the whole output
	Cut   bool   // Text is not all of it
	Path  string // where more of it is; empty: nowhere
}

// Close ends the taking and returns what is kept. It may be called twice.
func (b *Buffer) Close() Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.part) > 0 { // the beginning of a character is none
		b.take(valid(b.part))
		b.part = nil
	}
	r := Result{Total: b.total, Path: b.path}
	if b.tail.size == 0 {
		r.Text = string(b.head)
		return r
	}
	if err := b.spill.close(); err != nil && b.conf.Log != nil {
		b.conf.Log(fmt.Errorf("keep the whole output: %w", err))
	}
	b.spill = nil
	r.Cut = true
	omitted := b.total - b.conf.Limit
	r.Text = string(b.head) + fmt.Sprintf("\n\n... [OUTPUT TRUNCATED - %d chars omitted out of %d total] ...\n\n", omitted, b.total) +
		string(b.tail.text())
	return r
}

var _ io.Writer = (*Buffer)(nil)

// ring keeps the last size characters.
type ring struct {
	size   int
	blocks []block
	count  int // characters in all blocks
}

type block struct {
	text  []byte
	count int
}

func (r *ring) add(p []byte, count int) {
	if last := len(r.blocks) - 1; last >= 0 && len(r.blocks[last].text)+len(p) <= 8<<10 {
		r.blocks[last].text = append(r.blocks[last].text, p...)
		r.blocks[last].count += count
	} else {
		r.blocks = append(r.blocks, block{append(make([]byte, 0, max(len(p), 8<<10)), p...), count})
	}
	r.count += count
	for len(r.blocks) > 1 && r.count-r.blocks[0].count >= r.size {
		r.count -= r.blocks[0].count
		r.blocks[0].text = nil
		r.blocks = r.blocks[1:]
	}
}

// text returns the last size characters.
func (r *ring) text() (out []byte) {
	skip := max(0, r.count-r.size)
	for _, b := range r.blocks {
		text := b.text
		for skip > 0 && len(text) > 0 {
			_, size := utf8.DecodeRune(text)
			text = text[size:]
			skip--
		}
		out = append(out, text...)
	}
	return out
}

// spill is the file for the whole output.
type spill struct {
	f     *os.File
	left  int // characters it still takes
	err   error
	noted bool
}

func (s *spill) write(p []byte, count int) {
	if s == nil || s.noted || s.err != nil {
		return
	}
	if count > s.left {
		at := 0
		for range s.left {
			_, size := utf8.DecodeRune(p[at:])
			at += size
		}
		_, s.err = s.f.Write(append(p[:at:at], fmt.Sprintf("\n\n... [FULL OUTPUT CAPPED AT %d chars] ...\n", spillLimit)...))
		s.left, s.noted = 0, true
		return
	}
	_, s.err = s.f.Write(p)
	s.left -= count
}

func (s *spill) close() error {
	if s == nil {
		return nil
	}
	err := s.f.Close()
	if s.err != nil {
		return s.err
	}
	return err
}
