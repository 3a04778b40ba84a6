package seccomp

import "golang.org/x/sys/unix"

// native is this machine. A 32-bit program has another architecture's name.
func native() architecture {
	return architecture{
		audit: 0xc00000b7, last: unix.SYS_RSEQ_SLICE_YIELD,
		refused: refused(),
		missing: []uint32{unix.SYS_CLONE3}, // its flags are behind a pointer
		looked:  looked(),
	}
}
