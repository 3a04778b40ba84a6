package approval

import "hermes/internal/guard/scope"

// maxTracked bounds the sessions whose denials are counted.
const maxTracked = 256

// breaker counts how often in a row the reviewing model said no to a session. The Desk's lock guards it.
type breaker struct {
	count map[scope.Session]int
	order []scope.Session // least recently denied first
}

// deny counts one denial and returns how many there are in a row.
func (b *breaker) deny(s scope.Session) int {
	if b.count == nil {
		b.count = map[scope.Session]int{}
	}
	n := b.count[s] + 1
	b.forget(s)
	if len(b.order) >= maxTracked {
		delete(b.count, b.order[0])
		b.order = b.order[1:]
	}
	b.count[s] = n
	b.order = append(b.order, s)
	return n
}

// forget starts a session's count anew.
func (b *breaker) forget(s scope.Session) {
	if _, ok := b.count[s]; !ok {
		return
	}
	delete(b.count, s)
	for i, o := range b.order {
		if o == s {
			b.order = append(b.order[:i], b.order[i+1:]...)
			return
		}
	}
}
