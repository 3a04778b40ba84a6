package seccomp

import "golang.org/x/sys/unix"

// native is this machine. The other way in is x32.
func native() architecture {
	return architecture{
		audit: 0xc000003e, last: unix.SYS_RSEQ_SLICE_YIELD, other: 0x40000000,
		refused: append(refused(), unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT,
			unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS),
		missing: []uint32{unix.SYS_CLONE3}, // its flags are behind a pointer
		looked:  looked(),
	}
}
