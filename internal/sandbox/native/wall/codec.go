package wall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Between hermes, the launcher and the process inside go numbers and texts, each text after its length. JSON would cost the
// small program more than everything else in it.

// Most is the size of the longest message.
const most = 8 << 20

var errGarbled = errors.New("garbled message")

type writer []byte

func (w *writer) number(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *writer) list(items []string) {
	w.number(uint64(len(items)))
	for _, s := range items {
		w.text(s)
	}
}

func (w *writer) flag(b bool) {
	if b {
		w.number(1)
	} else {
		w.number(0)
	}
}

// reader reads what a writer wrote. After the first error everything is zero.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.err, r.rest = errGarbled, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count reads how many things follow. Each takes at least a byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.err, r.rest = errGarbled, nil
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *reader) list() []string {
	var out []string
	for range r.count() {
		out = append(out, r.text())
	}
	return out
}

func (r *reader) flag() bool { return r.number() != 0 }

func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		return errGarbled
	}
	return r.err
}

// send writes one message to a stream.
func send(w io.Writer, message []byte) error {
	framed := make([]byte, 4, 4+len(message))
	binary.BigEndian.PutUint32(framed, uint32(len(message)))
	_, err := w.Write(append(framed, message...))
	return err
}

// receive reads one message, and not a byte more: what follows belongs to somebody else.
func receive(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > most {
		return nil, fmt.Errorf("%w of %d bytes", errGarbled, n)
	}
	message := make([]byte, n)
	_, err := io.ReadFull(r, message)
	return message, err
}

// SendPlan hands a plan to the process inside.
func SendPlan(w io.Writer, p *Plan) error { return send(w, p.Marshal()) }

// ReceiveReport reads what became of the plan. What follows on the stream is the runner's.
func ReceiveReport(r io.Reader) (*Report, error) {
	message, err := receive(r)
	if err != nil {
		return nil, err
	}
	return decodeReport(message)
}
