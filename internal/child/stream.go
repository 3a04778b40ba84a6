package child

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"time"
)

// streams are the copies between the caller's readers and writers and the child.
type streams struct {
	handed []*os.File     // the child's ends, closed here once it has started
	outs   []*copying     // from the child
	ins    []*copying     // to the child
	open   sync.WaitGroup // copies from the child that have not ended
}

// copying is one direction of one pipe.
type copying struct {
	dst io.Writer
	src io.Reader
	end io.Closer // our end of the pipe; nil when somebody else closes it
	err error     // valid when the copy has ended
	cut bool      // the same: something still held the pipe
}

// source is our end of a pipe or terminal the child writes to.
type source interface {
	io.ReadCloser
	SetReadDeadline(t time.Time) error
}

// open prepares descriptors 0 to 2.
func (p *Process) open(stdio Stdio) (files []*os.File, err error) {
	p.streams = &streams{}
	defer func() {
		if err != nil {
			p.streams.abandon()
		}
	}()
	if stdio.Terminal != nil {
		return p.openTerminal(stdio)
	}
	in, err := p.streams.input(stdio.In)
	if err != nil {
		return nil, err
	}
	out, err := p.streams.output(stdio.Out)
	if err != nil {
		return nil, err
	}
	if same(stdio.Out, stdio.Err) {
		return []*os.File{in, out, out}, nil
	}
	errs, err := p.streams.output(stdio.Err)
	if err != nil {
		return nil, err
	}
	return []*os.File{in, out, errs}, nil
}

// same tells whether two writers are one. Types that cannot be compared are two.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

// openTerminal connects a new terminal.
func (p *Process) openTerminal(stdio Stdio) ([]*os.File, error) {
	term, err := newTerminal(*stdio.Terminal)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", bare(err))
	}
	p.term = term
	s := p.streams
	s.handed = append(s.handed, term.child)
	out := stdio.Out
	if out == nil {
		out = io.Discard
	}
	s.outs = append(s.outs, &copying{dst: out, src: term.ours, end: term.ours})
	if stdio.In != nil {
		s.ins = append(s.ins, &copying{dst: term.ours, src: io.MultiReader(stdio.In, strings.NewReader(endOfInput))})
	}
	return []*os.File{term.child, term.child, term.child}, nil
}

// endOfInput is what a terminal takes as the end of what is typed, while the program has not asked for single keys.
const endOfInput = "\x04"

func (s *streams) input(r io.Reader) (*os.File, error) {
	if f, ok := r.(*os.File); ok && f != nil {
		return f, nil
	}
	if r == nil {
		return s.null(os.O_RDONLY)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.handed = append(s.handed, theirs)
	s.ins = append(s.ins, &copying{dst: ours, src: r, end: ours})
	return theirs, nil
}

func (s *streams) output(w io.Writer) (*os.File, error) {
	if f, ok := w.(*os.File); ok && f != nil {
		return f, nil
	}
	if w == nil {
		return s.null(os.O_WRONLY)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.handed = append(s.handed, theirs)
	s.outs = append(s.outs, &copying{dst: w, src: ours, end: ours})
	return theirs, nil
}

func (s *streams) null(flag int) (*os.File, error) {
	f, err := os.OpenFile(os.DevNull, flag, 0)
	if err == nil {
		s.handed = append(s.handed, f)
	}
	return f, err
}

// abandon closes everything of a child that did not start.
func (s *streams) abandon() {
	s.started()
	for _, c := range append(s.outs, s.ins...) {
		if c.end != nil {
			c.end.Close()
		}
	}
	s.outs, s.ins = nil, nil
}

// started closes the child's ends.
func (s *streams) started() {
	for _, f := range s.handed {
		f.Close()
	}
	s.handed = nil
}

// run begins to copy.
func (s *streams) run() {
	s.started()
	for _, c := range s.outs {
		s.open.Go(func() {
			c.cut, c.err = pour(c.dst, c.src)
			c.end.Close() // also when the writer failed: the child hears of it
		})
	}
	for _, c := range s.ins {
		go func() {
			_, _ = io.Copy(c.dst, c.src) // a child need not read all its input
			if c.end != nil {
				c.end.Close()
			}
		}()
	}
}

// pour copies until the end of src. When the deadline of src has passed, it still takes what is there already: a slow writer
// loses nothing. cut says that the end was not reached then.
func pour(dst io.Writer, src io.Reader) (cut bool, err error) {
	buf := make([]byte, 1<<15)
	for late := 0; late < maxPending; {
		n, err := src.Read(buf)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			if n, err = pending(src, buf); n == 0 && err == nil {
				return true, nil
			}
			late += n
		}
		if n > 0 {
			if _, failed := dst.Write(buf[:n]); failed != nil {
				return false, failed
			}
		}
		switch {
		case err == io.EOF, errors.Is(err, syscall.EIO): // a terminal that nobody has open any more says EIO on Linux
			return false, nil
		case errors.Is(err, os.ErrClosed):
			return true, nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return false, err
		}
	}
	return true, nil
}

// maxPending bounds what is read of a pipe after its deadline: no pipe holds more.
const maxPending = 1 << 20

// pending reads what a pipe holds right now. Nothing and no error means that there is nothing.
func pending(src io.Reader, buf []byte) (n int, err error) {
	f, ok := src.(*os.File)
	if !ok {
		return 0, nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, nil
	}
	if bad := conn.Control(func(fd uintptr) { n, err = readNow(fd, buf) }); bad != nil {
		return 0, nil
	}
	return n, err
}

// drain waits until the output of a program that has ended is read. Something it started may hold the pipe and go on
// writing: that is read for the given time only. It returns whether output was cut off that way.
func (s *streams) drain(limit time.Duration) (cut bool) {
	deadline := time.Now().Add(limit)
	for _, c := range s.outs {
		if src, ok := c.src.(source); !ok || src.SetReadDeadline(deadline) != nil {
			timer := time.AfterFunc(limit, func() { c.end.Close() })
			defer timer.Stop()
		}
	}
	s.open.Wait()
	for _, c := range s.outs {
		cut = cut || c.cut
	}
	return cut
}

// finish ends the copies to the child and returns what went wrong with those from it. A reader that blocks is left to
// itself: what it returns one day goes nowhere.
func (s *streams) finish() error {
	for _, c := range s.ins {
		if c.end != nil {
			c.end.Close()
		}
	}
	errs := []error{}
	for _, c := range s.outs {
		if c.err != nil {
			errs = append(errs, fmt.Errorf("write output: %w", c.err))
		}
	}
	return errors.Join(errs...)
}

// bounded keeps what is written, up to a limit.
type bounded struct {
	limit int
	bytes []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - len(b.bytes); len(p) > room {
		b.bytes = append(b.bytes, p[:max(0, room)]...)
		return max(0, room), fmt.Errorf("more than %d bytes", b.limit)
	}
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

// ending keeps the end of what is written.
type ending struct {
	limit int
	bytes []byte
}

func (e *ending) Write(p []byte) (int, error) {
	e.bytes = append(e.bytes, p...)
	if over := len(e.bytes) - e.limit; over > 0 {
		e.bytes = append(e.bytes[:0], e.bytes[over:]...)
	}
	return len(p), nil
}

// line returns the last line with something on it.
func (e *ending) line() string {
	text := bytes.TrimSpace(e.bytes)
	return string(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:]))
}
