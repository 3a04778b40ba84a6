//go:build !linux

package runner

// Serve is for Linux only: elsewhere there is no runner, and commands run without one.
func Serve([]string, Parts) int { return 1 }
