package runner

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// terminal opens a new terminal of a size.
func terminal(rows, cols uint64) (master, slave int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	number, err := unix.IoctlGetUint32(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	name := "/dev/pts/" + strconv.FormatUint(uint64(number), 10)
	if err == nil {
		slave, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		err = resize(master, uint16(rows), uint16(cols))
	}
	if err != nil {
		_ = unix.Close(master)
		return -1, -1, &os.PathError{Op: "open terminal", Path: name, Err: err}
	}
	return master, slave, nil
}

func resize(fd int, rows, cols uint16) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
}
