package chat

import "sync"

// box hands values over to one goroutine, in order. Putting never waits.
type box[T any] struct {
	mu     sync.Mutex // guards what follows
	more   sync.Cond
	values []T
	closed bool
}

func newBox[T any]() *box[T] {
	b := &box[T]{}
	b.more.L = &b.mu
	return b
}

// put adds a value, and tells whether it will be taken.
func (b *box[T]) put(v T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.values = append(b.values, v)
		b.more.Signal()
	}
	return !b.closed
}

// close lets take end once all is taken.
func (b *box[T]) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.more.Broadcast()
}

// take waits for the next value; ok is false when there will be none.
func (b *box[T]) take() (v T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.values) == 0 && !b.closed {
		b.more.Wait()
	}
	if len(b.values) == 0 {
		return v, false
	}
	v, b.values = b.values[0], b.values[1:]
	return v, true
}
