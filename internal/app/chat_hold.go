package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"hermes/internal/home"
)

// holding is how long a conversation is waited for: one that was just left is free in a moment.
const holding = 500 * time.Millisecond

// hold keeps the conversation to this talk: two that write to one would answer each other's calls.
func (t *talk) hold(ctx context.Context) error {
	timed, cancel := context.WithTimeout(ctx, holding)
	defer cancel()
	name := "session-" + t.info.ID
	lock, err := t.a.dir.Lock(timed, name)
	var held *home.HeldError
	switch {
	case ctx.Err() == nil && errors.As(err, &held):
		return fmt.Errorf("conversation %s is open already (%s): go on there, or leave it there first", t.info.ID, cmp.Or(held.Holder, "by another process"))
	case err != nil:
		return err
	}
	t.closes = append(t.closes, func(context.Context) error { return lock.Discard() })
	return nil
}
