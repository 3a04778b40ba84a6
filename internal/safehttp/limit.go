package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// watch ends a request that receives nothing for too long.
type watch struct {
	cancel context.CancelCauseFunc
	ctx    context.Context
	timer  *time.Timer
	idle   time.Duration
}

func (c *Client) watch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel, ctx: ctx, idle: c.o.Limits.Idle}
	return ctx, w
}

// failed ends a request that got no response.
func (w *watch) failed(err error) error {
	w.cancel(err)
	return err
}

// limit puts the response's body under the limits.
func (c *Client) limit(resp *http.Response, w *watch) error {
	if c.o.Limits.Body >= 0 && resp.ContentLength > c.o.Limits.Body && resp.Request.Method != http.MethodHead {
		_ = resp.Body.Close()
		w.cancel(ErrTooLarge)
		return fmt.Errorf("fetch %s: %w: %d bytes, at most %d", resp.Request.URL.Redacted(), ErrTooLarge, resp.ContentLength, c.o.Limits.Body)
	}
	b := &body{ReadCloser: resp.Body, watch: w, left: c.o.Limits.Body}
	if w.idle > 0 {
		w.timer = time.AfterFunc(w.idle, func() { w.cancel(ErrIdle) })
	}
	if stream, ok := resp.Body.(io.ReadWriteCloser); ok { // 101 Switching Protocols: both ways, as long as it takes
		if w.timer != nil {
			w.timer.Stop()
		}
		resp.Body = stream
		return nil
	}
	resp.Body = b
	return nil
}

// body is a response's body that ends with an error when it is too large or too slow.
type body struct {
	io.ReadCloser
	watch *watch
	left  int64 // negative: no limit
}

func (b *body) Read(p []byte) (int, error) {
	if b.left >= 0 && int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more, to see whether there is more
	}
	n, err := b.ReadCloser.Read(p)
	if b.watch.timer != nil && n > 0 {
		b.watch.timer.Reset(b.watch.idle)
	}
	if b.left >= 0 {
		if int64(n) > b.left {
			n, err = int(b.left), ErrTooLarge
			b.watch.cancel(err)
		}
		b.left -= int64(n)
	}
	if err != nil && !errors.Is(err, io.EOF) && context.Cause(b.watch.ctx) == ErrIdle {
		err = ErrIdle
	}
	return n, err
}

func (b *body) Close() error {
	if b.watch.timer != nil {
		b.watch.timer.Stop()
	}
	err := b.ReadCloser.Close()
	b.watch.cancel(context.Canceled)
	return err
}
