package redact

import (
	"bytes"
	"errors"
	"hash"
	"io"
)

// ErrClosed is given by a write after Close.
var ErrClosed = errors.New("redact writer: closed")

// Writer gives a stream that passes redacted text on to w. It passes on whole lines, so that a secret is masked wherever the
// chunks are cut, and holds back at most one line, and of a line at most 64 KiB; what comes out is what String would
// give for the whole. Close passes on the rest and does not close w; it may be called twice. Not safe for concurrent use.
func (r *Redactor) Writer(w io.Writer) *Writer {
	return &Writer{r: r, w: w, sc: &scanner{r: r, mode: r.mode}}
}

// Writer is such a stream; the zero Writer does not work.
type Writer struct {
	r      *Redactor
	w      io.Writer
	sc     *scanner
	held   []byte
	out    []byte
	err    error
	closed bool
}

// Write takes all of p, or fails because w failed; the first failure stays.
func (w *Writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, ErrClosed
	}
	if w.err != nil {
		return 0, w.err
	}
	w.held = append(w.held, p...)
	if bytes.IndexByte(p, '\n') >= 0 || len(w.held) > maxLine {
		w.pass(false)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close passes on what is held back.
func (w *Writer) Close() error {
	if !w.closed {
		w.closed = true
		if w.err == nil {
			w.pass(true)
		}
		w.held, w.out = nil, nil
	}
	return w.err
}

// Held returns what is held back, as it would be passed on if the text ended here. It changes nothing. A secret of which only
// the beginning is there may not be told from other text yet.
func (w *Writer) Held() (text string) {
	if w.closed || w.err != nil || len(w.held) == 0 {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = Unavailable
		}
	}()
	held := string(w.held)
	sc := *w.sc
	sc.out, sc.hits, sc.flat, sc.index = nil, nil, nil, nil
	if sc.open != nil {
		open, ok := sc.open.(hash.Cloner)
		if !ok {
			return Unavailable
		}
		clone, err := open.Clone()
		if err != nil {
			return Unavailable
		}
		sc.open = clone
	}
	n := sc.scan(held, true)
	return string(sc.render(nil, held[:n]))
}

// pass redacts what is decided and writes it. If the redactor breaks, nothing raw is written, now or later.
func (w *Writer) pass(final bool) {
	failed := false
	n := w.redact(final, &failed)
	if failed {
		w.err = errors.New("redact writer: " + Unavailable)
		_, _ = io.WriteString(w.w, Unavailable)
		w.held = nil
		return
	}
	if len(w.out) > 0 {
		if _, err := w.w.Write(w.out); err != nil {
			w.err = err
			return
		}
	}
	w.held = w.held[:copy(w.held, w.held[n:])]
}

func (w *Writer) redact(final bool, failed *bool) (n int) {
	defer func() {
		if recover() != nil {
			*failed = true
		}
	}()
	if w.r.fault != nil {
		w.r.fault()
	}
	text := string(w.held)
	n = w.sc.scan(text, final)
	w.out = w.sc.render(w.out[:0], text[:n])
	return n
}
