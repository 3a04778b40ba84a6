package process

import (
	"errors"
	"io"
	"sync"

	"hermes/internal/sandbox"
)

// maxInput bounds what is written and not read yet.
const maxInput = 1 << 20

// input is a pipe with room in it: whoever writes never waits.
type input struct {
	mu     sync.Mutex // guards what follows
	some   sync.Cond
	text   []byte
	closed bool
}

func newInput() *input {
	in := &input{}
	in.some.L = &in.mu
	return in
}

// Read waits for input.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.text) == 0 && !in.closed {
		in.some.Wait()
	}
	if len(in.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.text)
	in.text = in.text[n:]
	if len(in.text) == 0 {
		in.text = nil
	}
	return n, nil
}

func (in *input) write(p []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed:
		return errors.New("its input is closed")
	case len(in.text)+len(p) > maxInput:
		return errors.New("it does not read its input: too much waits there already")
	}
	in.text = append(in.text, p...)
	in.some.Signal()
	return nil
}

func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.some.Broadcast()
}

func size(rows, cols int) sandbox.Size { return sandbox.Size{Rows: uint16(rows), Cols: uint16(cols)} }
