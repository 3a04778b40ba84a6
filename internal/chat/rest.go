package chat

import (
	"context"
	"time"
)

// Rest returns when everything that was submitted before is done, what waits included: turns, those in the background too, and
// commands of the person's own. It returns an error only when ctx ends.
func (c *Chat) Rest(ctx context.Context) error {
	const look = 10 * time.Millisecond
	for {
		rests := make(chan bool, 1)
		open := c.acts.put(func() { // behind what was submitted
			c.mu.Lock()
			defer c.mu.Unlock()
			rests <- c.front == nil && c.shell == nil && len(c.back) == 0 && len(c.later) == 0
		})
		if !open {
			return nil
		}
		select {
		case done := <-rests:
			if done {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
