package redact

import (
	"bytes"
	"errors"
	"io"
)

// ErrClosed is given by a write after Close.
var ErrClosed = errors.New("redact writer: closed")

// Writer gives a stream that passes redacted text on to w. It passes on whole lines, so that a secret is masked wherever the
// chunks are cut, and holds back at most one line, and of a line at most 64 KiB; what comes out is what String would
// give for the whole. Close passes on the rest and does not close w; it may be called twice. Not safe for concurrent use.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{r: r, w: w, sc: &scanner{r: r, mode: r.mode}}
}

type writer struct {
	r      *Redactor
	w      io.Writer
	sc     *scanner
	held   []byte
	out    []byte
	err    error
	closed bool
}

// Write takes all of p, or fails because w failed; the first failure stays.
func (w *writer) Write(p []byte) (int, error) {
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
func (w *writer) Close() error {
	if !w.closed {
		w.closed = true
		if w.err == nil {
			w.pass(true)
		}
		w.held, w.out = nil, nil
	}
	return w.err
}

// pass redacts what is decided and writes it. If the redactor breaks, nothing raw is written, now or later.
func (w *writer) pass(final bool) {
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

func (w *writer) redact(final bool, failed *bool) (n int) {
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
