package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/sandbox"
)

// window is how much of a stream may be under way in frames, and frameCost the least that a frame counts for.
const (
	window    = 1 << 20
	frameCost = 8 << 10
)

// stdio is the outer end of one command's streams.
type stdio struct {
	c      *Client
	id     uint32
	cmd    sandbox.Command
	remote []int      // for the runner; closed once they are sent
	in     *os.File   // where the command's input is written
	outs   []*os.File // where its output is read
	master *os.File   // of its terminal

	once   sync.Once
	failed chan struct{} // closed when output could not be written
	err    error         // set before
	live   atomic.Int32  // streams that are read
	dry    chan struct{} // told when there is none any more
	over   atomic.Bool   // output goes nowhere from now on
	end    chan struct{}

	frames  [3]io.Writer  // by stream, when output comes in frames
	owed    [3]int        // credit that is not given yet, by stream
	credits atomic.Int64  // for input in frames
	more    chan struct{} // told when there are more
}

// streams makes what a command's streams need, and says in the request which there are.
func (c *Client) streams(id uint32, cmd sandbox.Command, q *request) (*stdio, error) {
	s := &stdio{
		c: c, id: id, cmd: cmd, failed: make(chan struct{}), end: make(chan struct{}), dry: make(chan struct{}, 4),
		more: make(chan struct{}, 1),
	}
	if cmd.Terminal != nil {
		q.terminal, q.rows, q.cols = true, uint64(cmd.Terminal.Rows), uint64(cmd.Terminal.Cols)
	}
	errs := cmd.Stderr
	switch {
	case cmd.Terminal != nil:
		errs = nil
		q.streams |= hasOut
	case sandbox.SameWriter(cmd.Stdout, errs):
		q.streams |= joined
		errs = nil
	}
	if cmd.Stdin != nil {
		q.streams |= hasIn
	}
	if cmd.Stdout != nil {
		q.streams |= hasOut
	}
	if errs != nil {
		q.streams |= hasErr
	}
	switch {
	case q.framed:
		s.frames = [3]io.Writer{1: cmd.Stdout, 2: errs}
	case cmd.Terminal == nil:
		if err := s.pipes(cmd.Stdin, cmd.Stdout, errs); err != nil {
			s.sent()
			s.finish()
			return nil, fmt.Errorf("run: make a pipe: %w", err)
		}
	}
	return s, nil
}

// pump copies what the command says. When the command is over and something that it left still holds the stream, what that
// says goes nowhere: it lives on. What is in the pipe a while after the end counts as the command's, however late it is read.
func (s *stdio) pump(f *os.File, out io.Writer) {
	s.live.Add(1)
	s.c.pumps.Add(1)
	go func() {
		defer s.c.pumps.Done()
		defer f.Close()
		quiet := false
		done := func() {
			if !quiet {
				quiet = true
				s.live.Add(-1)
				s.dry <- struct{}{}
			}
		}
		defer done()
		buf := make([]byte, 32<<10)
		late, owed := false, 0
		for {
			n, err := f.Read(buf)
			if n > 0 && !quiet && !s.over.Load() {
				if _, bad := out.Write(buf[:n]); bad != nil {
					s.fail(fmt.Errorf("write output: %w", bad))
				}
			}
			owed -= n
			switch {
			case errors.Is(err, os.ErrDeadlineExceeded):
				late, owed = true, waiting(f)
				_ = f.SetReadDeadline(time.Time{})
			case err != nil: // the end; of a terminal it is EIO
				return
			}
			if late && owed <= 0 {
				done()
			}
		}
	}()
}

func (s *stdio) fail(err error) {
	s.once.Do(func() {
		s.err = err
		s.over.Store(true)
		close(s.failed)
	})
}

// sent closes what belongs to the runner now, and starts to write the input.
func (s *stdio) sent() {
	closeAll(s.remote)
	s.remote = nil
	switch {
	case s.in != nil:
		go feed(s.in, s.cmd.Stdin)
	case s.c.opt.Framed && s.cmd.Stdin != nil:
		go s.feedFrames()
	}
}

// feed copies the input until the command takes no more.
func feed(to *os.File, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}

// feedFrames sends the input in frames, as far as there is credit.
func (s *stdio) feedFrames() {
	buf := make([]byte, 64<<10)
	credit := window
	for {
		n, err := s.cmd.Stdin.Read(buf)
		for credit < n {
			select {
			case <-s.more:
				credit += int(s.credits.Swap(0))
			case <-s.end:
				return
			}
		}
		if n > 0 {
			credit -= n
			if s.c.send(frame{kind: inputKind, id: s.id, body: buf[:n]}) != nil {
				return
			}
		}
		if err != nil {
			_ = s.c.send(frame{kind: inputKind, id: s.id})
			return
		}
	}
}

func (s *stdio) resize(size sandbox.Size) {
	if s.master != nil {
		resizeMaster(s.master, size)
		return
	}
	w := writer{}
	w.num(uint64(size.Rows))
	w.num(uint64(size.Cols))
	_ = s.c.send(frame{kind: resizeKind, id: s.id, body: w.b})
}

// output takes a frame of a stream.
func (s *stdio) output(f frame) {
	if len(f.body) == 0 {
		return
	}
	stream, text := f.body[0], f.body[1:]
	if int(stream) < len(s.frames) && s.frames[stream] != nil && !s.over.Load() {
		if _, err := s.frames[stream].Write(text); err != nil {
			s.fail(fmt.Errorf("write output: %w", err))
		}
	}
	f.held.free()
	if int(stream) >= len(s.owed) {
		return
	}
	if s.owed[stream] += max(len(text), frameCost); s.owed[stream] < window/4 {
		return
	}
	w := writer{}
	w.num(uint64(stream))
	w.num(uint64(s.owed[stream]))
	s.owed[stream] = 0
	_ = s.c.send(frame{kind: creditKind, id: s.id, body: w.b})
}

func (s *stdio) credit(f frame) {
	r := reader{b: f.body}
	_, n := r.num(), r.num()
	s.credits.Add(int64(min(n, window)))
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// drain waits for the last output, but not for what was left running. note is what a shell would have said itself.
func (s *stdio) drain(note string) error {
	if note != "" {
		out := s.cmd.Stderr
		if out == nil || s.cmd.Terminal != nil {
			out = s.cmd.Stdout
		}
		if out != nil {
			if _, err := io.WriteString(out, note+"\n"); err != nil {
				return fmt.Errorf("run: write output: %w", err)
			}
		}
	}
	s.quiesce()
	s.over.Store(true)
	select {
	case <-s.failed:
		return fmt.Errorf("run: %w", s.err)
	default:
		return nil
	}
}

// quiesce waits until nothing is read any more, or what is read goes nowhere.
func (s *stdio) quiesce() {
	var timer <-chan time.Time
	for s.live.Load() > 0 {
		if timer == nil {
			timer = time.After(drainTime)
		}
		select {
		case <-s.dry:
		case <-s.c.stop:
			return
		case <-timer:
			for _, f := range append(s.outs, s.master) {
				if f != nil {
					_ = f.SetReadDeadline(time.Unix(1, 0))
				}
			}
		}
	}
}

// finish lets go of the input.
func (s *stdio) finish() {
	s.over.Store(true)
	close(s.end)
	if s.in != nil {
		_ = s.in.Close()
	}
}
