package runner

import (
	"errors"
	"io"
	"sync"
)

// link carries frames between a client and its runner.
type link interface {
	// send sends one whole frame. The descriptors stay the caller's. It is not safe for concurrent use.
	send(f frame) error
	// receive adds what comes next, at least one byte, to into; io.EOF at the end. One caller at a time.
	receive(into *splitter) error
	// close ends both, also where they wait. It may be called twice.
	close() error
}

// stream is a link over any two-way stream of bytes, which carries no descriptors.
type stream struct {
	rw   io.ReadWriteCloser
	head []byte
	once sync.Once
}

var errNoFiles = errors.New("descriptors cannot be passed over this connection")

// joinSize is up to which length a body is sent together with its header.
const joinSize = 16 << 10

func (s *stream) send(f frame) error {
	if len(f.fds) > 0 {
		return errNoFiles
	}
	s.head = appendHead(s.head[:0], f, len(f.body))
	if len(f.body) <= joinSize {
		s.head = append(s.head, f.body...)
		_, err := s.rw.Write(s.head)
		return err
	}
	if _, err := s.rw.Write(s.head); err != nil {
		return err
	}
	_, err := s.rw.Write(f.body)
	return err
}

func (s *stream) receive(into *splitter) error {
	for range 100 {
		n, err := s.rw.Read(into.room())
		into.grew(n)
		switch {
		case n > 0:
			return nil
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}

func (s *stream) close() (err error) {
	s.once.Do(func() { err = s.rw.Close() })
	return err
}
