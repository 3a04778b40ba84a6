//go:build !linux

package wall

import "errors"

// Launch does nothing: the walls are Linux's.
func Launch(int, ...string) int { return 1 }

// Enter fails: the walls are Linux's.
func Enter(int) error { return errors.New("enter: not on this system") }

// Harden fails: the walls are Linux's.
func Harden([]byte, bool, uint64) error { return errors.New("harden: not on this system") }
