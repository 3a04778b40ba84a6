package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"hermes/internal/llm"
	"hermes/internal/session"
)

// storing is how long one message may take to get to the disk: longer than another process holds the database.
const storing = 15 * time.Second

// store is where a conversation is kept: a *session.View, and in tests what stands in for one.
type store interface {
	Append(ctx context.Context, id string, m session.Message) (int64, error)
	Live(ctx context.Context, id string) ([]session.Message, error)
	Last(ctx context.Context, id string) (session.Message, bool, error) // of Live
}

// history is the conversation as the model sees it, in memory and in the store alike. It is for one goroutine.
type history struct {
	view    store
	id      string
	entries []entry
	ids     map[string]bool // of calls
	results *lengths        // of the last answer
}

// entry is one message with about how many tokens it takes in a request.
type entry struct {
	session.Message
	size int // 0: not counted
	most int // that was read of a result

	results *lengths // of a result: those of the same answer
}

// load reads what is stored.
func (h *history) load(ctx context.Context) error {
	all, err := h.view.Live(ctx, h.id)
	if err != nil {
		return err
	}
	h.entries, h.ids = make([]entry, 0, len(all)+16), map[string]bool{}
	for _, m := range all {
		h.add(m)
	}
	return nil
}

func (h *history) add(m session.Message) {
	e := entry{Message: m}
	switch m.Role {
	case llm.Assistant:
		h.results = &lengths{}
	case llm.Result:
		if h.results == nil {
			h.results = &lengths{}
		}
		h.results.all = append(h.results.all, len(m.Text))
		e.results = h.results
	}
	h.entries = append(h.entries, e)
	for _, c := range m.Calls {
		h.ids[c.ID] = true
	}
}

// store puts a message on the disk, also when ctx has ended: what has happened has happened. One that may be stored already,
// because the error came late, is not stored twice.
func (h *history) store(ctx context.Context, m session.Message) (session.Message, error) {
	ctx = context.WithoutCancel(ctx)
	m.Key, m.At = rand.Text(), time.Now()
	var err error
	for range 2 {
		timed, cancel := context.WithTimeout(ctx, storing)
		m.ID, err = h.view.Append(timed, h.id, m)
		cancel()
		if err == nil {
			return m, nil
		}
	}
	return m, err
}

// append stores a message at the end.
func (h *history) append(ctx context.Context, m session.Message) error {
	m, err := h.store(ctx, m)
	if err == nil {
		h.add(m)
	}
	return err
}

// last returns the last message, and whether there is one.
func (h *history) last() (session.Message, bool) {
	if len(h.entries) == 0 {
		return session.Message{}, false
	}
	return h.entries[len(h.entries)-1].Message, true
}

// pending tells whether the model is to speak next.
func (h *history) pending() bool {
	m, ok := h.last()
	return ok && waits(m)
}

// waits tells whether the model is to speak after a message that is the last.
func waits(m session.Message) bool {
	return m.Covers == 0 && (m.Role != llm.Assistant || len(m.Calls) > 0)
}

// open returns the calls of the last answer that have no result.
func (h *history) open() []llm.Call {
	for i := len(h.entries) - 1; i >= 0; i-- {
		m := h.entries[i]
		if m.Role != llm.Assistant {
			continue
		}
		_, missing := results(m.Message, h.entries[i+1:])
		return missing
	}
	return nil
}

// results finds, among the messages up to the next answer, the first result of each call of an answer, in the order of the calls,
// and returns the calls that have none. The place of a missing one is nil.
func results(answer session.Message, after []entry) (found []*entry, missing []llm.Call) {
	if len(answer.Calls) == 0 {
		return nil, nil
	}
	at := make(map[string]int, len(answer.Calls))
	for i, c := range answer.Calls {
		at[c.ID] = i
	}
	found = make([]*entry, len(answer.Calls))
	for i := range after {
		m := &after[i]
		if m.Role == llm.Assistant {
			break
		}
		if k, ok := at[m.CallID]; ok && m.Role == llm.Result && found[k] == nil {
			found[k] = m
		}
	}
	for i, c := range answer.Calls {
		if found[i] == nil {
			missing = append(missing, c)
		}
	}
	return found, missing
}

// fresh returns an id for a call that no other call of the conversation has: both formats match results by it.
func (h *history) fresh(id string) string {
	if id != "" && !h.ids[id] {
		h.ids[id] = true
		return id
	}
	if id == "" {
		id = "call"
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s_%d", id, n); !h.ids[next] {
			h.ids[next] = true
			return next
		}
	}
}
