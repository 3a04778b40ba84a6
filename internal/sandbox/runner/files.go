package runner

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/sandbox"
)

var _ sandbox.Files = (*Client)(nil)

// info is what the runner tells of a file.
type info struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.time }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

func decodeInfo(r *reader) info {
	return info{r.str(), int64(r.num()), fs.FileMode(r.num()), time.Unix(0, int64(r.num()))}
}

// Open opens an ordinary file to be read. The caller closes it.
func (c *Client) Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error) {
	w := writer{}
	w.str(path)
	r, err := c.ask(ctx, askOpen, w.b)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	f := &remoteFile{c: c, ctx: ctx, id: r.num(), path: path}
	i := decodeInfo(r)
	if err := r.done(); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return f, i, nil
}

// Create begins a file that appears under its name, whole, when it is closed without an error of a write before. What was
// there is replaced, unless it is a link or no ordinary file.
func (c *Client) Create(ctx context.Context, path string, mode fs.FileMode) (io.WriteCloser, error) {
	w := writer{}
	w.str(path)
	w.num(uint64(mode.Perm()))
	r, err := c.ask(ctx, askCreate, w.b)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	f := &remoteFile{c: c, ctx: ctx, id: r.num(), path: path, writes: true}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return f, nil
}

// Stat tells of a file; of a link, of the link itself.
func (c *Client) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	w := writer{}
	w.str(path)
	r, err := c.ask(ctx, askStat, w.b)
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", path, err)
	}
	i := decodeInfo(r)
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("stat %s: %w", path, err)
	}
	return i, nil
}

// List lists a directory, by name, at most 50,000 entries.
func (c *Client) List(ctx context.Context, path string) ([]fs.FileInfo, error) {
	w := writer{}
	w.str(path)
	r, err := c.ask(ctx, askList, w.b)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	var all []fs.FileInfo
	for range min(r.num(), uint64(len(r.b))) {
		all = append(all, decodeInfo(r))
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// remoteFile is a file that is open inside.
type remoteFile struct {
	c      *Client
	ctx    context.Context // of the opening: its end ends every use
	id     uint64
	path   string
	writes bool

	mu     sync.Mutex
	at     uint64
	err    error
	closed bool
}

func (f *remoteFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	w := writer{}
	w.num(f.id)
	w.num(f.at)
	w.num(uint64(min(len(p), piece)))
	r, err := f.c.ask(f.ctx, askRead, w.b)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", f.path, err)
	}
	n := copy(p, r.raw())
	f.at += uint64(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *remoteFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	done := 0
	for f.err == nil && done < len(p) {
		part := p[done:min(len(p), done+piece)]
		w := writer{}
		w.num(f.id)
		w.raw(part)
		if _, err := f.c.ask(f.ctx, askWrite, w.b); err != nil {
			f.err = fmt.Errorf("write %s: %w", f.path, err)
			break
		}
		done += len(part)
	}
	return done, f.err
}

// Close ends the use. It may be called twice.
func (f *remoteFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	w := writer{}
	w.num(f.id)
	what := askClose
	if f.writes && f.err == nil {
		what = askCommit
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), answerTime)
	defer cancel()
	if f.writes && f.ctx.Err() != nil {
		what, f.err = askClose, context.Cause(f.ctx)
	}
	if _, err := f.c.ask(ctx, what, w.b); err != nil && f.writes {
		return fmt.Errorf("close %s: %w", f.path, err)
	}
	if f.writes && f.err != nil {
		return fmt.Errorf("close %s: not written: %w", f.path, f.err)
	}
	return nil
}
