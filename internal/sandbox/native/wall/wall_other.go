//go:build !linux

package wall

import "errors"

// Launch does nothing: the walls are Linux's.
func Launch(int, Groups, ...string) int { return 1 }

// Sweep does nothing: control groups are Linux's.
func (Groups) Sweep() {}

// Enter fails: the walls are Linux's.
func Enter(int) error { return errors.New("enter: not on this system") }

// Harden fails: the walls are Linux's.
func Harden([]byte, bool, uint64) error { return errors.New("harden: not on this system") }
