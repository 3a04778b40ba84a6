package runner

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"time"
)

// Inside is what a runner tells of itself, read back where it runs.
type Inside struct {
	PID        int
	UID        int
	Build      string // SHA-256 of its program, in hex
	NoNewPrivs bool
	Seccomp    int    // the kernel's mode: 0 none, 2 a filter
	Bounding   uint64 // capabilities that a program which is started can get
	Effective  uint64 // capabilities in force
	Ambient    uint64
}

// hello is what both sides begin with.
type hello struct {
	version uint64
	tell    bool   // whether the answer has to hold more than the process id
	nonce   []byte // of a side that wants proof; the runner's is in its answer

	// In the runner's answer.
	tag    uint64
	proof  []byte
	inside Inside
}

func (h *hello) encode() []byte {
	w := writer{}
	w.str(magic)
	w.num(h.version)
	w.flag(h.tell)
	w.raw(h.nonce)
	w.num(h.tag)
	w.raw(h.proof)
	h.inside.encode(&w)
	return w.b
}

// decode stops behind a version that is not ours: the rest may mean anything.
func (h *hello) decode(body []byte) error {
	r := reader{b: body}
	if word := r.str(); word != magic {
		return errors.New("no greeting")
	}
	if h.version = r.num(); r.err != nil || h.version != Version {
		return r.err
	}
	h.tell = r.flag()
	h.nonce, h.tag, h.proof = clone(r.raw()), r.num(), clone(r.raw())
	h.inside.decode(&r)
	if err := r.done(); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	return nil
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }

func (i *Inside) encode(w *writer) {
	w.num(uint64(i.PID))
	w.num(uint64(i.UID))
	w.str(i.Build)
	w.flag(i.NoNewPrivs)
	w.num(uint64(i.Seccomp))
	w.num(i.Bounding)
	w.num(i.Effective)
	w.num(i.Ambient)
}

func (i *Inside) decode(r *reader) {
	i.PID, i.UID, i.Build = int(r.num()), int(r.num()), r.str()
	i.NoNewPrivs, i.Seccomp = r.flag(), int(r.num())
	i.Bounding, i.Effective, i.Ambient = r.num(), r.num(), r.num()
}

// Harden is what a runner does to itself, and with that to everything it starts, before the first command. The zero Harden
// does nothing.
type Harden struct {
	NoNewPrivs bool   // nothing gains rights by being started; implied by the next two
	Filter     []byte // system call filter, as native/seccomp writes it for the runner's architecture
	DropCaps   bool   // all capabilities but Keep are given up: held, inheritable, ambient and bounding
	Keep       uint64 // bits of capabilities that stay
	Data       uint64 // bytes of memory of its own that each process of a command may have (RLIMIT_DATA); 0: as it was
}

// holds tells what of it is not in force.
func (h *Harden) holds(in Inside) error {
	switch {
	case (h.NoNewPrivs || h.DropCaps || len(h.Filter) > 0) && !in.NoNewPrivs:
		return errors.New("no_new_privs is not in force inside")
	case len(h.Filter) > 0 && in.Seccomp != 2:
		return errors.New("the system call filter is not in force inside")
	case h.DropCaps && (in.Effective|in.Ambient)&^h.Keep != 0:
		return fmt.Errorf("capabilities %#x are still there inside", (in.Effective|in.Ambient)&^h.Keep)
	}
	return nil
}

// Listen says how a runner is to wait for clients: "hermes-runner listen" reads its Message, see there.
type Listen struct {
	// Socket is the path inside at which it listens. Its directory must be closed to all but its owner (0700) and is the one
	// that both sides see; the socket belongs to the directory's owner.
	Socket string
	// Token is what both sides know, at least 16 random bytes. It is never sent: each side proves to the other that it has it.
	Token []byte
	// Idle is how long it waits without a client before it ends; 0: for ever.
	Idle time.Duration
	// Detach makes the program return once it listens, while the runner goes on by itself. Without it the program is the
	// runner, as for the first process of a container.
	Detach bool
	// Outside refuses clients that the runner can see as a process, hence that run inside with it. It needs a process
	// namespace of the runner's own.
	Outside bool
	Harden  Harden
}

