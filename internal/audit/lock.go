package audit

import (
	"errors"
	"os"
	"time"
)

// lock is the lock file, which holds off other processes. Its users hold off each other.
type lock struct{ *os.File }

type lockMode bool

const (
	shared    lockMode = false
	exclusive lockMode = true
)

// errBusy is a lock that somebody else has.
var errBusy = errors.New("locked by another process")

// lockTime is how long a lock is waited for: it is held for as long as a record takes to write.
const lockTime = 10 * time.Second

func openLock(root *os.Root, flag int) (*lock, error) {
	f, err := root.OpenFile(lockName, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return &lock{f}, nil
}

// take waits for the lock. It is polled, because a process that hangs with it should be an error here, not another hang.
func (l *lock) take(mode lockMode) error {
	deadline, pause := time.Now().Add(lockTime), 100*time.Microsecond
	for {
		err := l.try(mode)
		if !errors.Is(err, errBusy) {
			return err
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Millisecond)
	}
}
