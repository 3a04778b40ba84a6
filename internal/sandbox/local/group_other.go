//go:build !unix

package local

// There are no process groups: package child ends what it started as a whole.
func groupAlive(int) bool { return false }

func killGroup(int) {}
