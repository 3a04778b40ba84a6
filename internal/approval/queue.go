package approval

import (
	"context"
	"fmt"
	"sync"

	"hermes/internal/guard/scope"
)

// Queue is the Prompter of places where the answer comes on its own way, later: messengers, web pages, clients. Questions of a
// session stand in line, the oldest first. The zero value is not usable: Send is needed. Safe for concurrent use.
type Queue struct {
	// Send shows a question to the people of its session. An error means that it reached nobody.
	Send func(ctx context.Context, q Question) error

	mu      sync.Mutex
	waiting []*waiter // in the order of asking
}

type waiter struct {
	q      Question
	answer chan Answer // takes one
}

// Prompt sends the question and waits until it is answered or ctx ends.
func (u *Queue) Prompt(ctx context.Context, q Question) (Answer, error) {
	w := &waiter{q, make(chan Answer, 1)}
	u.mu.Lock()
	u.waiting = append(u.waiting, w) // before it is sent: the answer may be quick
	u.mu.Unlock()
	defer u.drop(w)
	if err := u.Send(ctx, q); err != nil {
		return Answer{}, fmt.Errorf("send question: %w", err)
	}
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

func (u *Queue) drop(w *waiter) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, o := range u.waiting {
		if o == w {
			u.waiting = append(u.waiting[:i], u.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// Pending lists a session's open questions, the oldest first, for a client that comes back.
func (u *Queue) Pending(s scope.Session) []Question {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []Question
	for _, w := range u.waiting {
		if w.q.Session == s && !s.IsZero() {
			out = append(out, w.q)
		}
	}
	return out
}

// Answer resolves the question of that session that a's ID and Sum name, and tells whether there was one. An answer that is
// stale, or for a session that is not the question's, resolves nothing.
func (u *Queue) Answer(s scope.Session, a Answer) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s.IsZero() || a.ID == "" {
		return false
	}
	for i, w := range u.waiting {
		if w.q.Session == s && w.q.ID == a.ID && w.q.Sum == a.Sum {
			u.waiting = append(u.waiting[:i], u.waiting[i+1:]...)
			w.answer <- a
			return true
		}
	}
	return false
}

// All gives every open question of a session the same choice and returns how many there were.
func (u *Queue) All(s scope.Session, c Choice, by, reason string) int {
	n := 0
	for _, q := range u.Pending(s) {
		a := q.Reply(c)
		a.By, a.Reason = by, reason
		if u.Answer(s, a) {
			n++
		}
	}
	return n
}
