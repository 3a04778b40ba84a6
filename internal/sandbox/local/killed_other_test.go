//go:build !linux

package local

// parent is for Linux, where there is a runner to kill.
func parent(string) {}
