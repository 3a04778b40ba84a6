package safehttp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a DNS server on loopback whose answers change from question to question.
type nameServer struct {
	mu      sync.Mutex
	answers map[string][][]string // by name without its final dot: what each look-up in turn is answered; the last one stays
	asked   map[string]int        // look-ups (of A)
	delay   time.Duration
	addr    string
}

func serveNames(t *testing.T, answers map[string][][]string) *nameServer {
	t.Helper()
	s := &nameServer{answers: answers, asked: map[string]int{}}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s.addr = tcp.Addr().String()
	t.Cleanup(func() { udp.Close(); tcp.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			question := append([]byte(nil), buf[:n]...)
			go func() {
				if reply := s.reply(question, 512); reply != nil {
					_, _ = udp.WriteTo(reply, from)
				}
			}()
		}
	}()
	go func() {
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			go s.stream(conn)
		}
	}()
	return s
}

// stream answers over TCP, where clients go when an answer was cut off.
func (s *nameServer) stream(conn net.Conn) {
	defer conn.Close()
	for {
		head := make([]byte, 2)
		if _, err := conn.Read(head); err != nil {
			return
		}
		question := make([]byte, int(head[0])<<8|int(head[1]))
		if _, err := conn.Read(question); err != nil {
			return
		}
		reply := s.reply(question, 65535)
		_, _ = conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...))
	}
}

func (s *nameServer) reply(question []byte, most int) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	s.mu.Lock()
	turns, known := s.answers[name]
	n := s.asked[name]
	if q.Type == dnsmessage.TypeA && most == 512 {
		s.asked[name]++
	}
	delay := s.delay
	s.mu.Unlock()
	time.Sleep(delay)
	m.Response, m.RecursionAvailable = true, true
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	} else {
		m.Answers = records(q, turns[min(n, len(turns)-1)])
	}
	m.Additionals = nil
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	if len(out) > most {
		m.Answers, m.Truncated = nil, true
		out, _ = m.Pack()
	}
	return out
}

// records turns "1.2.3.4", "2001:db8::1" and "CNAME name" into what answers a question.
func records(q dnsmessage.Question, texts []string) (out []dnsmessage.Resource) {
	name := q.Name
	for _, text := range texts {
		header := dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: 0}
		if target, ok := strings.CutPrefix(text, "CNAME "); ok {
			name = dnsmessage.MustNewName(target + ".")
			header.Type = dnsmessage.TypeCNAME
			out = append(out, dnsmessage.Resource{Header: header, Body: &dnsmessage.CNAMEResource{CNAME: name}})
			continue
		}
		a := netip.MustParseAddr(text)
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			header.Type = dnsmessage.TypeA
			out = append(out, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			header.Type = dnsmessage.TypeAAAA
			out = append(out, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return out
}

// resolver asks this server as the program asks the system's.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, s.addr)
	}}
}

func (s *nameServer) lookups(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func many(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("93.184.%d.%d", i/250, i%250+1))
	}
	return out
}
