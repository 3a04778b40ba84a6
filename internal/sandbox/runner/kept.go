package runner

import "hermes/internal/sandbox"

var _ sandbox.Keeper = (*Client)(nil)

// Kept implements sandbox.Keeper.
func (c *Client) Kept() sandbox.Kept { return c.opt.State.Kept() }
