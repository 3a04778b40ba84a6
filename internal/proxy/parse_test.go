package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"hermes/internal/guard"
	"hermes/internal/guard/egress"
)

// recorded returns the first message of a TLS client.
func recorded(t testing.TB, c *tls.Config) []byte {
	t.Helper()
	here, there := net.Pipe()
	defer there.Close()
	go func() {
		_ = tls.Client(here, c).Handshake()
	}()
	_ = there.SetReadDeadline(time.Now().Add(5 * time.Second))
	buf := make([]byte, 1<<16)
	n, err := there.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	here.Close()
	return buf[:n]
}

// split cuts the handshake message of one record into records of so many bytes.
func split(record []byte, size int) (out []byte) {
	for rest := record[recordHead:]; len(rest) > 0; {
		n := min(size, len(rest))
		out = append(out, recordHandshake, 3, 1, byte(n>>8), byte(n))
		out = append(out, rest[:n]...)
		rest = rest[n:]
	}
	return out
}

func TestHello(t *testing.T) {
	plain := recorded(t, &tls.Config{ServerName: "good.test"})
	for name, row := range map[string]struct {
		in   []byte
		want string
		err  error
	}{
		"go":                 {plain, "good.test", nil},
		"old":                {recorded(t, &tls.Config{ServerName: "good.test", MaxVersion: tls.VersionTLS12}), "good.test", nil},
		"no name":            {recorded(t, &tls.Config{InsecureSkipVerify: true}), "", nil},
		"records of 1 byte":  {split(plain, 1), "good.test", nil},
		"records of 7 bytes": {split(plain, 7), "good.test", nil},
		"more after it":      {append(bytes.Clone(plain), 23, 3, 3, 0, 1, 0), "good.test", nil},
		"cut":                {plain[:len(plain)-1], "", errShort},
		"nothing":            {nil, "", errShort},
		"ssh":                {[]byte("SSH-2.0-x\r\n"), "", errNotTLS},
		"http":               {[]byte("GET / HTTP/1.1\r\n"), "", errNotTLS},
		"empty record":       {[]byte{22, 3, 1, 0, 0}, "", errBadHello},
		"not a hello":        {[]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, "", errBadHello},
		"endless hello":      {[]byte{22, 3, 1, 0, 4, 1, 255, 255, 255}, "", errBadHello},
		"alert in between":   {append(split(plain, 7)[:12], 21, 3, 3, 0, 2, 2, 0), "", errBadHello},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := readHello(row.in)
			if !errors.Is(err, row.err) || h.Name != row.want {
				t.Errorf("name %q, error %v; want %q, %v", h.Name, err, row.want, row.err)
			}
			if h.ECH {
				t.Error("no encrypted hello was there")
			}
		})
	}
}

func TestHelloWithECH(t *testing.T) {
	h, err := parseHello(clientHello(extension(extensionServerName, sni("front.test")), extension(extensionECH, []byte{0})))
	if err != nil || !h.ECH || h.Name != "front.test" {
		t.Fatalf("%+v, %v", h, err)
	}
	front, err := egress.ParseHost("front.test")
	if err != nil {
		t.Fatal(err)
	}
	if v := judgeHello(h, egress.Ruling{Host: front}); v.Action != guard.Block || v.Rule != "egress/ech" {
		t.Errorf("verdict %+v", v)
	}
	if v := judgeHello(h, egress.Ruling{Host: front, ECH: true}); v.Action != guard.Allow {
		t.Errorf("allowed by the ruling, verdict %+v", v)
	}
}

