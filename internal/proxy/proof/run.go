package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"hermes/internal/guard"
	"hermes/internal/proxy"
)

// Dial opens a connection from inside: network is tcp or udp, the address numeric. That nobody is there may show as an error
// here or at the first read. Closing it lets nothing behind inside.
type Dial func(ctx context.Context, network, address string) (io.ReadWriteCloser, error)

// Row is one thing that was tried.
type Row struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Asked string `json:"asked"`
	Force string `json:"force"`
	OK    bool   `json:"ok"`
	Note  string `json:"note,omitempty"`
}

// What is asked, and found.
const (
	Passes      = "passes"
	Refused     = "refused"
	Unreachable = "unreachable"
	Reached     = "reached"
	Unknown     = "unknown"
)

// Direct tries to reach servers on this machine's loopback past the proxy.
func (p *Proof) Direct(ctx context.Context, inside Dial) (rows []Row) {
	for _, a := range p.stage.direct {
		r := Row{Key: a.key, Name: a.name, Asked: Unreachable}
		got, err := p.knock(ctx, inside, a)
		switch {
		case strings.Contains(got, p.word):
			r.Force = Reached
		case errors.Is(err, ErrUntried):
			r.Force, r.Note = Unknown, err.Error()
		default:
			r.Force, r.OK = Unreachable, true
		}
		rows = append(rows, r)
	}
	return rows
}

// ErrUntried says that an attempt could not even be made. A Dial whose own means fail wraps it: nobody was found out to be there
// or not.
var ErrUntried = errors.New("it could not be tried")

func (p *Proof) knock(ctx context.Context, inside Dial, a address) (string, error) {
	wait := p.bound
	if a.network == "udp" {
		wait = p.wait
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := inside(ctx, a.network, a.at)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, _ = io.WriteString(conn, "hello")
	buf := make([]byte, 256)
	n, err := io.ReadAtLeast(conn, buf, len(p.word)) // an error of the Dial may come this late
	return string(buf[:n]), err
}

// Way tries the proxy, which listens on this port of 127.0.0.1 inside, with a name server at port 53 beside it.
func (p *Proof) Way(ctx context.Context, inside Dial, port uint16) (rows []Row) {
	w := &way{Proof: p, inside: inside, at: fmt.Sprintf("127.0.0.1:%d", port)}
	for _, t := range tries() {
		if ctx.Err() != nil {
			rows = append(rows, Row{Key: t.key, Name: t.name, Asked: t.asked(), Force: Unknown, Note: ctx.Err().Error()})
			continue
		}
		rows = append(rows, w.row(ctx, t))
	}
	return rows
}

// way is one way out that is tried.
type way struct {
	*Proof
	inside Dial
	at     string
}

// try is one thing to try at the proxy, in one or several spellings.
type try struct {
	key, name string
	rule      string // that must be told, or anyRule; empty: it must pass
	do        []func(*way, context.Context) (string, error)
}

// anyRule stands for refusals that have several reasons.
const anyRule = "*"

func (t try) asked() string {
	if t.rule == "" {
		return Passes
	}
	return Refused
}

// row makes every attempt of a try, and says what the worst of them was.
func (w *way) row(ctx context.Context, t try) Row {
	r := Row{Key: t.key, Name: t.name, Asked: t.asked(), Force: t.asked(), OK: true}
	for i, do := range t.do {
		if force, note := w.once(ctx, t, do); force != t.asked() || note != "" {
			r.Force, r.OK, r.Note = force, false, note
			if len(t.do) > 1 {
				r.Note = strings.TrimPrefix(fmt.Sprintf("%s; attempt %d of %d", note, i+1, len(t.do)), "; ")
			}
			return r
		}
	}
	if len(t.do) > 1 {
		r.Note = fmt.Sprintf("%d ways", len(t.do))
	}
	return r
}

// once makes one attempt. A note says what is wrong beyond force.
func (w *way) once(ctx context.Context, t try, do func(*way, context.Context) (string, error)) (force, note string) {
	ctx, cancel := context.WithTimeout(ctx, w.bound)
	defer cancel()
	w.forget()
	before := w.stage.requests.Load()
	got, err := do(w, ctx)
	passed := strings.Contains(got, w.word)
	switch d, told := w.decision(ctx); {
	case errors.Is(err, ErrUntried):
		return Unknown, err.Error()
	case t.rule == "" && passed:
		return Passes, ""
	case t.rule == "" && err != nil:
		return Refused, err.Error()
	case t.rule == "":
		return Refused, short(got)
	case passed || w.stage.requests.Load() != before:
		return Passes, ""
	case !told:
		return Refused, "but nothing was told of it"
	case d.Verdict.Action == guard.Allow || t.rule != anyRule && d.Verdict.Rule != t.rule:
		return Refused, fmt.Sprintf("but as %q, not %q", d.Verdict.Rule, t.rule)
	}
	return Refused, ""
}

// forget drops what was told before.
func (p *Proof) forget() {
	for {
		select {
		case <-p.told:
		default:
			return
		}
	}
}

// decision waits for what is told of an attempt.
func (p *Proof) decision(ctx context.Context) (proxy.Decision, bool) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	select {
	case d := <-p.told:
		return d, true
	case <-ctx.Done():
		return proxy.Decision{}, false
	}
}

// short is the first line of an answer.
func short(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// connect opens a connection to the proxy from inside, which ends with ctx.
func (w *way) connect(ctx context.Context, network, at string) (net.Conn, error) {
	conn, err := w.inside(ctx, network, at)
	if err != nil {
		return nil, err
	}
	s := &stream{ReadWriteCloser: conn}
	s.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return s, nil
}

// stream makes what TLS works on of a connection whose time is bounded otherwise.
type stream struct {
	io.ReadWriteCloser
	stop func() bool
}

func (s *stream) Close() error {
	s.stop()
	return s.ReadWriteCloser.Close()
}
func (s *stream) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *stream) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *stream) SetDeadline(time.Time) error      { return nil }
func (s *stream) SetReadDeadline(time.Time) error  { return nil }
func (s *stream) SetWriteDeadline(time.Time) error { return nil }
