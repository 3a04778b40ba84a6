//go:build unix

package local

import "golang.org/x/sys/unix"

// groupAlive tells whether somebody is in a process group. While somebody is, its id goes to no other.
func groupAlive(id int) bool { return unix.Kill(-id, 0) != unix.ESRCH }

func killGroup(id int) { _ = unix.Kill(-id, unix.SIGKILL) }
