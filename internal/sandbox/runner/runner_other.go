//go:build !linux

package runner

// Main is for Linux only: elsewhere there is no runner, and commands run without one.
func Main(int, Hooks) int { return 1 }

// Serve is for Linux only, as Main.
func Serve([]string, Parts) int { return 1 }
