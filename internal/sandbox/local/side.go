package local

import (
	"bytes"
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
		buf := make([]byte, 16<<10)
		for {
			n, err := s.out.Read(buf)
			s.mu.Lock()
			if s.state.Len() <= maxState {
				s.state.Write(buf[:n])
			}
			end := bytes.HasSuffix(s.state.Bytes(), []byte("\x00end\x00"))
			s.mu.Unlock()
			if err != nil || end {
				return
			}
		}
	}()
}

// written returns the state once the shell has ended. What it left running may hold the pipe: that is not waited for.
func (s *side) written() []byte {
	select {
	case <-s.whole:
	case <-time.After(300 * time.Millisecond):
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
