package runner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Version is the version of the protocol. Both ends must have the same: they are built together.
const Version = 3

// magic opens the first frame of both sides.
const magic = "hermes-runner"

// kind says what a frame is.
type kind uint8

// What a client says.
const (
	helloKind  kind = 1 + iota // magic, version, what to tell, a nonce; answered by the same, see hello
	setupKind                  // what the runner does to itself first; before the hello
	proofKind                  // that the client knows the token; after the hello
	runKind                    // starts a command; the id is the client's choice
	inputKind                  // bytes for a command's standard input; empty: no more
	creditKind                 // so many bytes of a stream were taken; goes both ways
	signalKind                 // a signal for a command's process group
	resizeKind                 // a terminal's new size
	endKind                    // ask the whole tree of a command to end, then kill it
	askKind                    // a question that has one answer
	byeKind                    // kill everything and go
	stopKind                   // end the runner, with everything of everybody

	// What a runner says.
	startedKind // the process id; with a terminal, its master's descriptor
	outputKind  // bytes of a stream
	stateKind   // what the command's shell wrote of its state; before the exit
	exitKind    // how a command ended
	answerKind  // to a question
	refuseKind  // this connection is over, and why
)

// What askKind asks.
const (
	askLeft uint8 = 1 + iota
	askKillAll
	askProbe
	askOpen
	askRead
	askCreate
	askWrite
	askCommit
	askClose
	askStat
	askList
	askSockets
)

// A frame is a header and a body: length of the body (4 bytes), kind (1), number of descriptors that came along (1), id (4).
const headSize = 10

// maxBody bounds a frame. Larger things are sent in pieces.
const maxBody = 8 << 20

// piece is how much of a file or stream goes into one frame.
const piece = 256 << 10

type frame struct {
	kind kind
	id   uint32
	body []byte
	fds  []int
	held *buffer // where the body is; to be let go when it is not needed any more. nil: it is nobody else's
}

// buffer is memory that is read into, shared by whoever has a frame in it.
type buffer struct {
	b    []byte
	refs atomic.Int32
}

var buffers = sync.Pool{}

// newBuffer returns an empty buffer of at least a size, for one holder.
func newBuffer(size int) *buffer {
	if old, ok := buffers.Get().(*buffer); ok && cap(old.b) >= size && cap(old.b) <= 2*size {
		old.b = old.b[:0]
		old.refs.Store(1)
		return old
	}
	fresh := &buffer{b: make([]byte, 0, size)}
	fresh.refs.Store(1)
	return fresh
}

// free lets a buffer go; the last of its holders makes it somebody else's. Whoever forgets it leaves it to the collector.
func (b *buffer) free() {
	if b != nil && b.refs.Add(-1) == 0 {
		buffers.Put(b)
	}
}

// appendFrame appends the bytes of a frame.
func appendFrame(dst []byte, f frame) []byte {
	return append(appendHead(dst, f, len(f.body)), f.body...)
}

// appendHead appends the header of a frame whose body follows.
func appendHead(dst []byte, f frame, size int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, byte(f.kind), byte(len(f.fds)))
	return binary.LittleEndian.AppendUint32(dst, f.id)
}

// splitter cuts a stream into frames, and gives each the descriptors that came with it.
//
// Bodies stay in the buffer they were read into: whoever keeps one longer than until the next reading takes the buffer along
// (see keep) or a copy.
type splitter struct {
	buf  []byte // what was read; its capacity is there to be read into
	at   int    // where the first frame that is not dealt out begins
	fds  []int
	size int     // of new buffers; 0: readSize
	own  *buffer // buf is in it; nil: in nobody's
}

// readSize is how much is read at once, at most.
const readSize = 64 << 10

// room returns where the next bytes are to be read to.
func (s *splitter) room() []byte {
	rest := len(s.buf) - s.at
	need := headSize
	if rest >= headSize {
		need += int(min(binary.LittleEndian.Uint32(s.buf[s.at:]), maxBody))
	}
	size := max(s.size, readSize)
	kept := s.own == nil || s.own.refs.Load() > 1
	if rest == 0 && !kept && cap(s.buf) <= size {
		s.buf, s.at = s.buf[:0], 0
	}
	if s.at+need > cap(s.buf) || cap(s.buf)-len(s.buf) < leastRead {
		if kept || need+leastRead > cap(s.buf) {
			fresh := newBuffer(max(size, need+leastRead))
			s.buf = append(fresh.b, s.buf[s.at:]...)
			s.own.free()
			s.own = fresh
		} else {
			s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		}
		s.at = 0
	}
	return s.buf[len(s.buf):cap(s.buf)]
}

// leastRead is for how much there is room at least.
const leastRead = 4 << 10

// grew takes n bytes that were read into room.
func (s *splitter) grew(n int) { s.buf = s.buf[:len(s.buf)+n] }

// keep lets somebody keep the body of a frame that was dealt out last.
func (s *splitter) keep(f *frame) {
	f.held = s.own
	s.own.refs.Add(1)
}

