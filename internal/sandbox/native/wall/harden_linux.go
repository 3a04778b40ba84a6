package wall

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Harden puts up what walls there are for a process that somebody else has put where it is: no_new_privs always, the system
// call filter if there is one, and with drop nothing is left of its capabilities but the bits of keep. It holds for the whole
// process and for good, and must be called on the main thread, from which commands are started.
func Harden(program []byte, drop bool, keep uint64) error {
	if drop {
		if err := shed(keep); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	if _, _, no := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); no != 0 {
		return fmt.Errorf("no_new_privs: %w", no)
	}
	if len(program) == 0 {
		return nil
	}
	if len(program)%8 != 0 || len(program) > 8*4096 {
		return fmt.Errorf("system call filter: %d bytes are no program", len(program))
	}
	if err := filter(program); err != nil {
		return fmt.Errorf("system call filter: %w", err)
	}
	return nil
}

// shed gives up all capabilities but keep. Where the right to take them out of the bounding set is missing, no_new_privs has to
// do: with it nothing gains what this process does not hold.
func shed(keep uint64) error {
	for c := range uintptr(64) {
		if keep&(1<<c) != 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break
		} else if err != nil {
			return err
		}
	}
	if _, _, no := psx.Syscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); no != 0 && no != unix.EINVAL {
		return no
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return err
	}
	for i := range have {
		bits := uint32(keep >> (32 * i))
		have[i].Effective &= bits
		have[i].Permitted &= bits
		have[i].Inheritable &= bits
	}
	if _, _, no := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&have[0])), 0); no != 0 {
		return no
	}
	return nil
}
