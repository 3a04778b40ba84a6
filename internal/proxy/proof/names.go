package proof

import (
	"context"
	"fmt"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is where names are asked for inside.
const nameServer = "127.0.0.1:53"

// ask puts one question to the name server inside.
func (w *way) ask(ctx context.Context, name string, kind dnsmessage.Type) (dnsmessage.Message, error) {
	var m dnsmessage.Message
	q, err := dnsmessage.NewName(name + ".")
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrUntried, err)
	}
	query := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 4242, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: q, Type: kind, Class: dnsmessage.ClassINET}},
	}
	packet, err := query.Pack()
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrUntried, err)
	}
	conn, err := w.connect(ctx, "udp", nameServer)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrUntried, err)
	}
	defer conn.Close()
	if _, err := conn.Write(packet); err != nil {
		return m, fmt.Errorf("%w: %w", ErrUntried, err)
	}
	buf := make([]byte, 1500)
	n, err := conn.Read(buf)
	if n == 0 {
		return m, fmt.Errorf("%w: the name server does not answer: %w", ErrUntried, err)
	}
	if err := m.Unpack(buf[:n]); err != nil || m.ID != 4242 {
		return m, fmt.Errorf("%w: not an answer: %w", ErrUntried, err)
	}
	return m, nil
}

// look asks for a name. It passes if there is any answer but a refusal.
func look(name string, kind dnsmessage.Type) attempt {
	return func(w *way, ctx context.Context) (string, error) {
		m, err := w.ask(ctx, name, kind)
		if err != nil {
			return "", err
		}
		if kind == dnsmessage.TypeA && name == listed {
			if len(m.Answers) == 1 {
				if a, ok := m.Answers[0].Body.(*dnsmessage.AResource); ok && netip.AddrFrom4(a.A) == here {
					return w.word, nil
				}
			}
			return m.RCode.String(), nil
		}
		if m.RCode != dnsmessage.RCodeRefused || len(m.Answers) > 0 {
			return w.word, nil
		}
		return m.RCode.String(), nil
	}
}
