package child

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Asked returns a context that ends when this process is asked to end: by Ctrl-C, or by SIGTERM as services are. After stop a
// further request ends the process at once.
func Asked(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	return signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
}

// Ended is Asked where Ctrl-C is a key like others: the context ends when this process is to end, or its terminal is gone.
func Ended(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	return signal.NotifyContext(parent, syscall.SIGTERM, syscall.SIGHUP)
}
