// Package redact takes secrets out of text that is about to be read by somebody: a model, a chat, a log, a screen.
//
// It works on copies only; it does not decide who may read what (see guard/taint and prompt), does not touch bytes that
// are executed or written, and does not hold the secrets it is told about (see secret).
//
// Failure direction: if the redactor itself breaks, the text is replaced by Unavailable, never passed on raw.
package redact

import (
	"crypto/rand"
	"sync"

	"hermes/internal/secret"
)

// Unavailable stands for a whole text that could not be redacted.
const Unavailable = "[redaction-unavailable]"

// Options say what a Redactor knows and how much it looks for. The zero value is a redactor for ordinary text.
type Options struct {
	Mode  Mode
	Known []secret.String // values to find wherever they appear, also encoded
	Key   []byte          // keys the short ids in marks; random when empty, so ids differ from process to process
}

// Redactor replaces secrets by marks such as ⟦secret:github-pat:3f1c⟧. The id is the same for the same secret within one
// Redactor and tells nothing without its key. A Redactor does not change after New and is safe for concurrent use.
type Redactor struct {
	mode  Mode
	key   []byte
	known *known
	fault func() // for the test of the failure direction
}

// Span is a part of a text that would be replaced. Offsets are in bytes.
type Span struct {
	Kind       Kind
	Start, End int
}

// New builds a Redactor.
func New(o Options) *Redactor {
	key := append([]byte(nil), o.Key...)
	if len(key) == 0 {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails: the runtime ends the process instead
	}
	return &Redactor{mode: o.Mode, key: key, known: newKnown(o.Known)}
}

// With gives a Redactor of another mode that knows the same values and writes the same ids.
func (r *Redactor) With(m Mode) *Redactor {
	c := *r
	c.mode = m
	return &c
}

// Mode gives the mode in force.
func (r *Redactor) Mode() Mode { return r.mode }

// String gives s with every secret replaced. Redacting twice gives what redacting once gives.
func (r *Redactor) String(s string) (out string) {
	defer func() {
		if recover() != nil {
			out = Unavailable
		}
	}()
	sc := newScanner(r)
	defer sc.release()
	n := sc.scan(s, true)
	if len(sc.out) == 0 {
		return s
	}
	return string(sc.render(nil, s[:n]))
}

// Append appends the redacted form of src to dst.
func (r *Redactor) Append(dst, src []byte) (out []byte) {
	keep := len(dst)
	defer func() {
		if recover() != nil {
			out = append(dst[:keep], Unavailable...)
		}
	}()
	sc := newScanner(r)
	defer sc.release()
	s := string(src)
	sc.scan(s, true)
	return sc.render(dst, s)
}

// Spans lists what String would replace, in order and without overlap.
func (r *Redactor) Spans(s string) []Span {
	sc := newScanner(r)
	defer sc.release()
	sc.scan(s, true)
	var spans []Span
	for _, h := range sc.out {
		if h.cont && len(spans) > 0 {
			spans[len(spans)-1].End = h.end
			continue
		}
		spans = append(spans, Span{Kind: h.kind, Start: h.start, End: h.end})
	}
	return spans
}

// Display gives what a settings page may show of a value: its mark, or the text for empty if nothing printable is set.
func (r *Redactor) Display(value, empty string) string {
	visible := false
	for i := 0; i < len(value); {
		n := joiner(value, i)
		if n == 0 && value[i] != '\n' && value[i] != '\t' && value[i] != ' ' {
			visible = true
			break
		}
		i += max(n, 1)
	}
	if !visible {
		return empty
	}
	return string(r.appendMark(nil, kindValue, r.sum(value)))
}

// newScanner takes a scanner from the pool; release gives it back without the text it saw.
func newScanner(r *Redactor) *scanner {
	if r.fault != nil {
		r.fault()
	}
	sc, _ := scanners.Get().(*scanner)
	if sc == nil {
		sc = &scanner{}
	}
	sc.r, sc.mode = r, r.mode
	return sc
}

func (sc *scanner) release() {
	*sc = scanner{hits: sc.hits[:0], out: sc.out[:0], flat: sc.flat[:0], index: sc.index[:0]}
	scanners.Put(sc)
}

var scanners sync.Pool