// next returns the next whole frame, false if there is none yet. The body is valid until more bytes are added.
func (s *splitter) next() (frame, bool, error) {
	text := s.buf[s.at:]
	if len(text) < headSize {
		return frame{}, false, nil
	}
	size := binary.LittleEndian.Uint32(text)
	f := frame{kind: kind(text[4]), id: binary.LittleEndian.Uint32(text[6:])}
	count := int(text[5])
	switch {
	case size > maxBody:
		return frame{}, false, fmt.Errorf("frame of %d bytes, at most %d", size, maxBody)
	case f.kind == 0 || f.kind > refuseKind:
		return frame{}, false, fmt.Errorf("frame of unknown kind %d", f.kind)
	case count > maxFiles:
		return frame{}, false, fmt.Errorf("frame with %d descriptors, at most %d", count, maxFiles)
	case len(text) < headSize+int(size):
		return frame{}, false, nil
	case count > len(s.fds):
		return frame{}, false, fmt.Errorf("frame without its %d descriptors", count)
	}
	f.body = text[headSize : headSize+int(size) : headSize+int(size)]
	f.fds, s.fds = s.fds[:count:count], s.fds[count:]
	s.at += headSize + int(size)
	return f, true, nil
}

// maxFiles bounds the descriptors of one frame.
const maxFiles = 8

// The body of a frame is a sequence of numbers and strings. writer appends them, reader takes them off again and remembers
// the first fault.
type writer struct{ b []byte }

func (w *writer) num(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) flag(ok bool) { w.num(map[bool]uint64{true: 1}[ok]) }
func (w *writer) str(s string) { w.num(uint64(len(s))); w.b = append(w.b, s...) }
func (w *writer) raw(s []byte) { w.num(uint64(len(s))); w.b = append(w.b, s...) }

func (w *writer) list(all []string) {
	w.num(uint64(len(all)))
	for _, s := range all {
		w.str(s)
	}
}

type reader struct {
	b   []byte
	err error
}

var errShort = errors.New("body ends too early")

func (r *reader) num() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.err, r.b = errShort, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) flag() bool { return r.num() != 0 }

// raw returns bytes that are valid as long as the body is.
func (r *reader) raw() []byte {
	n := r.num()
	if n > uint64(len(r.b)) {
		r.err, r.b = errShort, nil
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) str() string { return string(r.raw()) }

func (r *reader) list() []string {
	n := r.num()
	if n > uint64(len(r.b)) {
		r.err, r.b = errShort, nil
		return nil
	}
	out := make([]string, 0, n)
	for range n {
		out = append(out, r.str())
	}
	return out
}

// done returns the first fault, or that something was left over.
func (r *reader) done() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(r.b))
	}
	return r.err
}

// request is what runKind carries.
type request struct {
	argv     []string
	env      []string
	dir      string
	near     bool   // if dir is gone, the nearest directory above it does
	search   string // directories for a bare argv[0]
	prelude  []byte // given to the command as descriptor preludeFD, when not empty
	state    bool   // give the command descriptor stateFD, and tell what it wrote there
	terminal bool
	framed   bool // the streams come and go in frames; else as descriptors
	rows     uint64
	cols     uint64
	streams  uint64 // which of stdin, stdout, stderr there are, as bits; 8: stderr is stdout
}

// Where a command finds its prelude, and where it writes its state.
const (
	preludeFD = 30
	stateFD   = 31
)

const (
	hasIn = 1 << iota
	hasOut
	hasErr
	joined
)

func (q *request) encode() []byte {
	w := writer{b: make([]byte, 0, 4096)}
	w.list(q.argv)
	w.list(q.env)
	w.str(q.dir)
	w.flag(q.near)
	w.str(q.search)
	w.raw(q.prelude)
	w.flag(q.state)
	w.flag(q.terminal)
	w.flag(q.framed)
	w.num(q.rows)
	w.num(q.cols)
	w.num(q.streams)
	return w.b
}

func (q *request) decode(body []byte) error {
	r := reader{b: body}
	q.argv, q.env = r.list(), r.list()
	q.dir, q.near, q.search = r.str(), r.flag(), r.str()
	q.prelude = r.raw()
	q.state, q.terminal, q.framed = r.flag(), r.flag(), r.flag()
	q.rows, q.cols, q.streams = r.num(), r.num(), r.num()
	if err := r.done(); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if len(q.argv) == 0 || q.argv[0] == "" {
		return errors.New("run: no program")
	}
	return nil
}

// files returns how many descriptors the request needs to have with it.
func (q *request) files() int {
	n := 0
	if q.framed || q.terminal {
		return 0
	}
	for _, bit := range []uint64{hasIn, hasOut, hasErr} {
		if q.streams&bit != 0 {
			n++
		}
	}
	return n
}

// result is what exitKind carries.
type result struct {
	code, signal uint64
	user, system uint64 // microseconds
	note         string // what a shell would have said: not found, no such directory
	fault        string // the command could not be started at all
	left         []left
}

// left is a process that a command left running.
type left struct {
	pid     uint64
	name    string
	started uint64 // milliseconds since 1970
}

func (e *result) encode() []byte {
	w := writer{}
	w.num(e.code)
	w.num(e.signal)
	w.num(e.user)
	w.num(e.system)
	w.str(e.note)
	w.str(e.fault)
	encodeLeft(&w, e.left)
	return w.b
}

func (e *result) decode(body []byte) error {
	r := reader{b: body}
	e.code, e.signal, e.user, e.system = r.num(), r.num(), r.num(), r.num()
	e.note, e.fault = r.str(), r.str()
	e.left = decodeLeft(&r)
	return r.done()
}

func encodeLeft(w *writer, all []left) {
	w.num(uint64(len(all)))
	for _, p := range all {
		w.num(p.pid)
		w.str(p.name)
		w.num(p.started)
	}
}

func decodeLeft(r *reader) (all []left) {
	for range min(r.num(), uint64(len(r.b))) {
		all = append(all, left{r.num(), r.str(), r.num()})
	}
	return all
}
