package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// side is what goes to and from a command's shell beside its own streams: its prelude and its state. Both go through pipes,
// so that nothing of it is ever on a disk.
type side struct {
	remote []*os.File // the command's ends, from descriptor 3 on
	in     *os.File   // where the prelude is written
	out    *os.File   // where the state is read
	text   []byte

	mu    sync.Mutex
	state bytes.Buffer
	whole chan struct{} // closed when the end of the state was read, or there is nothing more
}

// maxState bounds a state; of a longer one nothing counts.
const maxState = 4 << 20

func openSide(prelude []byte, write bool) (*side, error) {
	s := &side{text: prelude, whole: make(chan struct{})}
	if len(prelude) == 0 && !write {
		return s, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run: make a pipe: %w", err)
	}
	s.remote, s.in = append(s.remote, r), w
	if write {
		r, w, err := os.Pipe()
		if err != nil {
			s.started()
			s.close()
			return nil, fmt.Errorf("run: make a pipe: %w", err)
		}
		s.remote, s.out = append(s.remote, w), r
	}
	for _, f := range s.remote {
		_ = f.Fd() // the command's ends block
	}
	return s, nil
}

// started closes the command's ends, and lets go what is for it.
func (s *side) started() {
	for _, f := range s.remote {
		_ = f.Close()
	}
	s.remote = nil
	if s.in != nil {
		go func() {
			_, _ = s.in.Write(s.text)
			_ = s.in.Close()
		}()
	}
	if s.out == nil {
		close(s.whole)
		return
	}
	go func() {
		defer close(s.whole)
		s.read()
	}()
}

// How long the state is waited for once the shell has ended: in this time nothing more has come. All of it is in the pipe by then,
// however late it is read.
const (
	drainTime = 300 * time.Millisecond
	lastTime  = 50 * time.Millisecond // for each look into the pipe, after that
	longTime  = 10 * time.Second      // for all of these, should somebody go on writing
)

// read reads the state to its end.
func (s *side) read() {
	buf := make([]byte, 16<<10)
	var late time.Time // when the time was up
	for looked := false; ; {
		n, err := s.out.Read(buf)
		s.mu.Lock()
		if s.state.Len() <= maxState {
			s.state.Write(buf[:n])
		}
		end := bytes.HasSuffix(s.state.Bytes(), []byte("\x00end\x00"))
		s.mu.Unlock()
		switch {
		case end || err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return
		case n > 0:
			looked = false
		case looked || !late.IsZero() && time.Since(late) > longTime:
			return
		default: // a read that comes too late does not even look
			if late.IsZero() {
				late = time.Now()
			}
			looked = true
			_ = s.out.SetReadDeadline(time.Now().Add(lastTime))
		}
	}
}

// written returns the state once the shell has ended. What it left running may hold the pipe: that is not waited for.
func (s *side) written() []byte {
	if s.out != nil && s.out.SetReadDeadline(time.Now().Add(drainTime)) == nil {
		<-s.whole
	} else {
		select {
		case <-s.whole:
		case <-time.After(drainTime):
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Len() > maxState {
		return nil
	}
	return bytes.Clone(s.state.Bytes())
}

func (s *side) close() {
	for _, f := range []*os.File{s.in, s.out} {
		if f != nil {
			_ = f.Close()
		}
	}
}
