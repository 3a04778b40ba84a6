package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"hermes/internal/tool"
)

// arguments takes secrets out of what a model wrote as arguments: out of the text, where a name beside a value tells what it is, and
// out of each string, which JSON may have written with escapes. What was JSON stays so if it can.
func arguments(text string, redact func(string) string) string {
	plain := redact(text)
	if !json.Valid([]byte(text)) {
		return plain
	}
	if json.Valid([]byte(plain)) {
		return deep(plain, redact)
	}
	if out := deep(text, redact); redact(out) == out {
		return out
	}
	return plain // no JSON any more, but without its secrets
}

// deep redacts the strings of a JSON text, names of fields included. A text in which nothing is found stays as it is written.
func deep(text string, redact func(string) string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	w := &writer{redact: redact}
	if !w.value(d) || !w.changed {
		return text
	}
	return w.out.String()
}

// writer writes JSON again as it is read.
type writer struct {
	out     bytes.Buffer
	redact  func(string) string
	changed bool
}

func (w *writer) value(d *json.Decoder) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return w.scalar(token)
	}
	closing := map[json.Delim]byte{'{': '}', '[': ']'}[delim]
	w.out.WriteByte(byte(delim))
	for n := 0; d.More(); n++ {
		if n > 0 {
			w.out.WriteByte(',')
		}
		if delim == '{' {
			if !w.value(d) {
				return false
			}
			w.out.WriteByte(':')
		}
		if !w.value(d) {
			return false
		}
	}
	w.out.WriteByte(closing)
	_, err = d.Token()
	return err == nil
}

func (w *writer) scalar(token json.Token) bool {
	if s, ok := token.(string); ok {
		r := w.redact(s)
		w.changed = w.changed || r != s
		token = r
	}
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false)
	if e.Encode(token) != nil {
		return false
	}
	w.out.Truncate(w.out.Len() - 1) // the line's end
	return true
}

// clean is a result without secrets. Data becomes JSON on the way.
func clean(r tool.Result, redact func(string) string) tool.Result {
	parts := make([]tool.Part, len(r.Parts))
	for i, p := range r.Parts {
		p.Text, p.Source = redact(p.Text), redact(p.Source)
		parts[i] = p
	}
	r.Parts, r.Diff, r.Summary = parts, redact(r.Diff), redact(r.Summary)
	if r.Data != nil {
		text, err := json.Marshal(r.Data)
		r.Data = nil
		if err == nil {
			if out := arguments(string(text), redact); json.Valid([]byte(out)) {
				r.Data = json.RawMessage(out)
			}
		}
	}
	return r
}

// cleanError is an error whose text has lost its secrets. What it is can still be asked.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }

func (e *cleanError) Unwrap() error { return e.err }

func cleanErr(err error, redact func(string) string) error {
	if err == nil {
		return nil
	}
	return &cleanError{redact(err.Error()), err}
}
