package agent

import (
	"context"
	"errors"
)

// Turn stores what the person says and lets the model work until it answers. Hear is called for one event at a time and should not
// take long; the last event is Done. The end of ctx interrupts: calls end, and what had come is kept and stored. The error is that
// of Done; without a Done, nothing has happened: ErrBusy, ErrEmpty.
func (a *Agent) Turn(ctx context.Context, text string, hear func(Event)) error {
	return errors.New("turn: not there yet")
}

// Resume goes on where a turn stopped that was killed, or that failed: the last message is the person's, or an answer whose calls
// wait. Calls without a result get one that says so; they are not made again. Where nothing waits, nothing is asked.
func (a *Agent) Resume(ctx context.Context, hear func(Event)) error {
	return errors.New("turn: not there yet")
}

// Pending tells whether the conversation waits for the model, so that Resume would ask it.
func (a *Agent) Pending(ctx context.Context) (bool, error) {
	return false, errors.New("turn: not there yet")
}

// Compact puts a summary in place of older messages, which stay stored. Hear is given what it cost and Compacted, and no Done.
func (a *Agent) Compact(ctx context.Context, hear func(Event)) error {
	return errors.New("turn: not there yet")
}