// leastToken is how long a token has to be.
const leastToken = 16

// Message returns what "hermes-runner listen" has to read from its standard input, or "hermes-runner listen FILE" from a file
// that only its owner can read, which it removes. It writes to its standard output what Listening reads.
func (l Listen) Message() ([]byte, error) {
	switch {
	case len(l.Token) < leastToken:
		return nil, fmt.Errorf("listen: a token of %d bytes, at least %d", len(l.Token), leastToken)
	case !path.IsAbs(l.Socket):
		return nil, fmt.Errorf("listen: socket %q is not absolute", l.Socket)
	}
	s := setup{l}
	return appendFrame(nil, frame{kind: setupKind, body: s.encode()}), nil
}

// Listening reads what "hermes-runner listen" wrote. An error is the runner's own, or says that it wrote something else.
func Listening(written []byte) (Inside, error) {
	s := splitter{buf: written}
	f, ok, err := s.next()
	switch {
	case err != nil:
		return Inside{}, fmt.Errorf("start runner: %w", err)
	case !ok:
		return Inside{}, errors.New("start runner: it said nothing")
	case f.kind == refuseKind:
		return Inside{}, fmt.Errorf("start runner: %w: %s", ErrRefused, f.body)
	}
	var h hello
	if err := h.decode(f.body); err != nil || f.kind != helloKind {
		return Inside{}, errors.New("start runner: what it said is no runner's")
	}
	if h.version != Version {
		return Inside{}, fmt.Errorf("start runner: %w: it speaks version %d, this client version %d", ErrOther, h.version, Version)
	}
	return h.inside, nil
}

// setup is what setupKind carries.
type setup struct{ Listen }

func (s *setup) encode() []byte {
	w := writer{}
	w.num(Version)
	w.str(s.Socket)
	w.raw(s.Token)
	w.num(uint64(s.Idle / time.Millisecond))
	w.flag(s.Detach)
	w.flag(s.Outside)
	w.flag(s.Harden.NoNewPrivs)
	w.raw(s.Harden.Filter)
	w.flag(s.Harden.DropCaps)
	w.num(s.Harden.Keep)
	w.num(s.Harden.Data)
	return w.b
}

func (s *setup) decode(body []byte) error {
	r := reader{b: body}
	if version := r.num(); version != Version {
		return fmt.Errorf("the client speaks version %d, this runner version %d", version, Version)
	}
	s.Socket, s.Token = r.str(), clone(r.raw())
	s.Idle = time.Duration(min(r.num(), 1<<40)) * time.Millisecond
	s.Detach, s.Outside = r.flag(), r.flag()
	h := &s.Harden
	h.NoNewPrivs, h.Filter, h.DropCaps, h.Keep, h.Data = r.flag(), clone(r.raw()), r.flag(), r.num(), r.num()
	if err := r.done(); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	return nil
}

// The sides of a proof: what one said is of no use to the other.
const (
	runnerSide = "runner"
	clientSide = "client"
)

const nonceSize = 16

func newNonce() []byte {
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails: it ends the process instead
	return nonce
}

// prove returns the proof that a side knows the token, for this connection only.
func prove(token []byte, side string, client, runner []byte) []byte {
	h := hmac.New(sha256.New, token)
	for _, part := range [][]byte{[]byte(magic), []byte(side), client, runner} {
		w := writer{}
		w.raw(part)
		_, _ = h.Write(w.b)
	}
	return h.Sum(nil)
}

func proves(token []byte, side string, client, runner, proof []byte) bool {
	return len(client) == nonceSize && len(runner) == nonceSize && hmac.Equal(proof, prove(token, side, client, runner))
}