// Two names, or a list of names, are what two readers read in two ways.
func TestHelloWithTwoNames(t *testing.T) {
	name := sni("a.test")
	for what, body := range map[string][]byte{
		"twice":      clientHello(extension(extensionServerName, name), extension(extensionServerName, sni("b.test"))),
		"list":       clientHello(extension(extensionServerName, append([]byte{0, 18}, append(name[2:], sni("b.test")[2:]...)...))),
		"other kind": clientHello(extension(extensionServerName, []byte{0, 4, 1, 0, 1, 'a'})),
		"empty":      clientHello(extension(extensionServerName, []byte{0, 3, 0, 0, 0})),
	} {
		if _, err := parseHello(body); !errors.Is(err, errBadHello) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func clientHello(extensions ...[]byte) []byte {
	b := make([]byte, 2+32)
	b = append(b, 0, 0, 2, 0x13, 0x01, 1, 0)
	all := bytes.Join(extensions, nil)
	b = append(b, byte(len(all)>>8), byte(len(all)))
	return append(b, all...)
}

func extension(kind int, data []byte) []byte {
	return append([]byte{byte(kind >> 8), byte(kind), byte(len(data) >> 8), byte(len(data))}, data...)
}

func sni(name string) []byte {
	n := len(name)
	return append([]byte{0, byte(n + 3), 0, 0, byte(n)}, name...)
}

func TestAuthority(t *testing.T) {
	for _, row := range []struct {
		in   string
		host string
		port uint16
		ok   bool
	}{
		{"a.test:443", "a.test", 443, true},
		{"a.test", "a.test", 80, true},
		{"[::1]:443", "::1", 443, true},
		{"[::1]", "::1", 80, true},
		{"1.2.3.4:1", "1.2.3.4", 1, true},
		{"::1:443", "", 0, false},
		{"[::1", "", 0, false},
		{"[a.test]:1", "", 0, false},
		{"[1.2.3.4]:1", "", 0, false},
		{"[fe80::1%1]:1", "", 0, false},
		{"a:", "", 0, false},
		{":1", "", 0, false},
		{"a:01", "", 0, false},
		{"a:+1", "", 0, false},
		{"a:-1", "", 0, false},
		{"a:65536", "", 0, false},
		{"a:1:2", "", 0, false},
		{"u@a:1", "", 0, false},
		{"a%41:1", "", 0, false},
	} {
		host, port, ok := authority(row.in, 80)
		if ok != row.ok || ok && (host != row.host || port != row.port) {
			t.Errorf("%q: %q %d %v, want %q %d %v", row.in, host, port, ok, row.host, row.port, row.ok)
		}
	}
}

func query(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{
		{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNames(t *testing.T) {
	for _, row := range []struct {
		name string
		kind dnsmessage.Type
		code dnsmessage.RCode
		want string // address
	}{
		{"good.test.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "127.0.0.1"},
		{"GOOD.test.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "127.0.0.1"},
		{"good.test.", dnsmessage.TypeAAAA, dnsmessage.RCodeSuccess, ""},
		{"good.test.", dnsmessage.TypeTXT, dnsmessage.RCodeSuccess, ""},
		{"good.test.", dnsmessage.TypeHTTPS, dnsmessage.RCodeSuccess, ""},
		{"mixed.test.", dnsmessage.TypeA, dnsmessage.RCodeRefused, ""},
		{"late.test.", dnsmessage.TypeA, dnsmessage.RCodeRefused, ""}, // more than are told, the last refused
		{"gone.test.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"empty.test.", dnsmessage.TypeA, dnsmessage.RCodeServerFailure, ""},
		{"c2VjcmV0.evil.test.", dnsmessage.TypeA, dnsmessage.RCodeRefused, ""},
		{".", dnsmessage.TypeNS, dnsmessage.RCodeRefused, ""},
	} {
		w := start(t)
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- w.ServeNames(pc) }()
		conn, err := net.Dial("udp", pc.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		conn.Write([]byte("garbage"))
		conn.Write(query(t, row.name, row.kind))
		buf := make([]byte, 512)
		n, err := conn.Read(buf)
		conn.Close()
		var m dnsmessage.Message
		if err = errors.Join(err, m.Unpack(buf[:n])); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		var got string
		for _, a := range m.Answers {
			if a, ok := a.Body.(*dnsmessage.AResource); ok {
				got += netip.AddrFrom4(a.A).String()
			}
		}
		if m.ID != 7 || m.RCode != row.code || got != row.want {
			t.Errorf("%s %v: %v %q, want %v %q", row.name, row.kind, m.RCode, got, row.code, row.want)
		}
		if told := w.decisions(); len(told) != 1 || told[0].Target.Host+"." != row.name && row.name != "." {
			t.Errorf("%s: told %+v", row.name, told)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// What passes as a head is read the same way by Go's own reader, which stands for the servers behind.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"POST http://a.test/x?y HTTP/1.1\r\nHost: a.test:80\r\nContent-Length: 3\r\n\r\nabc",
		"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
		"CONNECT [::1]:443 HTTP/1.0\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := readHead(bufio.NewReader(bytes.NewReader(in)))
		if err != nil {
			return
		}
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(in)))
		if h.Method == http.MethodConnect {
			target, err := connectTarget(h)
			if err != nil {
				return
			}
			if req != nil && !strings.EqualFold(req.URL.Host, h.Target) {
				t.Errorf("CONNECT %q: Go reads the host %q", target, req.URL.Host)
			}
			return
		}
		target, u, terr := plainTarget(h)
		if terr != nil {
			return
		}
		if err != nil {
			return // stricter is fine
		}
		host, port, ok := authority(req.URL.Host, 80)
		if !ok || host != target.Host || port != target.Port {
			t.Errorf("%q: host %v, Go reads %q", in, target, req.URL.Host)
		}
		if req.ContentLength != h.Length {
			t.Errorf("%q: length %d, Go reads %d", in, h.Length, req.ContentLength)
		}
		if !strings.HasPrefix(u.RequestURI(), "/") {
			t.Errorf("%q: passes on %q", in, u.RequestURI())
		}
	})
}

// A hello is read without panic, and what is read does not depend on how it came in pieces.
func FuzzHello(f *testing.F) {
	f.Add(recorded(f, &tls.Config{ServerName: "good.test"}))
	f.Add([]byte{22, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readHello(in)
		if err != nil || len(in) > 4<<10 { // every beginning is tried
			return
		}
		for i := range in {
			part, err := readHello(in[:i])
			if err == nil && part != whole {
				t.Fatalf("%d bytes say %+v, all say %+v", i, part, whole)
			}
			if err != nil && !errors.Is(err, errShort) {
				t.Fatalf("%d bytes: %v, but all are well", i, err)
			}
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add(query(f, "good.test.", dnsmessage.TypeA))
	c := New("box", Options{Policy: listed{hosts: map[string]egress.Ruling{"good.test": {}}}})
	f.Fuzz(func(t *testing.T, in []byte) {
		out := c.resolved(in)
		if out == nil {
			return
		}
		var p dnsmessage.Parser
		h, err := p.Start(out)
		if err != nil || !h.Response || len(in) > 1 && h.ID != uint16(in[0])<<8|uint16(in[1]) {
			t.Errorf("answer %x to %x", out, in)
		}
	})
}
